"""How a report writes facts: text from outside made visible, cut, dated; the rest are the words of every page."""

from datetime import UTC, date, datetime

from django import template
from django.utils.safestring import SafeString

from evals.measures.counts import AttemptCounts, Counts
from evals.measures.display import format_findings, format_missing, format_range
from evals.measures.intervals import Interval
from evals.templatetags.runs import visible
from scorecards.markdown import render_markdown
from scorecards.models import Effort
from scorecards.reports.reasons import cut_at_word

register = template.Library()


@register.filter
def seen(text: object) -> SafeString:
    """Return the text escaped, with what nobody could see written as its number."""
    return visible(text)


@register.filter
def cut(text: str, most: int) -> SafeString:
    return visible(cut_at_word(text, most))


@register.filter
def markdown(text: str) -> SafeString:
    return render_markdown(text)


@register.filter
def on(day: date | datetime | None) -> str:
    """Return "2 Nov 2026"; days of moments are those of UTC, so that a report reads the same everywhere."""
    if day is None:
        return ""
    moment = day.astimezone(UTC) if isinstance(day, datetime) else day
    return f"{moment.day} {moment:%b %Y}"


@register.filter
def exact(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@register.filter
def web_address(url: str) -> str:
    """Return the address if it leads to the web; what else a source may say is text only."""
    return url if url.startswith(("https://", "http://")) else "#sources"


@register.filter
def ends_or_none(interval: Interval | None) -> str:
    return format_range((interval.low, interval.high)) if interval else "none"


@register.filter
def missing_words(attempts: AttemptCounts) -> str:
    return format_missing(attempts)


@register.filter
def findings_words(counts: Counts) -> str:
    return format_findings(counts)


@register.filter
def effort_words(effort: str) -> str:
    return {Effort.S: "small (days)", Effort.M: "medium (weeks)", Effort.L: "large (months)"}.get(Effort(effort), "")
