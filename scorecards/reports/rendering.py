"""Makes one report: a claimed row in, a stored PDF or a reason out."""

import hashlib
import logging
import uuid
from datetime import timedelta

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.utils import timezone

from reliability.interruptions import NO_ROOM, has_no_room, may_pass
from reliability.leases import Lease, LeaseLost
from scorecards.models import Report, ReportState
from scorecards.report_jobs import claim_report
from scorecards.reports.html import render_html
from scorecards.reports.pdf import Pdf, render_pdf
from scorecards.snapshot_reading import read_snapshot

logger = logging.getLogger(__name__)
FAILED = "Making the file failed ({error}); it has been logged. Nothing was stored, and trying again is safe."


def run_report(report_id: uuid.UUID) -> None:
    """Do the work if it is to be had. Bears running twice: only the holder of the lease writes."""
    lease = claim_report(report_id)
    if lease is None:
        return
    report = Report.objects.select_related("snapshot__revision").get(pk=report_id)
    try:
        pdf = _render(report, lease)
        lease.renew(phase="Storing the file")
        path = _store(report, pdf)
        lease.finish(
            state=ReportState.DONE,
            phase="Ready",
            path=path,
            sha256=hashlib.sha256(pdf.body).hexdigest(),
            size=len(pdf.body),
            pages=pdf.pages,
        )
    except LeaseLost:
        logger.warning("report %s: the lease was lost to another worker", report_id)
    except Exception as error:
        logger.exception("report %s was interrupted", report_id)
        if not may_pass(error):  # else it is tried again once the lease has run out
            detail = NO_ROOM if has_no_room(error) else FAILED.format(error=type(error).__name__)
            lease.finish(state=ReportState.FAILED, phase="Failed", detail=detail)


def _render(report: Report, lease: Lease) -> Pdf:
    snapshot = report.snapshot
    html = render_html(read_snapshot(snapshot.body), sha256=snapshot.sha256)
    lease.renew(phase="Laying out the pages")
    return render_pdf(html, paper=report.paper, identifier=snapshot.sha256, on_progress=_Teller(lease).say)


class _Teller:
    """Passes progress on a few times a second: a row is written each time."""

    def __init__(self, lease: Lease) -> None:
        self._lease, self._said_at = lease, timezone.now()
        self._every = timedelta(seconds=min(0.5, settings.JOB_LEASE_SECONDS / 4))

    def say(self, phase: str) -> None:
        if timezone.now() - self._said_at >= self._every:
            self._lease.renew(phase=phase[:60])
            self._said_at = timezone.now()


def _store(report: Report, pdf: Pdf) -> str:
    """Keep the file under a name that says what it is; an earlier try may have left one there."""
    client_id = report.snapshot.revision.client_id
    path = f"reports/{client_id}/{report.snapshot.sha256}-{report.paper}.pdf"
    storage = storages["default"]
    if storage.exists(path):
        storage.delete(path)
    return storage.save(path, ContentFile(pdf.body))
