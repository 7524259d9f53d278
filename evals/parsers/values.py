"""Single values that all formats share: times, days, addresses, ids, money and counts."""

import hashlib
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from evals.parsers.reading import CONTROL, storable

MAX_ID = 200
MAX_URL = 2_000
MAX_COUNT = 2**63 - 1  # what a database column holds
MAX_MONEY = 10**9
NO_IDS = (dict, list, bool)
NUMBERS = (int, float, str)  # and texts that may say one
EXACT_MONEY = 1_000_000  # below it a float times 10**9 keeps the digits of a billionth

TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:)(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
is_plain_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{1,6})?Z", re.ASCII).fullmatch
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
URL = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


@lru_cache(maxsize=4096)  # attempts and evaluations of one moment follow each other
def parse_time(text: str) -> datetime | None:
    """Read an RFC 3339 time with a zone, as UTC; None if it is none."""
    if is_plain_time(text):  # nearly all of them; and there are millions
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return None
    time, assumed = parse_loose_time(text)
    return None if assumed else time


def parse_loose_time(value: Any) -> tuple[datetime | None, bool]:
    """Read a time whose zone may be missing: then it is taken as UTC, and the second value is true."""
    match = TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None, False
    day, minutes, seconds, fraction, zone = match.groups()
    seconds = "59" if seconds == "60" else seconds  # a leap second, which datetime can't hold
    zone = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        time = datetime.fromisoformat(f"{day}T{minutes}{seconds}{(fraction or '')[:7]}{zone}")
        return time.astimezone(UTC), match.group(5) is None
    except (ValueError, OverflowError):
        return None, False


def parse_day(text: str) -> date | None:
    if DAY.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def is_http_url(text: str) -> bool:
    if URL.fullmatch(text) is None or CONTROL.search(text):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def as_url(value: Any) -> str:
    """Return an http or https address; '' for anything else."""
    text = str(value or "")
    return text if is_http_url(text) and len(text) <= MAX_URL else ""


def is_id(text: str) -> bool:
    return 1 <= len(text) <= MAX_ID and CONTROL.search(text) is None


def as_id(value: Any, *, limit: int = MAX_ID) -> str:
    """Make an id of what a tool wrote: one line, and where it is too long its end becomes a hash. '' for none."""
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, NO_IDS):
        return ""
    else:
        text = str(value)
    if len(text) <= limit and text.isprintable() and "  " not in text:  # nearly all of them
        return text.strip()
    text = storable(text)
    line = re.sub(r"\s+", " ", CONTROL.sub(" ", text)).strip()
    if len(line) <= limit:
        return line
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{line[: limit - 13]}…{digest}"


def first_id(values: Mapping[str, Any], *names: str) -> str:
    """Return the first of the named values that gives an id; '' if none does."""
    return next((found for name in names if (found := as_id(values.get(name)))), "")


def as_nano_dollars(value: Any) -> int | None:
    """Read US dollars from a number or its text, in billionths; None where it is no plausible cost."""
    number = as_number(value)
    return nano_dollars(number) if number is not None and 0 <= number < MAX_MONEY else None


def nano_dollars(dollars: float) -> int:
    """Return the nearest whole number of billionths of a dollar."""
    if dollars < EXACT_MONEY:
        return round(dollars * 1e9)
    # By way of repr: the shortest decimal that means this float, without its noise.
    return round(Decimal(repr(dollars)).scaleb(9))


def as_number(value: Any) -> float | None:
    """Read a finite number; None otherwise."""
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_positive(value: Any) -> float | None:
    number = as_number(value)
    return number if number is not None and number >= 0 else None


def as_count(value: Any) -> int | None:
    """Read a whole number that a database column holds; None otherwise."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        return None
    return value
