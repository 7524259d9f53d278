"""The report over the API: its bytes when they are there, else it is begun and waited for."""

import uuid
from typing import Any

import msgspec
from django.core.files.storage import storages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Router

from reliability.access import Standing, enter_api
from reliability.errors import AppError
from reliability.models import Scope
from reliability.problems import problem_response
from scorecards.access import get_published_snapshot, get_review_by_id, list_published
from scorecards.models import Report, ReportState
from scorecards.report_jobs import note_download, request_report, waiting_room
from scorecards.tasks import enqueue_report

router = Router(tags=["reviews"])
WAIT_SECONDS = 20.0


class ReportOut(msgspec.Struct, frozen=True, kw_only=True):
    """A report that is not there yet: ask again after `Retry-After` seconds."""

    paper: str
    state: str
    phase: str


PAPERS = [paper.value for paper in Report.Paper]
DESCRIBED: dict[str, Any] = {
    "parameters": [{"name": "paper", "in": "query", "required": False, "schema": {"type": "string", "enum": PAPERS}}],
    "responses": {
        200: {"description": "The file", "content": {"application/pdf": {}}},
        202: {"description": "Being made: ask again after Retry-After seconds"},
    },
}


@router.get("/reviews/{uuid:review_id}/report.pdf", summary="The report of a review", openapi_extra=DESCRIBED)
def get_report(request: HttpRequest, review_id: uuid.UUID) -> HttpResponse | FileResponse:
    """The newest published revision as a PDF. 202 with `Retry-After` while it is being made."""
    standing = enter_api(request, Scope.READ)
    review = get_review_by_id(standing, review_id)
    paper = _read_paper(request.GET.get("paper", Report.Paper.A4.value))
    latest = get_object_or_404(list_published(review)[:1])
    asked = request_report(get_published_snapshot(standing, latest), paper, by=standing.by)
    if asked.is_new:
        enqueue_report(asked.report.pk)
    return _answer(standing, waiting_room.wait_for(asked.report.pk, WAIT_SECONDS))


def _read_paper(word: str) -> Report.Paper:
    if word not in PAPERS:
        expected = " or ".join(PAPERS)
        error = {"parameter": "paper", "message": f"paper: {word[:40]!r} is not accepted", "expected": expected}
        raise AppError("Not accepted in the query: paper.", code="invalid_parameters", errors=[error])
    return Report.Paper(word)


def _answer(standing: Standing, report: Report) -> HttpResponse | FileResponse:
    if report.state == ReportState.FAILED:
        return problem_response(500, detail=report.detail, code="report_failed")
    if report.state != ReportState.DONE:
        body = ReportOut(paper=report.paper, state=report.state, phase=report.phase)
        response = HttpResponse(msgspec.json.encode(body) + b"\n", status=202, content_type="application/json")
        response["Retry-After"] = "2"
        return response
    note_download(report, by=standing.by)
    file = storages["default"].open(report.path)
    return FileResponse(file, as_attachment=True, filename=f"report-{report.paper}.pdf", content_type="application/pdf")
