"""Attempts: the list with its filters, one attempt step by step, and text that means harm."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from evals import attempts as attempt_reads
from evals.models import Agent, Run
from evals.templatetags.runs import plain, visible
from reliability.models import User
from tests.run_documents import attempt, containment_document, document, import_document, import_file

SignIn = Callable[[User | None], Browser]


def _words(content: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content))


def _list(browser: Browser, run: Run, query: str = "") -> list[str]:
    """Return the numbers of the attempts listed."""
    content = browser.get(f"{run.get_absolute_url()}attempts/?{query}").content.decode()
    return re.findall(r'class="lead"><a href="[^"]+/attempts/(\d+)/"', content)


@pytest.mark.parametrize("attempts", [1, 3])
def test_attempt_list_query_count(
    sign_in: SignIn, alice: User, agent: Agent, attempts: int, django_assert_num_queries: Any
) -> None:
    run = import_document(agent, document("a", *[attempt(f"s{n}", "FAIL") for n in range(attempts)]), alice)
    browser, address = sign_in(alice), f"{run.get_absolute_url()}attempts/"

    # session, user; client, assignment; agent; run; attempts, their evaluations; classes, variants
    with django_assert_num_queries(11):
        answer = browser.get(address)

    assert answer.content.decode().count('class="lead"') == attempts


@pytest.mark.parametrize("steps", [1, 3])
def test_attempt_query_count(
    sign_in: SignIn, alice: User, agent: Agent, steps: int, django_assert_num_queries: Any
) -> None:
    made = attempt("a") | {"steps": [{"kind": "tool", "tool": "look_up"}] * steps}
    made["evaluations"] = [{"indicator": f"i{n}", "outcome": "PASS"} for n in range(steps)]
    run = import_document(agent, document("a", made), alice)
    browser, address = sign_in(alice), f"{run.get_absolute_url()}attempts/"

    # session, user; client, assignment; agent; run; attempt; steps; evaluations; neighbours before and after
    with django_assert_num_queries(12):
        answer = browser.get(f"{address}1/")

    assert answer.content.decode().count("<code>look_up</code>") == steps


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", ["1", "2", "3", "4", "5", "6"]),
        ("outcome=ERROR", ["5"]),
        ("containment=unproven", ["2", "3"]),
        ("class_id=goal_hijack&outcome=PASS", ["4", "6"]),
        ("scenario=never", ["2"]),
        ("q=NEV", ["2"]),
        ("q=nothing-like-this", []),
        ("after=4", ["5", "6"]),
        ("after=nonsense", ["1", "2", "3", "4", "5", "6"]),
    ],
)
def test_attempt_list_filters(sign_in: SignIn, alice: User, agent: Agent, query: str, numbers: list[str]) -> None:
    run = import_document(agent, containment_document(), alice)

    assert _list(sign_in(alice), run, query) == numbers


def test_attempt_list_finds_what_differs_from_the_tool(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_file(agent, "promptfoo/results.json", alice)

    assert len(_list(sign_in(alice), run, "differing=1")) == run.differing == 12


def test_attempt_list_pages(sign_in: SignIn, alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_reads.list_attempt_page, "__kwdefaults__", {"most": 2})
    run = import_document(agent, document("a", *[attempt(f"s{n}", "FAIL") for n in range(5)]), alice)

    first = sign_in(alice).get(f"{run.get_absolute_url()}attempts/?outcome=FAIL").content.decode()

    assert 'href="?outcome=FAIL&amp;after=2"' in first
    assert _list(sign_in(alice), run, "outcome=FAIL&after=2") == ["3", "4"]
    assert _list(sign_in(alice), run, "outcome=FAIL&after=4") == ["5"]


def test_attempt_shows_what_happened_and_how_it_was_judged(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_file(agent, "run-v1/injected.json", alice)

    words = _words(sign_in(alice).get(f"{run.get_absolute_url()}attempts/1/").content.decode())

    assert "contains an injected exfiltration attempt" in words
    assert "send_email Denied guarded reason recipient_not_allowed" in words
    assert "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9" in words
    assert "812 ms" in words
    assert "$0.0031" in words
    assert "1,804 in, 211 out" in words
    assert "Proven Every call of send_email was refused, and its effect checked and absent." in words
    assert "found once, base64" in words
    assert "reach: host-corrected · at fault: the agent" in words
    assert "c2stbGl2ZS05ZjNh" in words
    assert "incident, INC-204 , 14 Sep 2026" in words


def test_attempt_links_its_neighbours(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x"), attempt("y"), attempt("z")), alice)
    base = f"{run.get_absolute_url()}attempts/"
    browser = sign_in(alice)

    middle = browser.get(f"{base}2/").content.decode()
    last = browser.get(f"{base}3/").content.decode()

    assert f'rel="prev" href="{base}1/"' in middle
    assert f'rel="next" href="{base}3/"' in middle
    assert 'rel="next"' not in last


def test_adversarial_attempt_without_guards_says_that_nothing_can_be_judged(
    sign_in: SignIn, alice: User, agent: Agent
) -> None:
    run = import_document(agent, containment_document(), alice)

    assert "names no guarded tool" in sign_in(alice).get(f"{run.get_absolute_url()}attempts/6/").content.decode()


HOSTILE = "<script>alert(1)</script>\u202egpj.exe\u001b[31m\U000e0068\U000e0069"


def test_hostile_text_is_escaped_and_visible_everywhere(sign_in: SignIn, alice: User, agent: Agent) -> None:
    made = {
        "scenario": "<b>key</b>",
        "variant": "<i>variant</i>",
        "output": HOSTILE,
        "error": HOSTILE,
        "steps": [{"kind": "tool", "tool": "<u>tool</u>", "arguments": {HOSTILE: HOSTILE}, "result": HOSTILE}],
        "evaluations": [
            {"indicator": "<em>x</em>", "outcome": "FAIL", "reason": HOSTILE, "evidence": {"quote": HOSTILE}},
        ],
    }
    scenarios = [{"key": "<b>key</b>", "title": HOSTILE, "class": "<s>class</s>"}]
    run = import_document(
        agent, document("<h1>run</h1>", made, scenarios=scenarios, agent_version="<h2>1</h2>"), alice, name="<x>.json"
    )
    base = run.get_absolute_url()
    browser = sign_in(alice)

    for address in (
        base,
        f"{base}attempts/",
        f"{base}attempts/1/",
        "/acme/support-agent/",
        "/acme/support-agent/runs/",
    ):
        content = browser.get(address).content.decode()
        for tag in ("<script>alert", "<b>key", "<i>variant", "<u>tool", "<em>x", "<s>class", "<h1>run", "<h2>1", "<x>"):
            assert tag not in content, address
        assert not re.search("[\u202e\u001b\U000e0000-\U000e007f]", content), address
    page = browser.get(f"{base}attempts/1/").content.decode()
    assert 'RIGHT-TO-LEFT OVERRIDE">U+202E' in page
    assert 'title="2 invisible tag characters">tags: hi<' in page
    assert "U+001B" in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ("line\n\tnext", "line\n\tnext"),
        ("مرحبا", "مرحبا"),
        ("👩‍🔬", "👩‍🔬"),
        (None, ""),
    ],
)
def test_visible_leaves_honest_text_alone(text: str | None, shown: str) -> None:
    assert visible(text) == shown


def test_plain_writes_unseen_characters_as_numbers() -> None:
    assert plain("a\u200bb\u202ec") == "a‹U+200B›b‹U+202E›c"
