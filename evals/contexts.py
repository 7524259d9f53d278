"""A page's context as an object with a name: the page and its partials are filled alike."""

import uuid
from dataclasses import dataclass

from django.http import Http404

from evals import access
from evals.answers import attempt_counts, list_differences
from evals.attempts import AttemptRow, list_contained, list_evaluations, list_needing_a_person
from evals.class_table import ClassFilter, ClassGroup, list_class_groups
from evals.measures.comparison import Bucket, Comparison
from evals.measures.counts import AttemptCounts
from evals.measures.display import format_execution, format_findings, format_missing, format_range
from evals.measures.intervals import UpperBound, exact_upper_bound
from evals.measures.summary import Measure
from evals.models import Agent, Artifact, Attempt, AttemptDetail, Evaluation, Import, ImportState, Run, Step
from evals.scenario_results import compare
from evals.schemas import DifferenceOut
from reliability.access import Standing

# What a reader wants to know first about a comparison.
BUCKETS_SHOWN = (
    Bucket.NEWLY_FAILING,
    Bucket.FIXED,
    Bucket.BECAME_UNKNOWN,
    Bucket.FLAKY,
    Bucket.STILL_FAILING,
    Bucket.BECAME_KNOWN,
    Bucket.STILL_UNKNOWN,
    Bucket.ONLY_IN_A,
    Bucket.ONLY_IN_B,
    Bucket.STILL_PASSING,
)
RECENT_RUNS = 10


@dataclass(frozen=True, slots=True)
class AgentOverview:
    """How the agent is now. `latest` is its newest visible run."""

    standing: Standing
    agent: Agent
    recent: list[Run]
    groups: list[ClassGroup]  # of the latest run
    waiting: list[Import]  # uploads that are not runs yet, or were refused lately

    @property
    def latest(self) -> Run | None:
        return self.recent[0] if self.recent else None


def agent_overview(standing: Standing, agent: Agent) -> AgentOverview:
    recent = list(access.list_runs(standing).filter(agent=agent)[:RECENT_RUNS])
    return AgentOverview(
        standing=standing,
        agent=agent,
        recent=recent,
        groups=list_class_groups(recent[0]) if recent else [],
        waiting=_list_waiting(standing, agent),
    )


def _list_waiting(standing: Standing, agent: Agent) -> list[Import]:
    if not standing.may_upload:
        return []
    jobs = Import.objects.filter(agent=agent, dry_run=False).exclude(state=ImportState.DONE)
    if not standing.is_internal:
        jobs = jobs.filter(user=standing.user)
    return list(jobs.select_related("artifact", "agent", "client")[:5])


@dataclass(frozen=True, slots=True)
class RunPage:
    """All that the run's page says."""

    standing: Standing
    run: Run
    chosen: ClassFilter
    groups: list[ClassGroup]
    variants: list[str]
    troubled: list[AttemptRow]
    contained: list[Attempt]
    adversarial_scenarios: int
    unguarded_scenarios: int  # adversarial, without guarded tools: containment cannot be judged
    differences: list[DifferenceOut]
    artifacts: list[Artifact]
    previous: Run | None

    @property
    def attempts(self) -> AttemptCounts:
        return attempt_counts(self.run)

    @property
    def measure(self) -> Measure:
        return Measure(self.run.counts)

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
    def findings_words(self) -> str:
        return format_findings(self.run.counts)

    @property
    def troubled_total(self) -> int:
        return self.run.attempts_failed + self.run.attempts_unknown + self.run.attempts_error

    @property
    def containment_total(self) -> int:
        run = self.run
        return run.containment_proven + run.containment_unproven + run.containment_breached

    @property
    def breach_bound(self) -> UpperBound | None:
        """At most so many breaches, over the attempts whose containment is known."""
        return exact_upper_bound(self.run.containment_breached, self.containment_total)


def run_page(standing: Standing, run: Run, chosen: ClassFilter) -> RunPage:
    adversarial = run.scenarios.filter(adversarial=True)
    return RunPage(
        standing=standing,
        run=run,
        chosen=chosen,
        groups=list_class_groups(run, chosen),
        variants=list_variants(run),
        troubled=list_needing_a_person(run),
        contained=list_contained(run),
        adversarial_scenarios=adversarial.count(),
        unguarded_scenarios=adversarial.filter(guards=[]).count(),
        differences=list_differences(run),
        artifacts=list(run.artifacts.select_related("token", "user")),
        previous=_previous_run(standing, run),
    )


def list_variants(run: Run) -> list[str]:
    return sorted(set(run.class_results.order_by().values_list("variant", flat=True).distinct()))


def _previous_run(standing: Standing, run: Run) -> Run | None:
    """Return the run before this one of the same suite, mode and origin: the natural comparison."""
    earlier = access.list_runs(standing).filter(
        agent=run.agent_id, suite=run.suite, mode=run.mode, origin=run.origin, at__lt=run.at
    )
    return earlier.first()


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt with all that is kept of it."""

    standing: Standing
    run: Run
    attempt: Attempt
    detail: AttemptDetail | None
    steps: list[Step]
    evaluations: list[Evaluation]
    previous: int | None  # numbers of the neighbours
    following: int | None


def attempt_page(standing: Standing, run: Run, attempt: Attempt) -> AttemptView:
    neighbours = Attempt.objects.filter(run=run).order_by("number").values_list("number", flat=True)
    return AttemptView(
        standing=standing,
        run=run,
        attempt=attempt,
        detail=getattr(attempt, "detail", None),
        steps=list(attempt.steps.order_by("number")),
        evaluations=list_evaluations(attempt),
        previous=neighbours.filter(number__lt=attempt.number).last(),
        following=neighbours.filter(number__gt=attempt.number).first(),
    )


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Two runs of one agent; without both, the page offers a choice."""

    standing: Standing
    agent: Agent
    choices: list[Run]
    a: Run | None
    b: Run | None
    comparison: Comparison | None

    @property
    def buckets(self) -> list[tuple[Bucket, tuple[object, ...]]]:
        if self.comparison is None:
            return []
        return [(bucket, self.comparison.in_bucket(bucket)) for bucket in BUCKETS_SHOWN]


def compare_page(standing: Standing, agent: Agent, *, a: str, b: str) -> ComparePage:
    runs = access.list_runs(standing).filter(agent=agent)
    before, after = (_chosen_run(standing, agent, name) for name in (a, b))
    return ComparePage(
        standing=standing,
        agent=agent,
        choices=list(runs[:100]),
        a=before,
        b=after,
        comparison=compare(before, after) if before and after else None,
    )


def _chosen_run(standing: Standing, agent: Agent, run_id: str) -> Run | None:
    if not run_id:
        return None
    try:
        return access.get_run(standing, uuid.UUID(run_id), agent)
    except ValueError:
        raise Http404 from None
