"""Signing in, and the pages of the site: clients, people, tokens, portfolio."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from reliability.models import User
from scorecards.demo.loading import load_demo
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    "/",
    "/demo/",
    "/demo/-/members/",
    "/demo/-/tokens/",
    "/demo/-/audit/",
    "/demo/-/settings/",
    "/demo/-/taxonomy/",
    "/demo/support-agent/classes/",
    "/-/help/",
)


@pytest.fixture
def mira(transactional_db: None) -> User:
    """The demo's consultant."""
    load_demo(lambda line: None)
    return User.objects.get(email="mira@demo.example")


def test_sign_in_leads_to_what_was_asked_for(open_page: Callable[..., Any], bob: User) -> None:
    page = open_page(None, "/acme/")

    page.locator("[name=login]").fill(bob.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Acme")
    page.get_by_text("Bob", exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_wrong_password_says_so(open_page: Callable[..., Any], bob: User) -> None:
    page = open_page(None, "/accounts/login/")

    page.locator("[name=login]").fill(bob.email)
    page.locator("[name=password]").fill("not the password")
    page.keyboard.press("Enter")

    expect(page.get_by_text("not correct")).to_be_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_pages_of_the_site_are_accessible(
    open_page: Callable[..., Any],
    check_accessibility: Callable[[Any], None],
    check_width: Callable[[Any], None],
    mira: User,
    theme: str,
    width: int,
) -> None:
    page = open_page(mira, PAGES[0], theme=theme, width=width)
    for address in PAGES:
        page.goto(address)
        check_accessibility(page)
        check_width(page)


def test_new_token_is_copied_with_a_button(open_page: Callable[..., Any], mira: User) -> None:
    page = open_page(mira, "/demo/-/tokens/")

    page.get_by_label("Name").fill("Pipeline")
    page.get_by_role("button", name="Make a token").click()

    expect(page.locator("#new-token")).to_have_text(re.compile("^rs_"))
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()


def test_portfolio_filter_keeps_its_address(open_page: Callable[..., Any], mira: User) -> None:
    page = open_page(mira, "/")

    page.get_by_label("Client").select_option("demo")

    expect(page).to_have_url(re.compile(r"\?client=demo"))
    expect(page.get_by_role("link", name="Support agent")).to_be_visible()
