"""What a report shows, as objects with names, from a snapshot alone: numbers and words come from its own parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from reliability.marks import ProfileRow, Score
from scorecards.reports.reasons import Reason, choose_reasons
from scorecards.reports.unknowns import Unknown, list_unknowns
from scorecards.snapshot_reading import (
    ClassPart,
    DimensionText,
    EvidencePart,
    LinkPart,
    PracticePart,
    PracticeText,
    RunPart,
    ScorePart,
    Snapshot,
    StepPart,
)

PRACTICE_WORDS = {"met": "Met", "not_met": "Not met", "not_seen": "Not seen", "not_applicable": "Not applicable"}
GRADE_WORDS = {"declared": "Declared", "observed": "Observed", "verified": "Verified"}
CONFIDENCE_WORDS = {"low": "low", "medium": "medium", "high": "high"}
FIRST_PRACTICE_LEVEL = 3
IMPORTANT_STEPS = 3
HEAD_LENGTH = 100  # characters of the running head


@dataclass(frozen=True, slots=True)
class PracticeLine:
    practice: PracticeText
    mark: PracticePart

    @property
    def state_words(self) -> str:
        return PRACTICE_WORDS[self.mark.state]


@dataclass(frozen=True, slots=True)
class LevelBlock:
    """The practices of one level; `words` are the scale's."""

    level: int
    words: str
    lines: tuple[PracticeLine, ...]


@dataclass(frozen=True, slots=True)
class NumberedItem:
    """An evidence item under its number in the report; `run` is the number of its run, 0 without one."""

    number: int
    item: EvidencePart
    run: int

    @property
    def grade_words(self) -> str:
        return GRADE_WORDS[self.item.grade]


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """An item as it bears on one dimension; `practices` are those it is attached to."""

    numbered: NumberedItem
    supports: bool
    practices: tuple[PracticeText, ...]

    @property
    def item(self) -> EvidencePart:
        return self.numbered.item


@dataclass(frozen=True, slots=True)
class NumberedStep:
    number: int
    step: StepPart
    dimension: str  # its title
    evidence: tuple[int, ...]
    practices: tuple[str, ...]  # their texts
    is_overdue: bool  # when the review was written


@dataclass(frozen=True, slots=True)
class DimensionPage:
    """One dimension with everything that is said about it."""

    dimension: DimensionText
    score: ScorePart
    level_words: str
    levels: tuple[LevelBlock, ...]
    evidence: tuple[EvidenceLine, ...]
    steps: tuple[NumberedStep, ...]
    bar: int

    @property
    def standing_words(self) -> str:
        """Return "Level 2 of 5, below the bar of 3"."""
        if self.score.level is None:
            return "Not applicable" if self.score.standing == "not_applicable" else "Not assessed"
        place = "below" if self.score.level < self.bar else "at" if self.score.level == self.bar else "above"
        return f"Level {self.score.level} of 5, {place} the bar of {self.bar}"

    @property
    def basis_words(self) -> str:
        return {"on_evidence": "stands on evidence", "asserted": "asserted, not on evidence", "": ""}[self.score.basis]

    @property
    def change_words(self) -> str:
        """Return "2 → 3: the agent changed"; '' where the level is the published one or the first."""
        score = self.score
        if score.previous_level is None or score.previous_level == score.level:
            return ""
        cause = score.cause_words[:1].lower() + score.cause_words[1:]
        now = "–" if score.level is None else str(score.level)
        return f"{score.previous_level} → {now}" + (f": {cause}" if cause else "")

    @property
    def is_unchanged(self) -> bool:
        return self.score.level is not None and self.score.previous_level == self.score.level

    @property
    def lacking(self) -> list[PracticeLine]:
        return [line for block in self.levels for line in block.lines if line.mark.lacking]


@dataclass(frozen=True, slots=True)
class RunPage:
    number: int
    run: RunPart

    @property
    def kind_words(self) -> str:
        """Return "scripted, observed, made by the client"."""
        by = {"client": "the client", "consultancy": "the consultancy", "third_party": "a third party"}
        return f"{self.run.mode}, {self.run.origin}, made by {by.get(self.run.made_by, self.run.made_by)}"

    @property
    def lines(self) -> list[ClassPart]:
        return self.run.classes


@dataclass(frozen=True)
class ReportContext:
    """The whole report. `sha256` is of the snapshot's bytes; `watermark` is '' for what is published."""

    snapshot: Snapshot
    sha256: str

    @property
    def watermark(self) -> str:
        if self.snapshot.kind == "fact_check":
            return "Fact check"
        return "" if self.snapshot.revision.published_at else "Draft"

    @property
    def head(self) -> str:
        snapshot = self.snapshot
        names = " · ".join((_shortened(snapshot.client.name), _shortened(snapshot.agent.name)))
        return f"{names} · Review {snapshot.review.number}, revision {snapshot.revision.number}"

    @property
    def title(self) -> str:
        snapshot = self.snapshot
        return f"{snapshot.agent.name}: reliability review {snapshot.review.number} for {snapshot.client.name}"

    @property
    def total_weight(self) -> int:
        return sum(dimension.weight for dimension in self.snapshot.rubric.dimensions)

    @property
    def levels_shown(self) -> bool:
        return self.snapshot.levels_shown

    @cached_property
    def reasons(self) -> list[Reason]:
        return choose_reasons(self.snapshot)

    @cached_property
    def unknowns(self) -> list[Unknown]:
        return list_unknowns(self.snapshot)

    @cached_property
    def runs(self) -> list[RunPage]:
        return [RunPage(number, run) for number, run in enumerate(self.snapshot.runs, start=1)]

    @cached_property
    def evidence(self) -> list[NumberedItem]:
        runs = {page.run.id: page.number for page in self.runs}
        items = enumerate(self.snapshot.evidence, start=1)
        return [NumberedItem(number, item, runs.get(item.run, 0)) for number, item in items]

    @cached_property
    def steps(self) -> list[NumberedStep]:
        numbers = {numbered.item.id: numbered.number for numbered in self.evidence}
        texts = {p.id: p.text for dimension in self.snapshot.rubric.dimensions for p in dimension.practices}
        return [
            NumberedStep(
                number=number,
                step=step,
                dimension=self.snapshot.title_of(step.dimension) if step.dimension else "",
                evidence=tuple(sorted(numbers[item] for item in step.evidence if item in numbers)),
                practices=tuple(texts[practice] for practice in step.practices if practice in texts),
                is_overdue=step.is_open and step.due is not None and step.due < self.snapshot.review.as_of,
            )
            for number, step in enumerate(self.snapshot.steps, start=1)
        ]

    @property
    def open_steps(self) -> list[NumberedStep]:
        return [numbered for numbered in self.steps if numbered.step.is_open]

    @property
    def closed_steps(self) -> list[NumberedStep]:
        return [numbered for numbered in self.steps if not numbered.step.is_open]

    @property
    def important_steps(self) -> list[NumberedStep]:
        return self.open_steps[:IMPORTANT_STEPS]

    @property
    def conditions(self) -> list[NumberedStep]:
        return [numbered for numbered in self.steps if numbered.step.is_condition]

    @cached_property
    def dimensions(self) -> list[DimensionPage]:
        scores = ((score, self.snapshot.dimension(score.dimension)) for score in self.snapshot.scores)
        return [self._dimension(dimension, score) for score, dimension in scores]

    def _dimension(self, dimension: DimensionText, score: ScorePart) -> DimensionPage:
        words = self.snapshot.rubric.level_words
        levels = sorted({practice.level for practice in dimension.practices})
        return DimensionPage(
            dimension=dimension,
            score=score,
            level_words=_level_words(dimension, score.level, words),
            levels=tuple(
                LevelBlock(
                    level=level,
                    words=words[level] if level < len(words) else "",
                    lines=tuple(PracticeLine(p, score.practice(p.id)) for p in dimension.practices_at(level)),
                )
                for level in levels
            ),
            evidence=tuple(self._evidence(score.evidence, dimension)),
            steps=tuple(numbered for numbered in self.steps if numbered.step.dimension == dimension.id),
            bar=self.snapshot.rubric.bar,
        )

    def _evidence(self, links: Iterable[LinkPart], dimension: DimensionText) -> Iterable[EvidenceLine]:
        """Yield each item once per stance, in the order of its number."""
        practices = {practice.id: practice for practice in dimension.practices}
        attached: dict[tuple[str, bool], list[PracticeText]] = {}
        for link in links:
            found = attached.setdefault((link.item, link.supports), [])
            if link.practice in practices:
                found.append(practices[link.practice])
        for numbered in self.evidence:
            for supports in (True, False):
                if (numbered.item.id, supports) in attached:
                    yield EvidenceLine(numbered, supports, tuple(attached[numbered.item.id, supports]))

    @property
    def before(self) -> str:
        """Return the name of the review that the previous levels are from, '' when there are none."""
        has_levels = any(score.previous_level is not None for score in self.snapshot.scores)
        previous = self.snapshot.review.previous
        return f"Review {previous}" if has_levels and previous else ""

    @property
    def profile_reviews(self) -> list[str]:
        now = f"Review {self.snapshot.review.number}"
        return [self.before, now] if self.before else [now]

    @property
    def profile_rows(self) -> list[ProfileRow]:
        rows = []
        for score in self.snapshot.scores:
            now = Score(score.level, score.mark_basis)
            then = [Score(score.previous_level)] if self.before else []
            rows.append(ProfileRow(self.snapshot.title_of(score.dimension), (*then, now)))
        return rows


def _level_words(dimension: DimensionText, level: int | None, words: list[str]) -> str:
    """Return what the level says: a state of the dimension up to 2, the scale's words from 3 on."""
    if level is None:
        return ""
    if level < len(dimension.states):
        return dimension.states[level]
    return words[level] if level < len(words) else ""


def _shortened(name: str) -> str:
    most = HEAD_LENGTH // 2
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"
