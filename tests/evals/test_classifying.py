"""Classes given by rules and by people: stored runs are counted anew, and every change leaves an audit entry."""

import json
from typing import Any

import pytest

from evals import classifying
from evals.class_mapping import ClassOrigin, parse_mapping
from evals.models import Agent, ClassMapping, ClassResult, Evaluation, Run, RunScenario, Scenario
from evals.strict_yaml import DocumentRefused
from evals.taxonomy import shipped_taxonomy
from reliability.models import AuditEntry, User
from tests.run_documents import attempt, document, import_document, import_file

RULES = 'schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, key: "inject*"}\n'


@pytest.fixture
def run(agent: Agent, alice: User) -> Run:
    scenarios = [{"key": "told", "class": "over_refusal"}, {"key": "odd", "class": "mystery"}]
    made = [attempt("inject-1", "FAIL"), attempt("told"), attempt("odd"), attempt("own", categories=["cost"])]
    return import_document(agent, document("r1", *made, scenarios=scenarios), alice)


def _classes(run: Run) -> dict[str, tuple[str, str]]:
    rows = RunScenario.objects.filter(run=run).order_by("key")
    return {row.key: (row.class_id, row.class_by.value) for row in rows}


def _results(run: Run) -> dict[str, int]:
    return {row.class_id: row.counts.total for row in ClassResult.objects.filter(run=run)}


def _save(agent: Agent, alice: User, source: str = RULES) -> ClassMapping:
    made = classifying.save_mapping(agent, source, by=alice)
    classifying.reclassify_runs(agent.pk)
    return made


def test_an_import_says_where_each_class_comes_from(run: Run) -> None:
    assert _classes(run) == {
        "inject-1": ("unclassified", "none"),
        "odd": ("mystery", "artifact"),
        "own": ("unclassified", "none"),
        "told": ("over_refusal", "artifact"),
    }


def test_rules_classify_stored_runs_and_count_them_anew(run: Run, agent: Agent, alice: User) -> None:
    made = _save(agent, alice)

    run.refresh_from_db()
    assert _classes(run)["inject-1"] == ("goal_hijack", "mapping")
    assert _classes(run)["told"] == ("over_refusal", "artifact")
    assert _results(run) == {"goal_hijack": 1, "mystery": 1, "over_refusal": 1, "unclassified": 1}
    assert run.mapping_version == made.sha256[:12]
    assert (run.counts.total, run.counts.failed) == (4, 1)
    assert not classifying.list_runs_behind(agent).exists()


def test_categories_follow_the_class_but_for_those_of_the_artifact(run: Run, agent: Agent, alice: User) -> None:
    _save(agent, alice, RULES.replace("inject*", "*"))

    masks = dict(Evaluation.objects.filter(run=run).values_list("attempt__scenario__key", "categories"))
    security, cost = 1, 4
    assert (masks["inject-1"], masks["own"]) == (security, cost)


def test_the_next_import_uses_the_rules(run: Run, agent: Agent, alice: User) -> None:
    _save(agent, alice)
    later = import_document(agent, document("r2", attempt("inject-2")), alice)
    assert _classes(later) == {"inject-2": ("goal_hijack", "mapping")}
    assert later.mapping_version == classifying.latest_mapping(agent.pk).sha256[:12]  # type: ignore[union-attr]


def test_what_a_person_chose_stands_above_rules_and_later_imports(run: Run, agent: Agent, alice: User) -> None:
    scenario = Scenario.objects.get(key="inject-1")
    classifying.choose_class(scenario, "fabrication", by=alice)
    assert list(classifying.list_runs_behind(agent)) == [run]
    assert classifying.list_agents_behind() == [agent.pk]

    _save(agent, alice)

    later = import_document(agent, document("r2", attempt("inject-1")), alice)
    assert _classes(run)["inject-1"] == _classes(later)["inject-1"] == ("fabrication", "person")

    classifying.choose_class(scenario, "", by=alice)
    assert set(classifying.list_runs_behind(agent)) == {run, later}
    classifying.reclassify_runs(agent.pk)
    assert _classes(run)["inject-1"] == ("goal_hijack", "mapping")


def test_each_change_leaves_an_audit_entry(run: Run, agent: Agent, alice: User) -> None:
    _save(agent, alice)
    classifying.choose_class(Scenario.objects.get(key="own"), "fabrication", by=alice)
    classifying.reclassify_runs(agent.pk)

    actions = list(AuditEntry.objects.order_by("number").values_list("action", flat=True))
    assert actions[-4:] == ["class_mapping.saved", "run.reclassified", "scenario.reclassified", "run.reclassified"]


def test_counting_again_changes_nothing(run: Run, agent: Agent, alice: User) -> None:
    _save(agent, alice)
    before = AuditEntry.objects.count()
    assert classifying.reclassify_runs(agent.pk) == 0
    assert AuditEntry.objects.count() == before


def test_the_same_rules_again_are_no_new_version(run: Run, agent: Agent, alice: User) -> None:
    first = _save(agent, alice)
    assert _save(agent, alice, RULES.replace("\n", "\r\n")).number == first.number
    assert _save(agent, alice, RULES + "# more\n").number == 2


def test_a_preview_writes_nothing(run: Run, agent: Agent, alice: User) -> None:
    import_document(agent, document("r2", attempt("inject-1")), alice)
    found = classifying.preview_mapping(agent, parse_mapping(RULES.encode(), shipped_taxonomy()))
    assert [(c.key, c.before, c.after, c.runs) for c in found] == [("inject-1", "unclassified", "goal_hijack", 2)]
    assert _classes(run)["inject-1"] == ("unclassified", "none")


def test_faulty_rules_are_not_stored(agent: Agent, alice: User) -> None:
    with pytest.raises(DocumentRefused):
        classifying.save_mapping(agent, RULES.replace("goal_hijack", "nothing"), by=alice)
    assert not ClassMapping.objects.exists()


def test_a_tool_s_own_label_stays_known_after_a_rule_was_withdrawn(agent: Agent, alice: User) -> None:
    run = import_file(agent, "garak/all-fail.report.jsonl", alice)
    told: Any = RunScenario.objects.filter(run=run).values_list("class_told", flat=True).distinct()
    assert list(told) == ["test"]
    _save(agent, alice, 'schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, label: "test"}\n')
    assert _results(run) == {"goal_hijack": 18}
    _save(agent, alice, "schema: class-mapping/v1\nrules: []\n")
    assert _results(run) == {"test": 18}


def test_a_red_team_plug_in_gives_the_class(agent: Agent, alice: User) -> None:
    from tests.run_documents import ARTIFACTS, import_bytes

    results = json.loads((ARTIFACTS / "promptfoo/results.json").read_text())
    row = results["results"]["results"][0]
    row["testCase"]["metadata"] = {"pluginId": "pii:direct", "strategyId": "base64"}
    results["results"]["results"] = [row]
    results["results"]["stats"] = {}
    job = import_bytes(agent, json.dumps(results).encode(), alice)
    assert job.run is not None
    (scenario,) = RunScenario.objects.filter(run=job.run)
    assert (scenario.class_id, scenario.class_by, scenario.adversarial) == ("data_exposure", ClassOrigin.ARTIFACT, True)
