"""Numbers and dates in the sentences beside marks, written as `evals.measures` writes them."""

from datetime import date
from fractions import Fraction

type Share = Fraction | float


def percent(share: Share) -> str:
    """Return a share as a percentage to one decimal; 0% and 100% are said only if exact."""
    tenths = int(Fraction(share) * 1000 + Fraction(1, 2))
    if share < 1 and tenths >= 1000:
        return ">99.9%"
    if share > 0 and tenths == 0:
        return "<0.1%"
    return f"{decimal(Fraction(tenths, 10))}%"


def decimal(number: Share) -> str:
    """Return a number to one decimal, a trailing .0 dropped; what is not zero is never written as zero."""
    tenths = int(Fraction(number) * 10 + Fraction(1, 2))
    if tenths == 0 and number > 0:
        return "<0.1"
    whole, tenth = divmod(tenths, 10)
    return f"{whole:,}.{tenth}" if tenth else f"{whole:,}"


def day(at: date) -> str:
    return f"{at.day} {at:%b %Y}"
