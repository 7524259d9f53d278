"""Scores, evidence and next steps as parts of a snapshot."""

from evals.models import Attempt
from scorecards.assessing import Scorecard
from scorecards.models import Cause, DimensionScore, EvidenceItem, Grade, SourceType, StepInRevision
from scorecards.scoring import DimensionResult
from scorecards.snapshot_reading import (
    EvidencePart,
    LinkPart,
    PracticePart,
    ScorePart,
    StepPart,
    VerificationPart,
)

ITEM_SAME = (
    "claim",
    "source",
    "grade",
    "shows",
    "operated_from",
    "operated_to",
    "visibility",
    "made_by",
    "sha256",
    "class_id",
    "url",
    "file_name",
    "file_size",
    "interviewee",
    "interviewed_on",
)
STEP_SAME = ("text", "seen", "matters", "cause", "severity", "priority", "effort", "visibility")


def describe_scores(
    scorecard: Scorecard, seen_items: set[str], *, for_client: bool, with_levels: bool
) -> list[ScorePart]:
    """Return the scores in the rubric's order, with links only to the items in `seen_items`."""
    described = []
    for result in scorecard.result.dimensions:
        dimension_id = result.dimension.id
        shown = scorecard.client_result_of(dimension_id) if for_client else result
        score = scorecard.scores.get(dimension_id) or DimensionScore(dimension_id=dimension_id)
        described.append(_describe_score(score, result, shown, seen_items, with_levels=with_levels))
    return described


def _describe_score(
    score: DimensionScore, result: DimensionResult, shown: DimensionResult, seen: set[str], *, with_levels: bool
) -> ScorePart:
    cause = score.cause if score.needs_cause and with_levels else ""
    standing = result.standing
    links = score.links.all() if score.pk else []
    return ScorePart(
        dimension=score.dimension_id,
        standing=score.standing,  # type: ignore[arg-type]  # one of the three words
        level=score.level if with_levels else None,
        basis=standing.value if standing and with_levels else "",
        holds=result.holds if with_levels else True,
        previous_level=score.previous_level if with_levels else None,
        cause=cause,
        cause_words=str(Cause(cause).label) if cause else "",
        rationale=score.rationale,
        confidence=score.confidence,
        reason=score.reason,
        confirmed_by=str(score.confirmed_by or ""),
        scored_by=str(score.changed_by or ""),
        practices=_describe_practices(score, result, shown, with_levels=with_levels),
        evidence=[
            LinkPart(item=str(link.item_id), practice=link.practice_id, supports=link.stance == "supports")
            for link in links
            if str(link.item_id) in seen
        ],
    )


def _describe_practices(
    score: DimensionScore, result: DimensionResult, shown: DimensionResult, *, with_levels: bool
) -> list[PracticePart]:
    """`result` decides what lacks evidence; its words come from what the reader may see."""
    reasons = {mark.practice_id: mark.reason for mark in score.marks.all()} if score.pk else {}
    lacking = {lack.practice.id for lack in result.lacking} if with_levels else set()
    words = {lack.practice.id: lack.reason for lack in shown.lacking}
    contradicting = {practice.id for practice in result.contradicting} if with_levels else set()
    disputed = {practice.id for practice in shown.disputed}
    return [
        PracticePart(
            id=practice.id,
            state=result.score.state_of(practice).value,
            reason=reasons.get(practice.id, ""),
            lacking=words.get(practice.id, "") if practice.id in lacking else "",
            contradicts=practice.id in contradicting,
            disputed=practice.id in disputed,
        )
        for practice in result.dimension.practices
    ]


def describe_evidence(scorecard: Scorecard, *, for_client: bool) -> list[EvidencePart]:
    """Return each attached item once, in the order in which it came."""
    items = {link.item_id: link.item for link in scorecard.links}
    chosen = [item for item in items.values() if not for_client or item.is_client_visible]
    return [_describe_item(item) for item in sorted(chosen, key=lambda item: (item.created_at, str(item.pk)))]


def _describe_item(item: EvidenceItem) -> EvidencePart:
    attempt = None
    if item.source == SourceType.ATTEMPT:
        found = Attempt.objects.filter(run=item.run, number=item.attempt_number or 0)
        attempt = found.select_related("scenario").first()
    same = {name: getattr(item, name) for name in ITEM_SAME}
    return EvidencePart(
        id=str(item.pk),
        source_words=str(SourceType(item.source).label),
        verification=_describe_verification(item),
        run=str(item.run_id or ""),
        attempt=item.attempt_number,
        attempt_outcome=attempt.outcome.value if attempt else "",
        scenario=str(attempt.scenario or "") if attempt else "",
        **same,
    )


def _describe_verification(item: EvidenceItem) -> VerificationPart | None:
    if item.grade != Grade.VERIFIED:
        return None
    return VerificationPart(
        by=str(item.verified_by or ""),
        on=item.verified_on,
        how=item.verified_how,
        rerun=item.rerun_scenarios,
        rerun_of=item.rerun_of,
        agreed=item.rerun_agreed,
    )


def describe_steps(appearances: list[StepInRevision], seen_items: set[str], *, with_levels: bool) -> list[StepPart]:
    return [_describe_step(appearance, seen_items, with_levels=with_levels) for appearance in appearances]


def _describe_step(appearance: StepInRevision, seen: set[str], *, with_levels: bool) -> StepPart:
    """A condition tells the recommendation, so it is kept back where levels are."""
    step = appearance.step
    return StepPart(
        id=str(step.pk),
        dimension=step.dimension_id,
        practices=list(step.practices),
        evidence=sorted(str(item.pk) for item in step.evidence.all() if str(item.pk) in seen),
        owner=step.owner,
        due=step.due,
        priority_words=step.get_priority_display(),
        state=step.state,  # type: ignore[arg-type]  # one of the five words
        state_words=step.get_state_display(),
        accepted_by=step.accepted_by,
        accepted_until=step.accepted_until,
        is_condition=appearance.is_condition and with_levels,
        opened_on=step.created_at.date(),
        **{name: getattr(step, name) for name in STEP_SAME},
    )
