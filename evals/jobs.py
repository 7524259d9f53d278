"""Import jobs as rows: claimed with a lease, renewed with each batch, swept when a worker died (DESIGN 8)."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from evals.models import Import, ImportState, Phase

MAX_TRIES = 5
RE_ENQUEUE_AFTER = timedelta(seconds=30)  # a queued job whose message may have been lost


class LeaseLost(Exception):
    """Another worker holds the job now; this one must stop without a trace."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one import until it runs out or is renewed."""

    import_id: uuid.UUID
    id: uuid.UUID

    def renew(self, **progress: Any) -> None:
        """Extend the lease and note progress. Raises `LeaseLost` if it is held by another worker."""
        mine = Import.objects.filter(pk=self.import_id, lease=self.id, state=ImportState.RUNNING)
        if not mine.update(lease_until=_until(), **progress):
            raise LeaseLost


def claim_import(import_id: uuid.UUID) -> Lease | None:
    """Take the job if it waits, or if its last worker let the lease run out; None if it is not to be had."""
    lease = Lease(import_id, uuid.uuid4())
    now = timezone.now()
    free = Q(state=ImportState.QUEUED) | Q(state=ImportState.RUNNING, lease_until__lt=now)
    claimed = Import.objects.filter(free, pk=import_id, tries__lt=MAX_TRIES).update(
        state=ImportState.RUNNING,
        phase=Phase.READING,
        lease=lease.id,
        lease_until=_until(),
        tries=F("tries") + 1,
        started_at=now,
        bytes_read=0,
        rows_read=0,
        rows_stored=0,
    )
    return lease if claimed else None


def list_stalled() -> list[uuid.UUID]:
    """Return jobs that nobody works on: lost messages and dead workers."""
    now = timezone.now()
    waiting = Q(state=ImportState.QUEUED, created_at__lt=now - RE_ENQUEUE_AFTER)
    dead = Q(state=ImportState.RUNNING, lease_until__lt=now)
    return list(Import.objects.filter(waiting | dead, tries__lt=MAX_TRIES).values_list("pk", flat=True))


def list_worn_out() -> list[Import]:
    """Return jobs whose workers died too often to try again."""
    dead = Q(state=ImportState.RUNNING, lease_until__lt=timezone.now())
    return list(Import.objects.filter(dead, tries__gte=MAX_TRIES))


def _until() -> Any:
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
