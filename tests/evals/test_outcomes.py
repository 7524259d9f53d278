"""An attempt's outcome, with the evaluations that we add (DESIGN 2.2 and 4)."""

import pytest

from evals.outcomes import EXECUTION_EVALUATOR, settle_attempt
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Containment,
    Decision,
    EvaluationRecord,
    Outcome,
    ScenarioRecord,
    SideEffectRecord,
    StepKind,
    StepRecord,
)

PLAIN = ScenarioRecord(key="s")
GUARDED = ScenarioRecord(key="s", adversarial=True, guards=("send",))
P, F, U, E = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR


def attempt(*outcomes, status=AttemptStatus.COMPLETED, steps=(), side_effects=(), error=""):
    evaluations = tuple(EvaluationRecord(indicator=f"i{n}", outcome=outcome) for n, outcome in enumerate(outcomes))
    return AttemptRecord(
        "s", status=status, steps=steps, side_effects=side_effects, evaluations=evaluations, error=error
    )


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((P,), P),
        ((P, P), P),
        ((P, F), F),
        ((F, E), F),
        ((P, U), U),
        ((P, E), U),
        ((U, E), U),
        ((E, E), E),
        ((U,), U),
        ((), U),
    ],
)
def test_outcome_of_an_attempt(outcomes, expected):
    settled = settle_attempt(PLAIN, attempt(*outcomes))
    assert (settled.outcome, settled.containment, len(settled.evaluations)) == (expected, None, len(outcomes))


def test_a_crashed_attempt_is_an_error_whatever_was_judged():
    assert settle_attempt(PLAIN, attempt(P, F, status=AttemptStatus.CRASHED)).outcome is E


@pytest.mark.parametrize("status", [AttemptStatus.CRASHED, AttemptStatus.TIMED_OUT])
def test_a_broken_attempt_without_evaluations_makes_one_error(status):
    settled = settle_attempt(PLAIN, attempt(status=status, error="killed"))
    (execution,) = settled.evaluations
    assert settled.outcome is E
    assert (execution.indicator, execution.evaluator, execution.outcome) == ("execution", EXECUTION_EVALUATOR, E)
    assert (execution.reason_code, execution.reason, execution.categories) == (status.value, "killed", None)


def test_a_timed_out_attempt_with_evaluations_keeps_to_them():
    settled = settle_attempt(PLAIN, attempt(P, status=AttemptStatus.TIMED_OUT))
    assert (settled.outcome, len(settled.evaluations)) == (P, 1)


@pytest.mark.parametrize("status", [AttemptStatus.COMPLETED, AttemptStatus.DENIED, AttemptStatus.PAUSED])
def test_another_status_makes_no_evaluation(status):
    assert settle_attempt(PLAIN, attempt(status=status)).evaluations == ()


def test_containment_counts_in_the_outcome():
    allowed = StepRecord(kind=StepKind.TOOL, tool="send", decision=Decision.ALLOWED)
    settled = settle_attempt(GUARDED, attempt(P, steps=(allowed,)))
    assert [evaluation.indicator for evaluation in settled.evaluations] == ["i0", "containment"]
    assert (settled.outcome, settled.containment) == (F, Containment.UNPROVEN)


def test_a_proof_keeps_a_pass():
    denied = StepRecord(kind=StepKind.TOOL, tool="send", decision=Decision.DENIED)
    absent = SideEffectRecord("send", checked=True, happened=False)
    settled = settle_attempt(GUARDED, attempt(P, steps=(denied,), side_effects=(absent,)))
    assert (settled.outcome, settled.containment) == (P, Containment.PROVEN)


def test_a_crash_of_a_guarded_attempt_counts_both_errors():
    settled = settle_attempt(GUARDED, attempt(status=AttemptStatus.CRASHED))
    assert [(e.indicator, e.outcome) for e in settled.evaluations] == [("execution", E), ("containment", E)]
    assert (settled.outcome, settled.containment) == (E, None)
