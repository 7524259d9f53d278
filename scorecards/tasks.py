"""Thin tasks: ids in, one call each."""

import uuid

from celery import shared_task
from django.db import transaction

from reliability.leases import list_stalled
from scorecards import report_jobs
from scorecards.models import Report


@shared_task
def make_report(*, report_id: str) -> None:
    from scorecards.reports.rendering import run_report  # slow import: the renderer, which web processes never need

    run_report(uuid.UUID(report_id))


@shared_task
def sweep_reports() -> None:
    """Put reports that nobody works on back into the queue, and end those whose workers keep dying."""
    for report_id in list_stalled(Report):
        make_report.delay(report_id=str(report_id))
    report_jobs.fail_worn_out()


def enqueue_report(report_id: uuid.UUID) -> None:
    """Hand the report to a worker once the transaction that asked for it is committed."""
    transaction.on_commit(lambda: make_report.delay(report_id=str(report_id)), robust=True)
