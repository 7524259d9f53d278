"""Finding evidence by typing: runs, their classes and attempts, and what the agent's evidence already holds."""

import uuid
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from evals.models import Agent, Attempt, ClassResult, Run
from evals.taxonomies_store import taxonomy_of
from scorecards.models import EvidenceItem, SourceType

MOST = 6  # of each kind
RUNS_LOOKED_AT = 20  # the latest ones, for classes and attempts


@dataclass(frozen=True, slots=True)
class Found:
    """`source` stands in the next address: "run:<id>", "class:<run>:<class>", "attempt:<run>:<n>", "item:<id>"."""

    kind: str
    source: str
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the person picked, read back from the address."""

    type: SourceType
    run: Run | None = None
    class_id: str = ""
    attempt_number: int | None = None
    item: EvidenceItem | None = None

    @property
    def words(self) -> str:
        """Say what was picked: "Class Goal hijack of nightly"."""
        if self.run and self.class_id:
            return f"Class {taxonomy_of(self.run.client_id).title_of(self.class_id)} of {self.run}"
        if self.attempt_number:
            return f"Attempt {self.attempt_number} of {self.run}"
        return f"Run {self.run}" if self.run else self.type.label


def search_evidence(agent: Agent, query: str) -> list[Found]:
    """Return what matches, the latest first: at most six of each kind. Four queries."""
    query = query.strip()[:200].replace("\0", "")
    return [
        *_find_items(agent, query),
        *_find_runs(agent, query),
        *_find_classes(agent, query),
        *_find_attempts(agent, query),
    ]


def _find_items(agent: Agent, query: str) -> list[Found]:
    items = EvidenceItem.objects.filter(agent=agent).order_by("-created_at")
    if query:
        items = items.filter(Q(claim__icontains=query) | Q(file_name__icontains=query) | Q(url__icontains=query))
    return [
        Found("Evidence", f"item:{item.pk}", item.claim[:100], item.get_grade_display().lower())
        for item in items[:MOST]
    ]


def _latest_runs(agent: Agent) -> list[Run]:
    return list(Run.objects.filter(agent=agent)[:RUNS_LOOKED_AT])


def _find_runs(agent: Agent, query: str) -> list[Found]:
    runs = Run.objects.filter(agent=agent)
    if query:
        runs = runs.filter(
            Q(label__icontains=query)
            | Q(suite__icontains=query)
            | Q(agent_version__icontains=query)
            | Q(commit__istartswith=query)
            | Q(branch__icontains=query)
            | Q(model__icontains=query)
        )
    return [Found("Run", f"run:{run.pk}", str(run), _known_by(run)) for run in runs[:MOST]]


def _known_by(run: Run) -> str:
    at = timezone.localtime(run.at)
    return " · ".join(known for known in (run.known_by, f"{at.day} {at:%b %Y %H:%M}") if known)


def _find_classes(agent: Agent, query: str) -> list[Found]:
    runs = {run.pk: run for run in _latest_runs(agent)}
    taxonomy = taxonomy_of(agent.client_id)
    words = query.lower()
    pairs = ClassResult.objects.filter(run__in=runs).order_by().values_list("run", "class_id").distinct()
    named = [(runs[run_id], class_id, taxonomy.title_of(class_id)) for run_id, class_id in pairs]
    named = [one for one in named if words in one[1].lower() or words in one[2].lower()]
    named.sort(key=lambda one: (-one[0].at.timestamp(), one[2]))
    return [
        Found("Class", f"class:{run.pk}:{class_id}", title, f"{run} · {_known_by(run)}")
        for run, class_id, title in named[:MOST]
    ]


def _find_attempts(agent: Agent, query: str) -> list[Found]:
    if not query:
        return []
    attempts = Attempt.objects.filter(run__in=[run.pk for run in _latest_runs(agent)])
    named = Q(scenario__key__icontains=query) | Q(scenario__title__icontains=query) | Q(trace_id=query)
    attempts = attempts.filter(named).select_related("scenario", "run").order_by("-run__at", "number")
    return [
        Found(
            "Attempt",
            f"attempt:{attempt.run_id}:{attempt.number}",
            str(attempt.scenario or attempt),
            f"{attempt.outcome} · {attempt.run} · {_known_by(attempt.run)}",
        )
        for attempt in attempts[:MOST]
    ]


def read_choice(agent: Agent, word: str) -> Chosen | None:
    """Return what an address picks; None when it picks nothing of this agent's."""
    kind, _, rest = word.partition(":")
    if kind in (SourceType.LINK, SourceType.FILE, SourceType.INTERVIEW):
        return Chosen(SourceType(kind))
    name, _, more = rest.partition(":")
    try:
        key = uuid.UUID(name)
    except ValueError:
        return None
    if kind == "item":
        item = EvidenceItem.objects.filter(agent=agent, pk=key).select_related("run").first()
        return Chosen(SourceType(item.source), run=item.run, item=item) if item else None
    run = Run.objects.filter(agent=agent, pk=key).first()
    return _choice_of_run(kind, run, more) if run else None


def _choice_of_run(kind: str, run: Run, more: str) -> Chosen | None:
    if kind == "run":
        return Chosen(SourceType.RUN, run=run)
    if kind == "class" and ClassResult.objects.filter(run=run, class_id=more).exists():
        return Chosen(SourceType.CLASS_RESULT, run=run, class_id=more)
    if kind == "attempt" and more.isascii() and more.isdigit() and len(more) < 10:
        return Chosen(SourceType.ATTEMPT, run=run, attempt_number=int(more))
    return None
