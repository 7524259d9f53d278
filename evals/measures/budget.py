"""Error budget of an at-least target over counts (DESIGN 4): consumed, remaining, met or breached, and in words."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from .counts import Counts, RateKind
from .display import format_number, format_quantity


class UnknownPolicy(StrEnum):
    """What an UNKNOWN counts as. ERROR is no observation and is never considered."""

    EXCLUDE = "exclude"
    TREAT_AS_BAD = "treat_as_bad"
    TREAT_AS_GOOD = "treat_as_good"


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """`good` and `bad` results against a target share; `unknown_as_bad` of the bad ones are UNKNOWN by policy."""

    target: Fraction
    good: int
    bad: int
    unknown_as_bad: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.target <= 1:
            raise ValueError(f"a target is above 0 and at most 1, not {self.target}")

    @property
    def considered(self) -> int:
        return self.good + self.bad

    @property
    def rate(self) -> Fraction | None:
        return Fraction(self.good, self.considered) if self.considered else None

    @property
    def is_met(self) -> bool | None:
        """Say whether the target is reached, boundary included; None without considered results."""
        return None if self.rate is None else self.rate >= self.target

    @property
    def allowed(self) -> Fraction:
        """Return how many bad results the target allows among those considered."""
        return self.considered * (1 - self.target)

    @property
    def consumed(self) -> Fraction | None:
        """Return (bad/considered) / (1 - target). A target of 100% has no budget: 0 while intact, None once broken."""
        if not self.considered:
            return None
        if self.target == 1:
            return None if self.bad else Fraction(0)
        return Fraction(self.bad, self.considered) / (1 - self.target)

    @property
    def remaining(self) -> Fraction | None:
        """Return what is left, as a share of the budget; negative once overspent."""
        return None if self.consumed is None else 1 - self.consumed


def measure_budget(
    counts: Counts,
    *,
    target: Fraction,
    unknown: UnknownPolicy = UnknownPolicy.EXCLUDE,
    kind: RateKind = RateKind.RAW,
) -> ErrorBudget:
    good, bad = counts.good(kind), counts.bad(kind)
    match unknown:
        case UnknownPolicy.EXCLUDE:
            return ErrorBudget(target=target, good=good, bad=bad)
        case UnknownPolicy.TREAT_AS_GOOD:
            return ErrorBudget(target=target, good=good + counts.unknown, bad=bad)
        case UnknownPolicy.TREAT_AS_BAD:
            return ErrorBudget(target=target, good=good, bad=bad + counts.unknown, unknown_as_bad=counts.unknown)


def format_budget(budget: ErrorBudget) -> str:
    """Return the budget as a sentence: "1 failure, 0.2 allowed: 5 times the allowance"."""
    if not budget.considered:
        return "no results to consider"
    allowed = "none" if budget.target == 1 else format_number(budget.allowed)
    sentence = f"{_bad_words(budget)}, {allowed} allowed"
    if budget.consumed is not None and budget.consumed > 1:
        sentence += f": {format_number(budget.consumed)} times the allowance"
    return sentence


def _bad_words(budget: ErrorBudget) -> str:
    if not budget.unknown_as_bad:
        return format_quantity(budget.bad, "failure")
    return f"{format_quantity(budget.bad, 'bad result')} ({budget.unknown_as_bad:,} of them UNKNOWN)"
