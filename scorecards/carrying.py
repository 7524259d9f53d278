"""What a review takes over from an earlier one: scores to re-confirm, texts, lists, and open steps with their age."""

from collections.abc import Iterable

from django.db.models import Q
from django.utils import timezone

from evals.models import Agent
from scorecards.models import (
    DimensionScore,
    EvidenceLink,
    NextStep,
    PracticeMark,
    Revision,
    RevisionState,
    StepInRevision,
    StepState,
)
from scorecards.rubric import Carried, Dimension, Rubric, carry_dimensions
from scorecards.rubrics_store import rubric_of

CARRIED_TEXTS = (
    "agent_versions",
    "model",
    "environment",
    "intended_use",
    "permitted_users",
    "void_if",
    "main_flows",
    "tools",
    "top_risks",
    "limitations",
    "method",
    "participants",
)
ANSWER_TEXTS = (
    "summary",
    "recommendation",
    "recommendation_reasons",
    "override_reason",
    "period_from",
    "period_to",
)
SCORE_FIELDS = ("standing", "level", "rationale", "confidence", "reason")
STILL_OPEN = (StepState.OPEN, StepState.DONE_UNTESTED, StepState.CAME_BACK)


def find_last_published(agent: Agent) -> Revision | None:
    """Return the newest published revision of the agent's newest published review."""
    return (
        Revision.objects.filter(review__agent=agent, state=RevisionState.PUBLISHED)
        .select_related("review", "rubric")
        .order_by("-review__number", "-number")
        .first()
    )


def carry_into_next_review(last: Revision | None, draft: Revision) -> None:
    """Fill a new review's draft. The answer itself, its summary and its period are written anew each time."""
    if last:
        _copy_fields(last, draft, CARRIED_TEXTS)
        draft.save()
        _carry_scores(last, draft)
    _list_steps(draft, _open_steps(draft.review.agent))


def carry_into_next_revision(last: Revision, draft: Revision) -> None:
    """Copy a published revision whole: what differs afterwards is what the new revision corrects."""
    _copy_fields(last, draft, (*CARRIED_TEXTS, *ANSWER_TEXTS))
    draft.override_by, draft.recommended_by = last.override_by, last.recommended_by
    draft.save()
    draft.runs.set(last.runs.all())
    for score in _scores(last):
        copy = DimensionScore(revision=draft, dimension_id=score.dimension_id)
        _copy_fields(score, copy, (*SCORE_FIELDS, "cause", "previous_level"))
        copy.superseded_level = score.level
        copy.confirmed_by, copy.changed_by, copy.changed_at = score.confirmed_by, score.changed_by, score.changed_at
        copy.save()
        _copy_marks(score, copy, {mark.practice_id for mark in score.marks.all()})
        _copy_links(score, copy, {link.practice_id for link in score.links.all()})
    for appearance in last.steps.all():
        StepInRevision.objects.create(step=appearance.step, revision=draft, is_condition=appearance.is_condition)
    _list_steps(draft, _open_steps(draft.review.agent))


def _copy_fields(source: object, target: object, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


def _scores(revision: Revision) -> Iterable[DimensionScore]:
    scores = DimensionScore.objects.filter(revision=revision).prefetch_related("marks", "links__item")
    return scores.select_related("confirmed_by", "changed_by")


def _carry_scores(last: Revision, draft: Revision) -> None:
    before, after = rubric_of(last.rubric), rubric_of(draft.rubric)
    fate = carry_dimensions(before, after)
    drafts = {score.dimension_id: score for score in draft.scores.all()}
    for score in _scores(last):
        dimension = after.successor_of(score.dimension_id, in_rubric=before)
        if dimension is None or fate[dimension.id] not in (Carried.KEPT, Carried.RECONFIRM):
            continue
        copy = drafts[dimension.id]
        _copy_fields(score, copy, SCORE_FIELDS)
        copy.previous_level = score.level
        copy.to_reconfirm = True
        copy.save()
        same = _same_practices(before, score.dimension_id, dimension)
        _copy_marks(score, copy, same)
        _copy_links(score, copy, same | {""})


def _same_practices(before: Rubric, dimension_id: str, after: Dimension) -> set[str]:
    """Return the practices that read the same in both rubrics: only their marks still mean what they meant."""
    earlier = before.find(dimension_id)
    return {practice.id for practice in after.practices if earlier and practice in earlier.practices}


def _copy_marks(score: DimensionScore, copy: DimensionScore, practices: set[str]) -> None:
    PracticeMark.objects.bulk_create(
        PracticeMark(score=copy, practice_id=mark.practice_id, state=mark.state, reason=mark.reason)
        for mark in score.marks.all()
        if mark.practice_id in practices
    )


def _copy_links(score: DimensionScore, copy: DimensionScore, practices: set[str]) -> None:
    EvidenceLink.objects.bulk_create(
        EvidenceLink(item=link.item, score=copy, practice_id=link.practice_id, stance=link.stance)
        for link in score.links.all()
        if link.practice_id in practices
    )


def _open_steps(agent: Agent) -> Iterable[NextStep]:
    """Return what is still to do; what the client accepted comes up again once its date has passed."""
    lapsed = Q(state=StepState.ACCEPTED, accepted_until__lt=timezone.localdate())
    return NextStep.objects.filter(Q(state__in=STILL_OPEN) | lapsed, agent=agent)


def _list_steps(draft: Revision, steps: Iterable[NextStep]) -> None:
    listed = set(draft.steps.values_list("step_id", flat=True))
    StepInRevision.objects.bulk_create(
        StepInRevision(step=step, revision=draft) for step in steps if step.pk not in listed
    )
