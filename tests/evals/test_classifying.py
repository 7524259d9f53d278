"""Classes given by rules and by people: stored runs are counted anew, and every change leaves an audit entry."""

import json
from typing import Any

import pytest

from evals import class_preview, classifying
from evals.class_mapping import ClassOrigin, parse_mapping
from evals.class_preview import preview_classes
from evals.classifiers import classifier_of
from evals.models import Agent, ClassMapping, ClassResult, Evaluation, Run, RunScenario, Scenario
from evals.strict_yaml import DocumentRefused
from evals.taxonomy import shipped_taxonomy
from reliability.errors import AppError, Conflict
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
    assert later.mapping_version == classifying.latest_mapping(agent).sha256[:12]  # type: ignore[union-attr]


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
    mapping = parse_mapping(RULES.encode(), shipped_taxonomy())
    found = preview_classes([agent], lambda agent, suite: classifier_of(agent, suite, mapping=mapping))
    assert [(c.key, c.before, c.after, c.runs, c.evaluations) for c in found.changes] == [
        ("inject-1", "unclassified", "goal_hijack", 2, 2)
    ]
    assert (found.total, found.runs, found.is_whole) == (1, 2, True)
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


def test_a_preview_of_much_looks_at_the_newest_runs_and_says_so(
    run: Run, agent: Agent, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.filter(pk=run.pk).update(at="2026-01-01T00:00:00Z")
    import_document(agent, document("r2", attempt("inject-2")), alice)
    monkeypatch.setattr(class_preview, "MOST_SCENARIOS", 1)
    mapping = parse_mapping(RULES.encode(), shipped_taxonomy())
    found = preview_classes([agent], lambda agent, suite: classifier_of(agent, suite, mapping=mapping))
    assert [change.key for change in found.changes] == ["inject-2"]
    assert (found.runs, found.is_whole) == (1, False)


def test_who_saves_over_what_another_saved_meanwhile_is_told(agent: Agent, alice: User) -> None:
    classifying.save_mapping(agent, RULES, by=alice, instead_of=0)
    with pytest.raises(Conflict, match="Meanwhile version 1 was saved"):
        classifying.save_mapping(agent, RULES + "# mine\n", by=alice, instead_of=0)
    assert ClassMapping.objects.count() == 1


def test_a_choice_keeps_its_reason_and_must_be_a_class(run: Run, alice: User) -> None:
    scenario = Scenario.objects.get(key="own")
    with pytest.raises(AppError):
        classifying.choose_class(scenario, "nonsense", by=alice)
    classifying.choose_class(scenario, "fabrication", by=alice, reason="read the transcript")
    entry = AuditEntry.objects.order_by("-number").first()
    assert entry is not None
    assert entry.payload["reason"] == "read the transcript"
    scenario.refresh_from_db()
    assert scenario.class_id == "fabrication"


def test_a_word_withdrawn_is_found_though_its_task_was_lost(run: Run, agent: Agent, alice: User) -> None:
    scenario = Scenario.objects.get(key="own")
    classifying.choose_class(scenario, "fabrication", by=alice)
    classifying.reclassify_runs(agent.pk)
    assert classifying.list_agents_behind() == []
    classifying.choose_class(scenario, "", by=alice)
    assert classifying.list_agents_behind() == [agent.pk]


def test_counts_without_evaluations_follow_the_rules_by_what_was_measured(agent: Agent, alice: User) -> None:
    run = import_file(agent, "agent-reliability/report.json", alice)
    indicators = set(ClassResult.objects.filter(run=run).values_list("definition__indicator__name", flat=True))
    label = sorted(indicators)[0]
    _save(agent, alice, f'schema: class-mapping/v1\nrules:\n  - {{class: task_not_done, label: "{label}"}}\n')
    named = ClassResult.objects.get(run=run, definition__indicator__name=label)
    assert (named.class_id, named.aggregate, named.categories) == ("task_not_done", True, 8)
    run.refresh_from_db()
    assert run.counts.total == sum(_results(run).values())
