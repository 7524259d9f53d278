"""One line of results with everything that is said about it: what page, API and PDF print (DESIGN 4)."""

from dataclasses import dataclass
from fractions import Fraction

from .counts import Counts
from .display import format_counts, format_interval, format_range, format_rate
from .intervals import Interval, wilson_interval


@dataclass(frozen=True, slots=True)
class Measure:
    """Counts with their rate, range and interval. Ratios are exact; words come from `display`."""

    counts: Counts

    @property
    def reliability(self) -> Fraction | None:
        return self.counts.reliability

    @property
    def value_range(self) -> tuple[Fraction, Fraction] | None:
        return self.counts.value_range

    @property
    def interval(self) -> Interval | None:
        return wilson_interval(self.counts.passed, self.counts.determinate)

    @property
    def reliability_words(self) -> str:
        return format_rate(self.reliability)

    @property
    def range_words(self) -> str:
        return format_range(self.value_range)

    @property
    def interval_words(self) -> str:
        return format_interval(self.interval)

    @property
    def counts_words(self) -> str:
        return format_counts(self.counts)
