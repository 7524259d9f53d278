"""Arithmetic of a review: does each level hold, on what evidence, is the bar met, how much is it overall. Pure.

The rules are those of the rubric's scale (DESIGN 4 and 6). A person sets the level; nothing here changes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from evals.measures.display import format_range, format_rate

from .rubric import FIRST_PRACTICE_LEVEL, MAX_LEVEL, Dimension, Practice, Rubric, Shows


class Assessment(StrEnum):
    SCORED = "scored"
    NOT_ASSESSED = "not_assessed"
    NOT_APPLICABLE = "not_applicable"


class PracticeState(StrEnum):
    MET = "met"
    NOT_MET = "not_met"
    NOT_SEEN = "not_seen"
    NOT_APPLICABLE = "not_applicable"


class Grade(StrEnum):
    """How well an evidence item is known, weakest first."""

    DECLARED = "declared"
    OBSERVED = "observed"
    VERIFIED = "verified"


class Standing(StrEnum):
    """What a level of 3 or more rests on. Lower levels are states and carry neither."""

    ON_EVIDENCE = "on_evidence"
    ASSERTED = "asserted"


class BarOutcome(StrEnum):
    MET = "met"
    MET_ON_ASSERTION = "met_on_assertion"
    NOT_MET = "not_met"
    UNDECIDED = "undecided"


BAR_WORDS = {
    BarOutcome.MET: "met",
    BarOutcome.MET_ON_ASSERTION: "met on assertion only",
    BarOutcome.NOT_MET: "not met",
    BarOutcome.UNDECIDED: "undecided",
}
STRENGTH = {grade: place for place, grade in enumerate(Grade)}
FEW = 3  # dimensions; fewer are named rather than called "all"
CLEARED = (PracticeState.MET, PracticeState.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """One evidence item attached to a practice, and whether it speaks for or against it."""

    practice_id: str
    grade: Grade
    shows: Shows
    supports: bool = True


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """What a person recorded for a dimension. A practice that is not named is `not_seen`."""

    dimension_id: str
    level: int | None = None
    assessment: Assessment = Assessment.SCORED
    practices: Mapping[str, PracticeState] = field(default_factory=dict)
    evidence: tuple[EvidenceLink, ...] = ()

    def __post_init__(self) -> None:
        if (self.level is None) == (self.assessment is Assessment.SCORED):
            raise ValueError(f"{self.dimension_id}: a level belongs to a scored dimension, and only to one")
        if self.level is not None and not 0 <= self.level <= MAX_LEVEL:
            raise ValueError(f"{self.dimension_id}: {self.level} is no level between 0 and {MAX_LEVEL}")

    def state_of(self, practice: Practice) -> PracticeState:
        return self.practices.get(practice.id, PracticeState.NOT_SEEN)


@dataclass(frozen=True, slots=True)
class Lacking:
    """A met practice whose evidence does not reach, and in words what is missing."""

    practice: Practice
    reason: str


@dataclass(frozen=True, slots=True)
class DimensionResult:
    """A score held against its practices and evidence.

    `contradicting` practices keep the chosen level from holding; `allowed_level` is the highest that the practices
    bear, 2 meaning "a state"; `disputed` are met practices that some evidence speaks against.
    """

    dimension: Dimension
    score: DimensionScore
    contradicting: tuple[Practice, ...]
    allowed_level: int
    holds: bool
    lacking: tuple[Lacking, ...]
    disputed: tuple[Practice, ...]

    @property
    def standing(self) -> Standing | None:
        if self.score.level is None or self.score.level < FIRST_PRACTICE_LEVEL:
            return None
        return Standing.ON_EVIDENCE if self.holds and not self.lacking else Standing.ASSERTED


@dataclass(frozen=True, slots=True)
class BarVerdict:
    """The verdict of a review: each of the `applicable` dimensions at `bar` or above. Each list is always filled."""

    outcome: BarOutcome
    bar: int
    applicable: int
    of_dimensions: int
    failing: tuple[Dimension, ...]
    asserted: tuple[Dimension, ...]
    undecided: tuple[Dimension, ...]

    @property
    def named(self) -> tuple[Dimension, ...]:
        """Return the dimensions that the outcome is about."""
        match self.outcome:
            case BarOutcome.NOT_MET:
                return self.failing
            case BarOutcome.MET_ON_ASSERTION:
                return self.asserted
            case BarOutcome.UNDECIDED:
                return self.undecided
            case BarOutcome.MET:
                return ()

    @property
    def words(self) -> str:
        """Return "not met: Guardrails, Observability and traceability", "not met: all 8 dimensions"."""
        names = self._name_dimensions()
        return f"{BAR_WORDS[self.outcome]}: {names}" if names else BAR_WORDS[self.outcome]

    def _name_dimensions(self) -> str:
        if len(self.named) < max(self.applicable, FEW):
            return ", ".join(dimension.title for dimension in self.named)
        which = "dimensions" if self.applicable == self.of_dimensions else "applicable dimensions"
        return f"all {self.applicable} {which}"


@dataclass(frozen=True, slots=True)
class Overall:
    """Weighted share of the highest score, secondary to the bar; a range while something is not assessed."""

    value_range: tuple[Fraction, Fraction] | None
    dimensions: int
    of_dimensions: int
    weight: int
    of_weight: int
    bar: int

    @property
    def exact(self) -> Fraction | None:
        if self.value_range is None or self.value_range[0] != self.value_range[1]:
            return None
        return self.value_range[0]

    @property
    def percentage(self) -> str:
        return "no applicable dimension" if self.value_range is None else format_range(self.value_range)

    @property
    def basis(self) -> str:
        """Return what left the sums: "over 7 of 8 dimensions, weight 90 of 100"."""
        return f"over {self.dimensions} of {self.of_dimensions} dimensions, weight {self.weight} of {self.of_weight}"

    @property
    def at_the_bar(self) -> str:
        """Return the percentage's measure, always beside it: "60% = every dimension exactly at the bar"."""
        return f"{format_rate(Fraction(self.bar, MAX_LEVEL))} = every dimension exactly at the bar"


@dataclass(frozen=True, slots=True)
class ReviewResult:
    dimensions: tuple[DimensionResult, ...]
    bar: BarVerdict
    overall: Overall


def assess_review(rubric: Rubric, scores: Iterable[DimensionScore], *, tier: str = "") -> ReviewResult:
    """Return every dimension in the rubric's order, one without a score as not assessed, with verdict and overall."""
    by_id = {score.dimension_id: score for score in scores}
    unknown = by_id.keys() - {dimension.id for dimension in rubric.dimensions}
    if unknown:
        raise ValueError(f"{rubric.name} has no dimension {', '.join(sorted(unknown))}")
    results = tuple(
        assess_dimension(dimension, by_id.get(dimension.id) or not_assessed(dimension.id))
        for dimension in rubric.dimensions
    )
    bar = rubric.bar_for(tier)
    return ReviewResult(dimensions=results, bar=judge_bar(results, bar=bar), overall=measure_overall(results, bar=bar))


def not_assessed(dimension_id: str) -> DimensionScore:
    return DimensionScore(dimension_id, assessment=Assessment.NOT_ASSESSED)


def assess_dimension(dimension: Dimension, score: DimensionScore) -> DimensionResult:
    known = {practice.id for practice in dimension.practices}
    unknown = (set(score.practices) | {link.practice_id for link in score.evidence if link.practice_id}) - known
    if unknown:
        raise ValueError(f"{dimension.id} has no practice {', '.join(sorted(unknown))}")
    level = score.level or 0
    claimed = dimension.practices_up_to(level)
    met = [practice for practice in dimension.practices if score.state_of(practice) is PracticeState.MET]
    opposed = {link.practice_id for link in score.evidence if not link.supports}
    return DimensionResult(
        dimension=dimension,
        score=score,
        contradicting=tuple(practice for practice in claimed if score.state_of(practice) not in CLEARED),
        allowed_level=allowed_level(dimension, score),
        holds=level < FIRST_PRACTICE_LEVEL or level_holds(dimension, score, level),
        lacking=tuple(_find_lacking(claimed, score)),
        disputed=tuple(practice for practice in met if practice.id in opposed),
    )


def level_holds(dimension: Dimension, score: DimensionScore, level: int) -> bool:
    """Say whether a level of 3 to 5 holds: its practices and those from 3 up to it met or not applicable.

    At least one practice of the level itself is met: calling a whole level not applicable earns nothing.
    """
    cleared = all(score.state_of(practice) in CLEARED for practice in dimension.practices_up_to(level))
    met = any(score.state_of(practice) is PracticeState.MET for practice in dimension.practices_at(level))
    return cleared and met


def allowed_level(dimension: Dimension, score: DimensionScore) -> int:
    """Return the highest level that the practices bear; 2 when not even level 3 holds."""
    levels = range(MAX_LEVEL, FIRST_PRACTICE_LEVEL - 1, -1)
    return next((level for level in levels if level_holds(dimension, score, level)), FIRST_PRACTICE_LEVEL - 1)


def needed_grade(practice: Practice) -> Grade:
    return Grade.OBSERVED if practice.level == FIRST_PRACTICE_LEVEL else Grade.VERIFIED


def judge_bar(results: Iterable[DimensionResult], *, bar: int) -> BarVerdict:
    """Return the verdict. One dimension below the bar decides it, whatever is still not assessed."""
    every = list(results)
    applicable = [result for result in every if result.score.assessment is not Assessment.NOT_APPLICABLE]
    failing = tuple(r.dimension for r in applicable if r.score.level is not None and r.score.level < bar)
    undecided = tuple(r.dimension for r in applicable if r.score.level is None)
    asserted = tuple(r.dimension for r in applicable if r.standing is Standing.ASSERTED and r.dimension not in failing)
    if failing:
        outcome = BarOutcome.NOT_MET
    elif undecided or not applicable:
        outcome = BarOutcome.UNDECIDED
    else:
        outcome = BarOutcome.MET_ON_ASSERTION if asserted else BarOutcome.MET
    return BarVerdict(
        outcome=outcome,
        bar=bar,
        applicable=len(applicable),
        of_dimensions=len(every),
        failing=failing,
        asserted=asserted,
        undecided=undecided,
    )


def measure_overall(results: Iterable[DimensionResult], *, bar: int) -> Overall:
    """Return sum(weight × level) / (5 × sum(weight)) over applicable dimensions; not assessed counts as 0 and as 5."""
    every = list(results)
    applicable = [result for result in every if result.score.assessment is not Assessment.NOT_APPLICABLE]
    weight = sum(result.dimension.weight for result in applicable)
    low, high = (
        sum(r.dimension.weight * (missing if r.score.level is None else r.score.level) for r in applicable)
        for missing in (0, MAX_LEVEL)
    )
    full = MAX_LEVEL * weight
    return Overall(
        value_range=(Fraction(low, full), Fraction(high, full)) if full else None,
        dimensions=len(applicable),
        of_dimensions=len(every),
        weight=weight,
        of_weight=sum(result.dimension.weight for result in every),
        bar=bar,
    )


def _find_lacking(claimed: Iterable[Practice], score: DimensionScore) -> Iterable[Lacking]:
    for practice in claimed:
        if score.state_of(practice) is PracticeState.MET:
            reason = _lack_of(practice, [link for link in score.evidence if link.practice_id == practice.id])
            if reason:
                yield Lacking(practice, reason)


def _lack_of(practice: Practice, links: list[EvidenceLink]) -> str:
    """Return what the evidence of a met practice lacks. One item has to bring both the grade and the operation."""
    supporting = [link for link in links if link.supports]
    if not supporting:
        return "no evidence supports it"
    needed = needed_grade(practice)
    strong = [link for link in supporting if STRENGTH[link.grade] >= STRENGTH[needed]]
    if not strong:
        best = max((link.grade for link in supporting), key=STRENGTH.__getitem__)
        return f"its best evidence is {best}; {needed} is needed"
    if practice.shows is Shows.OPERATION and all(link.shows is Shows.DESIGN for link in strong):
        return "its evidence shows the design, not that it happened"
    return ""
