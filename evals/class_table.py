"""The per-class results of a run as lines: what may be added stands on one line, the rest side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from django.db.models import Count

from evals.codes import words_of
from evals.measures.counts import AttemptCounts, Counts, sum_counts
from evals.measures.summary import Measure
from evals.models import Attempt, ClassResult, Definition, Run
from evals.records import Category, Outcome
from evals.taxonomy import Taxonomy

MOST_LINES = 50  # of one class on a page


@dataclass(frozen=True, slots=True)
class ClassLine:
    """One class, category set, adversarial or not, and definition. `definitions` is above 1 only where each case
    brings its own assertions (see Definition.per_case)."""

    class_id: str
    categories: int
    adversarial: bool
    definition: Definition
    definitions: int
    measure: Measure

    @property
    def categories_words(self) -> str:
        return words_of(self.categories)


@dataclass(frozen=True, slots=True)
class ClassGroup:
    """All lines of a class. Its counts are a total over evaluations; a rate exists only where one line has it."""

    class_id: str
    title: str
    summary: str
    is_known: bool
    lines: tuple[ClassLine, ...]
    attempts: AttemptCounts

    @property
    def counts(self) -> Counts:
        return sum_counts(line.measure.counts for line in self.lines)

    @property
    def shown_lines(self) -> tuple[ClassLine, ...]:
        """What a page shows; the API has all."""
        return self.lines[:MOST_LINES]

    @property
    def hidden_lines(self) -> int:
        return len(self.lines) - len(self.shown_lines)

    @property
    def single(self) -> ClassLine | None:
        """The line that speaks for the class, when there is only one."""
        return self.lines[0] if len(self.lines) == 1 else None


@dataclass(frozen=True, slots=True)
class ClassFilter:
    """`''` and None select everything. A category selects the sets that hold it."""

    category: Category | None = None
    variant: str | None = None
    class_id: str = ""


def list_class_groups(
    run: Run, taxonomy: Taxonomy, chosen: ClassFilter | None = None, *, with_attempts: bool = True
) -> list[ClassGroup]:
    """Return the run's class results, worst first; the taxonomy gives them titles. Three queries, whatever its size;
    counting the attempts takes longest, and may be left out."""
    chosen = chosen or ClassFilter()
    results = [r for r in _list_results(run, chosen) if _holds(r, chosen.category)]
    attempts = _count_attempts(run, chosen) if with_attempts else {}
    by_class: dict[str, list[ClassResult]] = {}
    for result in results:
        by_class.setdefault(result.class_id, []).append(result)
    groups = [_make_group(class_id, found, attempts, taxonomy) for class_id, found in by_class.items()]
    return sorted(groups, key=lambda g: (-g.counts.failed, -g.counts.error, -g.counts.unknown, g.title))


def _list_results(run: Run, chosen: ClassFilter) -> Iterable[ClassResult]:
    results = ClassResult.objects.filter(run=run).select_related("definition__indicator").order_by("id")
    if chosen.variant is not None:
        results = results.filter(variant=chosen.variant)
    if chosen.class_id:
        results = results.filter(class_id=chosen.class_id)
    return results


def _holds(result: ClassResult, category: Category | None) -> bool:
    return category is None or category.value in words_of(result.categories).split(", ")


def _count_attempts(run: Run, chosen: ClassFilter) -> dict[str, AttemptCounts]:
    attempts = Attempt.objects.filter(run=run).order_by()
    if chosen.variant is not None:
        attempts = attempts.filter(variant=chosen.variant)
    numbers: dict[str, dict[Outcome, int]] = {}
    for class_id, outcome, number in attempts.values_list("scenario__class_id", "outcome").annotate(n=Count("id")):
        numbers.setdefault(class_id or "unclassified", {})[outcome] = number
    return {
        class_id: AttemptCounts(
            passed=n.get(Outcome.PASS, 0),
            failed=n.get(Outcome.FAIL, 0),
            unknown=n.get(Outcome.UNKNOWN, 0),
            error=n.get(Outcome.ERROR, 0),
        )
        for class_id, n in numbers.items()
    }


def _make_group(
    class_id: str, results: list[ClassResult], attempts: dict[str, AttemptCounts], taxonomy: Taxonomy
) -> ClassGroup:
    lines: dict[tuple[object, ...], list[ClassResult]] = {}
    for result in results:
        lines.setdefault(_line_key(result), []).append(result)
    failure_class = taxonomy.find(class_id)
    made = [_make_line(found) for found in lines.values()]
    return ClassGroup(
        class_id=class_id,
        title=failure_class.title if failure_class else ("Unclassified" if class_id == "unclassified" else class_id),
        summary=failure_class.summary if failure_class else "",
        is_known=failure_class is not None,
        lines=tuple(sorted(made, key=lambda line: (line.definition.indicator.name, -line.measure.counts.failed))),
        attempts=attempts.get(class_id, AttemptCounts()),
    )


def _line_key(result: ClassResult) -> tuple[object, ...]:
    """Results under one definition add up. Where each case has its own assertions by design they do as well."""
    definition = result.definition
    same = (definition.indicator_id, definition.evaluator_name) if definition.per_case else definition.pk
    return (result.categories, result.adversarial, same)


def _make_line(results: list[ClassResult]) -> ClassLine:
    first = results[0]
    return ClassLine(
        class_id=first.class_id,
        categories=first.categories,
        adversarial=first.adversarial,
        definition=first.definition,
        definitions=len({result.definition_id for result in results}),
        measure=Measure(sum_counts(map(attrgetter("counts"), results))),
    )
