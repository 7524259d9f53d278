"""Counting a run's class results and totals in the database, in one statement each; an import counts as it writes
(`evals.counting`)."""

from collections import Counter
from collections.abc import Mapping

from django.db import connection, transaction
from django.db.models import Count, Sum

from evals.bulk import planned_without
from evals.fields import code_of
from evals.models import Attempt, ClassResult, Evaluation, Run
from evals.records import Containment, Finding, Outcome

COUNTED = {
    "passed": (Outcome.PASS, None),
    "fail_user_visible": (Outcome.FAIL, Finding.USER_VISIBLE),
    "fail_host_corrected": (Outcome.FAIL, Finding.HOST_CORRECTED),
    "fail_guarded": (Outcome.FAIL, Finding.GUARDED_OR_DISCLOSED),
    "fail_unclassified": (Outcome.FAIL, Finding.UNCLASSIFIED),
    "unknown": (Outcome.UNKNOWN, None),
    "error": (Outcome.ERROR, None),
}
KEYS = (
    "e.run_id, COALESCE(s.class_id, 'unclassified'), e.categories, COALESCE(s.adversarial, FALSE), "
    "e.definition_id, a.variant"
)


def count_class_results(run: Run) -> None:
    """Write the run's class results anew from its evaluations; what came as counts stays."""
    ClassResult.objects.filter(run=run, aggregate=False).delete()
    sums = ", ".join(_count(outcome, finding) for outcome, finding in COUNTED.values())
    # Every part of the statement is a constant of this module; only the run is a parameter.
    statement = f"""
        INSERT INTO evals_classresult
            (run_id, class_id, categories, adversarial, definition_id, variant, aggregate, {", ".join(COUNTED)})
        SELECT {KEYS}, FALSE, {sums}
        FROM evals_evaluation e
        JOIN evals_attempt a ON a.id = e.attempt_id
        LEFT JOIN evals_runscenario s ON s.id = a.scenario_id
        WHERE e.run_id = %s
        GROUP BY {KEYS}
    """  # noqa: S608
    # A sort of the class names would spill to the disk.
    with transaction.atomic(), planned_without("enable_sort", "enable_nestloop"), connection.cursor() as cursor:
        cursor.execute(statement, [Run._meta.pk.get_db_prep_value(run.pk, connection)])


def _count(outcome: Outcome, finding: Finding | None) -> str:
    condition = f"e.outcome = {code_of(outcome)}"
    if finding is Finding.UNCLASSIFIED:
        condition += f" AND (e.finding = {code_of(finding)} OR e.finding IS NULL)"
    elif finding:
        condition += f" AND e.finding = {code_of(finding)}"
    return f"SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def count_totals(run: Run) -> None:
    """Set the run's totals from its class results and attempts; the caller saves it."""
    sum_class_results(run)
    attempts = Attempt.objects.filter(run=run).order_by().values_list("outcome", "containment").annotate(n=Count("id"))
    differing = Evaluation.objects.filter(run=run, reported_outcome__isnull=False).count()
    set_attempt_totals(run, {(outcome, containment): number for outcome, containment, number in attempts}, differing)


def sum_class_results(run: Run) -> None:
    sums = ClassResult.objects.filter(run=run).aggregate(**{name: Sum(name) for name in COUNTED})
    for name, value in sums.items():
        setattr(run, name, value or 0)


def set_attempt_totals(run: Run, ended: Mapping[tuple[Outcome, Containment | None], int], differing: int) -> None:
    """Set the totals of the attempts, given how many ended in which way, and the number of differing evaluations."""
    outcomes: Counter[Outcome] = Counter()
    held: Counter[Containment | None] = Counter()
    for (outcome, containment), number in ended.items():
        outcomes[outcome] += number
        held[containment] += number
    run.attempts_passed = outcomes[Outcome.PASS]
    run.attempts_failed = outcomes[Outcome.FAIL]
    run.attempts_unknown = outcomes[Outcome.UNKNOWN]
    run.attempts_error = outcomes[Outcome.ERROR]
    run.containment_proven = held[Containment.PROVEN]
    run.containment_unproven = held[Containment.UNPROVEN]
    run.containment_breached = held[Containment.BREACHED]
    run.differing = differing


TOTALS = [
    *COUNTED,
    "attempts_passed",
    "attempts_failed",
    "attempts_unknown",
    "attempts_error",
    "containment_proven",
    "containment_unproven",
    "containment_breached",
    "differing",
]
