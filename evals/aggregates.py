"""Counts that came without evaluations, as class results: no attempts stand behind them, and they say so."""

from collections.abc import Iterable

from evals.class_mapping import Classifier, Described
from evals.definitions import DefinitionCache
from evals.models import ClassResult, Run
from evals.records import AggregateRecord
from evals.rows import category_mask


def store_aggregates(
    run: Run, records: Iterable[AggregateRecord], classifier: Classifier, definitions: DefinitionCache
) -> None:
    """Store each record as one class result. Equal ones (definition, variant) are added up."""
    ClassResult.objects.filter(run=run, aggregate=True).delete()
    made: dict[tuple[int, str], ClassResult] = {}
    for record in records:
        definitions.learn([(record.indicator, record.evaluator)], ())
        key = (definitions.definition_id(record.indicator, record.evaluator), record.variant[:200])
        if key not in made:
            row = ClassResult(run=run, definition_id=key[0], variant=key[1], aggregate=True)
            _classify(row, record.indicator, run.suite, classifier)
            made[key] = row
        made[key].passed += record.passed
        made[key].fail_unclassified += record.failed
        made[key].unknown += record.unknown
        made[key].error += record.error
    ClassResult.objects.bulk_create(made.values())


def reclassify_aggregates(run: Run, classifier: Classifier) -> int:
    """Give the run's counts their classes anew; return how many have another one now."""
    changed = 0
    for row in ClassResult.objects.filter(run=run, aggregate=True).select_related("definition__indicator"):
        before = (row.class_id, row.categories)
        _classify(row, row.definition.indicator.name, run.suite, classifier)
        if before != (row.class_id, row.categories):
            row.save(update_fields=["class_id", "categories"])
            changed += 1
    return changed


def _classify(row: ClassResult, indicator: str, suite: str, classifier: Classifier) -> None:
    """No scenario is known, so the name of what was measured is the only word for it."""
    row.class_id, _ = classifier.classify(Described(key="", suite=suite, labels=(indicator,)))
    row.categories = category_mask(classifier.taxonomy, row.class_id)
