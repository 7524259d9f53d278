"""Counting a run while its rows are made: what `evals.class_results` finds in the tables, without reading them."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from evals.bulk import write_rows
from evals.class_results import COUNTED, set_attempt_totals, sum_class_results
from evals.models import ClassResult, Run
from evals.outcomes import SettledAttempt
from evals.records import Containment, Finding, Outcome

# Class, categories, adversarial, definition and variant: the same five make one class result.
type ClassKey = tuple[str, int, bool, int, str]
type Judged = tuple[ClassKey, Outcome, Finding | None]

FIELDS = ["run", "class_id", "categories", "adversarial", "definition", "variant", "aggregate", *COUNTED]
COLUMNS = {counted: at for at, counted in enumerate(COUNTED.values())}
COLUMNS[Outcome.FAIL, None] = COLUMNS[Outcome.FAIL, Finding.UNCLASSIFIED]


class RunCount:
    """Adds up batches; `store` writes class results and sets the run's totals."""

    def __init__(self) -> None:
        self._judged: Counter[Judged] = Counter()
        self._attempts: Counter[tuple[Outcome, Containment | None]] = Counter()
        self._differing = 0

    def add(self, attempts: Iterable[SettledAttempt], judged: Iterable[Judged]) -> None:
        attempts = list(attempts)
        self._attempts.update([(settled.outcome, settled.containment) for settled in attempts])
        self._judged.update(judged)
        evaluations = chain.from_iterable([settled.evaluations for settled in attempts])
        self._differing += sum([e.reported_outcome is not None for e in evaluations])

    def store(self, run: Run) -> None:
        """Write the class results; the caller saves the run. What came as counts is stored before: it adds to the
        totals."""
        counts: dict[ClassKey, list[int]] = {}
        for (key, outcome, finding), number in self._judged.items():
            columns = counts.setdefault(key, [0] * len(COUNTED))
            columns[COLUMNS[outcome, finding if outcome is Outcome.FAIL else None]] += number
        write_rows(ClassResult, FIELDS, [(run.pk, *key, False, *columns) for key, columns in counts.items()])
        sum_class_results(run)
        set_attempt_totals(run, self._attempts, self._differing)
