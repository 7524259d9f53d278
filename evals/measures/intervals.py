"""Confidence intervals and bounds of a rate, without floats: the same bytes on every machine.

Sources: E. B. Wilson, "Probable Inference", JASA 22 (1927); C. J. Clopper and E. S. Pearson, Biometrika 26 (1934).
"""

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import isqrt

LEVEL = Fraction(95, 100)
ALPHA = 1 - LEVEL
Z = Fraction("1.959963984540054")  # 97.5% point of the standard normal distribution
GRID = 10**12  # bounds are irrational; they are kept to twelve digits
PRECISION = Context(prec=50)


class Method(StrEnum):
    """How a bound was found, and on which side. They disagree where it matters, so a result carries its own."""

    WILSON_TWO_SIDED = "wilson_two_sided"
    EXACT_ONE_SIDED = "exact_one_sided"


@dataclass(frozen=True, slots=True)
class Interval:
    """Two-sided interval of a rate seen `successes` times in `n`."""

    low: Fraction
    high: Fraction
    successes: int
    n: int
    method: Method = Method.WILSON_TWO_SIDED
    level: Fraction = LEVEL


@dataclass(frozen=True, slots=True)
class UpperBound:
    """One-sided: the rate of an event seen `events` times in `n` is at most `value`."""

    value: Fraction
    events: int
    n: int
    method: Method = Method.EXACT_ONE_SIDED
    level: Fraction = LEVEL


def wilson_interval(successes: int, n: int) -> Interval | None:
    """Return the two-sided 95% Wilson score interval; None without observations.

    low, high = (2x + z² ∓ z·√(z² + 4x(n − x)/n)) / (2(n + z²)), Wilson (1927) solved for the rate.
    """
    _check(successes, n)
    if n == 0:
        return None
    spread = Z * _square_root(Z**2 + Fraction(4 * successes * (n - successes), n))
    middle, width = 2 * successes + Z**2, 2 * (n + Z**2)
    # The formula gives exactly 0 and 1 at the ends, the rounded root only almost.
    low = Fraction(0) if successes == 0 else (middle - spread) / width
    high = Fraction(1) if successes == n else (middle + spread) / width
    return Interval(low=low, high=high, successes=successes, n=n)


def wilson_upper_bound(events: int, n: int) -> UpperBound | None:
    """Return the upper end of the two-sided Wilson interval of an event's rate."""
    interval = wilson_interval(events, n)
    if interval is None:
        return None
    return UpperBound(value=interval.high, events=events, n=n, method=Method.WILSON_TWO_SIDED)


@lru_cache(maxsize=4096)
def exact_upper_bound(events: int, n: int) -> UpperBound | None:
    """Return the exact one-sided 95% upper bound (Clopper-Pearson) of an event's rate; None without observations.

    It is the rate at which so few events would be seen in 5 of 100 samples: 1 − 0.05^(1/n) for none.
    """
    _check(events, n)
    if n == 0:
        return None
    with localcontext(PRECISION):
        value = _zero_event_bound(n) if events == 0 else _bisected_bound(events, n)
    return UpperBound(value=value, events=events, n=n)


def exact_lower_bound(successes: int, n: int) -> Fraction | None:
    """Return the exact one-sided 95% lower bound of a success rate: what the failures' upper bound leaves."""
    bound = exact_upper_bound(n - successes, n)
    return None if bound is None else 1 - bound.value


def cases_needed(threshold: Fraction, method: Method = Method.EXACT_ONE_SIDED) -> int:
    """Return how many cases without any event show "the rate is at most `threshold`".

    Exact: the least n with (1 − t)^n ≤ 0.05. Wilson: the least n with z² / (n + z²) ≤ t.
    """
    if not 0 < threshold < 1:
        raise ValueError(f"the threshold lies between 0 and 1, not {threshold}")
    if method is Method.WILSON_TWO_SIDED:
        return _ceil(Z**2 * (1 - threshold) / threshold)
    with localcontext(PRECISION):
        return _ceil(Fraction(_decimal(ALPHA).ln() / _decimal(1 - threshold).ln()))


def _check(events: int, n: int) -> None:
    if not 0 <= events <= n:
        raise ValueError(f"{events} of {n} is no count of events")


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _square_root(value: Fraction) -> Fraction:
    """Return the root, rounded down on the grid."""
    scaled = value.numerator * value.denominator * GRID**2
    return Fraction(isqrt(scaled), value.denominator * GRID)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _zero_event_bound(n: int) -> Fraction:
    root = (_decimal(ALPHA).ln() / n).exp()
    return _on_grid(1 - root)


def _on_grid(value: Decimal) -> Fraction:
    return Fraction(round(value * GRID), GRID)


def _bisected_bound(events: int, n: int) -> Fraction:
    """Return the least rate on the grid at which `events` or fewer in `n` have at most 5% probability."""
    if events == n:
        return Fraction(1)
    alpha = _decimal(ALPHA)
    low, high = 0, GRID
    while high - low > 1:
        middle = (low + high) // 2
        if _at_most_probability(events, n, Decimal(middle) / GRID) > alpha:
            low = middle
        else:
            high = middle
    return Fraction(high, GRID)


def _at_most_probability(events: int, n: int, rate: Decimal) -> Decimal:
    """Return the binomial probability of at most `events` in `n`, each term from the one before."""
    odds = rate / (1 - rate)
    term = total = (1 - rate) ** n
    for k in range(events):
        term = term * (n - k) / (k + 1) * odds
        total += term
    return total
