"""A client's own taxonomy: made from the shipped one, versioned, chosen, and counted by."""

from typing import Any

import pytest

from evals import classifying
from evals import taxonomies_store as store
from evals.models import Agent, ClassResult, Evaluation, Run, RunScenario, TaxonomyVersion
from evals.strict_yaml import DocumentRefused
from evals.taxonomy import SHIPPED, parse_taxonomy, shipped_taxonomy
from evals.taxonomy_changes import list_class_changes
from reliability.errors import Conflict
from reliability.models import AuditEntry, Client, User
from tests.run_documents import attempt, document, import_document

OWN = """schema: taxonomy/v1
id: acme
version: "1"
title: What Acme fears
classes:
  - {id: over_refusal, title: Says no too often, category: cost, summary: It refuses what it should do.}
  - {id: rude, title: Rude, category: quality, summary: It insults people.}
"""


@pytest.fixture
def run(agent: Agent, alice: User) -> Run:
    scenarios = [{"key": "told", "class": "over_refusal"}, {"key": "hijack", "class": "goal_hijack"}]
    made = [attempt("told"), attempt("hijack", "FAIL"), attempt("r", "FAIL")]
    return import_document(agent, document("r1", *made, scenarios=[*scenarios, {"key": "r", "class": "rude"}]), alice)


def _save(client: Client, source: str, by: User) -> str:
    made = store.save_taxonomy(client, source, by=by, instead_of=store.taxonomy_of(client.pk).name)
    for agent in Agent.objects.filter(client=client):
        classifying.reclassify_runs(agent.pk)
    return made.name


def _rows(run: Run) -> dict[str, tuple[str, int]]:
    rows = Evaluation.objects.filter(run=run).values_list(
        "attempt__scenario__key", "attempt__scenario__class_id", "categories"
    )
    return {key: (class_id, categories) for key, class_id, categories in rows}


def test_a_client_starts_with_what_ships(client_org: Client) -> None:
    assert store.taxonomy_of(client_org.pk) is shipped_taxonomy()
    assert store.chosen_version(client_org) is None


def test_the_draft_is_a_copy_under_an_id_of_the_client_s_own(client_org: Client, alice: User) -> None:
    client_org.name = 'A "quoted" \\ name'
    draft = parse_taxonomy(store.draft_of(client_org).encode())
    assert (draft.name, draft.title) == ("acme@1", 'Failure classes of A "quoted" \\ name')
    assert draft.classes == shipped_taxonomy().classes
    assert _save(client_org, store.draft_of(client_org), alice) == "acme@1"
    assert parse_taxonomy(store.draft_of(client_org).encode()).name == "acme@2"


@pytest.mark.parametrize(("slug", "name"), [("1st-bank", "client-1st-bank"), ("default", "default-own")])
def test_the_draft_s_id_is_always_one_that_may_be_saved(db: None, slug: str, name: str) -> None:
    client = Client.objects.create(slug=slug, name=slug)
    assert store.parse_for(client, store.draft_of(client)).id == name


def test_stored_runs_are_counted_by_it(run: Run, client_org: Client, alice: User) -> None:
    security, cost, quality = 1, 4, 8
    before = _rows(run)
    assert before["hijack"] == ("goal_hijack", security)
    assert before["r"] == ("rude", 0)

    _save(client_org, OWN, alice)

    run.refresh_from_db()
    assert run.taxonomy_version == "acme@1"
    assert _rows(run) == {"told": ("over_refusal", cost), "hijack": ("goal_hijack", 0), "r": ("rude", quality)}
    counted = dict(ClassResult.objects.filter(run=run).values_list("class_id", "categories"))
    assert counted == {"over_refusal": cost, "goal_hijack": 0, "rude": quality}
    assert (run.counts.total, run.counts.failed) == (3, 2)


def test_what_ships_can_hold_again_and_leaves_no_trace_in_the_counts(run: Run, client_org: Client, alice: User) -> None:
    before = _rows(run)
    _save(client_org, OWN, alice)
    assert _save(client_org, SHIPPED.read_text("utf-8"), alice) == "default@1"
    assert _rows(run) == before
    assert store.chosen_version(client_org) is None
    assert TaxonomyVersion.objects.filter(client=client_org).count() == 1


def test_the_artifact_s_own_categories_stay(agent: Agent, client_org: Client, alice: User) -> None:
    scenarios = [{"key": "a", "class": "over_refusal"}]
    made = import_document(agent, document("r", attempt("a", categories=["security"]), scenarios=scenarios), alice)
    _save(client_org, OWN, alice)
    assert _rows(made) == {"a": ("over_refusal", 1)}


def test_the_next_import_uses_it_and_another_client_s_does_not(
    agent: Agent, client_org: Client, other_org: Client, alice: User
) -> None:
    _save(client_org, OWN, alice)
    made = import_document(agent, document("r", attempt("a")), alice)
    assert made.taxonomy_version == "acme@1"
    assert store.taxonomy_of(other_org.pk) is shipped_taxonomy()


def test_rules_that_name_a_class_it_lacks_do_not_stop_an_import(agent: Agent, client_org: Client, alice: User) -> None:
    classifying.save_mapping(agent, 'schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, key: "*"}\n', by=alice)
    _save(client_org, OWN, alice)
    made = import_document(agent, document("r", attempt("a")), alice)
    assert RunScenario.objects.get(run=made).class_id == "unclassified"


def test_the_same_name_for_another_text_is_refused_with_a_free_one(client_org: Client, alice: User) -> None:
    _save(client_org, OWN, alice)
    with pytest.raises(DocumentRefused) as refused:
        _save(client_org, OWN.replace("Rude", "Impolite"), alice)
    (problem,) = refused.value.problems
    assert (problem.line, problem.expected) == (3, "one that is free, such as '2'")
    assert _save(client_org, OWN.replace("Rude", "Impolite").replace('"1"', '"2"'), alice) == "acme@2"


def test_the_shipped_id_is_kept(client_org: Client, alice: User) -> None:
    with pytest.raises(DocumentRefused, match="kept for the taxonomy that ships"):
        _save(client_org, OWN.replace("id: acme", "id: default"), alice)


def test_an_earlier_version_holds_again_without_a_new_row(client_org: Client, alice: User) -> None:
    second = OWN.replace('"1"', '"2"')
    for source in (OWN, second, OWN.replace("\n", "\r\n")):
        _save(client_org, source, alice)
    assert store.taxonomy_of(client_org.pk).name == "acme@1"
    lineage = dict(TaxonomyVersion.objects.filter(client=client_org).values_list("version", "based_on__version"))
    assert lineage == {"1": "1", "2": "1"}
    based_on = TaxonomyVersion.objects.get(client=client_org, version="1").based_on
    assert based_on is not None
    assert (based_on.client_id, str(based_on)) == (None, "default@1")


def test_two_people_do_not_save_over_each_other(client_org: Client, alice: User) -> None:
    store.save_taxonomy(client_org, OWN, by=alice, instead_of="default@1")
    with pytest.raises(Conflict, match="Meanwhile acme@1"):
        store.save_taxonomy(client_org, OWN.replace('"1"', '"2"'), by=alice, instead_of="default@1")
    assert TaxonomyVersion.objects.filter(client=client_org).count() == 1


def test_every_change_is_in_the_audit_log(run: Run, client_org: Client, alice: User) -> None:
    _save(client_org, OWN, alice)
    entries: Any = list(AuditEntry.objects.order_by("number").values_list("action", "payload"))
    assert [action for action, _ in entries[-2:]] == ["taxonomy.chosen", "run.reclassified"]
    assert (entries[-2][1]["before"], entries[-2][1]["after"]) == ("default@1", "acme@1")
    assert entries[-1][1]["evaluations"] == 3


def test_agents_without_rules_are_found_after_a_lost_task(
    run: Run, agent: Agent, client_org: Client, alice: User
) -> None:
    store.save_taxonomy(client_org, OWN, by=alice, instead_of="default@1")
    assert classifying.list_agents_behind() == [agent.pk]


def test_what_a_version_changes_is_told() -> None:
    before = parse_taxonomy(OWN.encode())
    after = parse_taxonomy(
        OWN.replace("category: cost", "category: policy")
        .replace("id: rude, title: Rude", "id: curt, title: Curt")
        .encode()
    )
    told = [(change.class_id, change.kind.value, change.words) for change in list_class_changes(before, after)]
    assert told == [
        ("rude", "gone", ()),
        ("over_refusal", "changed", ("category cost → policy",)),
        ("curt", "new", ("category quality",)),
    ]
