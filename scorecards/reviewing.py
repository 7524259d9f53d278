"""Write functions of a review: it starts, its texts and scores are saved, it goes to review and back.

Each saves one thing under its version, so that two people cannot overwrite each other, and leaves an audit entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from evals.models import Agent, Run
from reliability.audit import record_change
from reliability.errors import AppError, Conflict
from reliability.models import User
from scorecards.carrying import carry_into_next_review, carry_into_next_revision, find_last_published
from scorecards.conflicts import Frozen, VersionConflict
from scorecards.models import (
    DimensionScore,
    Engagement,
    NextStep,
    PracticeMark,
    PracticeState,
    Review,
    Revision,
    RevisionState,
    ScoreStanding,
)
from scorecards.rubric import Dimension
from scorecards.rubrics_store import default_rubric_version, rubric_of


class HeadPart(Enum):
    """The two halves of a revision's head, each saved under its own version: (version field, fields)."""

    SUBJECT = (
        "version",
        (
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
            "period_from",
            "period_to",
            "participants",
            "supersedes_because",
            "what_changed",
        ),
    )
    ANSWER = ("answer_version", ("summary", "recommendation", "recommendation_reasons"))

    @property
    def version_field(self) -> str:
        return str(self.value[0])

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.value[1])


@dataclass(frozen=True, slots=True)
class ScoreFields:
    """What a person says about a dimension. `marks` maps practice ids to (state, reason); a missing one is not seen."""

    standing: ScoreStanding = ScoreStanding.NOT_ASSESSED
    level: int | None = None
    rationale: str = ""
    confidence: str = ""
    cause: str = ""
    reason: str = ""
    reconfirmed: bool = False
    marks: Mapping[str, tuple[PracticeState, str]] = field(default_factory=dict)


SCORE_COLUMNS = ("standing", "level", "rationale", "confidence", "cause", "reason")


@transaction.atomic
def start_review(engagement: Engagement, agent: Agent, *, as_of: date, by: User) -> Revision:
    """Return the draft of the agent's next review. It starts from the last published one where there is any.

    Raises `Conflict` while another review of the agent has never been published.
    """
    if not engagement.agents.filter(pk=agent.pk).exists():
        raise AppError(f"{agent} is not in the scope of {engagement}.", code="not_in_scope")
    Agent.objects.select_for_update().get(pk=agent.pk)  # one number at a time
    _require_nothing_open(agent)
    last = find_last_published(agent)
    number = (Review.objects.filter(agent=agent).aggregate(last=Max("number"))["last"] or 0) + 1
    review = Review.objects.create(
        client=agent.client,
        engagement=engagement,
        agent=agent,
        number=number,
        as_of=as_of,
        previous=last.review if last else None,
        created_by=by,
    )
    version = default_rubric_version()
    revision = Revision.objects.create(client=agent.client, review=review, number=1, rubric=version, created_by=by)
    dimensions = rubric_of(version).dimensions
    DimensionScore.objects.bulk_create(DimensionScore(revision=revision, dimension_id=d.id) for d in dimensions)
    carry_into_next_review(last, revision)
    record_change(agent.client, "review.started", review, by=by, number=number, engagement=str(engagement.pk))
    return revision


def _require_nothing_open(agent: Agent) -> None:
    open_one = Revision.objects.filter(review__agent=agent).exclude(state=RevisionState.PUBLISHED).first()
    if open_one:
        raise Conflict(
            f"Review {open_one.review.number} of {agent} is still being written. Publish it before starting another.",
            code="review_open",
        )


@transaction.atomic
def revise_review(review: Review, *, because: str, by: User) -> Revision:
    """Return a draft that will supersede the published revision; it begins as its copy."""
    Review.objects.select_for_update().get(pk=review.pk)
    last = review.revisions.filter(state=RevisionState.PUBLISHED).order_by("-number").first()
    if last is None or review.revisions.exclude(state=RevisionState.PUBLISHED).exists():
        raise Conflict(f"{review} already has a revision in work.", code="revision_open")
    if not because.strip():
        raise AppError("Say why the published revision needs to be replaced.", code="reason_missing")
    revision = Revision.objects.create(
        client=review.client,
        review=review,
        number=last.number + 1,
        rubric=last.rubric,
        supersedes_because=because.strip(),
        created_by=by,
    )
    carry_into_next_revision(last, revision)
    record_change(review.client, "revision.started", revision, by=by, number=revision.number)
    return revision


@transaction.atomic
def save_head(
    revision: Revision, part: HeadPart, fields: Mapping[str, Any], *, expected_version: int, by: User
) -> Revision:
    """Save one half of the head and return the revision as stored. Raises `VersionConflict` or `Frozen`."""
    now = lock_draft(revision)
    version = getattr(now, part.version_field)
    stored = {name: getattr(now, name) for name in part.fields}
    wanted = {name: fields[name] for name in part.fields if name in fields}
    changed = {name: value for name, value in wanted.items() if value != stored[name]}
    if not changed:
        return now
    if version != expected_version:
        raise VersionConflict(now, version=version, by=now.changed_by, mine=wanted, now=stored)
    for name, value in changed.items():
        setattr(now, name, value)
    if "recommendation" in changed:
        now.recommended_by = by
        now.override_reason, now.override_by = "", None  # it was written for another answer
    setattr(now, part.version_field, version + 1)
    now.changed_by, now.changed_at = by, timezone.now()
    now.save()
    record_change(now.client, "revision.changed", now, by=by, fields=sorted(changed), version=version + 1)
    return now


@transaction.atomic
def save_dimension(score: DimensionScore, fields: ScoreFields, *, expected_version: int, by: User) -> DimensionScore:
    """Save a dimension and return it as stored. The same values again are no change, whatever the version.

    Raises `VersionConflict`, `Frozen`, or `AppError` for a practice that the rubric does not have.
    """
    lock_draft(score.revision)
    now = DimensionScore.objects.select_for_update().select_related("revision__rubric").get(pk=score.pk)
    dimension = rubric_of(now.revision.rubric).find(now.dimension_id)
    if dimension is None:
        raise AppError(f"The rubric has no dimension {now.dimension_id}.", code="dimension_unknown")
    wanted, stored = _wanted(fields, dimension), _stored(now, dimension)
    differs = wanted != stored
    confirms = fields.reconfirmed and now.to_reconfirm
    if not differs and not confirms:
        return now
    if differs and now.version != expected_version:
        raise VersionConflict(now, version=now.version, by=now.changed_by, mine=wanted, now=stored)
    _apply(now, wanted, stored)
    now.to_reconfirm = now.to_reconfirm and not fields.reconfirmed
    now.version += 1
    now.changed_by, now.changed_at = by, timezone.now()
    now.save()
    changed = sorted(name for name in wanted if wanted[name] != stored[name])
    record_change(
        now.revision.client, "score.changed", now, by=by, fields=changed, level=now.level, version=now.version
    )
    return now


def _wanted(fields: ScoreFields, dimension: Dimension) -> dict[str, Any]:
    known = {practice.id for practice in dimension.practices}
    if unknown := set(fields.marks) - known:
        raise AppError(f"{dimension.title} has no practice {', '.join(sorted(unknown))}.", code="practice_unknown")
    level = fields.level if fields.standing == ScoreStanding.ASSESSED else None
    if fields.standing == ScoreStanding.ASSESSED and (level is None or not 0 <= level <= 5):
        raise AppError("A level is a whole number from 0 to 5.", code="level_invalid")
    columns: dict[str, Any] = {name: getattr(fields, name) for name in SCORE_COLUMNS} | {"level": level}
    return columns | {
        f"practice {practice.id}": _mark_of(fields.marks.get(practice.id)) for practice in dimension.practices
    }


def _mark_of(mark: tuple[PracticeState, str] | None) -> tuple[str, str]:
    """A practice without a mark is not seen; a reason belongs to what is not applicable."""
    state, reason = mark or (PracticeState.NOT_SEEN, "")
    return str(state), reason.strip() if state == PracticeState.NOT_APPLICABLE else ""


def _stored(score: DimensionScore, dimension: Dimension) -> dict[str, Any]:
    marks = {mark.practice_id: (mark.state, mark.reason) for mark in score.marks.all()}
    columns = {name: getattr(score, name) for name in SCORE_COLUMNS}
    not_seen = (PracticeState.NOT_SEEN.value, "")
    return columns | {f"practice {practice.id}": marks.get(practice.id, not_seen) for practice in dimension.practices}


def _apply(score: DimensionScore, wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    if (wanted["standing"], wanted["reason"]) != (stored["standing"], stored["reason"]):
        score.confirmed_by = None  # the second person agreed to something else
    for name in SCORE_COLUMNS:
        setattr(score, name, wanted[name])
    for name, value in wanted.items():
        if name.startswith("practice ") and value != stored[name]:
            state, reason = value
            PracticeMark.objects.update_or_create(
                score=score, practice_id=name.removeprefix("practice "), defaults={"state": state, "reason": reason}
            )


@transaction.atomic
def confirm_not_applicable(score: DimensionScore, *, by: User) -> None:
    """A second person agrees that a dimension does not apply."""
    lock_draft(score.revision)
    now = DimensionScore.objects.select_for_update().get(pk=score.pk)
    if now.standing != ScoreStanding.NOT_APPLICABLE:
        raise AppError("Only a dimension that is not applicable is confirmed.", code="not_confirmable")
    if now.changed_by_id == by.pk:
        raise AppError("Somebody other than the person who set it has to confirm it.", status=403, code="second_person")
    now.confirmed_by = by
    now.save(update_fields=["confirmed_by"])
    record_change(score.revision.client, "score.confirmed", now, by=by)


@transaction.atomic
def write_override(revision: Revision, reason: str, *, by: User) -> Revision:
    """Keep the second person's reason for "ready" against the bar or a breach; it is printed under the answer."""
    now = lock_draft(revision)
    if now.recommended_by_id == by.pk:
        raise AppError(
            "The reason has to come from somebody other than the person who recommends “ready”.",
            status=403,
            code="second_person",
        )
    now.override_reason, now.override_by = reason.strip(), by if reason.strip() else None
    now.save(update_fields=["override_reason", "override_by"])
    record_change(now.client, "revision.override", now, by=by, written=bool(reason.strip()))
    return now


@transaction.atomic
def pin_runs(revision: Revision, runs: list[Run], *, by: User) -> None:
    """Set the runs that the review rests on beside those of its evidence."""
    lock_draft(revision)
    agent = revision.review.agent
    if any(run.agent_id != agent.pk for run in runs):
        raise AppError("A review rests on runs of its own agent.", code="run_of_other_agent")
    revision.runs.set(runs)
    record_change(revision.client, "revision.runs", revision, by=by, runs=sorted(str(run.pk) for run in runs))


@transaction.atomic
def submit_for_review(revision: Revision, *, by: User) -> None:
    _move(revision, RevisionState.DRAFT, RevisionState.IN_REVIEW, "revision.submitted", by)


@transaction.atomic
def return_to_draft(revision: Revision, *, by: User) -> None:
    _move(revision, RevisionState.IN_REVIEW, RevisionState.DRAFT, "revision.returned", by)


def _move(revision: Revision, before: RevisionState, after: RevisionState, action: str, by: User) -> None:
    now = lock_draft(revision)
    if now.state != before:
        raise Conflict(f"{now} is {now.get_state_display().lower()}.", code="wrong_state")
    now.state = after
    now.save(update_fields=["state"])
    record_change(now.client, action, now, by=by)


@transaction.atomic
def discard_draft(revision: Revision, *, by: User) -> None:
    """Throw a draft away, with its scores and remarks and the steps that it alone lists; evidence stays the agent's.

    Raises `Conflict` once somebody at the client has read it in a fact check.
    """
    now = lock_draft(revision)
    if now.fact_checks.exists():
        raise Conflict("The client has read this draft in a fact check: it is kept.", code="fact_checked")
    review, subject = now.review, f"revision {now.pk}"
    NextStep.objects.filter(appearances__revision=now).exclude(appearances__revision__in=_others(now)).delete()
    now.delete()
    if not review.revisions.exists():
        review.delete()
    record_change(now.client, "revision.discarded", subject, by=by, review=review.number, number=now.number)


def _others(revision: Revision) -> QuerySet[Revision]:
    return Revision.objects.filter(review__agent=revision.review.agent).exclude(pk=revision.pk)


def lock_draft(revision: Revision) -> Revision:
    """Lock the revision's row and return it. Raises `Frozen` when it is published."""
    now = (
        Revision.objects.select_for_update(of=("self",))
        .select_related("review__agent", "client", "rubric", "changed_by")
        .get(pk=revision.pk)
    )
    if now.is_published:
        raise Frozen(f"{now} is published: it never changes. Start a new revision.")
    return now
