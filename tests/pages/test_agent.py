"""The agent's page and its settings."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from evals.models import Agent, Import, ImportState
from reliability.models import Client, Token, User
from tests.conftest import Api
from tests.run_documents import attempt, document, import_bytes, import_document

URL = "/acme/support-agent/"
SignIn = Callable[[User | None], Browser]


@pytest.mark.parametrize("runs", [1, 3])
def test_agent_query_count(
    sign_in: SignIn, bob: User, alice: User, agent: Agent, runs: int, django_assert_num_queries: Any
) -> None:
    for number in range(runs):
        import_document(agent, document(f"run-{number}", attempt("a"), suite=f"suite-{number}"), alice)
    browser = sign_in(bob)

    # session, user; client, membership; agent
    # reviews: agents of the client, their last run, what is published, open steps; fact checks that wait
    # runs, their measurements; class results and attempts of the latest
    with django_assert_num_queries(15):
        browser.get(URL)


def test_agent_says_who_it_is_and_what_its_last_run_was(sign_in: SignIn, alice: User, agent: Agent) -> None:
    Agent.objects.update(owner="Ines Maier", purpose="Books refunds.", risk_tier="high")
    import_document(agent, document("before", attempt("x"), attempt("y"), started_at="2026-11-01T00:00:00Z"), alice)
    import_document(agent, document("latest", attempt("x"), attempt("y", "FAIL")), alice)

    content = sign_in(alice).get(URL).content.decode()

    for words in ("Ines Maier", "Books refunds.", "<dd>High</dd>", "1 newly failing", "too few changes to tell"):
        assert words in content
    assert content.index(">latest<") < content.index(">before<")


def test_agent_draws_a_trend_only_of_like_runs(sign_in: SignIn, alice: User, agent: Agent) -> None:
    import_document(agent, document("a", attempt("x"), started_at="2026-11-01T00:00:00Z"), alice)
    import_document(agent, document("other", attempt("x"), suite="smoke", started_at="2026-11-02T00:00:00Z"), alice)
    browser = sign_in(alice)
    assert "Which way it is going" not in browser.get(URL).content.decode()

    import_document(agent, document("b", attempt("x"), started_at="2026-11-03T00:00:00Z"), alice)

    content = browser.get(URL).content.decode()
    assert "Which way it is going" in content
    assert "a, 1 Nov 2026" in content
    assert "other, 2 Nov 2026" not in content


def test_agent_without_runs_says_how_to_fill_it(sign_in: SignIn, alice: User, bob: User, agent: Agent) -> None:
    for_alice, for_bob = (sign_in(person).get(URL).content.decode() for person in (alice, bob))

    assert "curl --fail-with-body" in for_alice
    assert "data-copy" in for_alice
    assert "No runs yet" in for_bob
    assert "curl" not in for_bob


def test_agent_lists_refused_uploads_to_those_who_may_know(
    sign_in: SignIn, alice: User, bob: User, carol: User, agent: Agent
) -> None:
    import_bytes(agent, b"not a run", alice, name="broken.txt")

    assert "broken.txt" in sign_in(alice).get(URL).content.decode()
    assert "broken.txt" not in sign_in(bob).get(URL).content.decode()
    assert "broken.txt" not in sign_in(carol).get(URL).content.decode()


def test_refused_uploads_can_be_traced(
    sign_in: SignIn, alice: User, carol: User, agent: Agent, api: Api, full_token: str
) -> None:
    said = "suite=nightly&branch=main&commit=77d04aef1b2c3d&ci_url=https%3A%2F%2Fci.example.org%2F7"
    assert api.upload(b"not a run", full_token, query=said).status_code == 415
    import_bytes(agent, b"no run either", carol, name="mine.txt", ci_url="ftp://ci.example.org/8")

    told = sign_in(alice).get(URL).content.decode()

    for words in ("API upload", "nightly · main 77d04aef1b", 'href="https://ci.example.org/7"', "mine.txt", "Carol"):
        assert words in told
    assert f"token “<bdi>{Token.objects.get().name}</bdi>”" in told
    assert "ftp://" not in told
    page = sign_in(alice).get(Import.objects.get(token__isnull=False).get_absolute_url()).content.decode()
    for words in ("API upload", "nightly · main 77d04aef1b", 'href="https://ci.example.org/7"', "Sent by"):
        assert words in page


def test_uploads_of_others_stay_untold_to_client_members(
    sign_in: SignIn, alice: User, carol: User, agent: Agent
) -> None:
    job = import_bytes(agent, json.dumps(document("a", attempt("x"))).encode(), alice)
    Import.objects.filter(pk=job.pk).update(state=ImportState.RUNNING)
    import_bytes(agent, json.dumps(document("a", attempt("x"))).encode(), carol)

    page = sign_in(carol).get(job.get_absolute_url()).content.decode()

    assert "run.json" in page
    assert "Sent by" not in page
    assert "Sent by" in sign_in(alice).get(job.get_absolute_url()).content.decode()


def test_agent_is_created(sign_in: SignIn, alice: User, client_org: Client) -> None:
    answer = sign_in(alice).post("/acme/-/agents/new/", {"name": "New", "slug": "new-one", "risk_tier": "low"})

    assert answer.headers["Location"] == "/acme/new-one/upload/"
    assert Agent.objects.get(slug="new-one").client == client_org


@pytest.mark.parametrize("slug", ["support-agent", "Not A Slug", "api", "-"])
def test_agent_form_refuses_a_slug(sign_in: SignIn, alice: User, agent: Agent, slug: str) -> None:
    answer = sign_in(alice).post("/acme/-/agents/new/", {"name": "Typed name", "slug": slug, "risk_tier": "low"})

    assert answer.status_code == 422
    assert "Typed name" in answer.content.decode()
    assert Agent.objects.count() == 1


def test_agent_settings_change_it(sign_in: SignIn, alice: User, agent: Agent) -> None:
    more: dict[str, Any] = {"name": "Renamed", "slug": "renamed", "risk_tier": "high"}
    answer = sign_in(alice).post(f"{URL}settings/", more)

    assert answer.headers["Location"] == "/acme/renamed/"


def test_agent_settings_keep_the_frame_while_refused(sign_in: SignIn, alice: User, agent: Agent) -> None:
    answer = sign_in(alice).post(f"{URL}settings/", {"name": "", "slug": "x y", "risk_tier": "high"})

    assert answer.status_code == 422
    assert 'href="/acme/support-agent/runs/"' in answer.content.decode()
