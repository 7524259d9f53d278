"""Reports as rows: asked for once per snapshot and paper, claimed with a lease, swept when a worker died (DESIGN 8)."""

import uuid
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from reliability.audit import Actor, record_change
from reliability.leases import MAX_TRIES, Lease, claim, list_worn_out
from reliability.models import User
from reliability.waiting import WaitingRoom
from scorecards.models import Report, ReportState, Snapshot

WAITING = "Waiting for a worker"


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
    return claim(Report, report_id, phase="Reading the snapshot")


def fail_worn_out() -> None:
    """End reports whose workers died too often to try again, with a reason a person can read."""
    list_worn_out(Report).update(
        state=ReportState.FAILED,
        detail=f"The worker stopped {MAX_TRIES} times while making this report.",
        finished_at=timezone.now(),
    )


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
