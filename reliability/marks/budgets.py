"""The error budget: an allowance and what is used of it, past zero on the same scale."""

from dataclasses import dataclass
from fractions import Fraction

from .drawing import hatch, rounded
from .wording import Share, decimal, percent

LEAST = 3.0  # px: the allowance stays visible however far it is overrun


@dataclass(frozen=True, slots=True)
class BudgetBar:
    width: float
    allowance: float
    zero: float  # where the rule of "nothing left" stands, whole even at an edge
    used: float
    over: float
    hatch: str
    breached: bool
    remaining: str
    sentence: str


def budget_bar(bad: int, allowed: Share, *, width: float = 240) -> BudgetBar:
    """Draw what is used of an allowance; past zero it goes on, on the same scale."""
    consumed = (Fraction(bad) / Fraction(allowed)) if allowed else None
    over_share = 1.0 if consumed is None else float(max(consumed, Fraction(1)))
    breached = bad > 0 if consumed is None else consumed > 1
    if consumed is None:  # a target of 100% allows nothing: intact or broken, with no scale in between
        allowance, used = (LEAST, width) if bad else (width, 0.0)
    else:
        allowance = max(LEAST, width / over_share)
        used = width if breached else allowance * float(consumed)
    return BudgetBar(
        width=width,
        allowance=rounded(allowance),
        zero=rounded(min(max(allowance, 1.0), width - 1)),
        used=rounded(min(used, allowance)),
        over=rounded(max(0.0, used - allowance)),
        hatch=hatch(allowance, max(0.0, used - allowance)),
        breached=breached,
        remaining=_remaining(bad, consumed),
        sentence=_budget_sentence(bad, allowed, consumed),
    )


def _remaining(bad: int, consumed: Fraction | None) -> str:
    if consumed is None:
        return "none" if bad else "100%"
    return f"−{percent(consumed - 1)}" if consumed > 1 else percent(1 - consumed)


def _budget_sentence(bad: int, allowed: Share, consumed: Fraction | None) -> str:
    failures = f"{bad:,} failure{'' if bad == 1 else 's'}"
    if consumed is None:
        return f"{failures}, none allowed: breached." if bad else "No failures, none allowed: intact."
    if not bad:
        return f"No failures, {decimal(allowed)} allowed: the whole allowance remains."
    sentence = f"{failures}, {decimal(allowed)} allowed: "
    if consumed > 1:
        return sentence + f"{decimal(consumed)} times the allowance, {_remaining(bad, consumed)} remaining."
    return sentence + f"{percent(consumed)} of the allowance used, {_remaining(bad, consumed)} remaining."
