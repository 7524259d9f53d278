"""Two to four published reviews of an agent side by side, from their client snapshots: what moved, what did not, and
what cannot be compared. Each review is compared with the one before it among those chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reliability.marks import ProfileRow, Score
from scorecards.level_changes import CAUSE_WORDS, Cause, DimensionChange, Direction, ScoredReview, compare_reviews
from scorecards.rubric import Dimension, Practice, Rubric, RubricStatus, Shows
from scorecards.scoring import Assessment, DimensionScore, PracticeState
from scorecards.snapshot_reading import DimensionText, EvidencePart, RubricPart, ScorePart, Snapshot, StepPart

MOST = 4
ASSESSMENTS = {
    "assessed": Assessment.SCORED,
    "not_assessed": Assessment.NOT_ASSESSED,
    "not_applicable": Assessment.NOT_APPLICABLE,
}
GRADES = ("declared", "observed", "verified")


@dataclass(frozen=True, slots=True)
class Change:
    """A dimension from one review to the next. `causes` holds all that were given on the way."""

    found: DimensionChange
    causes: tuple[Cause, ...]

    @property
    def title(self) -> str:
        return self.found.dimension.title

    @property
    def short_words(self) -> str:
        """Return the same for a cell that shows the level itself: "unchanged", "not comparable: …"."""
        return "unchanged" if self.found.change == 0 else self.words

    @property
    def words(self) -> str:
        """Return "2 → 3, better: the agent changed"; several causes on the way make it neither better nor worse."""
        if len(self.causes) < 2 or not self.found.change:
            return self.found.words
        named = ", ".join(CAUSE_WORDS[cause] for cause in self.causes)
        return f"{self.found.level_before} → {self.found.level_after}, for several causes: {named}"


@dataclass(frozen=True, slots=True)
class Regraded:
    item: EvidencePart
    before: str
    after: str

    @property
    def is_upgrade(self) -> bool:
        return GRADES.index(self.after) > GRADES.index(self.before)


@dataclass(frozen=True, slots=True)
class EvidenceChanges:
    new: tuple[EvidencePart, ...]
    gone: tuple[EvidencePart, ...]
    regraded: tuple[Regraded, ...]
    kept: int  # with the grade it had

    @property
    def any(self) -> bool:
        return bool(self.new or self.gone or self.regraded)


@dataclass(frozen=True, slots=True)
class StepChanges:
    """`unlisted` were open and the later review does not speak of them."""

    opened: tuple[StepPart, ...]
    closed: tuple[StepPart, ...]
    came_back: tuple[StepPart, ...]
    still_open: tuple[StepPart, ...]
    unlisted: tuple[StepPart, ...]

    @property
    def any(self) -> bool:
        return bool(self.opened or self.closed or self.came_back or self.still_open or self.unlisted)


@dataclass(frozen=True, slots=True)
class Gap:
    """From one of the chosen reviews to the next."""

    before: Snapshot
    after: Snapshot
    changes: tuple[Change, ...]
    evidence: EvidenceChanges
    steps: StepChanges

    @property
    def name(self) -> str:
        return f"From review {self.before.review.number} to review {self.after.review.number}"

    @property
    def moved(self) -> list[Change]:
        return [change for change in self.changes if change.found.change]

    @property
    def unmoved(self) -> list[Change]:
        return [change for change in self.changes if change.found.direction is Direction.UNCHANGED]

    @property
    def not_comparable(self) -> list[Change]:
        return [change for change in self.changes if not change.found.is_comparable]

    @property
    def practices(self) -> list[Change]:
        """Dimensions in which a practice was gained or lost, whether the level moved or not."""
        return [change for change in self.changes if change.found.gained or change.found.lost]

    @property
    def rubric_words(self) -> str:
        """Say that the rubric changed; '' when it is the same."""
        one, other = self.before.rubric, self.after.rubric
        if one.sha256 == other.sha256:
            return ""
        return f"The rubric changed from {one.name} to {other.name}: where the wording differs, nothing is compared."


@dataclass(frozen=True, slots=True)
class LevelCell:
    """A dimension in one review. `score` is None where its rubric does not have it; `change` is since the column
    before."""

    score: ScorePart | None
    change: Change | None


@dataclass(frozen=True, slots=True)
class LevelRow:
    title: str
    cells: tuple[LevelCell, ...]


@dataclass(frozen=True, slots=True)
class ReviewComparison:
    """`reviews` are oldest first."""

    reviews: tuple[Snapshot, ...]
    gaps: tuple[Gap, ...]
    rows: tuple[LevelRow, ...]

    @property
    def names(self) -> list[str]:
        return [f"Review {snapshot.review.number}" for snapshot in self.reviews]

    @property
    def profile_rows(self) -> list[ProfileRow]:
        nothing = Score(None, "not_assessed")
        return [
            ProfileRow(
                row.title,
                tuple(Score(c.score.level, c.score.mark_basis) if c.score else nothing for c in row.cells),
            )
            for row in self.rows
        ]


def compare_snapshots(chosen: Sequence[Snapshot], between: Sequence[Snapshot] = ()) -> ReviewComparison:
    """Compare the snapshots, oldest first. `between` are the agent's others: they hold the causes given on the way."""
    reviews = tuple(sorted(chosen, key=_number))
    known = {_number(snapshot): snapshot for snapshot in (*between, *reviews)}
    gaps = tuple(_compare(before, after, known) for before, after in pairwise(reviews))
    return ReviewComparison(reviews, gaps, tuple(_list_rows(reviews, gaps)))


def _number(snapshot: Snapshot) -> int:
    return snapshot.review.number


def _compare(before: Snapshot, after: Snapshot, known: Mapping[int, Snapshot]) -> Gap:
    on_the_way = [known[n] for n in sorted(known) if _number(before) < n <= _number(after)]
    given = _gather_causes(on_the_way)
    single = {dimension: causes[0] for dimension, causes in given.items() if len(causes) == 1}
    found = compare_reviews(_scored(before), _scored(after), causes=single)
    return Gap(
        before=before,
        after=after,
        changes=tuple(Change(change, given.get(change.dimension.id, ())) for change in found),
        evidence=_compare_evidence(before, after),
        steps=_compare_steps(before, after),
    )


def _gather_causes(snapshots: Sequence[Snapshot]) -> dict[str, tuple[Cause, ...]]:
    causes: dict[str, dict[Cause, None]] = {}
    for snapshot in snapshots:
        for score in snapshot.scores:
            if score.cause and score.previous_level != score.level:
                causes.setdefault(score.dimension, {})[Cause(score.cause)] = None
    return {dimension: tuple(given) for dimension, given in causes.items()}


def _scored(snapshot: Snapshot) -> ScoredReview:
    return ScoredReview(_rubric(snapshot.rubric), tuple(map(_score, snapshot.scores)))


def _rubric(part: RubricPart) -> Rubric:
    return Rubric(
        id=part.id,
        version=part.version,
        status=RubricStatus.PUBLISHED,
        title=part.title,
        bar=part.bar,
        bar_by_tier={},
        dimensions=tuple(map(_dimension, part.dimensions)),
        sha256=part.sha256,
    )


def _dimension(text: DimensionText) -> Dimension:
    states = (*text.states, "", "", "")[:3]
    practices = tuple(Practice(p.id, p.level, p.text, Shows(p.shows)) for p in text.practices)
    return Dimension(text.id, text.title, text.weight, text.question, (states[0], states[1], states[2]), practices)


def _score(part: ScorePart) -> DimensionScore:
    return DimensionScore(
        dimension_id=part.dimension,
        level=part.level,
        assessment=ASSESSMENTS[part.standing],
        practices={practice.id: PracticeState(practice.state) for practice in part.practices},
    )


def _compare_evidence(before: Snapshot, after: Snapshot) -> EvidenceChanges:
    old, new = ({item.id: item for item in snapshot.evidence} for snapshot in (before, after))
    both = [(old[name], new[name]) for name in old if name in new]
    regraded = tuple(Regraded(b, a.grade, b.grade) for a, b in both if a.grade != b.grade)
    return EvidenceChanges(
        new=tuple(item for name, item in new.items() if name not in old),
        gone=tuple(item for name, item in old.items() if name not in new),
        regraded=regraded,
        kept=len(both) - len(regraded),
    )


def _compare_steps(before: Snapshot, after: Snapshot) -> StepChanges:
    old = {step.id: step for step in before.steps}
    new = {step.id: step for step in after.steps}
    was_open = {name for name, step in old.items() if step.is_open}
    back = {name for name, step in new.items() if step.state == "came_back" and _came_back_since(old.get(name))}
    return StepChanges(
        opened=tuple(step for name, step in new.items() if name not in old and name not in back),
        closed=tuple(step for name, step in new.items() if name in was_open and not step.is_open),
        came_back=tuple(new[name] for name in new if name in back),
        still_open=tuple(step for name, step in new.items() if name in was_open and step.is_open and name not in back),
        unlisted=tuple(old[name] for name in old if name in was_open and name not in new),
    )


def _came_back_since(before: StepPart | None) -> bool:
    return before is None or before.state != "came_back"


def _list_rows(reviews: Sequence[Snapshot], gaps: Sequence[Gap]) -> list[LevelRow]:
    """Return the newest rubric's dimensions in its order, then those that only earlier rubrics have."""
    titles: dict[str, str] = {}
    for snapshot in reversed(reviews):
        for dimension in snapshot.rubric.dimensions:
            titles.setdefault(dimension.id, dimension.title)
    changes = [{change.found.dimension.id: change for change in gap.changes} for gap in gaps]
    return [
        LevelRow(
            title,
            tuple(
                LevelCell(snapshot.score(name), changes[place - 1].get(name) if place else None)
                for place, snapshot in enumerate(reviews)
            ),
        )
        for name, title in titles.items()
    ]
