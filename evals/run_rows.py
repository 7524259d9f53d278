"""Runs as rows of a list: each with its measure, and whether one number may speak for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from evals.answers import attempt_counts
from evals.measures.counts import AttemptCounts
from evals.measures.display import format_rate
from evals.measures.summary import Measure
from evals.models import ClassResult, Run
from evals.records import Origin, Session


@dataclass(frozen=True, slots=True)
class RunRow:
    """`definitions` is how many unrelated measurements the run holds: with several there is no rate of the run."""

    run: Run
    definitions: int

    @property
    def measure(self) -> Measure:
        return Measure(self.run.counts)

    @property
    def attempts(self) -> AttemptCounts:
        return attempt_counts(self.run)

    @property
    def has_rate(self) -> bool:
        return self.definitions == 1

    @property
    def rate_words(self) -> str:
        return format_rate(self.measure.reliability)

    @property
    def is_whole(self) -> bool:
        return self.run.session is Session.COMPLETE and not self.run.invalidated

    @property
    def is_synthetic(self) -> bool:
        return self.run.origin is Origin.SYNTHETIC


def list_run_rows(runs: Sequence[Run]) -> list[RunRow]:
    """Return the rows. One query for all of them."""
    numbers = count_definitions(runs)
    return [RunRow(run, numbers.get(run.pk, 0)) for run in runs]


def count_definitions(runs: Sequence[Run]) -> dict[object, int]:
    """Count the unrelated measurements of each run; definitions that belong to one case each count as one."""
    if not runs:
        return {}
    own = Q(definition__per_case=True)
    counted = (
        ClassResult.objects.filter(run__in=runs)
        .order_by()
        .values("run")
        .annotate(
            shared=Count("definition", filter=~own, distinct=True),
            indicators=Count("definition__indicator", filter=own, distinct=True),
            evaluators=Count("definition__evaluator_name", filter=own, distinct=True),
        )
    )
    return {row["run"]: row["shared"] + max(row["indicators"], row["evaluators"]) for row in counted}
