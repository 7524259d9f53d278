"""The scorecard in a real browser: by keyboard, saved in place, in conflict, published; every page accessible."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from evals.models import Agent
from reliability.models import User
from scorecards import evidence, remarks, reviewing
from scorecards.fact_checks import open_fact_check
from scorecards.models import EvidenceItem, NextStep, PracticeMark, Revision
from tests.browser.conftest import OpenPage
from tests.scorecards import making

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BASE = "/acme/support-agent"
FORM = f"{BASE}/reviews/1/edit/"
SAVED = "[data-saved][data-state=saved]"


@pytest.fixture
def draft(agent: Agent, alice: User) -> Revision:
    return making.draft_for(agent, alice)


def saved(page: Page) -> None:
    expect(page.locator("[data-saved]")).to_contain_text("Saved ")


def part(page: Page, dimension: str = "guardrails") -> Any:
    return page.locator(f"#dimension-{dimension}")


def test_a_dimension_is_scored_by_keyboard_alone(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM)
    part(page).get_by_role("radio", name="Not assessed", exact=True).focus()
    page.keyboard.press("3")
    expect(part(page).get_by_role("radio", name="3", exact=True)).to_be_checked()
    expect(page.locator("#notices-guardrails")).to_contain_text("Level 3 does not hold")

    page.keyboard.press("Tab")  # to the first practice
    page.keyboard.press("m")
    page.keyboard.press("Tab")
    page.keyboard.press("m")
    expect(page.locator("#notices-guardrails")).to_contain_text("printed as asserted")
    expect(page.locator("#score-index")).to_contain_text("asserted")

    part(page).get_by_label("Rationale").focus()
    page.keyboard.type("Each tool has a rule.", delay=20)
    expect(part(page).locator("input[name=version]")).to_have_value("4")
    expect(part(page).get_by_label("Rationale")).to_be_focused()
    stored = making.score_of(draft)
    assert (stored.level, stored.rationale) == (3, "Each tool has a rule.")
    assert PracticeMark.objects.filter(score=stored, state="met").count() == 2


def test_typing_on_while_a_save_is_out_loses_nothing(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM)
    page.route("**/dimensions/guardrails/", lambda route: (page.wait_for_timeout(300), route.continue_()))
    part(page).get_by_role("radio", name="2", exact=True).check(force=True)
    field = part(page).get_by_label("Rationale")
    for word in ("one ", "two ", "three ", "four"):
        field.press_sequentially(word, delay=30)
        page.wait_for_timeout(350)
    expect(field).to_have_value("one two three four")
    expect(page.locator(SAVED)).to_contain_text("Saved ")
    page.wait_for_timeout(1500)
    assert making.score_of(draft).rationale == "one two three four"
    expect(part(page).locator(".conflict")).to_have_count(0)


def test_two_people_see_both_versions_and_one_keeps_theirs(
    draft: Revision, alice: User, erin: User, open_page: OpenPage
) -> None:
    hers, his = open_page(alice, FORM), open_page(erin, FORM)
    part(hers).get_by_label("Rationale").fill("Alice's words")
    saved(hers)
    part(his).get_by_label("Rationale").fill("Erin's words")
    conflict = part(his).locator(".conflict")
    expect(conflict).to_contain_text("Alice's words")
    expect(conflict).to_contain_text("Erin's words")
    expect(his.locator("[data-saved]")).to_contain_text("Not saved")
    expect(part(his).get_by_label("Rationale")).to_have_value("Erin's words")
    assert making.score_of(draft).rationale == "Alice's words"

    conflict.get_by_role("button", name="Keep mine").click()
    expect(part(his).locator(".conflict")).to_have_count(0)
    assert making.score_of(draft).rationale == "Erin's words"

    part(hers).get_by_label("Rationale").fill("Alice again")
    part(hers).get_by_role("link", name="Take theirs").click()
    expect(part(hers).get_by_label("Rationale")).to_have_value("Erin's words")
    part(hers).get_by_label("Rationale").fill("Agreed words")
    saved(hers)
    hers.wait_for_timeout(900)
    assert making.score_of(draft).rationale == "Agreed words"


def test_a_refused_save_says_why_and_keeps_what_was_typed(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM)
    page.get_by_label("Period from").fill("2026-10-02")
    page.get_by_label("to", exact=True).first.fill("2026-10-01")
    expect(page.locator("#subject .state")).to_contain_text("The period ends before it starts.")
    expect(page.get_by_label("to", exact=True).first).to_have_value("2026-10-01")
    page.get_by_label("to", exact=True).first.fill("2026-10-30")
    expect(page.locator("#subject .state .notice")).to_have_count(0)


def test_evidence_is_found_by_typing_and_attached(
    draft: Revision, agent: Agent, alice: User, open_page: OpenPage
) -> None:
    making.make_run(agent, label="nightly 41", made_by="consultancy")
    making.assess(making.score_of(draft), 3, alice, marks=making.meet_all(making.score_of(draft), 3))
    page = open_page(alice, FORM)
    part(page).get_by_role("link", name="Attach evidence").click()
    expect(page.locator("#find-guardrails")).to_be_focused()
    page.keyboard.type("hijack", delay=30)
    expect(page.locator("#evidence-results-guardrails a")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What it shows")).to_be_focused()
    page.keyboard.type("Injection cases ran.")
    page.locator("#evidence-editor").get_by_label("Injection cases were run").check()
    page.get_by_role("button", name="Attach", exact=True).click()
    expect(part(page).locator("#evidence-guardrails .card")).to_contain_text("Injection cases ran.")
    expect(part(page).get_by_role("link", name="Attach evidence")).to_be_focused()
    assert EvidenceItem.objects.get().class_id == "goal_hijack"


def test_a_step_starts_with_one_click_and_is_filled_in(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM)
    part(page).get_by_role("button", name="Deny by default").click()
    expect(part(page).locator("#steps-guardrails .card")).to_contain_text("Deny by default")
    part(page).locator("#steps-guardrails").get_by_role("link", name="Change").click()
    page.get_by_label("Owner", exact=True).fill("Nia")
    page.get_by_role("button", name="Save step").click()
    expect(part(page).locator("#steps-guardrails .card")).to_contain_text("Nia")
    assert NextStep.objects.get().owner == "Nia"


def test_tools_grow_a_row_as_one_types(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM)
    page.get_by_label("Name of tool 1").fill("orders.read")
    page.get_by_label("Can tool 1 be undone?").select_option("yes")
    page.get_by_label("Name of tool 2").fill("refunds.pay")
    page.get_by_label("Can tool 2 be undone?").select_option("no")
    expect(page.get_by_label("Name of tool 3")).to_be_visible()
    saved(page)
    page.wait_for_timeout(1000)
    assert Revision.objects.get().tools == [
        {"name": "orders.read", "reversible": True},
        {"name": "refunds.pay", "reversible": False},
    ]


def test_a_complete_draft_is_published(draft: Revision, alice: User, bob: User, open_page: OpenPage) -> None:
    making.fill(draft, alice)
    page = open_page(alice, FORM)
    page.get_by_role("link", name="Review and publish").click()
    page.get_by_role("button", name="Submit for review").click()
    page.get_by_role("button", name="Publish revision 1").click()
    expect(page.get_by_label("revision 1 never changes afterwards")).to_be_focused()
    assert Revision.objects.get().state == "in_review"
    page.get_by_label("revision 1 never changes afterwards").check()
    page.get_by_role("button", name="Publish revision 1").click()
    expect(page.get_by_text("Revision 1 is published.")).to_be_visible()
    assert Revision.objects.get().state == "published"
    theirs = open_page(bob, f"{BASE}/reviews/1/")
    expect(theirs.get_by_text("Not ready")).to_be_visible()


def test_the_form_works_without_javascript(draft: Revision, alice: User, open_page: OpenPage) -> None:
    page = open_page(alice, FORM, javascript=False)
    part(page).get_by_label("Rationale").fill("Typed plainly")
    part(page).get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/edit/#dimension-guardrails$"))
    expect(part(page).get_by_label("Rationale")).to_have_value("Typed plainly")


@pytest.fixture
def busy(agent: Agent, alice: User, bob: User, erin: User) -> dict[str, str]:
    """A published review and a draft in a fact check, with everything on them."""
    engagement = making.engagement_for(agent, alice)
    first = making.fill(making.draft_for(agent, alice, engagement), alice, recommendation="with_conditions")
    making.run_item(making.score_of(first), making.make_run(agent, made_by="consultancy"), alice)
    step = making.step_for(first, alice, is_condition=True, seen="Three tools have no rule.")
    making.publish(first, alice)
    second = making.fill(making.draft_for(agent, alice, engagement), alice, level=3, recommendation="ready")
    score = making.score_of(second)
    item = making.link_item(score, alice, attachment=evidence.Attachment(("tools-have-rules",)))
    remarks.add_remark(second, "Which tool?", place=remarks.Place(dimension_id="guardrails"), by=erin)
    reviewing.submit_for_review(second, by=alice)
    open_fact_check(second, people=[bob], until=timezone.localdate(), by=alice)
    return {
        "form": f"{BASE}/reviews/2/edit/",
        "runs": f"{BASE}/reviews/2/edit/runs/",
        "evidence": f"{BASE}/reviews/2/edit/dimensions/guardrails/evidence/",
        "item": f"{BASE}/reviews/2/edit/dimensions/guardrails/evidence/{item.pk}/",
        "step": f"{BASE}/reviews/2/edit/steps/{step.pk}/",
        "publish": f"{BASE}/reviews/2/publish/",
        "fact check": f"{BASE}/reviews/2/fact-check/",
        "review": f"{BASE}/reviews/1/",
        "reviews": f"{BASE}/reviews/",
        "steps": f"{BASE}/steps/",
        "state": f"{BASE}/steps/{step.pk}/",
        "engagements": "/acme/-/engagements/",
        "engagement": engagement.get_absolute_url(),
        "engagement form": "/acme/-/engagements/new/",
    }


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_every_page_is_accessible_and_fits(
    busy: dict[str, str],
    alice: User,
    open_page: OpenPage,
    check_accessibility: Callable[[Page], None],
    check_width: Callable[[Page], None],
    width: int,
    theme: str,
) -> None:
    page = open_page(alice, busy["form"], width=width, theme=theme)
    for address in busy.values():
        page.goto(address)
        check_accessibility(page)
        check_width(page)


def test_client_pages_are_accessible(
    busy: dict[str, str], bob: User, open_page: OpenPage, check_accessibility: Callable[[Page], None]
) -> None:
    page = open_page(bob, busy["review"])
    for name in ("review", "reviews", "steps", "fact check"):
        page.goto(busy[name])
        check_accessibility(page)
