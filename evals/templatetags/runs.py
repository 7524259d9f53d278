"""How facts of runs are written on pages. Text that came from outside goes through `visible`."""

import json
import re
import unicodedata
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from evals import wording
from evals.codes import words_of
from evals.measures.counts import AttemptCounts, Counts
from evals.measures.display import (
    FINDING_WORDS,
    format_counts,
    format_milliseconds,
    format_money,
    format_quantity,
    format_range,
    format_rate,
)
from evals.measures.intervals import Interval
from evals.records import Containment, Decision, Fault, Finding, Outcome, Session
from evals.taxonomy import Taxonomy
from reliability import marks

register = template.Library()

SHOWN_JSON = 40_000  # characters
# Control, format and filler characters, line separators, variation selectors above the base plane, private use.
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f\U000e0080-\U000e0fff\ue000-\uf8ff]|\r(?!\n)"
)
TAGS = re.compile("[\U000e0000-\U000e007f]+")
JOINERS = "\u200c\u200d"  # honest between letters of many scripts and in emoji
DIRECTIONS = "\u200e\u200f"


@register.filter
def visible(text: object) -> SafeString:
    """Return the text escaped, with each character that nobody could see shown as its number."""
    plain = str(text if text is not None else "")
    if UNSEEN.search(plain) is None:
        return escape(plain)
    shown: list[str] = []
    end = 0
    for match in UNSEEN.finditer(plain):
        if match.start() < end:
            continue
        shown.append(escape(plain[end : match.start()]))
        mark, end = _shown_character(plain, match.start())
        shown.append(mark)
    return mark_safe("".join(shown) + escape(plain[end:]))  # noqa: S308 (every part is escaped)


def _shown_character(text: str, at: int) -> tuple[str, int]:
    """Return how the character is shown, and where the text goes on."""
    character = text[at]
    if tags := TAGS.match(text, at):
        hidden = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) < 0xE007F else "·" for c in tags.group())
        title = f"{len(hidden)} invisible tag characters"
        return format_html('<span class="unseen" title="{}">tags: {}</span>', title, hidden), tags.end()
    if character in JOINERS and at and ord(text[at - 1]) > 0x7F:
        return character, at + 1
    code = f"U+{ord(character):04X}"
    title = unicodedata.name(character, "") or {"\x1b": "ESCAPE"}.get(character, "control character")
    return format_html('<span class="unseen" title="{}">{}</span>', title, code), at + 1


@register.filter
def plain(text: object) -> str:
    """Return the text for places without markup (titles, options, labels): unseen characters as ‹U+202E›."""
    return UNSEEN.sub(lambda found: f"‹U+{ord(found.group()):04X}›", str(text))


@register.filter
def pretty(value: Any) -> SafeString:
    """Return a JSON value laid out over lines, its text made visible."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False)
    if len(text) > SHOWN_JSON:
        text = text[:SHOWN_JSON] + f"\n… {len(text) - SHOWN_JSON:,} more characters"
    return visible(text)


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """Return "2 Nov 2026, 09:14", with seconds and zone on hover."""
    return _time(value, f"{value.day} {value:%b %Y, %H:%M}") if (value := _local(value)) else ""


@register.filter
def day(value: datetime | None) -> SafeString | str:
    """Return "2 Nov 2026", with time and zone on hover."""
    return _time(value, f"{value.day} {value:%b %Y}") if (value := _local(value)) else ""


@register.filter
def clock(value: datetime | None) -> SafeString | str:
    """Return "09:14:05", with date and zone on hover."""
    return _time(value, f"{value:%H:%M:%S}") if (value := _local(value)) else ""


def _local(value: datetime | None) -> datetime | None:
    return timezone.localtime(value) if value else None


def _time(value: datetime, words: str) -> SafeString:
    exact = f"{value.day} {value:%b %Y, %H:%M:%S %Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact, words)


@register.simple_tag
def counts_bar(counts: Counts, *, width: int = 140) -> SafeString:
    """Bar of counts that have no common rate: nor does its sentence give one."""
    return _counts_bar(counts, width)


@lru_cache(maxsize=1024)
def _counts_bar(counts: Counts, width: int) -> SafeString:
    drawn = marks.result_bar(counts, width=width)
    bar = replace(drawn, sentence=f"{drawn.words}, of {counts.total:,}.")
    return render_to_string("marks/result_bar.html", {"bar": bar, "top": 0, "height": 10, "words": False})


@register.filter
def rate(value: Fraction | None) -> str:
    return format_rate(value)


@register.filter
def ends(interval: Interval | None) -> str:
    """Return the two ends of an interval; level and method stand in the column's head."""
    return format_range((interval.low, interval.high) if interval else None)


@register.filter
def milliseconds(value: float | None) -> str:
    return format_milliseconds(value)


@register.filter
def money(value: Decimal | None) -> str:
    return format_money(value)


@register.filter
def quantity(number: int, noun: str) -> str:
    """Return "3 attempts"; an odd plural follows a comma: "class,classes"."""
    singular, _, plural = noun.partition(",")
    return format_quantity(number, singular, plural)


@register.filter
def largest_first(totals: dict[str, int]) -> list[tuple[str, int]]:
    """Return the items in an order of their own: a database need not keep that of the artifact."""
    return sorted(totals.items(), key=lambda item: (-item[1], item[0]))


@register.filter
def thousands(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


@register.filter
def percent_of(part: int, whole: int) -> int:
    """Whole per cent for a progress bar; never 100 before the end."""
    return 100 if part >= whole else part * 100 // whole


@register.filter
def finding_words(finding: Finding) -> str:
    return FINDING_WORDS[finding]


@register.filter
def finding_sentence(finding: Finding) -> str:
    return wording.FINDING_SENTENCES[finding]


@register.filter
def decision_words(decision: Decision) -> str:
    return wording.DECISION_WORDS[decision]


@register.filter
def session_words(session: Session) -> str:
    return wording.SESSION_WORDS[session]


@register.filter
def session_sentence(session: Session) -> str:
    return wording.SESSION_SENTENCES[session]


@register.filter
def fault_words(fault: Fault) -> str:
    return wording.FAULT_WORDS[fault]


@register.filter
def outcome_sentence(outcome: str) -> str:
    return wording.OUTCOME_SENTENCES[Outcome(outcome)]


@register.filter
def containment_sentence(containment: str) -> str:
    return wording.CONTAINMENT_SENTENCES[Containment(containment)]


@register.filter
def reason_sentence(code: str) -> str:
    return wording.reason_sentence(code)


@register.filter
def spaced(word: str) -> str:
    """Return "timed_out" as "timed out"."""
    return word.replace("_", " ")


@register.filter
def counts_words(counts: Counts | AttemptCounts) -> str:
    return format_counts(counts)


@register.filter
def category_words(mask: int) -> str:
    return words_of(mask)


@register.filter
def class_title(class_id: str | None, taxonomy: Taxonomy) -> str:
    return taxonomy.title_of(class_id or "")
