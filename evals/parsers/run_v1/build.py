"""From checked members of run/v1 to records."""

from datetime import datetime
from typing import Any

from evals.canonical import canonical_sha256
from evals.parsers.reading import CONTROL, Cleaner, Limits
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.careful import follows_kind
from evals.parsers.values import nano_dollars, parse_day, parse_time
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Decision,
    EvaluationRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    RunRecord,
    ScenarioRecord,
    Session,
    SideEffectRecord,
    SourceKind,
    StepRecord,
)

MAX_REMEMBERED = 50_000
# Read as globals: looking up a member of an enum costs as much as a comparison.
COMPLETED, UNCLASSIFIED, FAULT_UNKNOWN, FAIL = (
    AttemptStatus.COMPLETED,
    Finding.UNCLASSIFIED,
    Fault.UNKNOWN,
    Outcome.FAIL,
)


class Untidy(Exception):
    """A member breaks a rule that its type doesn't hold; the careful reading says which."""


class Builder:
    """Builds the records of one run. Ids repeat in their thousands, so it remembers which were found fit."""

    def __init__(self, limits: Limits, evaluators: dict[str, EvaluatorRecord | None]) -> None:
        self.cleaner = Cleaner(limits)
        self.evaluators = evaluators
        self._ids: set[str | None] = {None, ""}

    # -- values

    def _id(self, text: str | None) -> str:
        if text not in self._ids:
            if CONTROL.search(text or ""):
                raise Untidy
            if len(self._ids) < MAX_REMEMBERED:
                self._ids.add(text)
        return text or ""

    def _text(self, text: str | None) -> str:
        return self.cleaner.text(text) if text else ""

    def _time(self, text: str | None) -> datetime | None:
        if text is None:
            return None
        time = parse_time(text)
        if time is None:
            raise Untidy
        return time

    def _of_kind(self, kind: str, text: str | None) -> str:
        if text is not None and not follows_kind(kind, text):
            raise Untidy
        return text or ""

    def extras(self, extras: dict[str, Any], base: str = "") -> dict[str, Any]:
        """Return the x_ members under a pointer, by the rest of their own."""
        if not extras:
            return {}
        under = f"{base}/"
        return {
            pointer.removeprefix(under): self.cleaner.value(value)
            for pointer, value in extras.items()
            if pointer.startswith(under)
        }

    # -- parts

    def run(self, run: wire.Run, extras: dict[str, Any]) -> RunRecord:
        producer = run.producer or wire.Producer()
        return RunRecord(
            label=self._id(run.id),
            suite=self._id(run.suite),
            suite_version=self._id(run.suite_version),
            agent_version=self._id(run.agent_version),
            model=self._id(run.model),
            environment=self._id(run.environment),
            commit=self._id(run.commit),
            branch=self._id(run.branch),
            ci_url=self._of_kind("url", run.ci_url),
            mode=run.mode,
            origin=run.origin,
            started_at=self._time(run.started_at),
            finished_at=self._time(run.finished_at),
            session=Session(run.session or Session.COMPLETE),
            session_reason=self._text(run.session_reason),
            planned=run.planned,
            shard_index=run.shard.index if run.shard else None,
            shard_of=run.shard.of if run.shard else None,
            producer_name=self._id(producer.name),
            producer_version=self._id(producer.version),
            extras=self.extras(extras),
        )

    def evaluator(self, evaluator: wire.Evaluator) -> EvaluatorRecord:
        configuration = evaluator.configuration
        return EvaluatorRecord(
            name=self._id(evaluator.name),
            version=self._id(evaluator.version),
            configuration_sha256="" if configuration is None else canonical_sha256(self.cleaner.value(configuration)),
            deterministic=evaluator.deterministic is not False,
        )

    def scenario(self, scenario: wire.Scenario, extras: dict[str, Any]) -> ScenarioRecord:
        source = scenario.source or wire.Source()
        return ScenarioRecord(
            key=self._id(scenario.key),
            title=self._text(scenario.title),
            class_id=self._id(scenario.class_),
            adversarial=scenario.adversarial is True,
            twin_of=self._id(scenario.twin_of),
            guards=tuple(dict.fromkeys(map(self._id, scenario.guards or ()))),
            controls=tuple(dict.fromkeys(map(self._id, scenario.controls or ()))),
            expects=scenario.expects,
            source_kind=source.kind or SourceKind.DESIGNED,
            source_reference=self._text(source.reference),
            source_date=parse_day(self._of_kind("date", source.date)) if source.date is not None else None,
            extras=self.extras(extras),
        )

    def attempt(self, attempt: wire.Attempt, extras: dict[str, Any], place: str) -> AttemptRecord:
        """Build from a part that may hold odd texts."""
        self._tidy_attempt(attempt)
        return self.plain_attempt(attempt, extras, place)

    def plain_attempt(self, a: wire.Attempt, extras: dict[str, Any], place: str) -> AttemptRecord:
        """Build from a part whose texts are known to be short and without control characters. There are millions of
        these, so values are passed by position and nothing is looked at twice."""
        tokens = a.tokens
        return AttemptRecord(
            a.scenario,
            a.ordinal or 1,
            a.variant or "",
            a.status or COMPLETED,
            None if a.started_at is None else self._time(a.started_at),
            a.latency_ms,
            None if a.cost_usd is None else nano_dollars(a.cost_usd),
            tokens.input if tokens else None,
            tokens.output if tokens else None,
            a.trace_id or "",
            "",
            a.output or "",
            a.error or "",
            tuple([self._step(step, extras, i) for i, step in enumerate(a.steps)]) if a.steps else (),
            tuple([SideEffectRecord(e.tool, e.checked, e.happened) for e in a.side_effects]) if a.side_effects else (),
            tuple([self._evaluation(e, extras, i) for i, e in enumerate(a.evaluations)]) if a.evaluations else (),
            place,
            self._attempt_extras(extras) if extras else {},
        )

    def _attempt_extras(self, extras: dict[str, Any]) -> dict[str, Any]:
        own = self.extras(extras)
        return {name: value for name, value in own.items() if not name.startswith(("steps/", "evaluations/"))}

    def _step(self, s: wire.Step, extras: dict[str, Any], index: int) -> StepRecord:
        return StepRecord(
            s.kind,
            s.tool or "",
            s.decision or Decision.ALLOWED,
            s.approved is True,
            s.reason_code or "",
            self._of_kind("sha256", s.arguments_sha256).lower(),
            None if s.arguments is None else self.cleaner.value(s.arguments),
            None if s.result is None else self.cleaner.value(s.result),
            self._time(s.started_at),
            s.latency_ms,
            None if s.cost_usd is None else nano_dollars(s.cost_usd),
            self.extras(extras, f"/steps/{index}") if extras else {},
        )

    def _evaluation(self, e: wire.Evaluation, extras: dict[str, Any], index: int) -> EvaluationRecord:
        return EvaluationRecord(
            e.indicator,
            e.outcome,
            self.evaluators.get(e.evaluator) if e.evaluator is not None else None,
            None if e.categories is None else frozenset(e.categories),
            e.finding or (UNCLASSIFIED if e.outcome is FAIL else None),
            e.fault or FAULT_UNKNOWN,
            e.reason_code or "",
            e.reason or "",
            e.score,
            None if e.evidence is None else self.cleaner.value(e.evidence),
            None if e.observed_at is None else self._time(e.observed_at),
            None,
            (),
            self.extras(extras, f"/evaluations/{index}") if extras else {},
        )

    # -- texts that may be odd

    def _tidy_attempt(self, a: wire.Attempt) -> None:
        """Check the ids and clean the texts of a part, in place."""
        for id in (a.scenario, a.variant, a.trace_id):
            self._id(id)
        a.output, a.error = self._text(a.output), self._text(a.error)
        for step in a.steps or ():
            self._id(step.tool)
            self._id(step.reason_code)
        for effect in a.side_effects or ():
            self._id(effect.tool)
        for evaluation in a.evaluations or ():
            self._id(evaluation.reason_code)
            evaluation.indicator = self.cleaner.text(evaluation.indicator)
            evaluation.reason = self._text(evaluation.reason)


def is_plain(source: bytes) -> bool:
    """Whether no text in this JSON can hold a control character or a lone surrogate."""
    return source.isascii() and b"\\" not in source and b"\x7f" not in source
