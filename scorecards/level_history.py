"""An agent's dimensions over its published reviews, oldest first: the chart and its table say the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reliability.marks.histories import LevelPoint
from scorecards.snapshot_reading import DimensionText, ScorePart, Snapshot


@dataclass(frozen=True, slots=True)
class DimensionHistory:
    """`scores` has one entry a review, None where its rubric lacks the dimension."""

    title: str
    points: tuple[LevelPoint, ...]
    scores: tuple[ScorePart | None, ...]


@dataclass(frozen=True, slots=True)
class RubricChange:
    """A review on another rubric than the one before it."""

    number: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class History:
    """`reviews` are oldest first."""

    reviews: tuple[Snapshot, ...]
    dimensions: tuple[DimensionHistory, ...]
    rubric_changes: tuple[RubricChange, ...]


def trace_history(snapshots: Sequence[Snapshot]) -> History:
    """Follow each dimension of the newest rubric, then those that only earlier ones have."""
    reviews = tuple(sorted(snapshots, key=lambda snapshot: snapshot.review.number))
    titles: dict[str, str] = {}
    for snapshot in reversed(reviews):
        for dimension in snapshot.rubric.dimensions:
            titles.setdefault(dimension.id, dimension.title)
    changes = [
        RubricChange(now.review.number, before.rubric.name, now.rubric.name)
        for before, now in pairwise(reviews)
        if before.rubric.sha256 != now.rubric.sha256
    ]
    return History(reviews, tuple(_trace(name, title, reviews) for name, title in titles.items()), tuple(changes))


def _trace(name: str, title: str, reviews: Sequence[Snapshot]) -> DimensionHistory:
    points = []
    before: DimensionText | None = None
    for snapshot in reviews:
        score = snapshot.score(name)
        text = next((dimension for dimension in snapshot.rubric.dimensions if dimension.id == name), None)
        points.append(
            LevelPoint(
                at=snapshot.review.as_of,
                name=f"review {snapshot.review.number}",
                level=score.level if score else None,
                basis=score.mark_basis if score else "not_assessed",
                comparable=before is None or text is None or _reads_like(before, text),
            )
        )
        before = text or before
    return DimensionHistory(title, tuple(points), tuple(snapshot.score(name) for snapshot in reviews))


def _reads_like(one: DimensionText, other: DimensionText) -> bool:
    """A level means the same where states and practices are word for word equal."""
    practices = [{(p.id, p.level, p.text, p.shows) for p in text.practices} for text in (one, other)]
    return one.states == other.states and practices[0] == practices[1]
