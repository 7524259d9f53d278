"""What the scorecard form shows, as objects with names: page and partials are filled alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from evals.models import Run
from reliability.models import User
from scorecards.assessing import Scorecard, list_pinned_runs, load_scorecard
from scorecards.conflicts import VersionConflict
from scorecards.forms import AnswerForm, DimensionForm, SubjectForm, initial_of, sent_version
from scorecards.models import (
    DimensionScore,
    EvidenceItem,
    EvidenceLink,
    Remark,
    RemarkState,
    Revision,
    ScoreStanding,
    StepInRevision,
)
from scorecards.readiness import Readiness, check_readiness, why_override
from scorecards.remarks import may_answer
from scorecards.rubric import FIRST_PRACTICE_LEVEL, MAX_LEVEL, Dimension, NextStepTemplate, Practice
from scorecards.scoring import DimensionResult, Standing, needed_grade


@dataclass(frozen=True, slots=True)
class PracticeRow:
    practice: Practice
    state: str
    reason: str
    errors: tuple[str, ...]
    supports: int  # evidence items
    contradicts: int
    needed_grade: str

    @property
    def field_name(self) -> str:
        return f"practice-{self.practice.id}"


@dataclass(frozen=True, slots=True)
class LevelBlock:
    """Levels 3 to 5: the practices, and whether the level would hold with what is marked and stored."""

    level: int
    words: str
    rows: tuple[PracticeRow, ...]


@dataclass(frozen=True, slots=True)
class EvidenceCard:
    item: EvidenceItem
    practices: tuple[Practice, ...]
    supports: bool


@dataclass(frozen=True, slots=True)
class RemarkCard:
    remark: Remark
    may_answer: bool


@dataclass(frozen=True, slots=True)
class DimensionPart:
    """One dimension of the form. `form` holds what was typed when the server refused it, else what is stored.

    `version` is the one that the values in the inputs began from: while a refusal stands it stays the old one, so that
    the next save cannot overwrite what nobody has looked at.
    """

    dimension: Dimension
    score: DimensionScore
    result: DimensionResult
    form: DimensionForm
    levels: tuple[LevelBlock, ...]
    cards: tuple[EvidenceCard, ...]
    steps: tuple[StepInRevision, ...]
    remarks: tuple[RemarkCard, ...]
    templates: tuple[NextStepTemplate, ...]
    version: int
    conflict: VersionConflict | None = None

    @property
    def values(self) -> Mapping[str, Any]:
        return {name: self.form[name].value() for name in ("level", "rationale", "confidence", "cause", "reason")}

    @property
    def mark_basis(self) -> str:
        """Return the basis in the words of the level scale."""
        if self.score.standing != ScoreStanding.ASSESSED:
            return self.score.standing
        return "asserted" if self.result.standing is Standing.ASSERTED else "evidence"

    @property
    def same_level(self) -> str:
        """The published level with which no cause is needed; "none" without one, "differ" when two levels differ."""
        published = {self.score.previous_level, self.score.superseded_level} - {None}
        return "none" if not published else str(published.pop()) if len(published) == 1 else "differ"


@dataclass(frozen=True, slots=True)
class FormPage:
    """The whole scorecard form."""

    scorecard: Scorecard
    readiness: Readiness
    parts: tuple[DimensionPart, ...]
    subject: SubjectForm
    answer: AnswerForm
    pinned: tuple[Run, ...]
    override_why: str
    remarks: tuple[RemarkCard, ...]
    subject_version: int
    answer_version: int
    conflicts: Mapping[str, VersionConflict] = field(default_factory=dict)

    @property
    def revision(self) -> Revision:
        return self.scorecard.revision

    @property
    def open_remarks(self) -> tuple[Remark, ...]:
        """Those on the whole and those on its dimensions."""
        cards = (*self.remarks, *(card for part in self.parts for card in part.remarks))
        return tuple(card.remark for card in cards if card.remark.state == RemarkState.OPEN)

    @property
    def remarks_anchor(self) -> str:
        """Where the first open remark stands."""
        dimension = self.open_remarks[0].dimension_id if self.open_remarks else ""
        return f"remarks-{dimension}" if dimension else "remarks"

    @property
    def subject_conflict(self) -> VersionConflict | None:
        return self.conflicts.get("subject")

    @property
    def answer_conflict(self) -> VersionConflict | None:
        return self.conflicts.get("answer")

    def part_of(self, dimension_id: str) -> DimensionPart:
        return next(part for part in self.parts if part.dimension.id == dimension_id)


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody sent and the server refused: kept on the page that answers."""

    data: QueryDict | None = None
    dimension: str = ""
    head: str = ""  # "subject" or "answer"
    conflict: VersionConflict | None = None

    def version_of(self, place: str, stored: int) -> int:
        """Return the version that was sent from this place, else the stored one."""
        mine = self.data is not None and place in (self.dimension, self.head)
        return sent_version(self.data) if mine and self.data is not None else stored


def build_form_page(revision: Revision, user: User, typed: Typed | None = None) -> FormPage:
    """Some twelve queries, whatever the number of scores, items and steps."""
    typed = typed or Typed()
    scorecard = load_scorecard(revision)
    remarks = _remarks(revision, scorecard, user)
    appearances = list(revision.steps.select_related("step").prefetch_related("step__evidence"))
    runs = list_pinned_runs(revision)
    subject = SubjectForm(revision, typed.data if typed.head == "subject" else None)
    answer = AnswerForm(revision, typed.data if typed.head == "answer" else None)
    for form in (subject, answer):
        form.is_valid()
    return FormPage(
        scorecard=scorecard,
        readiness=check_readiness(revision, scorecard, steps=appearances, runs=runs),
        parts=tuple(_part(scorecard, d, appearances, remarks, typed) for d in scorecard.rubric.dimensions),
        subject=subject,
        answer=answer,
        pinned=tuple(runs),
        override_why=why_override(revision, scorecard, runs),
        remarks=tuple(card for card in remarks if not card.remark.dimension_id),
        subject_version=typed.version_of("subject", revision.version),
        answer_version=typed.version_of("answer", revision.answer_version),
        conflicts={typed.head: typed.conflict} if typed.head and typed.conflict else {},
    )


def _remarks(revision: Revision, scorecard: Scorecard, user: User) -> list[RemarkCard]:
    remarks = Remark.objects.filter(revision=revision).select_related("by", "answered_by", "item", "step")
    return [RemarkCard(remark, may_answer(remark, user, scorecard.scores)) for remark in remarks]


def _part(
    scorecard: Scorecard,
    dimension: Dimension,
    appearances: list[StepInRevision],
    remarks: list[RemarkCard],
    typed: Typed,
) -> DimensionPart:
    score = scorecard.scores[dimension.id]
    mine = typed.dimension == dimension.id
    form = DimensionForm(dimension, typed.data if mine else None, initial=initial_of(score))
    steps = tuple(appearance for appearance in appearances if appearance.step.dimension_id == dimension.id)
    begun = {appearance.step.template_id for appearance in steps}
    level = 0 if score.level is None else score.level
    return DimensionPart(
        dimension=dimension,
        score=score,
        result=scorecard.result_of(dimension.id),
        form=form,
        levels=_levels(scorecard, dimension, form, list(score.links.all())),
        cards=_cards(dimension, list(score.links.all())),
        steps=steps,
        remarks=tuple(card for card in remarks if card.remark.dimension_id == dimension.id),
        templates=tuple(template for template in dimension.next_steps_at(level) if template.id not in begun),
        version=typed.version_of(dimension.id, score.version),
        conflict=typed.conflict if mine else None,
    )


def _levels(
    scorecard: Scorecard, dimension: Dimension, form: DimensionForm, links: list[EvidenceLink]
) -> tuple[LevelBlock, ...]:
    words = scorecard.rubric.level_words
    return tuple(
        LevelBlock(
            level=level,
            words=words[level] if level < len(words) else "",
            rows=tuple(_row(practice, form, links) for practice in dimension.practices_at(level)),
        )
        for level in range(FIRST_PRACTICE_LEVEL, MAX_LEVEL + 1)
    )


def _row(practice: Practice, form: DimensionForm, links: list[EvidenceLink]) -> PracticeRow:
    own = [link for link in links if link.practice_id == practice.id]
    supports = sum(link.stance == "supports" for link in own)
    return PracticeRow(
        practice=practice,
        state=form[f"practice-{practice.id}"].value() or "not_seen",
        reason=form[f"reason-{practice.id}"].value() or "",
        errors=tuple(map(str, form.errors.get(f"reason-{practice.id}", ()))) if form.is_bound else (),
        supports=supports,
        contradicts=len(own) - supports,
        needed_grade=needed_grade(practice).value,
    )


def _cards(dimension: Dimension, links: list[EvidenceLink]) -> tuple[EvidenceCard, ...]:
    practices = {practice.id: practice for practice in dimension.practices}
    by_item: dict[EvidenceItem, list[EvidenceLink]] = {}
    for link in links:
        by_item.setdefault(link.item, []).append(link)
    return tuple(
        EvidenceCard(
            item=item,
            practices=tuple(practices[link.practice_id] for link in own if link.practice_id in practices),
            supports=own[0].stance == "supports",
        )
        for item, own in by_item.items()
    )
