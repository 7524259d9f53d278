"""The run's page: what it says, and that its numbers are the API's."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from evals.models import Agent, Run
from reliability.models import AuditEntry, User
from tests.conftest import Api
from tests.run_documents import attempt, containment_document, document, import_document, import_file

SignIn = Callable[[User | None], Browser]


def _page(browser: Browser, run: Run, query: str = "", **headers: str) -> str:
    return browser.get(f"{run.get_absolute_url()}{query}", headers=headers).content.decode()


def _words(content: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content))


@pytest.mark.parametrize("attempts", [1, 3])
def test_run_query_count(
    sign_in: SignIn, alice: User, agent: Agent, attempts: int, django_assert_num_queries: Any
) -> None:
    failing = [attempt(f"s{n}", "FAIL", reason_code="late") for n in range(attempts)]
    run = import_document(agent, document("a", *failing), alice)
    browser, address = sign_in(alice), run.get_absolute_url()

    # session, user; client, assignment; agent; run
    # adversarial scenarios; class results, attempts per class; measurements; variants
    # failed, errored and unknown attempts, their evaluations; contained attempts; differences; artifacts; previous run
    with django_assert_num_queries(19):
        browser.get(address)


def test_run_prints_the_numbers_of_the_api(
    sign_in: SignIn, alice: User, agent: Agent, api: Api, full_token: str
) -> None:
    run = import_file(agent, "promptfoo/results.json", alice)
    lines = api.get(f"/runs/{run.pk}/classes", full_token).json()["items"]
    described = api.get(f"/runs/{run.pk}", full_token).json()

    content = _page(sign_in(alice), run)

    assert len(lines) > 1
    words = _words(content)
    for line in lines:
        numbers = " ".join(str(line["counts"][name]) for name in ("pass", "fail", "unknown", "error"))
        rate = f"{line['reliability']['text']} {line['range']['text']}" if line["reliability"] else "none"
        assert f"{numbers} {rate}" in words
    assert described["attempts"]["execution_text"] in words
    assert "75%" not in content  # 12 of 16: a total over five measurements, not even for those who only hear the bar


def test_run_of_one_measurement_has_its_rate(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x"), attempt("y"), attempt("z", "FAIL")), alice)

    words = _words(_page(sign_in(alice), run))

    assert "2 1 0 0 66.7% 66.7% 20.8%–93.9%" in words
    assert "Evaluations of one attempt are not independent" in words


def test_run_says_what_is_missing_and_what_broke(sign_in: SignIn, alice: User, agent: Agent) -> None:
    made = document(
        "a", attempt("x"), planned=4, session="aborted", session_reason="Out of memory.", origin="synthetic"
    )
    run = import_document(agent, made, alice)

    words = _words(_page(sign_in(alice), run))

    assert "3 attempts missing: 4 were planned, 1 are recorded." in words
    assert "The session broke off before its end. Out of memory." in words
    assert "made up or reconstructed" in words
    assert "25%: 1 of 4 planned attempts ended without ERROR" in words
    assert "25%–100%" in words


def test_run_without_attempts_says_so(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("empty"), alice)

    words = _words(_page(sign_in(alice), run))

    assert "nothing can be said about this agent" in words
    assert "100%" not in words


def test_run_lists_what_needs_a_person_with_reasons(sign_in: SignIn, alice: User, agent: Agent) -> None:
    made = document(
        "a",
        attempt("good"),
        attempt("bad", "FAIL", reason="The refund was not booked.", finding="user_visible"),
        attempt("unsure", "UNKNOWN", reason="The grader abstained."),
        attempt("broken", "ERROR", reason_code="grader_error"),
    )
    run = import_document(agent, made, alice)

    words = _words(_page(sign_in(alice), run).partition("Did the controls hold")[0])

    assert "3 attempts need a person" in words
    assert "The refund was not booked. user-visible" in words
    assert words.index("not booked") < words.index("The grading model broke") < words.index("abstained")


def test_run_keeps_the_three_words_of_containment_apart(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, containment_document(), alice)

    words = _words(_page(sign_in(alice), run).partition("Did the controls hold")[2])

    assert "1 Breached" in words
    assert "2 Unproven" in words
    assert "1 Proven" in words
    assert "1 of 4: at most 75.1% (95%, exact, one-sided)" in words
    assert "1 further attempt crashed" in words
    assert "1 adversarial scenario names no guarded tool" in words
    assert "send_email was never attempted: nothing was put to the test." in words


def test_run_without_adversarial_scenarios_says_so(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x")), alice)

    assert "No scenario of this run is adversarial" in _page(sign_in(alice), run)


def test_run_shows_unknown_and_missing_classes(sign_in: SignIn, alice: User, agent: Agent) -> None:
    scenarios = [{"key": "x", "class": "my_own_class"}, {"key": "y", "class": "goal_hijack"}]
    run = import_document(agent, document("a", attempt("x"), attempt("y"), attempt("z"), scenarios=scenarios), alice)

    words = _words(_page(sign_in(alice), run))

    assert "my_own_class unknown class" in words
    assert "Goal hijack task_success by manual assertion" in words
    assert "Unclassified task_success by manual assertion" in words


def test_run_filters_classes_by_category_in_the_address(sign_in: SignIn, alice: User, agent: Agent) -> None:
    made = document("a", attempt("x", categories=["security"]), attempt("x", "FAIL", ordinal=2, categories=["cost"]))
    run = import_document(agent, made, alice)

    answer = sign_in(alice).get(f"{run.get_absolute_url()}?category=security&variant=", headers={"HX-Request": "true"})

    words = _words(answer.content.decode())
    assert answer.content.decode().lstrip().startswith('<section id="classes"')
    assert "1 0 0 0 100%" in words
    assert "cost" not in words.partition("Execution")[2].partition("No common rate")[0]
    assert answer.headers["HX-Push-Url"] == f"{run.get_absolute_url()}?category=security"


def test_run_filters_classes_by_variant(sign_in: SignIn, alice: User, agent: Agent) -> None:
    both = [{**attempt("x"), "variant": "atlas"}, {**attempt("x", "FAIL"), "variant": "borealis"}]
    run = import_document(agent, document("a", *both), alice)

    words = _words(_page(sign_in(alice), run, "?variant=borealis", HX_Request="true"))

    assert "0 1 0 0 0%" in words


def test_run_says_where_it_differs_from_the_tool(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_file(agent, "promptfoo/results.json", alice)

    words = _words(_page(sign_in(alice), run).partition("read it differently")[2])

    assert "12 evaluations have another outcome here" in words
    assert "UNKNOWN PASS Nothing judged this row" in words
    assert "16 successes, 12 failures, 8 errors" in words
    assert "12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR" in words


def test_run_names_its_artifact_and_gives_it_back(sign_in: SignIn, alice: User, agent: Agent, artifact: Any) -> None:
    run = import_file(agent, "pytest/basic.xml", alice)
    browser = sign_in(alice)

    content = _page(browser, run)
    address = re.search(r'href="([^"]+/artifacts/[^"]+)"', content)

    assert run.artifacts.get().sha256 in content
    assert "uploaded by hand by Alice" in content
    assert address
    answer = browser.get(address.group(1))
    assert b"".join(answer.streaming_content) == artifact("pytest/basic.xml")  # type: ignore[attr-defined]
    assert AuditEntry.objects.filter(action="artifact.downloaded").count() == 1


def test_run_offers_the_comparison_with_the_previous_one(sign_in: SignIn, alice: User, agent: Agent) -> None:
    first = import_document(agent, document("a", attempt("x"), started_at="2026-11-01T00:00:00Z"), alice)
    second = import_document(agent, document("b", attempt("x")), alice)

    assert f"?a={first.pk}&amp;b={second.pk}" in _page(sign_in(alice), second)
    assert "previous run" not in _page(sign_in(alice), first)


def test_run_change_releases_an_internal_run(sign_in: SignIn, alice: User, bob: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x")), alice, visibility="internal", made_by="consultancy")
    address = f"{run.get_absolute_url()}change/"

    answer = sign_in(alice).post(address, {"visibility": "client", "made_by": "consultancy"})

    run.refresh_from_db()
    assert answer.status_code == 302
    assert run.released_by == alice
    assert run.released_at is not None
    assert sign_in(bob).get(run.get_absolute_url()).status_code == 200


def test_run_change_refuses_nonsense(sign_in: SignIn, alice: User, agent: Agent) -> None:
    run = import_document(agent, document("a", attempt("x")), alice)

    answer = sign_in(alice).post(f"{run.get_absolute_url()}change/", {"visibility": "everyone", "made_by": "client"})

    run.refresh_from_db()
    assert answer.status_code == 422
    assert run.visibility == "client"


def test_run_of_very_many_classes_shows_the_worst_and_says_so(agent, alice, sign_in):
    scenarios = [{"key": f"s{n}", "class": f"class-{n:03}"} for n in range(120)]
    attempts = [attempt(f"s{n}", "FAIL" if n == 119 else "PASS") for n in range(120)]
    run = import_document(agent, document("many", *attempts, scenarios=scenarios), alice)

    page = sign_in(alice).get(run.get_absolute_url()).content.decode()

    assert "class-119" in page
    assert "and 20 more classes" in page
