"""The report over the API: bytes when there, else begun and waited for."""

import json
import uuid

import pytest

from scorecards import report_api
from scorecards.models import Report, ReportState
from scorecards.reports import rendering
from scorecards.reports.pdf import Pdf
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(agent, alice, monkeypatch):
    monkeypatch.setattr(rendering, "render_pdf", lambda *_, paper, **__: Pdf(b"%PDF-1.7 " + paper.encode(), 3))
    return making.published_review(agent, alice).review


def test_report_is_made_and_sent(api, review, read_token):
    answer = api.get(f"/reviews/{review.pk}/report.pdf", read_token)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/pdf")
    assert b"".join(answer.streaming_content) == b"%PDF-1.7 a4"
    letter = api.get(f"/reviews/{review.pk}/report.pdf?paper=letter", read_token)
    assert b"".join(letter.streaming_content) == b"%PDF-1.7 letter"
    assert Report.objects.count() == 2


def test_report_that_takes_longer_is_202_with_retry_after(api, review, read_token, monkeypatch):
    monkeypatch.setattr(report_api, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(report_api, "enqueue_report", lambda report_id: None)
    answer = api.get(f"/reviews/{review.pk}/report.pdf", read_token)
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    assert answer.json() == {"paper": "a4", "state": "queued", "phase": "Waiting for a worker"}


def test_failure_is_a_problem_and_the_next_call_tries_again(api, review, read_token, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(rendering, "render_pdf", lambda *_, **__: 1 / 0)
        failed = api.get(f"/reviews/{review.pk}/report.pdf", read_token)
    assert (failed.status_code, failed.json()["code"]) == (500, "report_failed")
    assert Report.objects.get().state == ReportState.FAILED
    again = api.get(f"/reviews/{review.pk}/report.pdf", read_token)
    assert b"".join(again.streaming_content) == b"%PDF-1.7 a4"


def test_unknown_paper_is_422(api, review, read_token):
    answer = api.get(f"/reviews/{review.pk}/report.pdf?paper=a3", read_token)
    assert (answer.status_code, answer.json()["errors"][0]["expected"]) == (422, "a4 or letter")


def test_only_readers_of_the_client_get_it(api, review, upload_token, other_token):
    assert api.get(f"/reviews/{review.pk}/report.pdf", upload_token).status_code == 403
    assert api.get(f"/reviews/{review.pk}/report.pdf", other_token).status_code == 404
    assert Report.objects.count() == 0


def test_draft_and_unknown_review_are_404(api, agent, alice, read_token):
    draft = making.draft_for(agent, alice)
    for review_id in (draft.review.pk, uuid.uuid4()):
        answer = api.get(f"/reviews/{review_id}/report.pdf", read_token)
        assert answer.status_code == 404
        assert json.loads(answer.content)["status"] == 404
