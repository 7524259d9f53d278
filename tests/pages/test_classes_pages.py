"""The page of an agent's classes: rules tried, saved, brought back; one scenario changed by hand."""

from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse

from evals.classifying import save_mapping
from evals.models import Agent, ClassMapping, RunScenario, Scenario
from reliability.models import User
from tests.run_documents import attempt, document, import_document

RULES = 'schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, key: "inject*"}\n'


def _as(user: User) -> Browser:
    browser = Browser()
    browser.force_login(user)
    return browser


def _address(agent: Agent) -> str:
    return reverse("class-mapping", args=[agent.client.slug, agent.slug])


def _post(user: User, agent: Agent, **fields: str) -> Any:
    return _as(user).post(_address(agent), fields)


def test_without_rules_the_page_shows_the_taxonomy(bob: User, agent: Agent) -> None:
    page = _as(bob).get(_address(agent)).content.decode()
    assert "No rules were ever saved" in page
    assert "OWASP Top 10 for Agentic Applications 2026: ASI01;" in page
    assert "<textarea" not in page


def test_a_preview_shows_what_would_change_and_keeps_the_text(alice: User, agent: Agent) -> None:
    import_document(agent, document("r", attempt("inject-1"), attempt("other")), alice)
    page = _post(alice, agent, source=RULES, preview="1").content.decode()
    assert "1 scenario would change" in page
    assert "inject-1" in page
    assert "inject*" in page
    assert not ClassMapping.objects.exists()


def test_saved_rules_hold_for_stored_runs(alice: User, agent: Agent, django_capture_on_commit_callbacks: Any) -> None:
    import_document(agent, document("r", attempt("inject-1")), alice)
    with django_capture_on_commit_callbacks(execute=True):
        answer = _post(alice, agent, source=RULES, save="1")
    assert (answer.status_code, answer["Location"]) == (302, _address(agent))
    assert RunScenario.objects.get().class_id == "goal_hijack"
    assert "Version 1" in _as(alice).get(_address(agent)).content.decode()


def test_faulty_rules_answer_422_with_the_line_and_the_text(alice: User, agent: Agent) -> None:
    answer = _post(alice, agent, source=RULES.replace("goal_hijack", "hijack"), save="1")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "line 3, <code>/rules/0/class</code>: the taxonomy has no class" in page
    assert "class: hijack" in page
    assert not ClassMapping.objects.exists()


def test_an_earlier_version_can_hold_again(alice: User, agent: Agent) -> None:
    for source in (RULES, RULES.replace("inject*", "other*"), RULES):
        _post(alice, agent, source=source, save="1")
    assert [m.source for m in ClassMapping.objects.order_by("number")][-1] == RULES
    assert ClassMapping.objects.count() == 3


@pytest.mark.parametrize("button", ["save", "preview"])
def test_a_viewer_may_not_change_rules(bob: User, agent: Agent, button: str) -> None:
    assert _post(bob, agent, source=RULES, **{button: "1"}).status_code == 403
    assert not ClassMapping.objects.exists()


def test_a_person_changes_the_class_of_a_scenario(
    alice: User, bob: User, agent: Agent, django_capture_on_commit_callbacks: Any
) -> None:
    run = import_document(agent, document("r", attempt("a")), alice)
    place = [agent.client.slug, agent.slug, run.pk, 1]
    with django_capture_on_commit_callbacks(execute=True):
        _as(alice).post(reverse("scenario-class", args=place), {"class_id": "fabrication"})
    assert RunScenario.objects.get().class_id == "fabrication"
    page = _as(alice).get(reverse("attempt", args=place)).content.decode()
    assert "as a person chose" in page
    assert "Change the class" in page
    type(run).objects.update(visibility="client")
    assert "Change the class" not in _as(bob).get(reverse("attempt", args=place)).content.decode()


def test_a_class_that_is_none_is_not_taken(alice: User, agent: Agent) -> None:
    run = import_document(agent, document("r", attempt("a")), alice)
    place = [agent.client.slug, agent.slug, run.pk, 1]
    answer = _as(alice).post(reverse("scenario-class", args=place), {"class_id": "nonsense", "reason": "I say so"})
    assert answer.status_code == 422
    assert "Choose one of the classes." in answer.content.decode()
    assert "I say so" in answer.content.decode()
    assert Scenario.objects.get().class_id == ""


def test_an_internal_run_reaches_no_client_by_the_count(alice: User, bob: User, agent: Agent) -> None:
    run = import_document(agent, document("r", attempt("inject-1")), alice, visibility="internal")
    save_mapping(agent, RULES, by=alice)  # and no worker has counted yet
    assert "1 run is not yet counted" in " ".join(_as(alice).get(_address(agent)).content.decode().split())
    assert "not yet counted" not in _as(bob).get(_address(agent)).content.decode()

    type(run).objects.update(visibility="client")
    assert "1 run is not yet counted" in " ".join(_as(bob).get(_address(agent)).content.decode().split())


def test_a_text_made_over_an_older_version_is_not_saved_and_not_lost(alice: User, agent: Agent) -> None:
    _post(alice, agent, source=RULES, save="1", instead_of="0")
    answer = _post(alice, agent, source=RULES + "# mine", save="1", instead_of="0")
    assert answer.status_code == 409
    assert "Meanwhile version 1 was saved" in answer.content.decode()
    assert "# mine" in answer.content.decode()
    assert ClassMapping.objects.count() == 1


def test_a_choice_is_seen_before_it_is_counted(alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.views.classes.enqueue_reclassifying", lambda agent_id: None)  # the worker is slow
    run = import_document(agent, document("r", attempt("a")), alice)
    place = [agent.client.slug, agent.slug, run.pk, 1]
    page = _as(alice).post(reverse("scenario-class", args=place), {"class_id": "fabrication"}, follow=True)
    assert "Fabrication, as a person chose, is being counted." in page.content.decode()


@pytest.mark.parametrize("button", ["preview", "save"])
def test_text_that_is_not_saved_is_marked_so(alice: User, agent: Agent, button: str) -> None:
    assert "data-unsaved" not in _as(alice).get(_address(agent)).content.decode()
    faulty = RULES if button == "preview" else RULES.replace("goal_hijack", "hijack")
    assert "data-unsaved" in _post(alice, agent, source=faulty, **{button: "1"}).content.decode()
