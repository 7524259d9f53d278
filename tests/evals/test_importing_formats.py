"""Real files of other tools as runs: what is stored is what their formats' rules count."""

import json

import pytest

from evals.models import Agent, Attempt, Evaluation, ImportState, Step
from evals.records import AttemptStatus, Outcome
from reliability.models import User
from tests.evals.artifact_reading import ARTIFACTS
from tests.run_documents import import_bytes

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "attempts", "expected"),
    [
        ("deepeval/test_run_basic.json", 5, (3, 2, 0, 0)),
        ("deepeval/test_run_metric_errors.json", 5, (3, 6, 0, 1)),
        ("pydantic-evals/basic.json", 5, (9, 1, 0, 3)),
        ("pydantic-evals/repeat2.json", 6, (8, 2, 0, 4)),
        ("otel-genai/basic-logs.json", 5, (1, 1, 2, 1)),
        ("otel-genai/basic-traces.json", 5, (1, 1, 2, 1)),
        ("agent-reliability/evidence.jsonl", 3, (3, 2, 1, 1)),
    ],
)
def test_counts_as_stored(agent: Agent, alice: User, path: str, attempts: int, expected: tuple[int, ...]) -> None:
    job = import_bytes(agent, (ARTIFACTS / path).read_bytes(), alice)

    assert (job.state, job.run and job.run.format) == (ImportState.DONE, path.split("/")[0])
    stored = Evaluation.objects.filter(run=job.run)
    assert tuple(stored.filter(outcome=outcome).count() for outcome in Outcome) == expected
    assert Attempt.objects.filter(run=job.run).count() == attempts


def test_steps_and_crashes_are_stored(agent: Agent, alice: User) -> None:
    import_bytes(agent, (ARTIFACTS / "deepeval/test_run_basic.json").read_bytes(), alice)
    crashed = import_bytes(agent, (ARTIFACTS / "pydantic-evals/basic.json").read_bytes(), alice).run

    assert [step.tool for step in Step.objects.all()] == ["lookup_order"]
    (attempt,) = Attempt.objects.filter(run=crashed, status=AttemptStatus.CRASHED)
    assert attempt.outcome == Outcome.ERROR


def test_a_refused_file_says_where(agent: Agent, alice: User) -> None:
    broken = json.dumps({"testCases": [1], "testPassed": 1, "testFailed": 0}).encode()
    job = import_bytes(agent, broken, alice)

    assert (job.state, job.run) == (ImportState.REFUSED, None)
    assert job.errors[0]["pointer"] == "/testCases/0"
