"""From records to table rows: one batch of attempts with their steps and evaluations."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from evals.bulk import Row, reserve_ids, write_rows
from evals.codes import mask_of
from evals.definitions import DefinitionCache
from evals.models import Attempt, AttemptDetail, Evaluation, EvaluationDetail, Run, RunScenario, Step
from evals.outcomes import SettledAttempt, settle_attempt
from evals.records import AttemptRecord, EvaluationRecord, Outcome, ScenarioRecord, StepRecord
from evals.taxonomy import Taxonomy

UNCLASSIFIED = "unclassified"
KEY_LENGTH = 500

SCENARIO_FIELDS = [
    "id",
    "run",
    "key",
    "title",
    "class_id",
    "class_from_artifact",
    "adversarial",
    "twin_of",
    "guards",
    "controls",
    "expects",
    "source_kind",
    "source_reference",
    "source_date",
    "extras",
]
ATTEMPT_FIELDS = [
    "id",
    "run",
    "number",
    "scenario",
    "variant",
    "ordinal",
    "status",
    "outcome",
    "containment",
    "started_at",
    "latency_ms",
    "cost_usd",
    "tokens_input",
    "tokens_output",
    "trace_id",
]
ATTEMPT_DETAIL_FIELDS = ["attempt", "input", "output", "error", "place", "side_effects", "extras"]
STEP_FIELDS = [
    "attempt",
    "number",
    "kind",
    "tool",
    "decision",
    "approved",
    "reason_code",
    "arguments_sha256",
    "arguments",
    "result",
    "started_at",
    "latency_ms",
    "cost_usd",
    "extras",
]
EVALUATION_FIELDS = [
    "id",
    "run",
    "attempt",
    "position",
    "definition",
    "outcome",
    "finding",
    "fault",
    "reported_outcome",
    "categories",
    "categories_from_artifact",
    "reason_code",
    "score",
    "observed_at",
    "observed_assumed",
]
EVALUATION_DETAIL_FIELDS = ["evaluation", "reason", "evidence", "components", "extras"]


def bounded_key(key: str) -> str:
    """Return a key that fits its column: a longer one ends in its hash, so that two stay two."""
    if len(key) <= KEY_LENGTH:
        return key
    return f"{key[: KEY_LENGTH - 17]}…{hashlib.sha256(key.encode()).hexdigest()[:16]}"


@dataclass(slots=True)
class KnownScenario:
    record: ScenarioRecord
    id: int | None = None  # of its RunScenario, once stored
    categories: int = 0  # the class's default, as bits


class ScenarioRegistry:
    """The scenarios of one run by key; what attempts name without a description becomes a bare one."""

    def __init__(self, run: Run, taxonomy: Taxonomy) -> None:
        self.run = run
        self.taxonomy = taxonomy
        self._known: dict[str, KnownScenario] = {}
        self._new: list[KnownScenario] = []

    def describe(self, record: ScenarioRecord) -> KnownScenario:
        category = self.taxonomy.category_of(record.class_id)
        known = KnownScenario(record, categories=mask_of(frozenset([category])) if category else 0)
        self._known[record.key] = known
        self._new.append(known)
        return known

    def named(self, key: str) -> KnownScenario:
        return self._known.get(key) or self.describe(ScenarioRecord(key=key))

    def store(self) -> None:
        """Write the scenarios described since the last call."""
        for known, id in zip(self._new, reserve_ids(RunScenario, len(self._new)), strict=True):
            known.id = id
        write_rows(RunScenario, SCENARIO_FIELDS, [self._row(known) for known in self._new])
        self._new = []

    def _row(self, known: KnownScenario) -> Row:
        r = known.record
        return (
            known.id,
            self.run.pk,
            bounded_key(r.key),
            r.title,
            r.class_id[:200] or UNCLASSIFIED,
            bool(r.class_id),
            r.adversarial,
            bounded_key(r.twin_of),
            list(r.guards),
            list(r.controls),
            r.expects,
            r.source_kind,
            r.source_reference,
            r.source_date,
            r.extras,
        )


@dataclass(slots=True)
class BatchRows:
    """Collects the rows of one batch: `settle` first, then `store` inside the writing transaction."""

    run: Run
    scenarios: ScenarioRegistry
    definitions: DefinitionCache
    first_number: int
    _settled: list[tuple[KnownScenario, AttemptRecord, SettledAttempt]] = field(default_factory=list)
    _rows: dict[Any, list[Row]] = field(default_factory=dict)

    def settle(self, records: list[AttemptRecord]) -> None:
        """Decide containment and outcome of each attempt, and look up what its evaluations refer to."""
        for record in records:
            scenario = self.scenarios.named(record.scenario)
            self._settled.append((scenario, record, settle_attempt(scenario.record, record)))
        evaluations = [evaluation for *_, settled in self._settled for evaluation in settled.evaluations]
        self.definitions.learn(
            ((evaluation.indicator, evaluation.evaluator) for evaluation in evaluations),
            (evaluation.reason_code for evaluation in evaluations),
        )

    def store(self) -> int:
        """Write all rows; return how many attempts and evaluations they were."""
        self._rows = {m: [] for m in (Attempt, AttemptDetail, Step, Evaluation, EvaluationDetail)}
        attempt_ids = reserve_ids(Attempt, len(self._settled))
        evaluation_ids = iter(reserve_ids(Evaluation, sum(len(s.evaluations) for _, _, s in self._settled)))
        for number, id in enumerate(attempt_ids, self.first_number):
            scenario, record, settled = self._settled[number - self.first_number]
            self._add_attempt(id, number, scenario, record, settled)
            for position, evaluation in enumerate(settled.evaluations, 1):
                self._add_evaluation(next(evaluation_ids), id, position, scenario, record, evaluation)
        stored = write_rows(Attempt, ATTEMPT_FIELDS, self._rows[Attempt])
        write_rows(AttemptDetail, ATTEMPT_DETAIL_FIELDS, self._rows[AttemptDetail])
        write_rows(Step, STEP_FIELDS, self._rows[Step])
        stored += write_rows(Evaluation, EVALUATION_FIELDS, self._rows[Evaluation])
        write_rows(EvaluationDetail, EVALUATION_DETAIL_FIELDS, self._rows[EvaluationDetail])
        return stored

    def _add_attempt(
        self, id: int, number: int, scenario: KnownScenario, r: AttemptRecord, settled: SettledAttempt
    ) -> None:
        self._rows[Attempt].append(
            (
                id,
                self.run.pk,
                number,
                scenario.id,
                r.variant[:200],
                r.ordinal,
                r.status,
                settled.outcome,
                settled.containment,
                r.started_at,
                r.latency_ms,
                r.cost_usd,
                r.tokens_input,
                r.tokens_output,
                r.trace_id[:200],
            )
        )
        effects = [{"tool": s.tool, "checked": s.checked, "happened": s.happened} for s in r.side_effects]
        # A plain PASS keeps no detail: its place in the artifact is what nobody looks for.
        if settled.outcome is not Outcome.PASS or r.input or r.output or r.error or effects or r.extras:
            self._rows[AttemptDetail].append((id, r.input, r.output, r.error, r.place[:300], effects, r.extras))
        self._rows[Step].extend(_step_row(id, number, step) for number, step in enumerate(r.steps, 1))

    def _add_evaluation(
        self,
        id: int,
        attempt_id: int,
        position: int,
        scenario: KnownScenario,
        record: AttemptRecord,
        e: EvaluationRecord,
    ) -> None:
        observed, assumed = self._observed_at(record, e)
        self._rows[Evaluation].append(
            (
                id,
                self.run.pk,
                attempt_id,
                position,
                self.definitions.definition_id(e.indicator, e.evaluator),
                e.outcome,
                e.finding,
                e.fault,
                e.reported_outcome,
                scenario.categories if e.categories is None else mask_of(e.categories),
                e.categories is not None,
                self.definitions.reason_id(e.reason_code),
                e.score,
                observed,
                assumed,
            )
        )
        if e.reason or e.evidence is not None or e.components or e.extras:
            self._rows[EvaluationDetail].append((id, e.reason, e.evidence, list(e.components), e.extras))

    def _observed_at(self, record: AttemptRecord, evaluation: EvaluationRecord) -> tuple[datetime, bool]:
        """Its own time, else the attempt's, else the run's start, else the upload; the last two are assumed."""
        own = evaluation.observed_at or record.started_at
        return (own, False) if own else (self.run.at, True)


def _step_row(attempt_id: int, number: int, s: StepRecord) -> Row:
    return (
        attempt_id,
        number,
        s.kind,
        s.tool[:200],
        s.decision,
        s.approved,
        s.reason_code[:200],
        s.arguments_sha256,
        s.arguments,
        s.result,
        s.started_at,
        s.latency_ms,
        s.cost_usd,
        s.extras,
    )


def join_scenarios(run: Run) -> None:
    """Make the agent's scenarios of what the run names, and point the run's rows at them."""
    run_id = Run._meta.pk.get_db_prep_value(run.pk, connection)
    agent_id = Run._meta.pk.get_db_prep_value(run.agent_id, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            # Ordered, so that two imports of the same keys cannot wait for each other.
            """INSERT INTO evals_scenario (agent_id, suite, key)
               SELECT %s, %s, key FROM evals_runscenario WHERE run_id = %s ORDER BY key
               ON CONFLICT (agent_id, suite, key) DO NOTHING""",
            [agent_id, run.suite, run_id],
        )
        cursor.execute(
            """UPDATE evals_runscenario SET scenario_id = (
                   SELECT s.id FROM evals_scenario s
                   WHERE s.agent_id = %s AND s.suite = %s AND s.key = evals_runscenario.key)
               WHERE run_id = %s""",
            [agent_id, run.suite, run_id],
        )
