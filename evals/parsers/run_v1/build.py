"""From checked members of run/v1 to records."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from evals.canonical import canonical_sha256
from evals.parsers.reading import CONTROL, Cleaner, Limits
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.careful import follows_kind
from evals.parsers.values import NANO_DOLLAR, parse_day, parse_time
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


class Untidy(Exception):
    """A member breaks a rule that its type doesn't hold; the careful reading says which."""


class Builder:
    """Builds the records of one run. Ids and plain evaluations repeat in their thousands, so it remembers them."""

    def __init__(self, limits: Limits, evaluators: dict[str, EvaluatorRecord | None]) -> None:
        self.cleaner = Cleaner(limits)
        self.evaluators = evaluators
        self._ids: set[str | None] = {None, ""}
        self._plain: dict[Any, EvaluationRecord] = {}

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
        tokens = attempt.tokens
        return AttemptRecord(
            self._id(attempt.scenario),
            attempt.ordinal or 1,
            self._id(attempt.variant),
            attempt.status or AttemptStatus.COMPLETED,
            self._time(attempt.started_at),
            attempt.latency_ms,
            money(attempt.cost_usd),
            tokens.input if tokens else None,
            tokens.output if tokens else None,
            self._id(attempt.trace_id),
            "",
            self._text(attempt.output),
            self._text(attempt.error),
            tuple([self._step(step, extras, i) for i, step in enumerate(attempt.steps)]) if attempt.steps else (),
            self._side_effects(attempt.side_effects) if attempt.side_effects else (),
            tuple([self._evaluation(e, extras, i) for i, e in enumerate(attempt.evaluations or ())]),
            place,
            self._attempt_extras(extras) if extras else {},
        )

    def _attempt_extras(self, extras: dict[str, Any]) -> dict[str, Any]:
        own = self.extras(extras)
        return {name: value for name, value in own.items() if not name.startswith(("steps/", "evaluations/"))}

    def _side_effects(self, effects: list[wire.SideEffect]) -> tuple[SideEffectRecord, ...]:
        return tuple(SideEffectRecord(self._id(effect.tool), effect.checked, effect.happened) for effect in effects)

    def _step(self, step: wire.Step, extras: dict[str, Any], index: int) -> StepRecord:
        return StepRecord(
            step.kind,
            self._id(step.tool),
            step.decision or Decision.ALLOWED,
            step.approved is True,
            self._id(step.reason_code),
            self._of_kind("sha256", step.arguments_sha256).lower(),
            self.cleaner.value(step.arguments),
            self.cleaner.value(step.result),
            self._time(step.started_at),
            step.latency_ms,
            money(step.cost_usd),
            self.extras(extras, f"/steps/{index}"),
        )

    def _evaluation(self, e: wire.Evaluation, extras: dict[str, Any], index: int) -> EvaluationRecord:
        plain = e.reason is None and e.score is None and e.evidence is None and e.observed_at is None and not extras
        if not plain:
            return self._new_evaluation(e, self.extras(extras, f"/evaluations/{index}"))
        categories = None if e.categories is None else tuple(e.categories)
        key = (e.indicator, e.outcome, e.evaluator, categories, e.reason_code, e.finding, e.fault)
        record = self._plain.get(key)
        if record is None:
            record = self._new_evaluation(e, {})
            if len(self._plain) < MAX_REMEMBERED:
                self._plain[key] = record
        return record

    def _new_evaluation(self, e: wire.Evaluation, extras: dict[str, Any]) -> EvaluationRecord:
        finding = e.finding or (Finding.UNCLASSIFIED if e.outcome is Outcome.FAIL else None)
        return EvaluationRecord(
            self.cleaner.text(e.indicator),
            e.outcome,
            self.evaluators.get(e.evaluator) if e.evaluator is not None else None,
            None if e.categories is None else frozenset(e.categories),
            finding,
            e.fault or Fault.UNKNOWN,
            self._id(e.reason_code),
            self._text(e.reason),
            e.score,
            self.cleaner.value(e.evidence),
            self._time(e.observed_at),
            None,
            (),
            extras,
        )


def money(dollars: float | None) -> Decimal | None:
    # By way of repr: the shortest decimal that means this float, without its noise.
    return None if dollars is None else Decimal(repr(dollars)).quantize(NANO_DOLLAR)
