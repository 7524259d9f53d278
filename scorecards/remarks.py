"""Remarks on a revision: somebody says something, somebody else accepts or declines it with a reason. All are kept."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from reliability.audit import record_change
from reliability.errors import AppError, Conflict
from reliability.models import User
from scorecards.models import (
    DimensionScore,
    EvidenceItem,
    EvidenceLink,
    FactCheck,
    NextStep,
    Remark,
    RemarkState,
    Revision,
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a remark is about; all empty means the revision as a whole."""

    dimension_id: str = ""
    practice_id: str = ""
    item: EvidenceItem | None = None
    step: NextStep | None = None


@transaction.atomic
def add_remark(
    revision: Revision,
    text: str,
    *,
    place: Place | None = None,
    internal: bool = True,
    fact_check: FactCheck | None = None,
    by: User,
) -> Remark:
    if not text.strip():
        raise AppError("Write what you want to say.", code="text_missing")
    if revision.is_published:
        raise Conflict("The revision is published: remarks belong to drafts.", code="frozen")
    place = place or Place()
    remark = Remark.objects.create(
        client=revision.client,
        revision=revision,
        fact_check=fact_check,
        internal=internal,
        dimension_id=place.dimension_id or _dimension_of(revision, place),
        practice_id=place.practice_id,
        item=place.item,
        step=place.step,
        text=text.strip(),
        by=by,
    )
    record_change(revision.client, "remark.added", remark, by=by, internal=internal, dimension=remark.dimension_id)
    return remark


def _dimension_of(revision: Revision, place: Place) -> str:
    if place.step:
        return place.step.dimension_id
    if place.item:
        link = EvidenceLink.objects.filter(item=place.item, score__revision=revision).select_related("score").first()
        return link.score.dimension_id if link else ""
    return ""


@transaction.atomic
def answer_remark(remark: Remark, *, accepted: bool, reason: str, by: User) -> Remark:
    """Accept or decline, with a reason, as somebody other than the author of the score that it is about."""
    now = Remark.objects.select_for_update(of=("self",)).select_related("revision__client").get(pk=remark.pk)
    if now.state != RemarkState.OPEN:
        raise Conflict("This remark is answered already.", code="remark_answered")
    if not reason.strip():
        raise AppError("Give the reason for the answer.", code="reason_missing")
    if by.pk == _author_of(now):
        raise AppError(
            "You wrote the score that this is about: somebody else has to answer.", status=403, code="second_person"
        )
    now.state = RemarkState.ACCEPTED if accepted else RemarkState.DECLINED
    now.answer, now.answered_by, now.answered_at = reason.strip(), by, timezone.now()
    now.save()
    record_change(now.client, "remark.answered", now, by=by, state=now.state)
    return now


def _author_of(remark: Remark) -> int | None:
    """Return the person who last changed the score that the remark is about."""
    score = DimensionScore.objects.filter(revision=remark.revision, dimension_id=remark.dimension_id).first()
    return score.changed_by_id if score else None


def may_answer(remark: Remark, user: User, scores: dict[str, DimensionScore]) -> bool:
    score = scores.get(remark.dimension_id)
    return remark.state == RemarkState.OPEN and (score is None or score.changed_by_id != user.pk)
