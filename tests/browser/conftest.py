"""A real Chromium against a live server. A page that logs an error, or breaks the CSP, fails its test."""

import gc
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from reliability.models import User

RESULTS = Path(__file__).parents[2] / "test-results"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What a browser logs for an answer that the test asked for; it is no fault of the page.
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of (409|422)")

# While Playwright's loop runs, Django keeps connections per context, and nobody closes those of the test's own queries.
LEFT_OPEN = (
    "ignore:Exception ignored in. <sqlite3.Connection:pytest.PytestUnraisableExceptionWarning",
    "ignore:unclosed database in <sqlite3.Connection:ResourceWarning",
)

type OpenPage = Callable[..., Page]


def pytest_configure(config: pytest.Config) -> None:
    for line in LEFT_OPEN:
        config.addinivalue_line("filterwarnings", line)


def pytest_sessionfinish() -> None:
    """Collect the connections that are left before pytest does: by then the filters above no longer apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Playwright's loop runs in this thread, so Django has to be told that its queries are meant."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    else:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture(autouse=True)
def _chromium_first(chromium: Browser) -> None:
    """Before any database fixture."""


@pytest.fixture
def open_page(chromium: Browser, live_server: Any, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Return a function that opens an address as somebody (None: nobody), at a width, in a theme."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not EXPECTED.search(message.text):
            errors.append(message.text)

    def open_as(
        user: User | None, address: str, *, width: int = 1280, theme: str = "light", javascript: bool = True
    ) -> Page:
        context = chromium.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=javascript,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(30_000)
        if user is not None:
            context.add_cookies([{"name": "sessionid", "value": _session_of(user), "url": live_server.url}])
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    yield open_as
    if getattr(request.node, "failed", False):
        _keep_screenshots(contexts, request.node.name)
    for context in contexts:
        context.close()
    assert errors == []


def _session_of(user: User) -> str:
    browser = Client()
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser.cookies["sessionid"].value


def _keep_screenshots(contexts: list[BrowserContext], name: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    for number, page in enumerate(page for context in contexts for page in context.pages):
        page.screenshot(path=RESULTS / f"{re.sub(r'[^\w-]+', '-', name)}-{number}.png", full_page=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Tell the fixtures above that the test failed."""
    report = yield
    if report.when == "call" and report.failed:  # type: ignore[attr-defined]
        item.failed = True  # type: ignore[attr-defined]
    return report


@pytest.fixture
def check_accessibility() -> Callable[[Page], None]:
    """Return a function that fails with what axe finds on the page."""

    def check(page: Page) -> None:
        found = Axe().run(page, options=WCAG)
        assert found.violations_count == 0, found.generate_report()

    return check


@pytest.fixture
def check_width() -> Callable[[Page], None]:
    """Return a function that fails when the page scrolls sideways."""

    def check(page: Page) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    return check
