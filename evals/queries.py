"""Reads of runs that pages and API share. Lists page by key (at, id), never by offset."""

import base64
import json
import uuid
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.http import urlencode

from evals.class_table import ClassFilter
from evals.models import Run
from evals.records import Category, Mode, Origin, Session
from reliability.errors import AppError

PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What the address asks for; `''` selects everything. Unknown words select nothing but say so nowhere: they are
    dropped, as an old link should still open."""

    suite: str = ""
    branch: str = ""
    agent_version: str = ""
    mode: str = ""
    origin: str = ""
    session: str = ""
    result: str = ""  # "failing", "unknown", "errors", "breached"
    q: str = ""
    after: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "RunFilter":
        return cls(**{field.name: query.get(field.name, "")[:200].replace("\0", "") for field in fields(cls)})

    def query_string(self, **changes: str) -> str:
        values = asdict(self) | {"after": ""} | changes
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in asdict(self).items() if name != "after")


RUN_FILTERS = tuple(field.name for field in fields(RunFilter) if field.name != "after")
RESULT_CHOICES = {
    "failing": Q(attempts_failed__gt=0),
    "unknown": Q(attempts_unknown__gt=0),
    "errors": Q(attempts_error__gt=0),
    "breached": Q(containment_breached__gt=0),
}


@dataclass(frozen=True, slots=True)
class RunPage:
    runs: list[Run]
    next_cursor: str  # '' at the end


def list_run_page(runs: QuerySet[Run], chosen: RunFilter, *, most: int = PAGE_SIZE) -> RunPage:
    """Return one page of `runs`, newest first. One query."""
    runs = _filter_runs(runs, chosen).order_by("-at", "-id")
    if cursor := _decode_cursor(chosen.after):
        at, run_id = cursor
        runs = runs.filter(Q(at__lt=at) | Q(at=at, id__lt=run_id))
    found = list(runs[: most + 1])
    more = len(found) > most
    return RunPage(found[:most], _encode_cursor(found[most - 1]) if more else "")


def _filter_runs(runs: QuerySet[Run], chosen: RunFilter) -> QuerySet[Run]:
    for name in ("suite", "branch", "agent_version"):
        if value := getattr(chosen, name):
            runs = runs.filter(**{name: value})
    for name, words in (("mode", Mode), ("origin", Origin), ("session", Session)):
        value = getattr(chosen, name)
        if value in tuple(words):
            runs = runs.filter(**{name: words(value)})
    if chosen.result in RESULT_CHOICES:
        runs = runs.filter(RESULT_CHOICES[chosen.result])
    if chosen.q:
        runs = runs.filter(
            Q(label__icontains=chosen.q)
            | Q(suite__icontains=chosen.q)
            | Q(commit__istartswith=chosen.q)
            | Q(branch__icontains=chosen.q)
            | Q(agent_version__icontains=chosen.q)
            | Q(model__icontains=chosen.q)
        )
    return runs


def read_limit(query: QueryDict) -> int:
    """Return the page size asked for. Raises `AppError` (422) when it is no number from 1 to 200."""
    value = query.get("limit", str(PAGE_SIZE))
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= MAX_PAGE_SIZE:
        expected = f"a whole number from 1 to {MAX_PAGE_SIZE}"
        raise AppError(
            "Not accepted in the query: limit.",
            code="invalid_parameters",
            errors=[{"parameter": "limit", "message": f"limit: {value[:40]!r} is not accepted", "expected": expected}],
        )
    return int(value)


def _encode_cursor(run: Run) -> str:
    return base64.urlsafe_b64encode(json.dumps([run.at.isoformat(), str(run.pk)]).encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    """Return the place, or None for a cursor that is not one of ours: the list then starts anew."""
    try:
        at, run_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return datetime.fromisoformat(at).astimezone(UTC), uuid.UUID(run_id)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def read_class_filter(query: QueryDict) -> ClassFilter:
    category = query.get("category", "")
    return ClassFilter(
        category=Category(category) if category in tuple(Category) else None,
        variant=query.get("variant", "").replace("\0", "") or None,
        class_id=query.get("class", "").replace("\0", ""),
    )


def list_filter_choices(runs: QuerySet[Run]) -> dict[str, list[str]]:
    """Return the suites, branches and versions that occur, for the filter's lists; the latest hundred of each."""
    return {
        name: list(runs.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()[:100])
        for name in ("suite", "branch", "agent_version")
    }
