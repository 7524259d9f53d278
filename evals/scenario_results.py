"""Scenarios of a run with what their attempts amount to, and two runs side by side."""

from collections import Counter
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from evals.measures.comparability import DefinitionFacts, RunFacts
from evals.measures.comparison import VERDICT_WORDS, Bucket, Comparison, ScenarioResult, compare_runs
from evals.measures.outcomes import scenario_outcome
from evals.models import Attempt, ClassResult, Evaluation, Run, RunScenario
from evals.records import Outcome
from evals.schemas import BucketOut, ComparisonOut, DifferingOut, ScenarioOut, SideOut

PAGE_SIZE = 200
OUTCOMES = {
    "passed": Outcome.PASS,
    "failed": Outcome.FAIL,
    "unknown": Outcome.UNKNOWN,
    "error": Outcome.ERROR,
}


def list_scenario_results(run: Run) -> list[ScenarioResult]:
    """Return each scenario and variant of the run with its outcome and the definitions that judged it. Two queries."""
    definitions: dict[tuple[int | None, str], set[str]] = {}
    judged = (
        Evaluation.objects.filter(run=run)
        .order_by()
        .values_list("attempt__scenario", "attempt__variant", "definition__digest")
    )
    for scenario_id, variant, digest in judged.distinct():
        definitions.setdefault((scenario_id, variant), set()).add(digest)
    return [
        ScenarioResult(
            key=row["scenario__key"],
            title=row["scenario__title"],
            class_id=row["scenario__class_id"],
            variant=row["variant"],
            outcome=scenario_outcome(passed=row["passed"], failed=row["failed"]),
            definitions=frozenset(definitions.get((row["scenario"], row["variant"]), ())),
            errors=row["error"],
        )
        for row in _count_attempts(run)
    ]


def _count_attempts(run: Run) -> QuerySet[Attempt, dict[str, Any]]:
    sums = {name: Count("id", filter=Q(outcome=outcome)) for name, outcome in OUTCOMES.items()}
    counted: QuerySet[Attempt, Any] = (
        Attempt.objects.filter(run=run, scenario__isnull=False)
        .order_by("scenario__key", "variant")
        .values(
            "scenario", "scenario__key", "scenario__title", "scenario__class_id", "scenario__adversarial", "variant"
        )
        .annotate(attempts=Count("id"), worst=Max("containment"), **sums)
    )
    return counted


def list_scenario_page(run: Run, after: str) -> tuple[list[ScenarioOut], str]:
    """Return 200 scenarios by key after the key `after`, and the cursor of the next page ('' at the end)."""
    keys = RunScenario.objects.filter(run=run, key__gt=after) if after else RunScenario.objects.filter(run=run)
    page = list(keys.order_by("key").values_list("key", flat=True)[: PAGE_SIZE + 1])
    last = page[PAGE_SIZE - 1] if len(page) > PAGE_SIZE else ""
    rows = _count_attempts(run).filter(scenario__key__in=page[:PAGE_SIZE])
    return [_scenario_out(row) for row in rows], last


def _scenario_out(row: dict[str, Any]) -> ScenarioOut:
    # Codes grow in the order of Containment, proven to breached, so the greatest is the worst (a test holds that).
    worst = row["worst"]
    return ScenarioOut(
        key=row["scenario__key"],
        title=row["scenario__title"],
        class_id=row["scenario__class_id"],
        adversarial=row["scenario__adversarial"],
        variant=row["variant"],
        outcome=scenario_outcome(passed=row["passed"], failed=row["failed"]).value,
        attempts=row["attempts"],
        passed=row["passed"],
        failed=row["failed"],
        unknown=row["unknown"],
        error=row["error"],
        containment=worst.value if worst else None,
    )


def compare(a: Run, b: Run) -> Comparison:
    """Compare two runs, the earlier first."""
    return compare_runs(list_scenario_results(a), list_scenario_results(b), facts_a=_facts_of(a), facts_b=_facts_of(b))


def _facts_of(run: Run) -> RunFacts:
    used = (
        ClassResult.objects.filter(run=run)
        .order_by()
        .values_list(
            "definition__indicator__name",
            "definition__digest",
            "definition__evaluator_name",
            "definition__evaluator_version",
        )
    )
    return RunFacts(
        agent=run.agent.name,
        suite=run.suite,
        suite_version=run.suite_version,
        mode=run.mode,
        origin=run.origin,
        agent_version=run.agent_version,
        model=run.model,
        environment=run.environment,
        taxonomy=run.taxonomy_version,
        parser=f"{run.format} parser {run.parser_version}",
        session=run.session,
        is_invalidated=run.invalidated,
        missing_attempts=run.attempts_missing,
        definitions=frozenset(
            DefinitionFacts(name, digest, f"{evaluator} {version}".strip() or "manual assertion")
            for name, digest, evaluator, version in used.distinct()
        ),
    )


def _side_out(shown: Counter[str]) -> SideOut:
    return SideOut(
        passed=shown["pass"],
        failed=shown["fail"],
        flaky=shown["flaky"],
        unknown=shown["unknown"],
        error=shown["error"],
    )


def describe_comparison(a: Run, b: Run) -> ComparisonOut:
    found = compare(a, b)
    return ComparisonOut(
        a=str(a.pk),
        b=str(b.pk),
        comparable=found.is_comparable,
        differences=[DifferingOut(name=d.name, a=d.a, b=d.b, hard=d.hard, text=d.sentence) for d in found.differences],
        verdict=found.verdict.value,
        text=VERDICT_WORDS[found.verdict],
        pairs=found.pairs,
        dropped=found.dropped,
        p_value=float(found.p_value),
        buckets=[
            BucketOut(
                bucket=bucket.value,
                count=size,
                a=_side_out(found.split(bucket)[0]),
                b=_side_out(found.split(bucket)[1]),
                scenarios=[s.latest.key for s in found.in_bucket(bucket)] if bucket is not Bucket.STILL_PASSING else [],
            )
            for bucket, size in found.counts.items()
        ],
    )
