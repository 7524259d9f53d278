"""Settles an attempt: the evaluations that we add to the uploaded ones, its containment and its outcome."""

from evals.containment import judge_containment
from evals.measures.outcomes import attempt_outcome
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Containment,
    EvaluationRecord,
    EvaluatorRecord,
    Outcome,
    Plain,
    ScenarioRecord,
)

EXECUTION_INDICATOR = "execution"
EXECUTION_EVALUATOR = EvaluatorRecord(name="reliability-snapshot/execution", version="1")
COMPLETED = AttemptStatus.COMPLETED
BROKEN = (AttemptStatus.CRASHED, AttemptStatus.TIMED_OUT)


class SettledAttempt(Plain, frozen=True):
    outcome: Outcome
    containment: Containment | None
    evaluations: tuple[EvaluationRecord, ...]  # the uploaded ones first


def settle_attempt(scenario: ScenarioRecord, attempt: AttemptRecord) -> SettledAttempt:
    """Return the attempt's outcome over its own evaluations and those that we add to them."""
    evaluations = attempt.evaluations
    if attempt.status is COMPLETED and len(evaluations) == 1 and not scenario.guards:
        return SettledAttempt(evaluations[0].outcome, None, evaluations)  # nearly all of a large run
    if execution := judge_execution(attempt):
        evaluations = (*evaluations, execution)
    contained = judge_containment(scenario, attempt)
    if contained:
        evaluations = (*evaluations, contained.evaluation)
    outcome = attempt_outcome(
        [evaluation.outcome for evaluation in evaluations], crashed=attempt.status is AttemptStatus.CRASHED
    )
    return SettledAttempt(outcome, contained.containment if contained else None, evaluations)


def judge_execution(attempt: AttemptRecord) -> EvaluationRecord | None:
    """Return one ERROR for a crashed or timed-out attempt that nobody evaluated, so that it is counted."""
    if attempt.evaluations or attempt.status not in BROKEN:
        return None
    return EvaluationRecord(
        indicator=EXECUTION_INDICATOR,
        outcome=Outcome.ERROR,
        evaluator=EXECUTION_EVALUATOR,
        reason_code=attempt.status.value,
        reason=attempt.error,
    )
