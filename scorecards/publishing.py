"""Publishing: the checks pass, the revision and its steps freeze, and two snapshots are stored that never change."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from reliability.audit import record_change
from reliability.errors import AppError
from reliability.models import User
from scorecards.assessing import list_pinned_runs, load_scorecard
from scorecards.models import Revision, RevisionState, SnapshotKind, StepInRevision
from scorecards.readiness import check_publisher, check_readiness
from scorecards.reviewing import lock_draft
from scorecards.snapshots import build_snapshot, store_snapshot


class NotReady(AppError):
    """`errors` names everything that is missing."""

    status = 422
    code = "not_ready"


@transaction.atomic
def publish_revision(revision: Revision, *, by: User, at: datetime | None = None) -> Revision:
    """Publish and return the frozen revision; `at` is for one that was published before it came here.

    Raises `NotReady`, `Frozen`, or 403 without a needed second person.
    """
    now = lock_draft(revision)
    scorecard = load_scorecard(now)
    readiness = check_readiness(now, scorecard)
    if not readiness.is_ready:
        raise NotReady(
            "The revision is not ready to be published.", errors=[{"message": p.text} for p in readiness.missing]
        )
    if why := check_publisher(now, by, scorecard):
        raise AppError(why, status=403, code="second_person")
    now.runs.set(list_pinned_runs(now))
    _freeze_steps(now)
    now.state = RevisionState.PUBLISHED
    now.published_by, now.published_at = by, at or timezone.now()
    now.save(update_fields=["state", "published_by", "published_at"])
    full = store_snapshot(now, build_snapshot(now, SnapshotKind.FULL))
    client = store_snapshot(now, build_snapshot(now, SnapshotKind.CLIENT))
    record_change(
        now.client,
        "revision.published",
        now,
        by=by,
        number=now.number,
        recommendation=now.recommendation,
        full_sha256=full.sha256,
        client_sha256=client.sha256,
    )
    return now


def _freeze_steps(revision: Revision) -> None:
    appearances = list(revision.steps.select_related("step"))
    for appearance in appearances:
        step = appearance.step
        appearance.state, appearance.owner, appearance.due = step.state, step.owner, step.due
    StepInRevision.objects.bulk_update(appearances, ["state", "owner", "due"])
