"""Agents with what their last published review says, worst first: the portfolio and a client's home."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import Count, OuterRef, Q, Subquery
from django.urls import reverse
from django.utils import timezone

from evals.measures.display import format_quantity
from evals.models import Agent, Run, Visibility
from reliability.marks import ProfileRow, Score
from reliability.models import Client
from scorecards.models import NextStep, Recommendation, Revision, RevisionState, Snapshot, SnapshotKind, StepState
from scorecards.snapshot_reading import ScorePart, read_snapshot
from scorecards.snapshot_reading import Snapshot as Published

OPEN_STATES = (StepState.OPEN, StepState.DONE_UNTESTED, StepState.CAME_BACK)
WEAKEST = 3
# Worst first; an agent without a published review stands between.
BAR_WORDS = {
    "met": "met",
    "met_on_assertion": "met on assertion only",
    "not_met": "not met",
    "undecided": "undecided",
}
ORDER = {
    Recommendation.NOT_READY: 0,
    Recommendation.NOT_ENOUGH_EVIDENCE: 1,
    Recommendation.WITH_CONDITIONS: 2,
    "": 3,
    Recommendation.READY: 4,
}


@dataclass(frozen=True, slots=True)
class Weakness:
    """A dimension below the bar, or the lowest ones above it."""

    title: str
    level: int


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """One agent in a list. `published` is its last published review; `draft` the number of a review being written."""

    agent: Agent
    published: Published | None
    last_run: Run | None
    open_steps: int
    overdue_steps: int
    draft: int | None

    @property
    def recommendation(self) -> str:
        return self.published.recommendation.words if self.published else ""

    @property
    def age_days(self) -> int | None:
        moment = self.published.revision.published_at if self.published else None
        return (timezone.now() - moment).days if moment else None

    @property
    def age_words(self) -> str:
        days = self.age_days
        if days is None:
            return ""
        return "today" if days < 1 else f"{format_quantity(days, 'day')} ago"

    @property
    def bar_words(self) -> str:
        verdict = self.published.verdict if self.published else None
        return BAR_WORDS[verdict.outcome] if verdict else ""

    @property
    def last_run_url(self) -> str:
        run = self.last_run
        return reverse("run", args=[self.agent.client.slug, self.agent.slug, run.pk]) if run else ""

    @property
    def profile_rows(self) -> list[ProfileRow]:
        if self.published is None:
            return []
        return [
            ProfileRow(self.published.title_of(score.dimension), (Score(score.level, score.mark_basis),))
            for score in self.published.scores
        ]

    @property
    def weakest(self) -> list[Weakness]:
        """The lowest levels of the last published review, at most three; the bar and above only if all are."""
        if self.published is None:
            return []
        titles = {dimension.id: dimension.title for dimension in self.published.rubric.dimensions}
        assessed = [score for score in self.published.scores if score.level is not None]
        lowest = sorted(assessed, key=_level)[:WEAKEST]
        below = [score for score in lowest if _level(score) < self.published.rubric.bar] or lowest[:1]
        return [Weakness(titles[score.dimension], _level(score)) for score in below]


def _level(score: ScorePart) -> int:
    return score.level if score.level is not None else 0


def list_agent_standings(clients: Iterable[Client], *, for_client: bool) -> list[AgentStanding]:
    """Return the agents of the clients, worst first. Five queries, whatever their number."""
    newest = Run.objects.filter(agent=OuterRef("pk"))
    if for_client:
        newest = newest.filter(visibility=Visibility.CLIENT)
    latest_run = newest.order_by("-at", "-id").values("pk")[:1]
    agents = list(
        Agent.objects.filter(client__in=clients).select_related("client").annotate(last_run_id=Subquery(latest_run))
    )
    runs = Run.objects.in_bulk([agent.last_run_id for agent in agents if agent.last_run_id])
    published = _read_latest(agents)
    steps = _count_steps(agents, for_client=for_client)
    drafts = {} if for_client else _list_drafts(agents)
    standings = [
        AgentStanding(
            agent=agent,
            published=published.get(agent.pk),
            last_run=runs.get(agent.last_run_id),
            open_steps=steps.get(agent.pk, (0, 0))[0],
            overdue_steps=steps.get(agent.pk, (0, 0))[1],
            draft=drafts.get(agent.pk),
        )
        for agent in agents
    ]
    return sorted(standings, key=_worst_first)


def get_agent_standing(agent: Agent, *, for_client: bool) -> AgentStanding:
    """Return one agent as the lists show it."""
    return next(s for s in list_agent_standings([agent.client], for_client=for_client) if s.agent == agent)


def _worst_first(standing: AgentStanding) -> tuple[int, int, int, str]:
    value = standing.published.recommendation.value if standing.published else ""
    return (ORDER.get(value, 3), -standing.overdue_steps, -(standing.age_days or 0), standing.agent.name)


def _read_latest(agents: Sequence[Agent]) -> dict[object, Published]:
    """Return the client snapshot of the newest published revision of the newest published review of each agent."""
    newest = (
        Revision.objects.filter(review__agent=OuterRef("revision__review__agent"), state=RevisionState.PUBLISHED)
        .order_by("-review__number", "-number")
        .values("pk")[:1]
    )
    snapshots = Snapshot.objects.filter(kind=SnapshotKind.CLIENT, revision__review__agent__in=agents)
    snapshots = snapshots.filter(revision=Subquery(newest)).select_related("revision__review")
    return {snapshot.revision.review.agent_id: read_snapshot(snapshot.body) for snapshot in snapshots}


def _count_steps(agents: Sequence[Agent], *, for_client: bool) -> dict[object, tuple[int, int]]:
    steps = NextStep.objects.filter(agent__in=agents, state__in=OPEN_STATES).order_by()
    if for_client:
        published = Revision.objects.filter(state=RevisionState.PUBLISHED)
        steps = steps.filter(visibility=Visibility.CLIENT, appearances__revision__in=published)
    overdue = Q(due__lt=timezone.localdate())
    rows = steps.values_list("agent").annotate(
        open=Count("pk", distinct=True), overdue=Count("pk", filter=overdue, distinct=True)
    )
    return {agent_id: (number, late) for agent_id, number, late in rows}


def _list_drafts(agents: Sequence[Agent]) -> dict[object, int]:
    drafts = Revision.objects.exclude(state=RevisionState.PUBLISHED).filter(review__agent__in=agents)
    return dict(drafts.order_by("review__number").values_list("review__agent", "review__number"))


def list_open_steps(client: Client, *, for_client: bool) -> list[NextStep]:
    """Return the client's open next steps, most urgent first; a client sees those of published reviews."""
    steps = NextStep.objects.filter(client=client, state__in=OPEN_STATES).select_related("agent__client")
    if for_client:
        published = Revision.objects.filter(state=RevisionState.PUBLISHED)
        steps = steps.filter(visibility=Visibility.CLIENT, appearances__revision__in=published).distinct()
    return sorted(steps, key=lambda step: (step.due or date.max, step.priority, step.created_at))


def list_publications(client: Client) -> list[Revision]:
    """Return what was published for the client, newest first."""
    revisions = Revision.objects.filter(client=client, state=RevisionState.PUBLISHED)
    return list(revisions.select_related("review__agent", "review__client", "client").order_by("-published_at")[:20])
