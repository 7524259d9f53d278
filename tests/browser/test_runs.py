"""Agents and runs in a real browser: filters keep the address, uploads are followed, every page is accessible."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evals.importing import run_import
from evals.models import Agent, Import, Run
from reliability.models import User
from tests.browser.conftest import OpenPage
from tests.run_documents import (
    ARTIFACTS,
    attempt,
    containment_document,
    document,
    import_bytes,
    import_document,
    import_file,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AGENT = "/acme/support-agent/"
HOSTILE = "<script>document.title = 'owned'</script>\u202e\u001b[31m"


@pytest.fixture
def runs(agent: Agent, alice: User) -> dict[str, Run]:
    import_bytes(agent, b'{"schema": "run/v1", "run": {"id": "x"}}', alice, name="broken.json")
    before = document("before", attempt("x"), attempt("y", "FAIL"), started_at="2026-11-01T09:00:00Z", branch="main")
    after = document("after", attempt("x", "FAIL"), attempt("y"), agent_version="2", branch="feature")
    return {
        "before": import_document(agent, before, alice),
        "after": import_document(agent, after, alice),
        "attacks": import_document(agent, containment_document(), alice, visibility="internal"),
        "promptfoo": import_file(agent, "promptfoo/results.json", alice),
        "injected": import_file(agent, "run-v1/injected.json", alice),
    }


def _pages(runs: dict[str, Run]) -> dict[str, str]:
    base = {name: run.get_absolute_url() for name, run in runs.items()}
    return {
        "agent": AGENT,
        "agent form": "/acme/-/agents/new/",
        "settings": f"{AGENT}settings/",
        "runs": f"{AGENT}runs/",
        "no runs": f"{AGENT}runs/?q=nothing",
        "upload": f"{AGENT}upload/",
        "refused import": Import.objects.get(state="refused").get_absolute_url(),
        "run": base["attacks"],
        "promptfoo run": base["promptfoo"],
        "visibility": f"{base['attacks']}change/",
        "attempts": f"{base['promptfoo']}attempts/",
        "attempt": f"{base['injected']}attempts/1/",
        "comparison": f"{AGENT}runs/compare/?a={runs['before'].pk}&b={runs['after'].pk}",
        "choice": f"{AGENT}runs/compare/",
    }


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_every_page_is_accessible_and_fits(
    open_page: OpenPage,
    alice: User,
    runs: dict[str, Run],
    check_accessibility: Callable[[Page], None],
    check_width: Callable[[Page], None],
    width: int,
    theme: str,
) -> None:
    page = open_page(alice, AGENT, width=width, theme=theme)
    for address in _pages(runs).values():
        page.goto(address)
        page.evaluate("document.querySelectorAll('details.more').forEach((more) => { more.open = true; })")
        check_accessibility(page)
        check_width(page)


def test_filter_keeps_its_address_and_back_works(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, f"{AGENT}runs/")
    rows = page.locator("#runs tbody tr")
    expect(rows).to_have_count(5)

    page.get_by_label("Branch").focus()
    page.get_by_label("Branch").select_option("feature")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/runs/\?branch=feature$"))
    expect(page.get_by_label("Branch")).to_be_focused()

    page.get_by_label("Result").select_option("errors")
    expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
    page.go_back()
    expect(rows).to_have_count(1)
    expect(page.get_by_label("Branch")).to_have_value("feature")
    page.reload()
    expect(rows).to_have_count(1)


def test_classes_are_filtered_in_place(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, runs["promptfoo"].get_absolute_url())

    page.get_by_label("Category").select_option("security")

    expect(page).to_have_url(re.compile(r"\?category=security$"))
    expect(page.locator("#classes tr.total")).to_contain_text("4 in all")
    expect(page.locator("h1")).to_have_text(re.compile("eval-"))


def test_classes_of_a_narrow_page_say_all_four_outcomes(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, runs["promptfoo"].get_absolute_url(), width=390)

    for label in ("PASS", "FAIL", "UNKNOWN", "ERROR", "Reliability", "Execution"):
        cell = page.locator(f'#classes tr.total [data-label="{label}"]')
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert label in cell.evaluate("(cell) => getComputedStyle(cell, '::before').content")


def test_what_explains_a_fact_stands_on_its_own_line(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, f"{runs['attacks'].get_absolute_url()}attempts/1/")

    said = page.locator("dd", has_text="from the artifact").inner_text()

    assert said.split("\n") == ["Goal hijack", "from the artifact"]


def test_two_ticked_runs_are_compared_by_keyboard(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, f"{AGENT}runs/")
    for name in ("after", "before"):
        page.get_by_role("checkbox", name=f"Compare {name}", exact=True).press("Space")

    page.get_by_role("button", name="Compare the two ticked").press("Enter")

    expect(page.get_by_role("heading", name="The two runs can be compared")).to_be_visible()
    expect(page.locator("#newly_failing")).to_contain_text("x")
    page.locator("#newly_failing").get_by_role("link", name="FAIL").click()
    expect(page).to_have_url(re.compile(rf"{runs['after'].pk}/attempts/\?scenario=x$"))
    expect(page.locator("#attempts tbody tr")).to_have_count(1)


def test_upload_is_followed_to_the_run(
    open_page: OpenPage, alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.views.imports.enqueue_import", lambda import_id: None)  # the worker is slow today
    page = open_page(alice, f"{AGENT}upload/")
    page.get_by_label("Artifact").set_input_files(ARTIFACTS / "promptfoo" / "results.json")
    page.get_by_role("button", name="Upload and import").click()

    status = page.locator("#import-status")
    expect(status).to_contain_text("Waiting for a worker")
    job = Import.objects.get()
    Import.objects.filter(pk=job.pk).update(phase="reading", bytes_read=job.bytes_total // 2, rows_read=36)
    expect(status).to_contain_text("36 rows read")
    expect(status.locator("progress")).to_have_attribute("value", str(job.bytes_total // 2))
    Import.objects.filter(pk=job.pk).update(phase="waiting", bytes_read=0)
    run_import(job.pk)

    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
    expect(page.locator("h2").first).to_have_text("24 attempts need a person")


def test_refused_upload_names_its_problems_and_stops_asking(
    open_page: OpenPage, alice: User, agent: Agent, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema": "run/v1", "run": {"id": "a", "suite": "s", "mode": "dreamt"}}')
    page = open_page(alice, f"{AGENT}upload/")
    page.get_by_label("Artifact").set_input_files(broken)
    page.get_by_role("button", name="Upload and import").click()

    expect(page.get_by_role("heading", name="The artifact was refused")).to_be_visible()
    expect(page.get_by_role("cell", name="/run/mode")).to_be_visible()
    asked: list[str] = []  # by the page: the browser itself fetches the icon whenever it likes
    page.on("request", lambda request: asked.append(request.url) if request.resource_type in ("fetch", "xhr") else None)
    page.wait_for_timeout(1500)
    assert asked == []


def test_download_gives_the_artifact_back(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, runs["promptfoo"].get_absolute_url())

    with page.expect_download() as download:
        page.get_by_role("link", name="Download as it came").click()

    assert download.value.path().read_bytes() == (ARTIFACTS / "promptfoo" / "results.json").read_bytes()


def test_hostile_text_does_nothing(open_page: OpenPage, alice: User, agent: Agent) -> None:
    made = attempt(HOSTILE.replace("\u001b", ""), "FAIL", reason=HOSTILE) | {"output": HOSTILE}
    run = import_document(agent, document("a", made), alice)

    page = open_page(alice, f"{run.get_absolute_url()}attempts/1/")

    expect(page).to_have_title(re.compile("Attempt 1 of a"))
    assert page.locator(".unseen").count() >= 3


def test_reading_works_without_javascript(open_page: OpenPage, alice: User, runs: dict[str, Run]) -> None:
    page = open_page(alice, f"{AGENT}runs/", javascript=False)

    page.get_by_label("Branch").select_option("main")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#runs tbody tr")).to_have_count(3)  # before, and two that the artifacts name
    page.get_by_role("link", name="before").click()
    page.get_by_role("link", name="Attempts").click()
    page.get_by_role("link", name="y", exact=True).click()

    expect(page.get_by_role("heading", name="How it was judged")).to_be_visible()
