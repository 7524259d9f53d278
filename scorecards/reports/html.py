"""A snapshot as the report's HTML, the same for both papers: only the style sheet knows the size of a page."""

from django.template.loader import render_to_string

from scorecards.reports.context import ReportContext
from scorecards.snapshot_reading import Snapshot


def render_html(snapshot: Snapshot, *, sha256: str) -> str:
    return render_to_string("scorecards/report/report.html", {"report": ReportContext(snapshot, sha256)})
