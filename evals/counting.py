"""Counting a run while its rows are made: what `evals.class_results` finds in the tables, without reading them."""

from collections import Counter
from collections.abc import Iterable

from evals.bulk import write_rows
from evals.class_results import COUNTED, set_attempt_totals, sum_class_results
from evals.models import ClassResult, Run
from evals.records import Containment, Finding, Outcome

# Class, categories, adversarial, definition and variant, which make one class result; outcome, finding, and the tool's
# own outcome where it differs.
type Judged = tuple[str, int, bool, int, str, Outcome, Finding | None, Outcome | None]
type Ended = tuple[Outcome, Containment | None]

FIELDS = ["run", "class_id", "categories", "adversarial", "definition", "variant", "aggregate", *COUNTED]
COLUMNS = {counted: at for at, counted in enumerate(COUNTED.values())}
COLUMNS[Outcome.FAIL, None] = COLUMNS[Outcome.FAIL, Finding.UNCLASSIFIED]


class RunCount:
    """Adds up batches; `store` writes class results and sets the run's totals."""

    def __init__(self) -> None:
        self._attempts: Counter[Ended] = Counter()
        self._judged: Counter[Judged] = Counter()

    def add(self, attempts: Iterable[Ended], judged: Iterable[Judged]) -> None:
        self._attempts.update(attempts)
        self._judged.update(judged)

    def store(self, run: Run) -> None:
        """Write the class results; the caller saves the run. What came as counts is stored before: it adds to the
        totals."""
        counts: dict[tuple[object, ...], list[int]] = {}
        differing = 0
        for (*key, outcome, finding, reported), number in self._judged.items():
            columns = counts.setdefault(tuple(key), [0] * len(COUNTED))
            columns[COLUMNS[outcome, finding if outcome is Outcome.FAIL else None]] += number
            differing += number if reported is not None else 0
        write_rows(ClassResult, FIELDS, [(run.pk, *key, False, *columns) for key, columns in counts.items()])
        sum_class_results(run)
        set_attempt_totals(run, self._attempts, differing)
