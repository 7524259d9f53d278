"""What is counted while rows are made is what counting the stored rows finds."""

import random
from typing import Any

import pytest

from evals import ingest
from evals.class_results import COUNTED, TOTALS, count_class_results, count_totals
from evals.models import Agent, ClassResult, Run
from evals.records import Category, Fault, Finding, Outcome
from reliability.models import User
from tests.run_documents import adversarial, containment_document, document, import_document, import_file

pytestmark = pytest.mark.django_db

KEYS = ("class_id", "categories", "adversarial", "definition_id", "variant", "aggregate")


def _counted(run: Run) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    results = ClassResult.objects.filter(run=run).order_by(*KEYS).values_list(*KEYS, *COUNTED)
    return list(results), {name: getattr(run, name) for name in TOTALS}


def _counted_anew(run: Run) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    count_class_results(run)
    count_totals(run)
    return _counted(run)


def _any_evaluation(r: random.Random) -> dict[str, Any]:
    outcome = r.choice(list(Outcome))
    evaluation: dict[str, Any] = {"indicator": r.choice(["task_success", "tone"]), "outcome": outcome}
    if outcome is Outcome.FAIL and r.random() < 0.8:
        evaluation["finding"] = r.choice(list(Finding))
    if r.random() < 0.3:
        evaluation["categories"] = r.sample(list(Category), r.randrange(3))
    if r.random() < 0.3:
        evaluation |= {"fault": r.choice(list(Fault)), "reason_code": r.choice(["late", "wrong"])}
    return evaluation


def _any_document(seed: int) -> dict[str, Any]:
    r = random.Random(seed)  # noqa: S311 (a repeatable choice)
    scenarios = [adversarial("attack"), {"key": "plain", "class": "task_not_done"}, {"key": "odd", "class": "unheard"}]
    attempts = [
        {
            "scenario": r.choice(["attack", "plain", "odd", "bare"]),
            "ordinal": number,
            "variant": r.choice(["", "", "a", "b" * 200]),
            "status": r.choice(["completed", "completed", "crashed", "timed_out", "denied"]),
            "evaluations": [_any_evaluation(r) for _ in range(r.choice([0, 1, 1, 3]))],
        }
        for number in range(1, 120)
    ]
    return document("any", *attempts, scenarios=scenarios)


@pytest.mark.parametrize("seed", range(4))
def test_any_run_is_counted_as_its_rows_are(
    agent: Agent, alice: User, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(ingest, "BATCH_ROWS", dict.fromkeys(ingest.BATCH_ROWS, 25))
    run = import_document(agent, _any_document(seed), alice)
    counted = _counted(Run.objects.get(pk=run.pk))
    assert len(counted[0]) > 10
    assert counted == _counted_anew(run)


def test_containment_is_counted_as_its_rows_are(agent: Agent, alice: User) -> None:
    run = import_document(agent, containment_document(), alice)
    counted = _counted(Run.objects.get(pk=run.pk))
    assert counted[1]["containment_breached"] == 1
    assert counted == _counted_anew(run)


@pytest.mark.parametrize("name", ["deepeval/test_run_metric_errors.json", "agent-reliability/evidence.jsonl"])
def test_files_of_tools_are_counted_as_their_rows_are(agent: Agent, alice: User, name: str) -> None:
    run = import_file(agent, name, alice)
    counted = _counted(Run.objects.get(pk=run.pk))
    assert counted[0]
    assert counted == _counted_anew(run)
