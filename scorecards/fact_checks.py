"""A fact check: a frozen client snapshot of a draft, open to named members of the client until a date."""

from datetime import date

from django.db import transaction
from django.utils import timezone

from reliability.audit import record_change
from reliability.errors import AppError, Conflict
from reliability.models import Membership, User
from scorecards.models import FactCheck, Revision, RevisionState, SnapshotKind
from scorecards.reviewing import lock_draft
from scorecards.snapshots import build_snapshot, store_snapshot


@transaction.atomic
def open_fact_check(
    revision: Revision, *, people: list[User], until: date, with_levels: bool = False, by: User
) -> FactCheck:
    """Freeze what the named people will read. Raises `AppError` when somebody is no member of the client."""
    now = lock_draft(revision)
    if now.state != RevisionState.IN_REVIEW:
        raise Conflict("A fact check starts from a revision in review.", code="wrong_state")
    if not people:
        raise AppError("Name at least one person at the client.", code="people_missing")
    members = Membership.objects.filter(client=now.client, user__in=people).count()
    if members != len({person.pk for person in people}):
        raise AppError("A fact check is for members of the client.", code="not_a_member")
    if until < timezone.localdate():
        raise AppError("The last day lies in the past.", code="date_past")
    now.state = RevisionState.FACT_CHECK
    now.save(update_fields=["state"])
    snapshot = store_snapshot(now, build_snapshot(now, SnapshotKind.FACT_CHECK, with_levels=with_levels))
    check = FactCheck.objects.create(
        revision=now, snapshot=snapshot, with_levels=with_levels, until=until, opened_by=by
    )
    check.people.set(people)
    record_change(
        now.client,
        "fact_check.opened",
        check,
        by=by,
        people=sorted(person.pk for person in people),
        until=until.isoformat(),
        with_levels=with_levels,
        sha256=snapshot.sha256,
    )
    return check


@transaction.atomic
def close_fact_check(check: FactCheck, *, by: User) -> None:
    """End the round: the named people no longer see the page, and the revision is in review again."""
    revision = lock_draft(check.revision)
    closed = FactCheck.objects.filter(pk=check.pk, closed_at=None).update(closed_at=timezone.now())
    if not closed:
        raise Conflict("This fact check is closed already.", code="fact_check_closed")
    revision.state = RevisionState.IN_REVIEW
    revision.save(update_fields=["state"])
    record_change(revision.client, "fact_check.closed", check, by=by)


def is_open_to(check: FactCheck, user: User) -> bool:
    """The day named is the last one."""
    return (
        check.closed_at is None
        and check.until >= timezone.localdate()
        and check.people.filter(pk=user.pk, memberships__client_id=check.revision.client_id).exists()
    )
