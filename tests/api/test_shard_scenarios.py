"""Parts that name the same scenario: one description, one class, and the categories that follow from it."""

import json
from typing import Any

import pytest

from evals import classifying
from evals import taxonomies_store as store
from evals.models import Agent, ClassResult, Run, RunScenario
from reliability.models import Client, User
from tests.conftest import Api
from tests.evals.test_taxonomies_store import OWN
from tests.run_documents import attempt, document

HIJACK = {"key": "k", "class": "goal_hijack", "title": "K", "adversarial": True, "guards": ["mail"]}
SECURITY = 1


def _part(outcome: str, *scenarios: dict[str, Any]) -> bytes:
    made = document("x", attempt("k", outcome))
    return json.dumps(made | ({"scenarios": list(scenarios)} if scenarios else {})).encode()


def _send(api: Api, token: str, parts: list[bytes], query: str = "run=x") -> Run:
    for index, part in enumerate(parts, 1):
        answer = api.upload(part, token, query=f"{query}&shard={index}/{len(parts)}")
        assert answer.status_code == 201, answer.content
    return Run.objects.get(label="x")


def _counts(run: Run) -> dict[tuple[str, int, bool], tuple[int, int]]:
    rows = ClassResult.objects.filter(run=run).exclude(definition__indicator__name="containment")
    return {(r.class_id, r.categories, r.adversarial): (r.passed, r.fail_unclassified) for r in rows}


@pytest.mark.parametrize("described_first", [True, False])
def test_a_description_holds_for_parts_that_only_name_the_scenario(
    api: Api, agent: Agent, full_token: str, described_first: bool
) -> None:
    parts = [_part("PASS", HIJACK), _part("FAIL")]
    run = _send(api, full_token, parts if described_first else parts[::-1])

    assert _counts(run) == {("goal_hijack", SECURITY, True): (1, 1)}
    row = RunScenario.objects.get(run=run)
    assert (row.title, row.adversarial, row.guards) == ("K", True, ["mail"])
    assert any("without the guarded tools" in note for note in run.notes)


def test_of_two_descriptions_the_first_holds_and_the_run_says_so(api: Api, agent: Agent, full_token: str) -> None:
    run = _send(api, full_token, [_part("PASS", HIJACK), _part("FAIL", {"key": "k", "class": "over_refusal"})])
    assert _counts(run) == {("goal_hijack", SECURITY, True): (1, 1)}
    assert "Parts describe a scenario differently; the first description holds." in run.notes


def test_a_taxonomy_and_back_gives_the_counts_of_before(
    api: Api, agent: Agent, client_org: Client, alice: User, full_token: str
) -> None:
    run = _send(api, full_token, [_part("FAIL"), _part("PASS", HIJACK)])
    before = _counts(run)
    store.save_taxonomy(client_org, OWN, by=alice, instead_of="default@1")
    classifying.reclassify_runs(agent.pk)
    assert _counts(run) == {("goal_hijack", 0, True): (1, 1)}
    store.save_taxonomy(client_org, store.SHIPPED.read_text("utf-8"), by=alice, instead_of="acme@1")
    classifying.reclassify_runs(agent.pk)
    assert _counts(run) == before


def test_a_part_that_was_read_before_the_classes_changed_is_counted_anew(
    api: Api, agent: Agent, client_org: Client, alice: User, full_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _send(api, full_token, [_part("PASS", HIJACK)], "run=x&planned=1")  # shard 1/1 would close, so send an open one
    Run.objects.all().update(intake="open", shards_expected=2)
    from evals import ingest

    count = ingest.RunWriter.count

    def change_meanwhile(writer: ingest.RunWriter) -> Run:
        store.save_taxonomy(client_org, OWN, by=alice, instead_of="default@1")
        classifying.reclassify_runs(agent.pk)
        return count(writer)

    monkeypatch.setattr(ingest.RunWriter, "count", change_meanwhile)
    assert api.upload(_part("FAIL", HIJACK), full_token, query="run=x&shard=2/2&planned=1").status_code == 201
    assert classifying.list_agents_behind() == [agent.pk]
    classifying.reclassify_runs(agent.pk)
    assert _counts(Run.objects.get()) == {("goal_hijack", 0, True): (1, 1)}
    assert Run.objects.get().taxonomy_version == "acme@1"


def test_the_same_part_again_may_say_that_it_was_the_last(api: Api, agent: Agent, full_token: str) -> None:
    body = json.dumps(document("x", attempt("a"), attempt("b"))).encode()
    assert api.upload(body, full_token, query="run=x").status_code == 201
    answer = api.upload(body, full_token, query="run=x&final=true")
    assert answer.json()["run"]["counts"]["total"] == 2
    run = Run.objects.get()
    assert (run.intake, run.counts.total, run.session) == ("closed", 2, "complete")


def test_half_a_character_in_evidence_is_replaced(api: Api, agent: Agent, full_token: str) -> None:
    made = attempt("a")
    made["evaluations"][0]["evidence"] = {"excerpt": "q\ud800", "\ud800": 1}
    answer = api.upload(json.dumps(document("x", made)).encode(), full_token)
    assert answer.status_code == 201, answer.content
