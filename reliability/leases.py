"""Jobs as rows: claimed with a lease, renewed with each step, swept when a worker died (DESIGN 8).

A job's model has `state` (with the words below), `tries`, `lease`, `lease_until` and `created_at`.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

QUEUED, RUNNING = "queued", "running"
MAX_TRIES = 5
RE_ENQUEUE_AFTER = timedelta(seconds=30)  # a waiting job whose message may have been lost


class LeaseLost(Exception):
    """Another worker holds the job now; this one must stop without a trace."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one job until it runs out or is renewed."""

    model: type[Model]
    job_id: uuid.UUID
    id: uuid.UUID

    def renew(self, **progress: Any) -> None:
        """Extend the lease and note progress. Raises `LeaseLost` if it is held by another worker."""
        if not self._mine().update(lease_until=_until(), **progress):
            raise LeaseLost

    def finish(self, **fields: Any) -> bool:
        """Write the end of the work; False when the lease was lost."""
        ended: dict[str, Any] = {"lease": None, "lease_until": None, "finished_at": timezone.now()}
        return bool(self._mine().update(**ended, **fields))

    def _mine(self) -> QuerySet[Any]:
        return self.model._default_manager.filter(pk=self.job_id, lease=self.id, state=RUNNING)


def claim(model: type[Model], job_id: uuid.UUID, **start: Any) -> Lease | None:
    """Take the job if it waits, or if its last worker let the lease run out; None if it is not to be had."""
    lease = Lease(model, job_id, uuid.uuid4())
    free = model._default_manager.filter(Q(state=QUEUED) | _is_dead(), pk=job_id, tries__lt=MAX_TRIES)
    claimed = free.update(state=RUNNING, lease=lease.id, lease_until=_until(), tries=F("tries") + 1, **start)
    return lease if claimed else None


def list_stalled(model: type[Model]) -> list[uuid.UUID]:
    """Return jobs that nobody works on: lost messages and dead workers."""
    waiting = Q(state=QUEUED, created_at__lt=timezone.now() - RE_ENQUEUE_AFTER)
    stalled = model._default_manager.filter(waiting | _is_dead(), tries__lt=MAX_TRIES)
    return list(stalled.values_list("pk", flat=True))


def list_worn_out[Job: Model](model: type[Job]) -> QuerySet[Job]:
    """Return jobs whose workers died too often to try again."""
    return model._default_manager.filter(_is_dead(), tries__gte=MAX_TRIES)


def _is_dead() -> Q:
    return Q(state=RUNNING, lease_until__lt=timezone.now())


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
