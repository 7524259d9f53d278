"""How the scorecard's facts are written on pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evals.measures.display import format_quantity
from reliability.access import Standing
from reliability.marks import ProfileRow, Score
from scorecards.conflicts import Differing
from scorecards.markdown import render_markdown
from scorecards.models import NextStep
from scorecards.rubric import Dimension
from scorecards.snapshot_reading import (
    DimensionText,
    EvidencePart,
    PracticePart,
    RunPart,
    ScorePart,
    Snapshot,
    StepPart,
)

register = template.Library()

NAMES = {"standing": "Assessment", "due": "Due", "is_condition": "Condition"}
TOOL_WORDS = {True: "", False: " (irreversible)", None: " (not said whether it can be undone)"}
STATE_WORDS = {"met": "Met", "not_met": "Not met", "not_seen": "Not seen", "not_applicable": "Not applicable"}


@register.filter
def markdown(text: str) -> SafeString:
    return render_markdown(text or "")


@register.filter
def on_day(value: date | None) -> SafeString | str:
    """Return a date as "2 Nov 2026"."""
    if value is None:
        return ""
    day = timezone.localtime(value).date() if isinstance(value, datetime) else value
    return format_html('<time datetime="{}">{}</time>', day.isoformat(), f"{day.day} {day:%b %Y}")


@register.filter
def is_overdue(due: date | None) -> bool:
    return due is not None and due < timezone.localdate()


@register.filter
def age_words(opened: datetime) -> str:
    """Return "3 days old", "new today"."""
    days = (timezone.localdate() - timezone.localtime(opened).date()).days
    return f"{format_quantity(days, 'day')} old" if days > 0 else "new today"


@register.filter
def short_hash(digest: str) -> str:
    return digest[:12]


@register.filter
def of(values: Mapping[str, Any], name: str) -> Any:
    """Return the entry of that name; '' without one."""
    return values.get(name, "")


@register.filter
def practice_words(state: str) -> str:
    return STATE_WORDS.get(state, state)


@register.filter
def profile_rows(snapshot: Snapshot) -> list[ProfileRow]:
    """Return the snapshot's scores as the rows of the profile."""
    return [
        ProfileRow(snapshot.title_of(score.dimension), (Score(score.level, score.mark_basis),))
        for score in snapshot.scores
    ]


@register.filter
def differing_name(one: Differing, names: object) -> str:
    """Return what people call a field: a form's label, or a practice's text."""
    return name_of(one.name, names)


@register.filter
def field_title(name: str, names: object) -> str:
    """Return "Rationale: " before a field's error; nothing before one of the whole form."""
    return "" if name == "__all__" else f"{name_of(name, names)}: "


def name_of(name: str, names: object) -> str:
    if isinstance(names, Dimension):
        practice = next((p for p in names.practices if name.endswith(p.id) and name != p.id), None)
        return practice.text if practice else NAMES.get(name, name.replace("_", " ").capitalize())
    fields: Mapping[str, Any] = getattr(names, "fields", {})
    label = fields[name].label if name in fields else None
    return str(label or NAMES.get(name, name.replace("_", " ").capitalize()))


@register.filter
def stored_words(value: Any) -> str:
    """Return a stored value as a person would say it."""
    match value:
        case None | "" | [] | ():
            return "nothing"
        case True | False:
            return "yes" if value else "no"
        case dict():
            return f"{value.get('name')}{TOOL_WORDS[value.get('reversible')]}"
        case list():
            return ", ".join(map(stored_words, value))
        case (state, reason):
            return f"{practice_words(state)}{': ' if reason else ''}{reason}"
        case date():
            return f"{value.day} {value:%b %Y}"
    return str(value).replace("_", " ") if str(value).islower() and " " not in str(value) else str(value)


@dataclass(frozen=True, slots=True)
class PublishedCard:
    item: EvidencePart
    practices: list[str]  # texts
    supports: bool


@register.filter
def evidence_of(snapshot: Snapshot, score: ScorePart) -> list[PublishedCard]:
    """Return the score's items once each, with the practices that they bear on."""
    texts = {practice.id: practice.text for practice in snapshot.dimension(score.dimension).practices}
    cards = []
    for item_id in dict.fromkeys(link.item for link in score.evidence):
        own = [link for link in score.evidence if link.item == item_id]
        item = snapshot.item(item_id)
        if item:
            practices = [texts[link.practice] for link in own if link.practice in texts]
            cards.append(PublishedCard(item, practices, own[0].supports))
    return cards


@register.filter
def dimension_of(snapshot: Snapshot, score: ScorePart) -> DimensionText:
    return snapshot.dimension(score.dimension)


@register.filter
def title_in(snapshot: Snapshot, dimension_id: str) -> str:
    return snapshot.title_of(dimension_id)


@register.filter
def practice_in(score: ScorePart, practice_id: str) -> PracticePart:
    return score.practice(practice_id)


@register.filter
def steps_in(snapshot: Snapshot, dimension_id: str) -> list[StepPart]:
    return snapshot.steps_of(dimension_id)


@register.filter
def run_in(snapshot: Snapshot, run_id: str) -> RunPart | None:
    return snapshot.run(run_id)


@register.filter
def state_at(dimension: DimensionText, level: int) -> str:
    return dimension.states[level]


@register.filter
def review_numbers(step: NextStep, standing: Standing) -> list[int]:
    """Return the numbers of the reviews that list the step, published ones only for a client."""
    shown = (a.revision for a in step.appearances.all() if standing.is_internal or a.revision.is_published)
    return sorted({revision.review.number for revision in shown})
