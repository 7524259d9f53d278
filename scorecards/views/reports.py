"""The report of a published revision: asked for, followed, downloaded."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evals.access import get_agent
from reliability.access import Standing, enter_client
from reliability.htmx import render_page
from scorecards import access, report_jobs
from scorecards.models import Report, ReportState, Revision, Snapshot
from scorecards.tasks import enqueue_report


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One paper with its report, if anybody asked for it."""

    paper: Report.Paper
    report: Report | None
    download_url: str

    @property
    def is_working(self) -> bool:
        return self.report is not None and not report_jobs.is_finished(self.report)


@dataclass(frozen=True, slots=True)
class _Place:
    standing: Standing
    revision: Revision
    snapshot: Snapshot

    def url(self, name: str, *more: str) -> str:
        review = self.revision.review
        address = [self.standing.client.slug, review.agent.slug, review.number, self.revision.number, *more]
        return reverse(name, args=address)


def _find(request: HttpRequest, client: str, agent: str, number: int, revision_number: int) -> _Place:
    standing = enter_client(request.user, client)
    review = access.get_review(standing, get_agent(standing, agent), number)
    revision = access.get_published(review, revision_number)
    revision.review = review
    return _Place(standing, revision, access.get_published_snapshot(standing, revision))


def _read_paper(word: str) -> Report.Paper:
    try:
        return Report.Paper(word)
    except ValueError:
        raise Http404 from None


@login_required
def report(request: HttpRequest, client: str, agent: str, number: int, revision_number: int) -> HttpResponse:
    """The state of both papers; its status part polls itself while one is being made. POST asks for `paper`."""
    place = _find(request, client, agent, number, revision_number)
    if request.method == "POST":
        asked = report_jobs.request_report(
            place.snapshot, _read_paper(request.POST.get("paper", "")), by=place.standing.user
        )
        if asked.is_new:
            enqueue_report(asked.report.pk)
        response = redirect(place.url("report"))
        response.status_code = 303
        return response
    made = {report.paper: report for report in Report.objects.filter(snapshot=place.snapshot)}
    rows = [PaperRow(paper, made.get(paper.value), place.url("report-download", paper.value)) for paper in Report.Paper]
    context = {
        "standing": place.standing,
        "agent": place.revision.review.agent,
        "review": place.revision.review,
        "revision": place.revision,
        "sha256": place.snapshot.sha256,
        "rows": rows,
        "is_working": any(row.is_working for row in rows),
    }
    return render_page(request, "scorecards/report_status.html", "report-status", context)


@login_required
def report_download(
    request: HttpRequest, client: str, agent: str, number: int, revision_number: int, paper: str
) -> FileResponse | HttpResponse:
    """The file itself; before there is one, the page that makes it. Each download is noted."""
    place = _find(request, client, agent, number, revision_number)
    wanted = _read_paper(paper)
    made = Report.objects.filter(snapshot=place.snapshot, paper=wanted, state=ReportState.DONE).first()
    if made is None:
        return redirect(place.url("report"))
    report_jobs.note_download(made, by=place.standing.user)
    file = storages["default"].open(made.path)
    return FileResponse(file, as_attachment=True, filename=file_name(made), content_type="application/pdf")


def file_name(made: Report) -> str:
    revision = made.snapshot.revision
    review = revision.review
    return f"{review.agent.slug}-review-{review.number}-revision-{revision.number}-{made.paper}.pdf"
