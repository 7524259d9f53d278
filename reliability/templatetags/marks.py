"""The marks of LOOK as template tags: a result in glyph and word, a bar, a level, a trend, a budget, a profile.

Small marks repeat on a page, so their markup is kept: the same numbers always draw the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from reliability import marks
from reliability.marks import HasCounts, ProfileRow, TrendEvent, TrendPoint

register = template.Library()

type Share = Fraction | float

OUTCOME_WORDS = {"PASS": "PASS", "FAIL": "FAIL", "UNKNOWN": "UNKNOWN", "ERROR": "ERROR"}
CONTAINMENT_WORDS = {"proven": "Proven", "unproven": "Unproven", "breached": "Breached"}


class HasEnds(Protocol):
    """An interval; `evals.measures.Interval` has these."""

    @property
    def low(self) -> Share: ...
    @property
    def high(self) -> Share: ...


@register.simple_tag
def outcome(name: str, *, word: bool = True, label: str = "") -> SafeString:
    """Glyph and word of PASS, FAIL, UNKNOWN or ERROR; `label` changes the word, word=False leaves the glyph alone."""
    return _sign("outcome", f"_glyph_{_known(str(name).upper(), OUTCOME_WORDS).lower()}", label or name.upper(), word)


@register.simple_tag
def containment(name: str | None, *, word: bool = True, label: str = "") -> SafeString | str:
    """Shield and word of proven, unproven or breached; nothing for an attempt that has no containment."""
    if not name:
        return ""
    known = _known(str(name).lower(), CONTAINMENT_WORDS)
    return _sign("containment", f"_shield_{known}", label or CONTAINMENT_WORDS[known], word)


def _known(name: str, words: dict[str, str]) -> str:
    if name not in words:
        raise template.TemplateSyntaxError(f"{name!r} is none of {', '.join(words)}")
    return name


@lru_cache(maxsize=256)
def _sign(kind: str, glyph: str, label: str, word: bool) -> SafeString:
    if word:
        return render_to_string(f"marks/{kind}.html", {"glyph": f"marks/{glyph}.html", "word": label})
    return render_to_string(f"marks/{glyph}.html", {"label": label})


@register.simple_tag
def result_bar(
    counts: HasCounts,
    interval: HasEnds | tuple[Share, Share] | None = None,
    *,
    width: int = 240,
    words: bool = True,
) -> SafeString:
    """Bar of the four outcomes with the interval above and the counts in words beside it."""
    numbers = _Numbers(counts.passed, counts.failed, counts.unknown, counts.error)
    return _result_bar(numbers, _ends(interval), width, words)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Counts that can be a cache's key, whatever object they came from."""

    passed: int
    failed: int
    unknown: int
    error: int


def _ends(interval: HasEnds | tuple[Share, Share] | None) -> tuple[Share, Share] | None:
    if interval is None or isinstance(interval, tuple):
        return interval
    return interval.low, interval.high


@lru_cache(maxsize=2048)
def _result_bar(numbers: _Numbers, ends: tuple[Share, Share] | None, width: int, words: bool) -> SafeString:
    bar = marks.result_bar(numbers, interval=ends, width=width)
    top = 8 if bar.whisker else 0
    return render_to_string("marks/result_bar.html", {"bar": bar, "top": top, "height": top + 10, "words": words})


@register.simple_tag
def level_scale(
    level: int | None,
    basis: str = "evidence",
    previous: int | None = None,
    *,
    width: int = 120,
    labels: bool = False,
    words: bool = True,
) -> SafeString:
    """Scale 0-5 with the bar at 3; basis is evidence, asserted, not_assessed or not_applicable."""
    return _level_scale(level, str(basis), previous, width, labels, words)


@lru_cache(maxsize=512)
def _level_scale(
    level: int | None, basis: str, previous: int | None, width: int, labels: bool, words: bool
) -> SafeString:
    scale = marks.level_scale(level, basis=basis, previous=previous, width=width)
    context = {"scale": scale, "end": width - 7, "middle": width // 2, "height": 32 if labels else 18}
    return render_to_string(
        "marks/level_scale.html", {**context, "labels": labels, "words": scale.words if words else ""}
    )


@register.simple_tag
def trend(
    points: Sequence[TrendPoint],
    events: Sequence[TrendEvent] = (),
    target: Share | None = None,
    *,
    width: int = 640,
    height: int = 200,
) -> SafeString:
    """Line with interval band over time; points and events are those of `reliability.marks`."""
    drawn = marks.trend(points, events=events, target=target, width=width, height=height)
    return render_to_string("marks/trend.html", {"t": drawn})


@register.simple_tag
def budget_bar(bad: int, allowed: Share, *, width: int = 240, words: bool = True) -> SafeString:
    """Allowance and what is used of it, past zero on the same scale, with the sentence beside it."""
    bar = marks.budget_bar(bad, allowed, width=width)
    context = {"bar": bar, "outline": round(bar.allowance - 1, 2), "words": words}
    return render_to_string("marks/budget_bar.html", context)


@register.simple_tag
def profile(rows: Sequence[ProfileRow], reviews: Sequence[str] = (), *, width: int = 560) -> SafeString:
    """Dot plot of the dimensions; `reviews` names up to four reviews, oldest first."""
    return render_to_string("marks/profile.html", {"p": marks.profile(rows, reviews=reviews, width=width)})
