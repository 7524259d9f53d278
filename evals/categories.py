"""Categories of evaluations that have them from their scenario's class."""

from django.db import transaction

from evals.bulk import planned_without
from evals.models import Attempt, Evaluation, Run, RunScenario
from evals.rows import category_mask
from evals.taxonomy import Taxonomy


def store_categories(run: Run, class_ids: set[str] | None, taxonomy: Taxonomy) -> int:
    """Give the evaluations of these classes (None = all of the run's) the class's category, unless the artifact gave
    them their own; return how many have another one now."""
    if class_ids is None:
        class_ids = set(RunScenario.objects.filter(run=run).order_by().values_list("class_id", flat=True).distinct())
    changed = 0
    with transaction.atomic(), planned_without("enable_nestloop"):
        for class_id in sorted(class_ids):
            mask = category_mask(taxonomy, class_id)
            attempts = Attempt.objects.filter(run=run, scenario__class_id=class_id, scenario__run=run).values("pk")
            of_class = Evaluation.objects.filter(run=run, categories_from_artifact=False, attempt__in=attempts)
            changed += of_class.exclude(categories=mask).update(categories=mask)
    return changed
