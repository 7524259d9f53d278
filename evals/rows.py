"""From records to table rows: one batch of attempts with their steps and evaluations."""

import hashlib
from dataclasses import dataclass
from itertools import count

from evals.bulk import KeyPool, PreparedRows, prepare_rows, write_rows
from evals.class_mapping import Classifier, ClassOrigin, Described, labels_of
from evals.codes import mask_of
from evals.copying import Row
from evals.counting import Judged, RunCount
from evals.definitions import DefinitionCache
from evals.models import Attempt, AttemptDetail, Evaluation, EvaluationDetail, Run, RunScenario, Step
from evals.outcomes import SettledAttempt
from evals.records import AttemptRecord, Outcome, ScenarioRecord, StepRecord
from evals.taxonomy import UNCLASSIFIED, Taxonomy

KEY_LENGTH = 500
PASS = Outcome.PASS
BATCHES_AHEAD = 4  # keys are reserved for: what nobody uses is lost, and 64 bits have room

SCENARIO_FIELDS = [
    "id",
    "run",
    "key",
    "title",
    "class_id",
    "class_told",
    "class_by",
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


def category_mask(taxonomy: Taxonomy, class_id: str) -> int:
    """Return the default category of a class as bits; none for a class that the taxonomy does not know."""
    category = taxonomy.category_of(class_id)
    return mask_of(frozenset([category])) if category else 0


@dataclass(slots=True)
class KnownScenario:
    record: ScenarioRecord
    id: int | None = None  # of its RunScenario, once stored
    class_id: str = UNCLASSIFIED
    class_by: ClassOrigin = ClassOrigin.NONE
    categories: int = 0  # the class's default, as bits


class ScenarioRegistry:
    """The scenarios of one run by key; what attempts name without a description becomes a bare one."""

    def __init__(self, run: Run, classifier: Classifier) -> None:
        self.run = run
        self.classifier = classifier
        self._known: dict[str, KnownScenario] = {}
        self._new: list[KnownScenario] = []

    def describe(self, record: ScenarioRecord) -> KnownScenario:
        described = Described(
            bounded_key(record.key), self.run.suite, record.title, record.class_id[:200], labels_of(record.extras)
        )
        class_id, by = self.classifier.classify(described)
        known = KnownScenario(record, None, class_id, by, category_mask(self.classifier.taxonomy, class_id))
        self._known[record.key] = known
        self._new.append(known)
        return known

    def named(self, key: str) -> KnownScenario:
        return self._known.get(key) or self.describe(ScenarioRecord(key=key))

    def take_new(self) -> list[KnownScenario]:
        """Return the scenarios described since the last call; they are stored with the batch that names them."""
        new, self._new = self._new, []
        return new

    def store(self, new: list[KnownScenario]) -> None:
        write_rows(RunScenario, SCENARIO_FIELDS, [self._row(known) for known in new])

    def _row(self, known: KnownScenario) -> Row:
        r = known.record
        return (
            known.id,
            self.run.pk,
            bounded_key(r.key),
            r.title,
            known.class_id,
            r.class_id[:200],
            known.class_by,
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


class Keys:
    """Primary keys for the rows of a run, some batches ahead."""

    def __init__(self, batch_rows: int) -> None:
        self.batch_rows = batch_rows
        self.scenarios = KeyPool(RunScenario, 100)
        self.attempts = KeyPool(Attempt, batch_rows * BATCHES_AHEAD)
        self.evaluations = KeyPool(Evaluation, batch_rows * BATCHES_AHEAD)

    def hold(self, rows: "BatchRows") -> bool:
        return all(pool.holds(number) for pool, number in self._needs(rows))

    def fill(self, rows: "BatchRows") -> None:
        """Reserve enough for this batch."""
        for pool, number in self._needs(rows):
            pool.fill(number)

    def fill_ahead(self) -> None:
        """Reserve a batch ahead, so that the next one need not wait for the database."""
        self.scenarios.fill(self.scenarios.chunk)
        for pool in (self.attempts, self.evaluations):
            pool.fill(self.batch_rows)

    def _needs(self, rows: "BatchRows") -> tuple[tuple[KeyPool, int], ...]:
        return (
            (self.scenarios, len(rows.new_scenarios)),
            (self.attempts, len(rows.settled)),
            (self.evaluations, rows.evaluations_number),
        )


type Settled = tuple[KnownScenario, AttemptRecord, SettledAttempt]


class BatchRows:
    """The rows of one batch: `build` makes them without the database, `store` writes them. While they are written the
    next batch is read, so nothing that `store` uses is changed by the reading."""

    def __init__(self, run: Run, scenarios: ScenarioRegistry, settled: list[Settled], first_number: int) -> None:
        self.run_id, self.run_at = run.pk, run.at
        self.scenarios, self.new_scenarios = scenarios, scenarios.take_new()
        self.settled = settled
        self.first_number = first_number
        self.evaluations_number = sum([len(s.evaluations) for _, _, s in settled])
        self.number = len(settled) + self.evaluations_number  # of attempts and evaluations
        self.prepared: list[PreparedRows] = []

    def learn(self, definitions: DefinitionCache) -> None:
        """Look up what the evaluations refer to. Call it outside of a transaction, as new definitions are stored."""
        evaluations = [evaluation for *_, settled in self.settled for evaluation in settled.evaluations]
        definitions.learn(
            {(evaluation.indicator, evaluation.evaluator) for evaluation in evaluations},
            {evaluation.reason_code for evaluation in evaluations},
        )

    def take_keys(self, keys: "Keys") -> None:
        """Take the primary keys; they must be there."""
        for known, id in zip(self.new_scenarios, keys.scenarios.take(len(self.new_scenarios)), strict=True):
            known.id = id
        self.attempt_ids = list(keys.attempts.take(len(self.settled)))
        self.evaluation_ids = list(keys.evaluations.take(self.evaluations_number))

    def build(self, definitions: DefinitionCache, counts: RunCount) -> None:
        """Make the rows and count them. Raises KeyError for what `definitions` has not learnt: learn it, and repeat."""
        evaluations, details, judged = self._evaluations(definitions)
        self.prepared = [
            prepare_rows(Attempt, ATTEMPT_FIELDS, self._attempts()),
            prepare_rows(AttemptDetail, ATTEMPT_DETAIL_FIELDS, self._attempt_details()),
            prepare_rows(Step, STEP_FIELDS, self._steps()),
            prepare_rows(Evaluation, EVALUATION_FIELDS, evaluations),
            prepare_rows(EvaluationDetail, EVALUATION_DETAIL_FIELDS, details),
        ]
        counts.add([(settled.outcome, settled.containment) for *_, settled in self.settled], judged)
        self.settled = []

    def store(self) -> None:
        """Write all rows."""
        self.scenarios.store(self.new_scenarios)
        for rows in self.prepared:
            rows.write()

    def _attempts(self) -> list[Row]:
        run_id = self.run_id
        return [
            (
                id,
                run_id,
                number,
                scenario.id,
                r.variant[:200],
                r.ordinal,
                r.status,
                settled.outcome,
                settled.containment,
                r.started_at,
                r.latency_ms,
                r.cost_nano,
                r.tokens_input,
                r.tokens_output,
                r.trace_id[:200],
            )
            for id, number, (scenario, r, settled) in zip(
                self.attempt_ids, count(self.first_number), self.settled, strict=False
            )
        ]

    def _attempt_details(self) -> list[Row]:
        """A plain PASS keeps no detail: its place in the artifact is what nobody looks for."""
        return [
            (id, r.input, r.output, r.error, r.place[:300], _effects(r), r.extras)
            for id, (_, r, settled) in zip(self.attempt_ids, self.settled, strict=True)
            if settled.outcome is not PASS or r.input or r.output or r.error or r.side_effects or r.extras
        ]

    def _steps(self) -> list[Row]:
        return [
            _step_row(id, at, step)
            for id, (_, record, _) in zip(self.attempt_ids, self.settled, strict=True)
            if record.steps
            for at, step in enumerate(record.steps, 1)
        ]

    def _evaluations(self, definitions: DefinitionCache) -> tuple[list[Row], list[Row], list[Judged]]:
        """Return the rows, those of their details, and what is to be counted."""
        run_id, run_at = self.run_id, self.run_at
        ids, definition_ids, reason_ids = iter(self.evaluation_ids), definitions.by_judging, definitions.by_reason
        rows: list[Row] = []
        details: list[Row] = []
        judged: list[Judged] = []
        for attempt_id, (scenario, record, settled) in zip(self.attempt_ids, self.settled, strict=True):
            class_id, adversarial, variant = scenario.class_id, scenario.record.adversarial, record.variant[:200]
            for position, e in enumerate(settled.evaluations, 1):
                id = next(ids)
                definition_id = definition_ids[e.indicator, e.evaluator]
                categories = scenario.categories if e.categories is None else mask_of(e.categories)
                # Its own time, else the attempt's, else the run's start, else the upload; the last two are assumed.
                observed_at = e.observed_at or record.started_at
                outcome, finding, reported = e.outcome, e.finding, e.reported_outcome
                rows.append(
                    (
                        id,
                        run_id,
                        attempt_id,
                        position,
                        definition_id,
                        outcome,
                        finding,
                        e.fault,
                        reported,
                        categories,
                        e.categories is not None,
                        reason_ids[e.reason_code],
                        e.score,
                        observed_at or run_at,
                        observed_at is None,
                    )
                )
                judged.append((class_id, categories, adversarial, definition_id, variant, outcome, finding, reported))
                if e.reason or e.evidence is not None or e.components or e.extras:
                    details.append((id, e.reason, e.evidence, list(e.components), e.extras))
        return rows, details, judged


def _effects(record: AttemptRecord) -> list[dict[str, object]]:
    return [{"tool": s.tool, "checked": s.checked, "happened": s.happened} for s in record.side_effects]


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
        s.cost_nano,
        s.extras,
    )
