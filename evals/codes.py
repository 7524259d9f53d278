"""Sets of categories as bits, so that equal sets group together in the database."""

from evals.records import Category

BITS = {category: 1 << position for position, category in enumerate(Category)}


def mask_of(categories: frozenset[Category]) -> int:
    return sum(BITS[category] for category in categories)


def set_of(mask: int) -> frozenset[Category]:
    return frozenset(category for category, bit in BITS.items() if mask & bit)


def words_of(mask: int) -> str:
    """Return the set in words, in the order security, policy, cost, quality."""
    return ", ".join(category.value for category in Category if mask & BITS[category]) or "no category"
