"""What an agent's page says: how it is now, and which way it is going."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from django.utils import timezone

from evals import access
from evals.class_table import ClassGroup, list_class_groups
from evals.contexts import BUCKETS_SHOWN, OPEN_BUCKETS
from evals.measures.comparison import VERDICT_WORDS, Comparison, Verdict
from evals.models import Agent, Import, ImportState, Run
from evals.run_rows import RunRow, list_run_rows
from evals.scenario_results import compare
from evals.taxonomies_store import taxonomy_of
from reliability.access import Standing
from reliability.marks import TrendEvent, TrendPoint

RECENT_RUNS = 10
TREND_RUNS = 30
COMPARED_ON_OVERVIEW = 5_000  # attempts: beyond that the comparison has its own page
TELLING = (Verdict.TOO_FEW_CHANGES, Verdict.NO_DIFFERENCE_SHOWN, Verdict.BETTER, Verdict.WORSE)
REFUSED_SHOWN = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Change:
    """What the latest run changed against the one before, in one line."""

    before: Run
    comparison: Comparison

    @property
    def words(self) -> str:
        return VERDICT_WORDS[self.comparison.verdict]

    @property
    def counts(self) -> list[tuple[str, int]]:
        sizes = self.comparison.counts
        return [(BUCKETS_SHOWN[bucket][0].lower(), sizes[bucket]) for bucket in OPEN_BUCKETS]


@dataclass(frozen=True, slots=True)
class AgentOverview:
    """How the agent is now. `latest` is its newest visible run."""

    rows: list[RunRow]
    groups: list[ClassGroup]  # of the latest run
    change: Change | None
    points: list[TrendPoint]
    events: list[TrendEvent]
    waiting: list[Import]  # uploads that are not runs yet, or were refused lately

    @property
    def latest(self) -> RunRow | None:
        return self.rows[0] if self.rows else None


def agent_overview(standing: Standing, agent: Agent) -> AgentOverview:
    runs = list(access.list_runs(standing).filter(agent=agent)[:TREND_RUNS])
    rows = list_run_rows(runs)
    alike = _list_alike(rows)
    return AgentOverview(
        rows=rows[:RECENT_RUNS],
        groups=list_class_groups(runs[0], taxonomy_of(agent.client_id)) if runs else [],
        change=_latest_change(runs),
        points=[_trend_point(row) for row in alike],
        events=_list_events(alike),
        waiting=_list_waiting(standing, agent),
    )


def _list_alike(rows: list[RunRow]) -> list[RunRow]:
    """Return the runs that one line may join, oldest first, of each day the last one: they share the latest one's
    suite, mode and origin, and hold one measurement each."""
    if not rows or not rows[0].has_rate:
        return []
    latest = rows[0].run
    alike = [row for row in rows if row.has_rate and _is_like(row.run, latest) and row.is_settled]
    last_of_day = {timezone.localdate(row.run.at): row for row in reversed(alike)}
    return list(last_of_day.values()) if len(last_of_day) > 1 else []


def _is_like(run: Run, other: Run) -> bool:
    return (run.suite, run.mode, run.origin, run.format) == (other.suite, other.mode, other.origin, other.format)


def _trend_point(row: RunRow) -> TrendPoint:
    interval = row.measure.interval
    return TrendPoint(
        at=row.run.at,
        value=row.measure.reliability,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        volume=row.measure.counts.determinate,
        label=f"{row.run}, {row.run.at.day} {row.run.at:%b %Y}",
    )


def _list_events(rows: list[RunRow]) -> list[TrendEvent]:
    """Mark where the agent's version or its model changed."""
    events = []
    for before, after in pairwise(rows):
        names = [
            new
            for old, new in (
                (before.run.agent_version, after.run.agent_version),
                (before.run.model, after.run.model),
            )
            if new and new != old
        ]
        if names:
            events.append(TrendEvent(at=after.run.at, label=", ".join(names)[:40]))
    return events


def _latest_change(runs: list[Run]) -> Change | None:
    if not runs or runs[0].attempts_recorded > COMPARED_ON_OVERVIEW:
        return None
    latest = runs[0]
    before = next((run for run in runs[1:] if _is_like(run, latest) and run.at < latest.at), None)
    if before is None or before.attempts_recorded > COMPARED_ON_OVERVIEW:
        return None
    comparison = compare(before, latest)
    return Change(before, comparison) if comparison.verdict in TELLING else None


def _list_waiting(standing: Standing, agent: Agent) -> list[Import]:
    if not standing.may_upload:
        return []
    jobs = Import.objects.filter(agent=agent, dry_run=False, created_at__gte=timezone.now() - REFUSED_SHOWN)
    jobs = jobs.exclude(state=ImportState.DONE)
    if not standing.is_internal:
        jobs = jobs.filter(user=standing.user)
    return list(jobs.select_related("artifact", "agent", "client", "token", "user")[:5])
