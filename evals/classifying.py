"""Changing classes: an agent's mapping rules, and what a person says of one scenario.

The rule or the word is stored at once; the runs that it changes are counted anew by a task, each in a transaction of
its own. Whatever a lost task leaves behind is found by what the rows say, so it may run any number of times.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import batched

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from evals.aggregates import reclassify_aggregates
from evals.categories import store_categories
from evals.class_mapping import Classifier, ClassOrigin, Described, labels_of, parse_mapping
from evals.class_results import TOTALS, count_class_results, count_totals
from evals.classifiers import classifier_of, latest_mapping, mapping_of
from evals.models import Agent, ClassMapping, Intake, Run, RunScenario, Scenario
from evals.taxonomies_store import taxonomy_of
from evals.taxonomy import UNCLASSIFIED
from reliability.audit import record_change
from reliability.errors import AppError, Conflict
from reliability.models import User

MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One scenario of a run whose class becomes another one, or its origin does."""

    scenario: RunScenario
    class_id: str
    by: ClassOrigin


@transaction.atomic
def save_mapping(agent: Agent, source: str, *, by: User, instead_of: int | None = None) -> ClassMapping:
    """Store a new version of the rules; the caller enqueues the counting.

    `instead_of` is the number of the version that the person saw, 0 for none. Raises DocumentRefused for the text
    and Conflict if another version holds by now.
    """
    source = source.replace("\r\n", "\n")
    mapping = parse_mapping(source.encode(), taxonomy_of(agent.client_id))
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)  # two people may save at once; uploads need not wait
    latest = latest_mapping(agent)
    number = latest.number if latest else 0
    if instead_of is not None and instead_of != number:
        raise Conflict(f"Meanwhile version {number} was saved; your text was not. Preview it against the new rules.")
    if latest and latest.sha256 == mapping.sha256:
        return latest
    made = ClassMapping.objects.create(agent=agent, number=number + 1, source=source, sha256=mapping.sha256, by=by)
    record_change(agent.client, "class_mapping.saved", agent, by=by, number=made.number, sha256=made.sha256)
    return made


@transaction.atomic
def choose_class(scenario: Scenario, class_id: str, *, by: User, reason: str = "") -> None:
    """Note the class that a person gives a scenario of the agent, '' to leave it to artifact and rules again.

    Raises AppError for a class that the client's taxonomy lacks. The caller enqueues the counting.
    """
    taxonomy = taxonomy_of(scenario.agent.client_id)
    if class_id not in ("", UNCLASSIFIED) and taxonomy.find(class_id) is None:
        raise AppError("Choose one of the classes.", code="class_unknown")
    before = scenario.class_id
    scenario.class_id = class_id
    scenario.save(update_fields=["class_id"])
    words = {"key": scenario.key, "before": before, "after": class_id, "reason": reason.strip()[:2000]}
    record_change(scenario.agent.client, "scenario.reclassified", scenario, by=by, **words)


def runs_with_classes(agent: Agent) -> QuerySet[Run]:
    return Run.objects.filter(agent=agent, intake__in=[Intake.OPEN, Intake.CLOSED])


def list_runs_behind(agent: Agent) -> QuerySet[Run]:
    """Return the agent's runs whose classes are not yet those of the taxonomy, the rules and what people chose."""
    scenarios = RunScenario.objects.filter(run=OuterRef("pk"), scenario__isnull=False)
    unheard = scenarios.exclude(scenario__class_id="").exclude(class_id=F("scenario__class_id"))
    withdrawn = scenarios.filter(scenario__class_id="", class_by=ClassOrigin.PERSON)
    return runs_with_classes(agent).filter(_of_old_rules(agent) | Exists(unheard) | Exists(withdrawn))


def _of_old_rules(agent: Agent) -> Q:
    now = Q(mapping_version=mapping_of(agent).version, taxonomy_version=taxonomy_of(agent.client_id).name)
    return ~now


def list_agents_behind() -> list[uuid.UUID]:
    """Return agents of which some run has not heard of a change: the task that should have counted it was lost."""
    agents = Agent.objects.select_related("client")
    return [agent.pk for agent in agents if _is_behind(agent)]


def _is_behind(agent: Agent) -> bool:
    """Look first at what is cheap: the versions that runs name, before what their scenarios say."""
    if runs_with_classes(agent).filter(_of_old_rules(agent)).exists():
        return True
    chosen = Scenario.objects.filter(agent=agent).exclude(class_id="")
    once_chosen = RunScenario.objects.filter(class_by=ClassOrigin.PERSON, scenario__agent=agent)
    return (chosen.exists() or once_chosen.exists()) and list_runs_behind(agent).exists()


def reclassify_runs(agent_id: uuid.UUID) -> int:
    """Bring the agent's runs up to date; return how many were looked at."""
    agent = Agent.objects.select_related("client").get(pk=agent_id)
    ids = list(list_runs_behind(agent).values_list("pk", flat=True))
    for run_id in ids:
        _reclassify_run(agent, run_id)
    return len(ids)


@transaction.atomic
def _reclassify_run(agent: Agent, run_id: uuid.UUID) -> None:
    # A run that another worker counts is left to it: waiting would keep this one from everybody else's imports.
    run = Run.objects.select_for_update(skip_locked=True).filter(pk=run_id).first()
    if run is None:
        return
    classifier = classifier_of(agent, run.suite)
    taxonomy = classifier.taxonomy
    other_taxonomy = run.taxonomy_version != taxonomy.name
    before = {"taxonomy_before": run.taxonomy_version, "mapping_before": run.mapping_version}
    changes = list(list_changes(run, classifier))
    _store_changes(changes)
    recounted = store_categories(run, None if other_taxonomy else {c.class_id for c in changes}, taxonomy)
    of_counts = reclassify_aggregates(run, classifier)
    run.mapping_version, run.taxonomy_version = classifier.mapping.version, taxonomy.name
    if changes or recounted or of_counts:
        count_class_results(run)
        count_totals(run)
    run.save(update_fields=["mapping_version", "taxonomy_version", *TOTALS])
    if changes or recounted or of_counts:
        words = {"taxonomy": run.taxonomy_version, "mapping": run.mapping_version, **before}
        record_change(
            agent.client,
            "run.reclassified",
            run,
            by=None,
            scenarios=len(changes),
            evaluations=recounted,
            counts=of_counts,
            **words,
        )


def list_changes(run: Run, classifier: Classifier) -> Iterator[Change]:
    """Yield what the classifier says otherwise than the run's rows do."""
    scenarios = RunScenario.objects.filter(run=run).only("key", "title", "class_id", "class_told", "class_by", "extras")
    for scenario in scenarios.iterator(chunk_size=2_000):
        if change := find_change(scenario, run.suite, classifier):
            yield change


def find_change(scenario: RunScenario, suite: str, classifier: Classifier) -> Change | None:
    described = Described(scenario.key, suite, scenario.title, scenario.class_told, labels_of(scenario.extras or {}))
    class_id, by = classifier.classify(described)
    return Change(scenario, class_id, by) if (class_id, by) != (scenario.class_id, scenario.class_by) else None


def _store_changes(changes: Iterable[Change]) -> None:
    by_target: dict[tuple[str, ClassOrigin], list[int]] = {}
    for change in changes:
        by_target.setdefault((change.class_id, change.by), []).append(change.scenario.pk)
    for (class_id, by), scenario_ids in by_target.items():
        for ids in batched(scenario_ids, MOST_AT_ONCE, strict=False):
            RunScenario.objects.filter(pk__in=ids).update(class_id=class_id, class_by=by)
