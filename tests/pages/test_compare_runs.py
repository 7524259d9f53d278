"""Two runs side by side."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from evals import contexts
from evals.models import Agent, Run
from reliability.models import User
from tests.conftest import Api
from tests.run_documents import attempt, document, import_document, import_file

URL = "/acme/support-agent/runs/compare/"
SignIn = Callable[[User | None], Browser]
BEFORE = {"started_at": "2026-11-01T09:00:00Z"}


def _words(content: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content))


@pytest.fixture
def pair(agent: Agent, alice: User) -> tuple[Run, Run]:
    """Seven scenarios newly fail, one is fixed, one became unknown, one is flaky, one is only in B."""
    worse = [f"w{n}" for n in range(7)]
    a = [*map(attempt, worse), attempt("fixed", "FAIL"), attempt("gone"), attempt("flaky"), attempt("same")]
    b = [
        *(attempt(key, "FAIL") for key in worse),
        attempt("fixed"),
        attempt("gone", "UNKNOWN"),
        attempt("flaky"),
        attempt("flaky", "FAIL", ordinal=2),
        attempt("same"),
        attempt("new & odd/key"),
    ]
    before = import_document(agent, document("before", *a, **BEFORE), alice)
    return before, import_document(agent, document("after", *b, agent_version="2"), alice)


def _compared(browser: Browser, a: Run, b: Run, more: str = "") -> str:
    return browser.get(f"{URL}?a={a.pk}&b={b.pk}{more}").content.decode()


def test_comparison_begins_with_comparability_and_says_what_changed(
    sign_in: SignIn, alice: User, pair: tuple[Run, Run]
) -> None:
    words = _words(_compared(sign_in(alice), *pair))

    assert words.index("The two runs can be compared") < words.index("difference shown")
    assert "Exact McNemar test over 9 scenarios, 8 of them changed: p = 0.07." in words
    assert "2 shared scenarios are outside the test" in words
    for tally in ("7 newly failing", "1 fixed", "1 became unknown", "1 flaky", "1 only in B", "1 still passing"):
        assert tally in words


def test_comparison_prints_the_numbers_of_the_api(
    sign_in: SignIn, alice: User, pair: tuple[Run, Run], api: Api, full_token: str
) -> None:
    a, b = pair
    told = api.get(f"/runs/compare?a={a.pk}&b={b.pk}", full_token).json()

    words = _words(_compared(sign_in(alice), a, b)).lower()

    assert told["text"].lower() in words
    for bucket in told["buckets"]:
        if bucket["count"]:
            assert f"{bucket['count']} {bucket['bucket'].replace('_', ' ')}" in words


def test_comparison_keeps_error_and_unknown_apart(
    sign_in: SignIn, alice: User, agent: Agent, api: Api, full_token: str
) -> None:
    a, b = (import_file(agent, "promptfoo/results.json", alice, agent_version=version) for version in ("1", "2"))

    page = _compared(sign_in(alice), a, b, "&whole=still_unknown")
    told = api.get(f"/runs/compare?a={a.pk}&b={b.pk}", full_token).json()

    assert "UNKNOWN or ERROR in both: 4 UNKNOWN and 16 ERROR in A, 4 UNKNOWN and 16 ERROR in B" in _words(page)
    (rows,) = re.findall(r'id="still_unknown".*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert (_words(rows).count("ERROR"), _words(rows).count("UNKNOWN")) == (32, 8)
    (bucket,) = [bucket for bucket in told["buckets"] if bucket["bucket"] == "still_unknown"]
    assert bucket["a"] == bucket["b"] == {"pass": 0, "fail": 0, "flaky": 0, "unknown": 4, "error": 16}


def test_comparison_links_each_scenario_to_its_attempts(sign_in: SignIn, alice: User, pair: tuple[Run, Run]) -> None:
    a, b = pair
    browser = sign_in(alice)

    content = _compared(browser, a, b)

    assert f'href="{a.get_absolute_url()}attempts/?scenario=fixed"' in content
    link = re.search(r'href="([^"]+scenario=new[^"]+)"', content)
    assert link
    assert b.get_absolute_url() in link.group(1)
    found = browser.get(link.group(1).replace("&amp;", "&")).content.decode()
    assert found.count('class="lead"') == 1


def test_comparison_of_unlike_runs_gives_no_verdict(sign_in: SignIn, alice: User, agent: Agent) -> None:
    a = import_document(agent, document("a", attempt("x"), mode="live", **BEFORE), alice)
    b = import_document(agent, document("b", attempt("x", "FAIL")), alice)

    words = _words(_compared(sign_in(alice), a, b))

    assert "The two runs do not measure the same" in words
    assert "Hard The mode differs: live in A, scripted in B." in words
    assert "McNemar" not in words


def test_comparison_swaps(sign_in: SignIn, alice: User, pair: tuple[Run, Run]) -> None:
    a, b = pair
    assert f'href="?a={b.pk}&amp;b={a.pk}"' in _compared(sign_in(alice), a, b)


def test_comparison_asks_for_what_is_missing(sign_in: SignIn, alice: User, pair: tuple[Run, Run]) -> None:
    content = sign_in(alice).get(f"{URL}?b={pair[1].pk}").content.decode()

    assert f'<option value="{pair[1].pk}" selected>' in content
    assert "Choose the two runs" in content


def test_chooser_tells_runs_of_one_version_apart(sign_in: SignIn, alice: User, agent: Agent) -> None:
    made = {"started_at": "2026-11-02T09:14:03Z", "agent_version": "2.4.1"}
    for number, (branch, commit) in enumerate([("main", "77d04aef1b2c3d"), ("fix-refunds", "0a1b2c3")]):
        made_by_ci = document(f"eval-{number}", attempt("x"), branch=branch, commit=commit, **made)
        import_document(agent, made_by_ci, alice)

    options = re.findall(r"<option[^>]*>([^<]*)</option>", sign_in(alice).get(URL).content.decode())

    assert set(options) - {"choose a run"} == {
        "2 Nov 2026 09:14 · eval-0 · nightly · 2.4.1 · main 77d04aef1b",
        "2 Nov 2026 09:14 · eval-1 · nightly · 2.4.1 · fix-refunds 0a1b2c3",
    }


def test_comparison_of_a_run_with_itself_asks_for_another(sign_in: SignIn, alice: User, pair: tuple[Run, Run]) -> None:
    assert "A and B are the same run" in _compared(sign_in(alice), pair[0], pair[0])


def test_comparison_without_runs_leads_back(sign_in: SignIn, alice: User, agent: Agent) -> None:
    assert "Nothing to compare yet" in sign_in(alice).get(URL).content.decode()


@pytest.mark.parametrize("name", ["nonsense", "00000000-0000-0000-0000-000000000000"])
def test_comparison_of_what_does_not_exist_is_not_found(sign_in: SignIn, alice: User, agent: Agent, name: str) -> None:
    assert sign_in(alice).get(f"{URL}?a={name}").status_code == 404


def test_comparison_shows_the_first_of_many_and_all_on_demand(
    sign_in: SignIn, alice: User, pair: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "SHOWN_PER_BUCKET", 3)
    browser = sign_in(alice)

    assert "The first 3 of 7." in _words(_compared(browser, *pair))
    assert "The first 3 of 7." not in _words(_compared(browser, *pair, "&whole=newly_failing"))


@pytest.mark.parametrize("scenarios", [1, 3])
def test_comparison_query_count(
    sign_in: SignIn, alice: User, agent: Agent, scenarios: int, django_assert_num_queries: Any
) -> None:
    made = [attempt(f"s{n}") for n in range(scenarios)]
    a = import_document(agent, document("a", *made, **BEFORE), alice)
    b = import_document(agent, document("b", *made), alice)
    browser = sign_in(alice)

    # session, user; client, assignment; agent; run A, run B
    # of each run: judged by, attempts per scenario, its definitions; the runs to choose from
    with django_assert_num_queries(15):
        browser.get(f"{URL}?a={a.pk}&b={b.pk}")
