"""The page of a client's taxonomy: read by all, tried and changed by the consultancy."""

from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse

from evals.models import Agent, RunScenario, TaxonomyVersion
from evals.taxonomies_store import draft_of, taxonomy_of
from reliability.models import Client, User
from tests.evals.test_taxonomies_store import OWN
from tests.run_documents import attempt, document, import_document


def _as(user: User) -> Browser:
    browser = Browser()
    browser.force_login(user)
    return browser


def _address(client: Client) -> str:
    return reverse("taxonomy", args=[client.slug])


def _post(user: User, client: Client, **fields: str) -> Any:
    return _as(user).post(_address(client), {"instead_of": taxonomy_of(client.pk).name} | fields)


def test_the_consultancy_finds_a_copy_to_change(alice: User, client_org: Client) -> None:
    page = _as(alice).get(_address(client_org)).content.decode()
    assert "As it ships" in page
    assert "id: &quot;acme&quot;" in page
    assert "<textarea" in page


def test_a_client_reads_it(bob: User, client_org: Client) -> None:
    page = _as(bob).get(_address(client_org)).content.decode()
    assert "Goal hijack" in page
    assert "<textarea" not in page


def test_strangers_find_nothing(charlie: User, client_org: Client) -> None:
    assert _as(charlie).get(_address(client_org)).status_code == 404


@pytest.mark.parametrize("button", ["save", "preview"])
def test_a_viewer_may_not_change_it(bob: User, client_org: Client, button: str) -> None:
    assert _post(bob, client_org, source=OWN, **{button: "1"}).status_code == 403
    assert not TaxonomyVersion.objects.exists()


def test_a_preview_says_what_would_change_and_keeps_the_text(alice: User, client_org: Client, agent: Agent) -> None:
    made = document("r", attempt("a"), scenarios=[{"key": "a", "class": "LLM01:2026"}])
    import_document(agent, made, alice)
    page = _post(alice, client_org, source=OWN, preview="1").content.decode()
    assert "acme@1 instead of default@1" in page
    assert "Gone: <strong>Goal hijack</strong>" in page
    assert "stands in 1 run with 1 evaluation, and an unknown class without a category" in page
    assert "1 scenario would change" in page
    assert "What Acme fears" in page
    assert not TaxonomyVersion.objects.exists()


def test_saved_it_holds_for_all_agents(
    alice: User, client_org: Client, agent: Agent, django_capture_on_commit_callbacks: Any
) -> None:
    import_document(agent, document("r", attempt("a"), scenarios=[{"key": "a", "class": "LLM01:2026"}]), alice)
    with django_capture_on_commit_callbacks(execute=True):
        answer = _post(alice, client_org, source=OWN, save="1")
    assert (answer.status_code, answer["Location"]) == (302, _address(client_org))
    assert RunScenario.objects.get().class_id == "LLM01:2026"
    run_page = _as(alice).get(reverse("run-list", args=[client_org.slug, agent.slug]))
    assert run_page.status_code == 200
    assert "acme@1" in _as(alice).get(_address(client_org)).content.decode()


def test_titles_come_from_the_client_s_own(alice: User, client_org: Client, agent: Agent) -> None:
    _post(alice, client_org, source=OWN, save="1")
    run = import_document(agent, document("r", attempt("a"), scenarios=[{"key": "a", "class": "rude"}]), alice)
    place = [client_org.slug, agent.slug, run.pk]
    for page in (reverse("run", args=place), reverse("attempt-list", args=place), reverse("attempt", args=[*place, 1])):
        text = _as(alice).get(page).content.decode()
        assert "Rude" in text
        assert "unknown class" not in text


def test_faults_are_named_by_line_and_the_text_is_kept(alice: User, client_org: Client) -> None:
    answer = _post(alice, client_org, source=OWN.replace("category: cost", "category: money"), save="1")
    assert answer.status_code == 422
    assert "line 6" in answer.content.decode()
    assert "category: money" in answer.content.decode()


def test_what_another_saved_meanwhile_is_not_overwritten(alice: User, client_org: Client) -> None:
    _post(alice, client_org, source=OWN, save="1")
    answer = _post(alice, client_org, source=OWN.replace('"1"', '"2"'), save="1", instead_of="default@1")
    assert answer.status_code == 409
    assert "Meanwhile acme@1 was chosen" in answer.content.decode()
    assert TaxonomyVersion.objects.filter(client=client_org).count() == 1


def test_back_to_what_ships(alice: User, client_org: Client) -> None:
    _post(alice, client_org, source=OWN, save="1")
    assert "default@1 instead of acme@1" in _post(alice, client_org, shipped="1", preview="1").content.decode()
    _post(alice, client_org, shipped="1", save="1")
    assert taxonomy_of(client_org.pk).name == "default@1"
    assert draft_of(client_org).count('version: "2"') == 1
