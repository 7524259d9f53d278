"""The agent's list of runs: filters in the address, paging by key, two ticked runs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from evals import queries
from evals.models import Agent, Run
from reliability.models import User
from tests.run_documents import attempt, document, import_document, import_file

URL = "/acme/support-agent/runs/"
SignIn = Callable[[User | None], Browser]


def _labels(content: str) -> list[str]:
    return [
        part.partition("</bdi>")[0]
        for part in content.split('run-name"><a href=')[1:]
        for part in [part.split("<bdi>")[1]]
    ]


@pytest.mark.parametrize("runs", [1, 3])
def test_run_list_query_count(
    sign_in: SignIn, alice: User, agent: Agent, runs: int, django_assert_num_queries: Any
) -> None:
    for number in range(runs):
        import_document(agent, document(f"run-{number}", attempt("a")), alice)
    browser = sign_in(alice)

    # session, user; client, assignment; agent; a page of runs, their measurements; suites, branches, versions
    with django_assert_num_queries(10):
        answer = browser.get(URL)

    assert len(_labels(answer.content.decode())) == runs


def test_run_list_says_what_stands_in_each_run(sign_in: SignIn, alice: User, agent: Agent) -> None:
    import_document(agent, document("one measure", attempt("a"), attempt("b", "FAIL"), planned=3), alice)

    content = sign_in(alice).get(URL).content.decode()

    assert "1 PASS, 1 FAIL, 0 UNKNOWN, 0 ERROR" in content
    assert '<span class="nowrap">50%</span>' in content
    assert '2 <span class="meta">of 3</span>' in content


def test_run_list_gives_no_rate_over_unrelated_measurements(sign_in: SignIn, alice: User, agent: Agent) -> None:
    two = [attempt("a"), attempt("b", indicator="within_budget")]
    import_document(agent, document("two measures", *two), alice)

    content = sign_in(alice).get(URL).content.decode()

    assert "2 measurements" in content
    assert "100%" not in content.partition("<tbody>")[2]


def test_run_list_never_shows_an_aborted_run_as_finished(sign_in: SignIn, alice: User, agent: Agent) -> None:
    import_document(agent, document("cut", attempt("a"), session="aborted", origin="synthetic"), alice)

    content = sign_in(alice).get(URL).content.decode()

    assert '<span class="chip on">Aborted</span>' in content
    assert '<span class="chip">Synthetic</span>' in content
    assert '<span class="chip quiet">Complete</span>' not in content


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("suite=nightly", ["b", "a"]),
        ("suite=smoke", ["c"]),
        ("branch=main", ["a"]),
        ("agent_version=2.0", ["b"]),
        ("mode=live", ["b"]),
        ("origin=synthetic", ["c"]),
        ("session=cancelled", ["c"]),
        ("result=failing", ["a"]),
        ("q=smo", ["c"]),
        ("suite=nightly&mode=live", ["b"]),
        ("mode=nonsense", ["c", "b", "a"]),
    ],
)
def test_run_list_filters(sign_in: SignIn, alice: User, agent: Agent, query: str, found: list[str]) -> None:
    import_document(agent, document("a", attempt("x", "FAIL"), branch="main"), alice)
    import_document(
        agent, document("b", attempt("x"), agent_version="2.0", mode="live", started_at="2026-11-03T09:00:00Z"), alice
    )
    more = {"suite": "smoke", "origin": "synthetic", "session": "cancelled", "started_at": "2026-11-04T09:00:00Z"}
    import_document(agent, document("c", attempt("x"), **more), alice)

    assert _labels(sign_in(alice).get(f"{URL}?{query}").content.decode()) == found


def test_run_list_answers_htmx_with_its_partial_and_a_clean_address(sign_in: SignIn, alice: User, agent: Agent) -> None:
    import_document(agent, document("a", attempt("x")), alice)

    answer = sign_in(alice).get(f"{URL}?suite=nightly&q=&mode=", headers={"HX-Request": "true"})

    assert answer.content.decode().lstrip().startswith('<section id="runs"')
    assert answer.headers["HX-Push-Url"] == f"{URL}?suite=nightly"
    assert "HX-Request" in answer.headers["Vary"]


def test_run_list_pages_by_key(sign_in: SignIn, alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries.list_run_page, "__kwdefaults__", {"most": 2})
    for number in range(5):
        import_document(agent, document(f"r{number}", attempt("x")), alice)  # all at the same moment
    browser, address, seen = sign_in(alice), URL, []

    while address:
        content = browser.get(address).content.decode()
        seen += _labels(content)
        query = content.partition('<a href="?')[2].partition('"')[0].replace("&amp;", "&")
        address = f"{URL}?{query}" if 'rel="next"' in content else ""

    assert sorted(seen) == ["r0", "r1", "r2", "r3", "r4"]


def test_run_list_is_empty_with_the_line_that_fills_it(sign_in: SignIn, alice: User, agent: Agent) -> None:
    content = sign_in(alice).get(URL).content.decode()

    assert "/api/v1/agents/support-agent/runs" in content
    assert "$SNAPSHOT_TOKEN" in content
    assert "/acme/support-agent/upload/" in content


def test_run_list_without_a_match_offers_the_way_back(sign_in: SignIn, alice: User, agent: Agent) -> None:
    import_document(agent, document("a", attempt("x")), alice)

    assert "No run matches" in sign_in(alice).get(f"{URL}?q=zzz").content.decode()


def test_run_list_hides_internal_runs_from_the_client(sign_in: SignIn, alice: User, bob: User, agent: Agent) -> None:
    import_document(agent, document("ours", attempt("x")), alice, visibility="internal")
    import_document(agent, document("theirs", attempt("x")), alice)

    assert sorted(_labels(sign_in(alice).get(URL).content.decode())) == ["ours", "theirs"]
    content = sign_in(bob).get(URL).content.decode()
    assert _labels(content) == ["theirs"]
    assert "Internal" not in content
    assert "Upload" not in content


def test_two_ticked_runs_are_compared_the_earlier_first(sign_in: SignIn, alice: User, agent: Agent) -> None:
    late = import_document(agent, document("late", attempt("x"), started_at="2026-11-05T00:00:00Z"), alice)
    early = import_document(agent, document("early", attempt("x")), alice)

    answer = sign_in(alice).get(f"/acme/support-agent/runs/compare/?pick={late.pk}&pick={early.pk}")

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/acme/support-agent/runs/compare/?a={early.pk}&b={late.pk}"


def test_one_ticked_run_leads_to_a_choice(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x")), alice)
    import_document(agent, document("b", attempt("x")), alice)

    answer = sign_in(alice).get(f"/acme/support-agent/runs/compare/?pick={run.pk}", follow=True)

    assert "1 ticked; a comparison takes two" in answer.content.decode()
    assert f'<option value="{run.pk}" selected' in answer.content.decode()


def test_run_list_shows_promptfoo_and_junit_runs(sign_in: SignIn, alice: User, agent: Agent) -> None:
    for name in ("promptfoo/results.json", "pytest/basic.xml"):
        import_file(agent, name, alice)

    content = sign_in(alice).get(URL).content.decode()

    assert Run.objects.count() == 2
    assert "12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR" in content
    assert "5 PASS, 8 FAIL, 3 UNKNOWN, 2 ERROR" in content
