"""Two reviews of an agent side by side: per dimension what moved, whether that can be compared, and who caused it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .rubric import Dimension, Practice, Rubric
from .scoring import Assessment, DimensionScore, PracticeState, not_assessed


class Cause(StrEnum):
    """Why a level differs from the last published one."""

    AGENT_CHANGED = "agent_changed"
    KNOW_MORE = "know_more"
    EVIDENCE_EXPIRED = "evidence_expired"
    CORRECTED = "corrected"
    RUBRIC_CHANGED = "rubric_changed"


class Direction(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    DIFFERS = "differs"  # the level does, the agent does not
    UNCHANGED = "unchanged"
    NOT_COMPARABLE = "not_comparable"


CAUSE_WORDS = {
    Cause.AGENT_CHANGED: "the agent changed",
    Cause.KNOW_MORE: "we know more",
    Cause.EVIDENCE_EXPIRED: "evidence expired",
    Cause.CORRECTED: "an error was corrected",
    Cause.RUBRIC_CHANGED: "the rubric changed",
}
ASSESSMENT_WORDS = {Assessment.NOT_ASSESSED: "not assessed", Assessment.NOT_APPLICABLE: "not applicable"}


@dataclass(frozen=True, slots=True)
class ScoredReview:
    rubric: Rubric
    scores: tuple[DimensionScore, ...]

    def score_of(self, dimension: Dimension) -> DimensionScore:
        found = (score for score in self.scores if score.dimension_id == dimension.id)
        return next(found, not_assessed(dimension.id))


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """One dimension in both reviews. `why_not` says why it cannot be compared; both wordings are at hand.

    `gained` and `lost` practices are told wherever a practice reads the same in both, even when the level stands.
    """

    before: Dimension | None
    after: Dimension | None
    level_before: int | None
    level_after: int | None
    why_not: str = ""
    cause: Cause | None = None
    gained: tuple[Practice, ...] = ()
    lost: tuple[Practice, ...] = ()

    @property
    def dimension(self) -> Dimension:
        found = self.after or self.before
        if found is None:
            raise ValueError("a compared dimension is in at least one rubric")
        return found

    @property
    def is_comparable(self) -> bool:
        return not self.why_not

    @property
    def change(self) -> int | None:
        if self.why_not or self.level_before is None or self.level_after is None:
            return None
        return self.level_after - self.level_before

    @property
    def direction(self) -> Direction:
        """Return better or worse only where the agent changed; any other cause moved our view, not the agent."""
        if self.change is None:
            return Direction.NOT_COMPARABLE
        if self.change == 0:
            return Direction.UNCHANGED
        if self.cause is not Cause.AGENT_CHANGED:
            return Direction.DIFFERS
        return Direction.BETTER if self.change > 0 else Direction.WORSE

    @property
    def words(self) -> str:
        """Return "2 → 3, better: the agent changed", or why it cannot be said."""
        if self.why_not:
            return f"not comparable: {self.why_not}"
        if self.change == 0:
            return f"{self.level_after}, unchanged"
        cause = CAUSE_WORDS[self.cause] if self.cause else "no cause given"
        said = f"{self.direction}: " if self.direction in (Direction.BETTER, Direction.WORSE) else ""
        return f"{self.level_before} → {self.level_after}, {said}{cause}"


def compare_reviews(
    before: ScoredReview, after: ScoredReview, *, causes: Mapping[str, Cause] | None = None
) -> tuple[DimensionChange, ...]:
    """Return the later rubric's dimensions in its order, then those that it no longer has."""
    causes = causes or {}
    earlier = {}
    removed = []
    for dimension in before.rubric.dimensions:
        successor = after.rubric.successor_of(dimension.id, in_rubric=before.rubric)
        if successor is None:
            removed.append(dimension)
        else:
            earlier[successor.id] = dimension
    changes = [
        _compare(earlier.get(dimension.id), dimension, before, after, causes.get(dimension.id))
        for dimension in after.rubric.dimensions
    ]
    return (*changes, *(_removed(dimension, before) for dimension in removed))


def _compare(
    earlier: Dimension | None, later: Dimension, before: ScoredReview, after: ScoredReview, cause: Cause | None
) -> DimensionChange:
    new = after.score_of(later)
    if earlier is None:
        why_not = f"the earlier rubric, {before.rubric.name}, does not have it"
        return DimensionChange(None, later, None, new.level, why_not=why_not, cause=cause)
    old = before.score_of(earlier)
    same = [practice for practice in later.practices if practice in earlier.practices]
    return DimensionChange(
        before=earlier,
        after=later,
        level_before=old.level,
        level_after=new.level,
        why_not=_why_not(earlier, later, old, new),
        cause=cause,
        gained=tuple(_met_only_in(new, old, same)),
        lost=tuple(_met_only_in(old, new, same)),
    )


def _removed(dimension: Dimension, before: ScoredReview) -> DimensionChange:
    level = before.score_of(dimension).level
    return DimensionChange(dimension, None, level, None, why_not="the later rubric does not have it")


def _why_not(earlier: Dimension, later: Dimension, old: DimensionScore, new: DimensionScore) -> str:
    if not earlier.reads_like(later):
        return "its states or practices are worded differently"
    for which, score in (("earlier", old), ("later", new)):
        if score.assessment in ASSESSMENT_WORDS:
            return f"{ASSESSMENT_WORDS[score.assessment]} in the {which} review"
    return ""


def _met_only_in(one: DimensionScore, other: DimensionScore, practices: Iterable[Practice]) -> Iterable[Practice]:
    return (
        practice
        for practice in practices
        if one.state_of(practice) is PracticeState.MET and other.state_of(practice) is not PracticeState.MET
    )
