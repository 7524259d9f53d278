"""Removing a run that was never seen, with all its rows."""

from evals.models import Attempt, AttemptDetail, Evaluation, EvaluationDetail, Run, RunScenario, Step


def discard_run(run: Run) -> None:
    """Remove a hidden run with all its rows, children first."""
    evaluations = Evaluation.objects.filter(run=run)
    attempts = Attempt.objects.filter(run=run)
    for rows in (
        EvaluationDetail.objects.filter(evaluation__in=evaluations),
        evaluations,
        Step.objects.filter(attempt__in=attempts),
        AttemptDetail.objects.filter(attempt__in=attempts),
        attempts,
        RunScenario.objects.filter(run=run),
    ):
        rows._raw_delete(rows.db)  # no signals and no cascades to follow: children are named above
    run.delete()
