"""Runs as rows of a list: each with its measure, and whether one number may speak for it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Case, F, When

from evals.answers import attempt_counts
from evals.measures.counts import AttemptCounts
from evals.measures.display import format_rate
from evals.measures.summary import Measure
from evals.models import ClassResult, Intake, Run
from evals.records import Origin, Session


@dataclass(frozen=True, slots=True)
class RunRow:
    """`lines` is how many unrelated measurements the run holds: with several there is no rate of the run."""

    run: Run
    lines: int

    @property
    def measure(self) -> Measure:
        return Measure(self.run.counts)

    @property
    def attempts(self) -> AttemptCounts:
        return attempt_counts(self.run)

    @property
    def has_rate(self) -> bool:
        return self.lines == 1

    @property
    def rate_words(self) -> str:
        return format_rate(self.measure.reliability)

    @property
    def is_whole(self) -> bool:
        return self.run.session is Session.COMPLETE and not self.run.invalidated

    @property
    def is_settled(self) -> bool:
        """Whether its numbers may join a trend: nobody invalidated them, and no part is still to come."""
        return not self.run.invalidated and self.run.intake == Intake.CLOSED

    @property
    def is_synthetic(self) -> bool:
        return self.run.origin is Origin.SYNTHETIC


def list_run_rows(runs: Sequence[Run]) -> list[RunRow]:
    """Return the rows. One query for all of them."""
    numbers = count_lines(runs)
    return [RunRow(run, numbers.get(run.pk, 0)) for run in runs]


def count_lines(runs: Sequence[Run]) -> dict[object, int]:
    """Count the measurements of each run that may not be added: the lines of its class table, classes apart."""
    if not runs:
        return {}
    lines = (
        ClassResult.objects.filter(run__in=runs)
        .order_by()
        .values_list(
            "run",
            "categories",
            "adversarial",
            "definition__indicator",
            "definition__evaluator_name",
            Case(When(definition__per_case=False, then=F("definition"))),
        )
        .distinct()
    )
    return dict(Counter(line[0] for line in lines))
