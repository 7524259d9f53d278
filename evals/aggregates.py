"""Counts that came without evaluations, as class results: no attempts stand behind them, and they say so."""

from collections.abc import Iterable

from evals.codes import mask_of
from evals.definitions import DefinitionCache
from evals.models import ClassResult, Run
from evals.records import AggregateRecord
from evals.rows import category_mask
from evals.taxonomy import UNCLASSIFIED, Taxonomy


def store_aggregates(
    run: Run, records: Iterable[AggregateRecord], taxonomy: Taxonomy, definitions: DefinitionCache
) -> None:
    """Store each record as one class result. Equal ones (class, categories, definition, variant) are added up."""
    ClassResult.objects.filter(run=run, aggregate=True).delete()
    made: dict[tuple[object, ...], ClassResult] = {}
    for record in records:
        definitions.learn([(record.indicator, record.evaluator)], ())
        row = ClassResult(
            run=run,
            class_id=record.class_id[:200] or UNCLASSIFIED,
            categories=category_mask(taxonomy, record.class_id)
            if record.categories is None
            else mask_of(record.categories),
            definition_id=definitions.definition_id(record.indicator, record.evaluator),
            variant=record.variant[:200],
            aggregate=True,
        )
        row = made.setdefault((row.class_id, row.categories, row.definition_id, row.variant), row)
        row.passed += record.passed
        row.fail_unclassified += record.failed
        row.unknown += record.unknown
        row.error += record.error
    ClassResult.objects.bulk_create(made.values())
