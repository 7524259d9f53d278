"""Reports as rows: asked for once per snapshot and paper, claimed with a lease, swept when a worker died (DESIGN 8)."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from reliability.audit import Actor, record_change
from reliability.models import User
from reliability.waiting import WaitingRoom
from scorecards.models import Report, ReportState, Snapshot

MAX_TRIES = 5
RE_ENQUEUE_AFTER = timedelta(seconds=30)  # a waiting report whose message may have been lost
WAITING = "Waiting for a worker"


class LeaseLost(Exception):
    """Another worker holds the report now; this one must stop without a trace."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one report until it runs out or is renewed."""

    report_id: uuid.UUID
    id: uuid.UUID

    def renew(self, phase: str) -> None:
        """Extend the lease and say what is being done. Raises `LeaseLost` if it is held by another worker."""
        if not self._mine().update(lease_until=_until(), phase=phase[:60]):
            raise LeaseLost

    def finish(self, **fields: Any) -> bool:
        """Write the end of the work; False when the lease was lost."""
        ended: dict[str, Any] = {"lease": None, "lease_until": None, "finished_at": timezone.now()}
        return bool(self._mine().update(**ended, **fields))

    def _mine(self) -> Any:
        return Report.objects.filter(pk=self.report_id, lease=self.id, state=ReportState.RUNNING)


@dataclass(frozen=True, slots=True)
class Asked:
    """`is_new` says that somebody has to enqueue it."""

    report: Report
    is_new: bool


@transaction.atomic
def request_report(snapshot: Snapshot, paper: Report.Paper, *, by: Actor) -> Asked:
    """Return the report of the snapshot on this paper, begun now if there is none. A failed one is tried again."""
    user = by if isinstance(by, User) else None
    wanted = {"phase": WAITING, "requested_by": user}
    report, is_new = Report.objects.get_or_create(snapshot=snapshot, paper=paper, defaults=wanted)
    if not is_new:
        again = Report.objects.filter(pk=report.pk, state=ReportState.FAILED)
        is_new = bool(again.update(state=ReportState.QUEUED, phase=WAITING, detail="", tries=0, finished_at=None))
        report.refresh_from_db()
    return Asked(report, is_new)


def claim_report(report_id: uuid.UUID) -> Lease | None:
    """Take the report if it waits, or if its last worker let the lease run out; None if it is not to be had."""
    lease = Lease(report_id, uuid.uuid4())
    free = Q(state=ReportState.QUEUED) | Q(state=ReportState.RUNNING, lease_until__lt=timezone.now())
    claimed = Report.objects.filter(free, pk=report_id, tries__lt=MAX_TRIES).update(
        state=ReportState.RUNNING,
        phase="Reading the snapshot",
        lease=lease.id,
        lease_until=_until(),
        tries=F("tries") + 1,
    )
    return lease if claimed else None


def list_stalled() -> list[uuid.UUID]:
    """Return reports that nobody works on: lost messages and dead workers."""
    now = timezone.now()
    waiting = Q(state=ReportState.QUEUED, created_at__lt=now - RE_ENQUEUE_AFTER)
    dead = Q(state=ReportState.RUNNING, lease_until__lt=now)
    return list(Report.objects.filter(waiting | dead, tries__lt=MAX_TRIES).values_list("pk", flat=True))


def fail_worn_out() -> None:
    """End reports whose workers died too often to try again, with a reason a person can read."""
    dead = Q(state=ReportState.RUNNING, lease_until__lt=timezone.now())
    Report.objects.filter(dead, tries__gte=MAX_TRIES).update(
        state=ReportState.FAILED,
        detail=f"The worker stopped {MAX_TRIES} times while making this report.",
        finished_at=timezone.now(),
    )


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def is_finished(report: Report) -> bool:
    return report.state in (ReportState.DONE, ReportState.FAILED)


@transaction.atomic
def note_download(report: Report, *, by: Actor) -> None:
    """What leaves the house is written down: who took which file."""
    client = report.snapshot.revision.client
    record_change(client, "report.downloaded", report, by=by, paper=report.paper, sha256=report.sha256)


def _read_report(report_id: uuid.UUID) -> Report:
    return Report.objects.select_related("snapshot__revision__client").get(pk=report_id)


def make_waiting_room() -> WaitingRoom[Report]:
    """A quarter of the process's threads may wait for reports, as imports may take half of them."""
    return WaitingRoom(fetch=_read_report, is_finished=is_finished, seats=lambda: max(settings.WEB_THREADS // 4, 1))


waiting_room = make_waiting_room()
