"""Burn-rate alerts of an objective (DESIGN 4, Windows): how fast a budget is spent, and when that is worth an alert.

The rate is the bad share in an alert window over what the target allows, so an ErrorBudget of that window's counts
has it as `consumed`. Source: Google, "The Site Reliability Workbook" (2018), chapter 5, approaches 5 and 6.
"""

from dataclasses import dataclass
from fractions import Fraction

from .budget import ErrorBudget
from .display import format_number, format_rate

HOUR, DAY = Fraction(1), Fraction(24)
SHORT_PART = 12  # the short window, a twelfth of the long one, ends an alert soon after the trouble ends


@dataclass(frozen=True, slots=True)
class BurnAlert:
    """Alert when `share` of the budget of a window would go within `long_hours`. Lengths are in hours."""

    share: Fraction
    long_hours: Fraction
    window_hours: Fraction

    @property
    def short_hours(self) -> Fraction:
        return self.long_hours / SHORT_PART

    @property
    def threshold(self) -> Fraction:
        return self.share * self.window_hours / self.long_hours

    def why_refused(self, target: Fraction) -> str:
        """Return why the alert makes no sense for a target, or nothing. A target of 100% has no rate to compare."""
        threshold = format_number(self.threshold)
        if self.threshold <= 1:
            return f"a threshold of {threshold} would alert while the budget lasts: it has to be above 1"
        if target < 1 and self.threshold >= 1 / (1 - target):
            most = format_number(1 / (1 - target))
            return f"a threshold of {threshold} can never fire: at {format_rate(target)} the rate is at most {most}"
        return ""

    def fires(self, *, long: ErrorBudget, short: ErrorBudget) -> bool:
        """Say whether the rate is above the threshold in both windows; at a target of 100% any bad result is."""
        if long.target == 1:
            return long.bad > 0
        return all(window.consumed is not None and window.consumed > self.threshold for window in (long, short))


def spent_share(burn_rate: Fraction, *, hours: Fraction, window_hours: Fraction) -> Fraction:
    """Return the share of a window's budget that a rate spends in so many hours."""
    return burn_rate * hours / window_hours


def default_alerts(window_hours: Fraction) -> tuple[BurnAlert, ...]:
    """Return the alerts that ship for a window; a target may still refuse some of them."""
    if window_hours >= 28 * DAY:
        pairs = [(2, HOUR), (5, 6 * HOUR), (20, 3 * DAY)]
    elif window_hours >= 7 * DAY:
        pairs = [(10, 6 * HOUR), (25, DAY)]
    else:
        pairs = [(25, min(HOUR, window_hours / 24))]
    return tuple(BurnAlert(Fraction(percent, 100), hours, window_hours) for percent, hours in pairs)


def usable_alerts(window_hours: Fraction, *, target: Fraction) -> tuple[BurnAlert, ...]:
    """Return the default alerts that can fire for a target."""
    return tuple(alert for alert in default_alerts(window_hours) if not alert.why_refused(target))
