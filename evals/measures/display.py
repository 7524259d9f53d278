"""How numbers are written, once for page, API, command line and PDF (DESIGN 4): one decimal, a trailing .0 dropped."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from ..records import Finding
from .counts import AttemptCounts, Counts, ExecutionBasis, ExecutionRate
from .intervals import Interval, Method, UpperBound

NO_RATE = "no determinate results"
NOT_RECORDED = "not recorded"
NO_CHANGE = "no change"

METHOD_WORDS = {
    Method.WILSON_TWO_SIDED: "Wilson, two-sided",
    Method.EXACT_ONE_SIDED: "exact, one-sided",
}
FINDING_WORDS = {
    Finding.USER_VISIBLE: "user-visible",
    Finding.HOST_CORRECTED: "host-corrected",
    Finding.GUARDED_OR_DISCLOSED: "guarded or disclosed",
    Finding.UNCLASSIFIED: "unclassified",
}
BASIS_WORDS = {
    ExecutionBasis.PLANNED: ("planned", ""),
    ExecutionBasis.RECORDED: ("recorded", " (the number planned is unknown)"),
    ExecutionBasis.RECORDED_OVER_PLAN: ("recorded", " (more than planned)"),
}


def format_rate(rate: Fraction | None) -> str:
    """Return a rate between 0 and 1 as a percentage that never rounds to 0% or 100%: those are said only if exact."""
    if rate is None:
        return NO_RATE
    tenths = _tenths_of_percent(rate)
    if tenths >= 1000 and rate < 1:
        return ">99.9%"
    if tenths <= 0 and rate > 0:
        return "<0.1%"
    return f"{_from_tenths(tenths)}%"


def format_percent(value: Fraction) -> str:
    """Return a ratio that may be negative or above 1, such as a budget's remainder: "−400%"."""
    tenths = _tenths_of_percent(abs(value))
    if tenths == 0 and value != 0:
        return "−<0.1%" if value < 0 else "<0.1%"
    return f"{'−' if value < 0 else ''}{_from_tenths(tenths)}%"


def format_range(value_range: tuple[Fraction, Fraction] | None) -> str:
    if value_range is None:
        return NO_RATE
    low, high = (format_rate(end) for end in value_range)
    return low if low == high else f"{low}–{high}"


def format_interval(interval: Interval | None) -> str:
    """Return an interval with its level and method: "95% interval 72.2%–100% (Wilson, two-sided)"."""
    if interval is None:
        return NO_RATE
    ends = format_range((interval.low, interval.high))
    return f"{format_rate(interval.level)} interval {ends} ({METHOD_WORDS[interval.method]})"


def format_upper_bound(bound: UpperBound | None) -> str:
    """Return a bound with what it rests on: "0 of 30: at most 9.5% (95%, exact, one-sided)"."""
    if bound is None:
        return NO_RATE
    method = f"{format_rate(bound.level)}, {METHOD_WORDS[bound.method]}"
    return f"{bound.events:,} of {bound.n:,}: at most {format_rate(bound.value)} ({method})"


def format_counts(counts: Counts | AttemptCounts) -> str:
    """Return all four outcomes, also those at 0: "12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR"."""
    return f"{counts.passed:,} PASS, {counts.failed:,} FAIL, {counts.unknown:,} UNKNOWN, {counts.error:,} ERROR"


def format_findings(counts: Counts) -> str:
    """Return how far the failures reached, naming only what occurred: "29 host-corrected, 5 user-visible"."""
    parts = [f"{number:,} {FINDING_WORDS[finding]}" for finding, number in counts.failed_by_finding.items() if number]
    return ", ".join(parts) or "no failures"


def format_execution(execution: ExecutionRate) -> str:
    """Return the execution rate with its basis: "10%: 1 of 10 planned attempts ended without ERROR"."""
    if execution.rate is None:
        return "no attempts"
    word, aside = BASIS_WORDS[execution.basis]
    sentence = f"{execution.ended:,} of {execution.expected:,} {word} attempts ended without ERROR"
    return f"{format_rate(execution.rate)}: {sentence}{aside}"


def format_missing(attempts: AttemptCounts) -> str:
    """Return "3 attempts missing", or nothing when all are there."""
    if attempts.missing == 0:
        return ""
    return f"{format_quantity(attempts.missing, 'attempt')} missing"


def format_quantity(number: int, singular: str, plural: str = "") -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def format_number(value: Fraction) -> str:
    """Return a plain number to one decimal, such as failures allowed: "0.2"; "<0.1" rather than a false 0."""
    tenths = _rounded(abs(value) * 10)
    if tenths == 0 and value != 0:
        return "−<0.1" if value < 0 else "<0.1"
    return f"{'−' if value < 0 else ''}{_from_tenths(tenths)}"


def format_points(change: Fraction | None) -> str:
    """Return the difference of two rates in percentage points: "+12.5 points", "−3 points"."""
    if change is None:
        return "cannot be compared"
    if change == 0:
        return NO_CHANGE
    sign = "+" if change > 0 else "−"
    tenths = _tenths_of_percent(abs(change))
    return f"{sign}{_from_tenths(tenths) if tenths else '<0.1'} {'point' if tenths == 10 else 'points'}"


def format_p_value(p: Fraction) -> str:
    """Return a probability with its letter: "p = 0.031", and never a rounded 0."""
    thousandths = _rounded(p * 1000)
    if thousandths == 0:
        return "p < 0.001"
    return f"p = {thousandths // 1000}.{thousandths % 1000:03}".rstrip("0").rstrip(".")


def format_money(usd: Decimal | None) -> str:
    """Return US dollars to the cent, and below one dollar to a hundredth of a cent where that says more."""
    if usd is None:
        return NOT_RECORDED
    sign, amount = ("−" if usd < 0 else ""), abs(usd)
    if 0 < amount < Decimal("0.00005"):
        return f"{sign}<$0.0001"
    if amount >= 1:
        return f"{sign}${amount.quantize(Decimal('0.01'), ROUND_HALF_UP):,}"
    whole, _, decimals = str(amount.quantize(Decimal("0.0001"), ROUND_HALF_UP)).partition(".")
    return f"{sign}${whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"


def format_milliseconds(milliseconds: float | None) -> str:
    """Return a duration in the unit a person would use: "812 ms", "1.8 s", "2 min 5 s"."""
    if milliseconds is None:
        return NOT_RECORDED
    if 0 < milliseconds < 1:
        return "<1 ms"
    whole = _rounded(Fraction(milliseconds))
    if whole < 1000:
        return f"{whole} ms"
    tenths = _rounded(Fraction(milliseconds) / 100)
    if tenths < 600:
        return f"{_from_tenths(tenths)} s"
    minutes, seconds = divmod(_rounded(Fraction(milliseconds) / 1000), 60)
    return f"{minutes:,} min {seconds} s" if seconds else f"{minutes:,} min"


def _rounded(value: Fraction) -> int:
    """Round half up; `round` would go to the even neighbour, which readers take for an error."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def _tenths_of_percent(value: Fraction) -> int:
    return _rounded(value * 1000)


def _from_tenths(tenths: int) -> str:
    whole, tenth = divmod(tenths, 10)
    return f"{whole:,}.{tenth}" if tenth else f"{whole:,}"
