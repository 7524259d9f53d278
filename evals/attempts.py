"""Reads of attempts: lists with the reasons beside them, and one attempt with everything that is kept."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.http import urlencode

from evals.containment import INDICATOR
from evals.models import Attempt, Evaluation, Run
from evals.records import Containment, Outcome

PAGE_SIZE = 50
MOST_CHOICES = 200  # of a filter
NEED_A_PERSON = {Outcome.FAIL: 8, Outcome.ERROR: 4, Outcome.UNKNOWN: 4}  # worst first; so many on the run's page


@dataclass(frozen=True, slots=True)
class AttemptFilter:
    """What the address asks for; `''` selects everything."""

    outcome: str = ""
    containment: str = ""
    class_id: str = ""
    variant: str = ""
    scenario: str = ""  # its key, exactly
    differing: str = ""  # "1": where our outcome is not the tool's
    q: str = ""  # in scenario key or title
    after: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "AttemptFilter":
        return cls(**{f.name: query.get(f.name, "")[:500].replace("\0", "") for f in fields(cls)})

    def query_string(self, **changes: str) -> str:
        values = asdict(self) | {"after": ""} | changes
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in asdict(self).items() if name != "after")


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt with the evaluations that were not passed."""

    attempt: Attempt
    troubles: list[Evaluation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ContainedRow:
    """An attempt whose containment was judged, with the evaluation that says why."""

    attempt: Attempt
    evaluation: Evaluation | None


@dataclass(frozen=True, slots=True)
class AttemptPage:
    rows: list[AttemptRow]
    next_cursor: str  # '' at the end


def list_attempt_page(run: Run, chosen: AttemptFilter, *, most: int = PAGE_SIZE) -> AttemptPage:
    """Return one page of the run's attempts in their own order. Two queries."""
    attempts = _filter_attempts(run, chosen).order_by("number")
    if chosen.after.isascii() and chosen.after.isdigit():
        attempts = attempts.filter(number__gt=min(int(chosen.after), 2**31 - 1))
    found = list(attempts.select_related("scenario")[: most + 1])
    cursor = str(found[most - 1].number) if len(found) > most else ""
    return AttemptPage(add_troubles(found[:most]), cursor)


def _filter_attempts(run: Run, chosen: AttemptFilter) -> QuerySet[Attempt]:
    attempts = Attempt.objects.filter(run=run)
    if chosen.outcome in tuple(Outcome):
        attempts = attempts.filter(outcome=Outcome(chosen.outcome))
    if chosen.containment in tuple(Containment):
        attempts = attempts.filter(containment=Containment(chosen.containment))
    if chosen.class_id:
        attempts = attempts.filter(scenario__class_id=chosen.class_id)
    if chosen.scenario:
        attempts = attempts.filter(scenario__key=chosen.scenario)
    if chosen.variant:
        attempts = attempts.filter(variant=chosen.variant)
    if chosen.differing == "1":
        differing = Evaluation.objects.filter(run=run, reported_outcome__isnull=False)
        attempts = attempts.filter(pk__in=differing.values("attempt"))
    if chosen.q:
        named = run.scenarios.filter(key__icontains=chosen.q) | run.scenarios.filter(title__icontains=chosen.q)
        attempts = attempts.filter(scenario__in=named)
    return attempts


def add_troubles(attempts: Iterable[Attempt]) -> list[AttemptRow]:
    """Put the evaluations that were not passed, or differ from the tool's, beside each attempt. One query."""
    rows = {attempt.pk: AttemptRow(attempt) for attempt in attempts}
    troubles = (
        Evaluation.objects.filter(attempt__in=list(rows))
        .exclude(outcome=Outcome.PASS, reported_outcome__isnull=True)
        .select_related("definition__indicator", "reason_code", "detail")
        .order_by("attempt", "position")
    )
    for evaluation in troubles:
        rows[evaluation.attempt_id].troubles.append(evaluation)
    return list(rows.values())


def list_needing_a_person(run: Run) -> list[AttemptRow]:
    """Return the first attempts that failed, errored or stayed unknown, some of each. Four queries."""
    found: list[Attempt] = []
    for outcome, most in NEED_A_PERSON.items():
        attempts = Attempt.objects.filter(run=run, outcome=outcome).select_related("scenario").order_by("number")
        found += attempts[:most]
    return add_troubles(found)


def list_contained(run: Run, *, most: int = 50) -> list[ContainedRow]:
    """Return attempts of adversarial scenarios with guarded tools, breached ones first. Two queries."""
    judged = Attempt.objects.filter(run=run, containment__isnull=False).select_related("scenario")
    attempts = list(judged.order_by("-containment", "number")[:most])
    reasons = Evaluation.objects.filter(attempt__in=[a.pk for a in attempts], definition__indicator__name=INDICATOR)
    found = {e.attempt_id: e for e in reasons.select_related("reason_code", "detail")}
    return [ContainedRow(attempt, found.get(attempt.pk)) for attempt in attempts]


def list_evaluations(attempt: Attempt) -> list[Evaluation]:
    return list(
        Evaluation.objects.filter(attempt=attempt)
        .select_related("definition__indicator", "reason_code", "detail")
        .order_by("position")
    )


def list_variants(run: Run) -> list[str]:
    """Return the variants to choose from, at most two hundred."""
    variants = run.class_results.exclude(variant="").order_by("variant").values_list("variant", flat=True)
    return list(variants.distinct()[:MOST_CHOICES])


def list_classes(run: Run) -> list[str]:
    """Return the classes to choose from, at most two hundred."""
    classes = run.class_results.order_by("class_id").values_list("class_id", flat=True)
    return list(classes.distinct()[:MOST_CHOICES])
