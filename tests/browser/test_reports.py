"""What is handed over, in a real browser: the report is made and downloaded, reviews compared, history read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evals.models import Agent
from reliability.models import User
from scorecards.models import Report, ReportState
from tests.browser.conftest import OpenPage
from tests.scorecards import making

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BASE = "/acme/support-agent"
REPORT = f"{BASE}/reviews/1/revisions/1/report/"
COMPARE = f"{BASE}/reviews/compare/"


@pytest.fixture(autouse=True)
def reviews(agent: Agent, alice: User) -> None:
    engagement = making.engagement_for(agent, alice)
    for level in (1, 2):
        making.published_review(agent, alice, level=level, engagement=engagement)


def test_report_is_made_and_downloaded(bob: User, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(bob, REPORT)
    page.get_by_role("button", name="Make the report, A4").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download A4").click()
    download.value.save_as(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_page_follows_the_work_and_stops_at_its_end(bob: User, open_page: OpenPage) -> None:
    page = open_page(bob, REPORT)
    page.get_by_role("button", name="Make the report, Letter").click()
    Report.objects.update(state=ReportState.RUNNING, phase="Setting page 4")
    page.reload()
    expect(page.get_by_text("Setting page 4")).to_be_visible()
    Report.objects.update(phase="Writing the file")
    expect(page.get_by_text("Writing the file")).to_be_visible()
    Report.objects.update(state=ReportState.DONE)
    expect(page.get_by_role("link", name="Download Letter")).to_be_visible()
    assert page.locator("#report-status").get_attribute("hx-trigger") is None


def test_reviews_are_chosen_and_compared_without_a_script(bob: User, open_page: OpenPage) -> None:
    page = open_page(bob, COMPARE, javascript=False)
    page.get_by_label("Review 1").check()
    page.get_by_label("Review 2").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="From review 1 to review 2", exact=True)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("address", [REPORT, COMPARE, f"{COMPARE}?r=1&r=2", f"{BASE}/history/"])
def test_pages_are_accessible_and_fit(
    bob: User,
    open_page: OpenPage,
    check_accessibility: Callable[[Page], None],
    check_width: Callable[[Page], None],
    address: str,
    width: int,
    theme: str,
) -> None:
    page = open_page(bob, address, width=width, theme=theme)
    check_accessibility(page)
    check_width(page)
