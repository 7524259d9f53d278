"""Runs that are no plain set of attempts say so on their page and in the list."""

from typing import Any

import pytest
from django.test import Client as Browser

from evals.models import Agent
from reliability.models import User
from tests.run_documents import attempt, document, import_document, import_file


@pytest.fixture
def alice_browser(alice: User) -> Browser:
    browser = Browser()
    browser.force_login(alice)
    return browser


def _text(browser: Browser, address: str) -> str:
    answer: Any = browser.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_an_aggregate_is_never_zero_tests(alice_browser: Browser, alice: User, agent: Agent) -> None:
    run = import_file(agent, "agent-reliability/report.json", alice)

    page = _text(alice_browser, run.get_absolute_url())

    assert "Counts of 10 evaluations without attempts, scripted" in page
    assert "The artifact brought counts and no single evaluations" in page
    assert "No attempts" not in page
    assert "77.8%" in page
    assert "counts alone" in _text(alice_browser, f"/{agent.client.slug}/{agent.slug}/runs/")


def test_an_open_run_says_how_many_parts_came(alice_browser: Browser, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("r", attempt("a")), alice, run="r", shard_index=1, shard_of=3)

    page = _text(alice_browser, run.get_absolute_url())

    assert "1 part of 3 came so far" in page
    assert ">Complete<" not in page


def test_an_invalidated_log_counts_for_nothing(alice_browser: Browser, alice: User, agent: Agent) -> None:
    run = import_file(agent, "inspect/support-agent.json", alice)
    type(run).objects.filter(pk=run.pk).update(invalidated=True)

    assert "This run counts for nothing any more" in _text(alice_browser, run.get_absolute_url())
