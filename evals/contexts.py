"""A page's context as an object with a name: the page and its partials are filled alike."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404

from evals import access
from evals.answers import attempt_counts, list_differences
from evals.attempts import (
    AttemptRow,
    ContainedRow,
    list_contained,
    list_evaluations,
    list_needing_a_person,
    list_variants,
)
from evals.class_mapping import ClassOrigin
from evals.class_table import ClassFilter, ClassGroup, list_class_groups
from evals.containment import INDICATOR
from evals.measures.comparison import VERDICT_WORDS, Bucket, ComparedScenario, Comparison, Verdict
from evals.measures.counts import AttemptCounts, sum_counts
from evals.measures.display import (
    format_execution,
    format_missing,
    format_p_value,
    format_quantity,
    format_range,
    format_upper_bound,
)
from evals.measures.intervals import exact_upper_bound
from evals.measures.summary import Measure
from evals.models import Agent, Artifact, Attempt, AttemptDetail, Evaluation, Run, Step
from evals.records import Origin
from evals.run_rows import list_run_rows
from evals.scenario_results import compare
from evals.schemas import DifferenceOut
from evals.taxonomy import Taxonomy
from reliability.access import Standing

# What a reader wants to know first about a comparison.
BUCKETS_SHOWN = {
    Bucket.NEWLY_FAILING: ("Newly failing", "passed in A, fail in B"),
    Bucket.FIXED: ("Fixed", "failed in A, pass in B"),
    Bucket.BECAME_UNKNOWN: ("Became unknown", "decided in A, UNKNOWN or ERROR in B"),
    Bucket.FLAKY: ("Flaky", "attempts of one run both passed and failed"),
    Bucket.STILL_FAILING: ("Still failing", "fail in both"),
    Bucket.BECAME_KNOWN: ("Became known", "UNKNOWN or ERROR in A, decided in B"),
    Bucket.STILL_UNKNOWN: ("Still unknown", "UNKNOWN or ERROR in both"),
    Bucket.ONLY_IN_A: ("Only in A", "B did not run them"),
    Bucket.ONLY_IN_B: ("Only in B", "A did not run them"),
    Bucket.STILL_PASSING: ("Still passing", "pass in both"),
}
OPEN_BUCKETS = (Bucket.NEWLY_FAILING, Bucket.FIXED, Bucket.BECAME_UNKNOWN, Bucket.FLAKY)
UNDECIDED_BUCKETS = (Bucket.BECAME_UNKNOWN, Bucket.BECAME_KNOWN, Bucket.STILL_UNKNOWN)
SHOWN_PER_BUCKET = 50


MOST_CLASSES = 100  # on a run's page


@dataclass(frozen=True, slots=True)
class RunPage:
    """All that the run's page says."""

    run: Run
    chosen: ClassFilter
    groups: list[ClassGroup]
    lines: int  # unrelated measurements: with several there is no rate of the run
    variants: list[str]
    troubled: list[AttemptRow]
    contained: list[ContainedRow]
    adversarial_scenarios: int
    unjudged: int  # attempts at guarded tools that crashed or timed out before anything could be said
    unguarded: list[str]  # adversarial scenarios without guarded tools: containment cannot be judged
    differences: list[DifferenceOut]
    artifacts: list[Artifact]
    previous: Run | None

    @property
    def attempts(self) -> AttemptCounts:
        return attempt_counts(self.run)

    @property
    def shown_groups(self) -> list[ClassGroup]:
        """Worst first; the API has all."""
        return self.groups[:MOST_CLASSES]

    @property
    def hidden_groups(self) -> int:
        return len(self.groups) - len(self.shown_groups)

    @property
    def measure(self) -> Measure:
        """Over the lines shown; a rate may be read from it only where `lines` is 1."""
        return Measure(sum_counts(group.counts for group in self.groups))

    @property
    def execution_words(self) -> str:
        return format_execution(self.attempts.execution)

    @property
    def attempts_range_words(self) -> str:
        return format_range(self.attempts.value_range)

    @property
    def missing_words(self) -> str:
        return format_missing(self.attempts)

    @property
    def troubled_total(self) -> int:
        return self.run.attempts_failed + self.run.attempts_unknown + self.run.attempts_error

    @property
    def containment_total(self) -> int:
        run = self.run
        return run.containment_proven + run.containment_unproven + run.containment_breached

    @property
    def breach_words(self) -> str:
        """At most so many breaches, over the attempts whose containment is known."""
        return format_upper_bound(exact_upper_bound(self.run.containment_breached, self.containment_total))

    @property
    def is_synthetic(self) -> bool:
        return self.run.origin is Origin.SYNTHETIC

    @property
    def has_several_lines(self) -> bool:
        return any(group.single is None for group in self.groups)


def run_page(standing: Standing, run: Run, chosen: ClassFilter, taxonomy: Taxonomy) -> RunPage:
    adversarial = list(run.scenarios.filter(adversarial=True).order_by("key").values_list("key", "guards"))
    return RunPage(
        run=run,
        chosen=chosen,
        groups=list_class_groups(run, taxonomy, chosen),
        lines=list_run_rows([run])[0].lines,
        variants=list_variants(run),
        troubled=list_needing_a_person(run),
        contained=list_contained(run),
        adversarial_scenarios=len(adversarial),
        unjudged=_count_unjudged(run) if any(guards for _, guards in adversarial) else 0,
        unguarded=[key for key, guards in adversarial if not guards],
        differences=list_differences(run),
        artifacts=list(run.artifacts.select_related("token", "user")),
        previous=_previous_run(standing, run),
    )


def _count_unjudged(run: Run) -> int:
    guarded = run.scenarios.filter(adversarial=True).exclude(guards=[])
    return Attempt.objects.filter(run=run, containment=None, scenario__in=guarded).count()


def _previous_run(standing: Standing, run: Run) -> Run | None:
    """Return the run before this one of the same suite, mode and origin: the natural comparison."""
    earlier = access.list_runs(standing).filter(
        agent=run.agent_id, suite=run.suite, mode=run.mode, origin=run.origin, at__lt=run.at
    )
    return earlier.first()


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt with all that is kept of it."""

    attempt: Attempt
    detail: AttemptDetail | None
    steps: list[Step]
    evaluations: list[Evaluation]
    previous: int | None  # numbers of the neighbours
    following: int | None

    @property
    def chosen_class(self) -> str:
        """Return the class that a person gave the scenario, in whatever run; '' for none."""
        scenario = self.attempt.scenario
        return scenario.scenario.class_id if scenario and scenario.scenario else ""

    @property
    def is_being_counted(self) -> bool:
        """Whether this run has not heard yet of what a person chose, or withdrew."""
        scenario = self.attempt.scenario
        if scenario is None:
            return False
        if self.chosen_class:
            return self.chosen_class != scenario.class_id
        return bool(scenario.class_by == ClassOrigin.PERSON)

    @property
    def why_contained(self) -> Evaluation | None:
        return next((e for e in self.evaluations if e.definition.indicator.name == INDICATOR), None)


def attempt_page(run: Run, attempt: Attempt) -> AttemptView:
    neighbours = Attempt.objects.filter(run=run).order_by("number").values_list("number", flat=True)
    return AttemptView(
        attempt=attempt,
        detail=getattr(attempt, "detail", None),
        steps=list(attempt.steps.order_by("number")),
        evaluations=list_evaluations(attempt),
        previous=neighbours.filter(number__lt=attempt.number).last(),
        following=neighbours.filter(number__gt=attempt.number).first(),
    )


@dataclass(frozen=True, slots=True)
class BucketView:
    """Scenarios that changed alike; `scenarios` are those shown."""

    bucket: Bucket
    title: str
    meaning: str
    total: int
    scenarios: tuple[ComparedScenario, ...]

    @property
    def tally(self) -> str:
        """The title within a line: "only in A"."""
        return self.title[:1].lower() + self.title[1:]

    @property
    def is_open(self) -> bool:
        return self.bucket in OPEN_BUCKETS

    @property
    def hidden(self) -> int:
        return self.total - len(self.scenarios)


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Two runs of one agent, A the earlier; without both, the page offers a choice."""

    choices: list[Run]
    a: Run | None
    b: Run | None
    comparison: Comparison | None
    buckets: list[BucketView]

    @property
    def is_same(self) -> bool:
        return self.a is not None and self.b is not None and self.a.pk == self.b.pk

    @property
    def words(self) -> str:
        return VERDICT_WORDS[self.comparison.verdict] if self.comparison else ""

    @property
    def test_words(self) -> str:
        """What the verdict rests on; nothing where no test was made."""
        found = self.comparison
        if found is None or found.verdict in (Verdict.NOT_COMPARABLE, Verdict.NOTHING_SHARED):
            return ""
        changed = found.counts[Bucket.FIXED] + found.counts[Bucket.NEWLY_FAILING]
        pairs = format_quantity(found.pairs, "scenario")
        return f"Exact McNemar test over {pairs}, {changed:,} of them changed: {format_p_value(found.p_value)}."


def compare_page(standing: Standing, agent: Agent, *, a: str, b: str, whole: str = "") -> ComparePage:
    """`whole` names a bucket whose scenarios are all shown."""
    runs = access.list_runs(standing).filter(agent=agent)
    before, after = (_chosen_run(standing, agent, name) for name in (a, b))
    comparison = compare(before, after) if before and after and before.pk != after.pk else None
    return ComparePage(
        choices=list(runs[:100]),
        a=before,
        b=after,
        comparison=comparison,
        buckets=list(_list_buckets(comparison, whole)) if comparison else [],
    )


def _list_buckets(comparison: Comparison, whole: str) -> Iterable[BucketView]:
    for bucket, (title, meaning) in BUCKETS_SHOWN.items():
        scenarios = comparison.in_bucket(bucket)
        shown = scenarios if bucket.value == whole else scenarios[:SHOWN_PER_BUCKET]
        if scenarios or bucket in OPEN_BUCKETS:
            if scenarios and bucket in UNDECIDED_BUCKETS:
                meaning = f"{meaning}: {_say_undecided(comparison, bucket)}"
            yield BucketView(bucket, title, meaning, len(scenarios), shown)


def _say_undecided(comparison: Comparison, bucket: Bucket) -> str:
    """Return how many are UNKNOWN and how many ERROR on each side: "4 UNKNOWN and 16 ERROR in A, 20 UNKNOWN in B"."""
    sides = []
    for name, shown in zip("AB", comparison.split(bucket), strict=True):
        counts = [f"{shown[word]:,} {word.upper()}" for word in ("unknown", "error") if shown[word]]
        if counts:
            sides.append(f"{' and '.join(counts)} in {name}")
    return ", ".join(sides)


def _chosen_run(standing: Standing, agent: Agent, run_id: str) -> Run | None:
    if not run_id:
        return None
    try:
        return access.get_run(standing, uuid.UUID(run_id), agent)
    except ValueError:
        raise Http404 from None
