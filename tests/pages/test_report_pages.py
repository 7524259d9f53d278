"""The report's page: asked for, followed, downloaded, refused; and who may."""

import pytest
from django.urls import reverse

from reliability.models import AuditEntry
from scorecards.models import Report, ReportState
from scorecards.reports import rendering
from scorecards.reports.pdf import Pdf
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _drawn_at_once(monkeypatch):
    monkeypatch.setattr(rendering, "render_pdf", lambda *_, **__: Pdf(b"%PDF-1.7 x", 3))


@pytest.fixture
def published(agent, alice):
    return making.published_review(agent, alice)


def url(name="report", *more, number=1, revision=1):
    return reverse(name, args=["acme", "support-agent", number, revision, *more])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_page_offers_both_papers(published, bob, sign_in):
    page = text(sign_in(bob).get(url()))
    assert "Make the report, A4" in page
    assert "Make the report, Letter" in page
    assert 'hx-trigger="every 1s"' not in page


def test_viewer_makes_and_downloads_a_report(published, bob, sign_in):
    browser = sign_in(bob)
    asked = browser.post(url(), {"paper": "letter"})
    assert (asked.status_code, asked.headers["Location"]) == (303, url())
    page = text(browser.get(url()))
    assert "Download Letter" in page
    assert "3 pages" in page
    made = browser.get(url("report-download", "letter"))
    assert b"".join(made.streaming_content) == b"%PDF-1.7 x"
    assert made.headers["Content-Type"] == "application/pdf"
    assert 'filename="support-agent-review-1-revision-1-letter.pdf"' in made.headers["Content-Disposition"]
    assert AuditEntry.objects.filter(action="report.downloaded").count() == 1


def test_page_polls_while_a_report_is_in_work(published, bob, sign_in):
    browser = sign_in(bob)
    browser.post(url(), {"paper": "a4"})
    Report.objects.update(state=ReportState.RUNNING, phase="Setting page 4")
    part = text(browser.get(url(), headers={"HX-Request": "true", "HX-Request-Type": "partial"}))
    assert 'hx-trigger="every 1s"' in part
    assert "Setting page 4" in part
    assert "<html" not in part


def test_failure_says_why_and_offers_to_try_again(published, bob, sign_in, monkeypatch):
    browser = sign_in(bob)
    with monkeypatch.context() as broken:
        broken.setattr(rendering, "render_pdf", lambda *_, **__: 1 / 0)
        browser.post(url(), {"paper": "a4"})
    page = text(browser.get(url()))
    assert "Making the file failed (ZeroDivisionError)" in page
    assert "Try A4 again" in page
    browser.post(url(), {"paper": "a4"})
    assert "Download A4" in text(browser.get(url()))


def test_file_that_is_not_made_leads_to_its_page(published, bob, sign_in):
    answer = sign_in(bob).get(url("report-download", "a4"))
    assert (answer.status_code, answer.headers["Location"]) == (302, url())


@pytest.mark.parametrize("paper", ["a3", "A4", ""])
def test_unknown_paper_is_404(published, bob, sign_in, paper):
    assert sign_in(bob).post(url(), {"paper": paper}).status_code == 404


def test_strangers_and_unassigned_consultants_learn_nothing(published, charlie, frank, sign_in):
    for person in (charlie, frank):
        browser = sign_in(person)
        assert browser.get(url()).status_code == 404
        assert browser.post(url(), {"paper": "a4"}).status_code == 404
        assert browser.get(url("report-download", "a4")).status_code == 404
    assert Report.objects.count() == 0


def test_draft_has_no_report(agent, alice, sign_in):
    making.draft_for(agent, alice)
    assert sign_in(alice).get(url()).status_code == 404
    assert sign_in(alice).get(url(revision=2**40)).status_code == 404
