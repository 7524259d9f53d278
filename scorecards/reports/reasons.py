"""The three reasons of the executive page: the author's own words first, then what the levels say."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import strip_tags

from scorecards.markdown import render_markdown
from scorecards.snapshot_reading import Snapshot

MOST = 3
LONGEST = 180  # characters: three of them leave room for the profile and the steps
LIST_MARK = re.compile(r"^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Reason:
    """Plain text; `is_cut` says that the whole stands in the section after the contents."""

    text: str
    is_cut: bool = False


def choose_reasons(snapshot: Snapshot) -> list[Reason]:
    """Return at most three. A list in what was written gives one reason an item, else a paragraph does."""
    written = [_shortened(text) for text in split_reasons(snapshot.recommendation.reasons)]
    return [*written, *_derive(snapshot)][:MOST]


def split_reasons(markdown: str) -> list[str]:
    """Return the items of the text's list as plain text; without a list, its paragraphs."""
    items: list[str] = []
    paragraphs: list[str] = []
    target, fresh = paragraphs, True
    for line in markdown.splitlines():
        if not line.strip():
            fresh = True
        elif LIST_MARK.match(line):
            target, fresh = items, False
            items.append(LIST_MARK.sub("", line))
        elif fresh:
            target, fresh = paragraphs, False
            paragraphs.append(line)
        else:
            target[-1] += " " + line.strip()
    return [text for block in items or paragraphs if (text := plain_text(block))]


def plain_text(markdown: str) -> str:
    return " ".join(html.unescape(strip_tags(render_markdown(markdown))).split())


def _shortened(text: str) -> Reason:
    if len(text) <= LONGEST:
        return Reason(text)
    return Reason(cut_at_word(text, LONGEST), is_cut=True)


def cut_at_word(text: str, most: int) -> str:
    """Return the text, or its beginning up to the last whole word and an ellipsis."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:.") + "…"


def _derive(snapshot: Snapshot) -> Iterator[Reason]:
    """Yield what the levels alone say, the lowest first: it fills up where fewer than three reasons were written."""
    bar = snapshot.rubric.bar
    scores = [score for score in snapshot.scores if score.level is not None]
    for score in sorted(scores, key=lambda score: score.level or 0):
        if (score.level or 0) < bar:
            yield Reason(f"{snapshot.title_of(score.dimension)} stands at level {score.level}, below the bar of {bar}.")
    for score in snapshot.scores:
        title = snapshot.title_of(score.dimension)
        if score.basis == "asserted":
            yield Reason(f"{title} stands at level {score.level} on assertion only: its evidence does not reach.")
        elif score.standing == "not_assessed" and snapshot.levels_shown:
            yield Reason(f"{title} was not assessed.")
    if snapshot.verdict and snapshot.verdict.outcome == "met":
        yield Reason(f"Every applicable dimension stands at level {bar} or above, on evidence.")
