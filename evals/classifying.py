"""Changing classes: an agent's mapping rules, and what a person says of one scenario.

The rule or the word is stored at once; the runs that it changes are counted anew by a task, each in a transaction of
its own. Whatever a lost task leaves behind is found by what the rows say, so it may run any number of times.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import batched

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from evals.class_mapping import Classifier, ClassOrigin, Described, Mapping, labels_of, parse_mapping
from evals.class_results import TOTALS, count_class_results, count_totals
from evals.classifiers import classifier_of, latest_mapping, mapping_of
from evals.models import Agent, Attempt, ClassMapping, Evaluation, Intake, Run, RunScenario, Scenario
from evals.rows import category_mask
from evals.taxonomy import shipped_taxonomy
from reliability.audit import record_change
from reliability.models import User

MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One scenario of a run whose class becomes another one."""

    scenario: RunScenario
    class_id: str
    by: ClassOrigin


@dataclass(frozen=True, slots=True)
class Previewed:
    """What rules would change: scenarios by name with the number of runs, the commonest first."""

    key: str
    suite: str
    before: str
    after: str
    runs: int


def preview_mapping(agent: Agent, mapping: Mapping) -> list[Previewed]:
    """Return what the rules would change in stored runs; nothing is written."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    classifiers: dict[str, Classifier] = {}
    for run in _runs_of(agent):
        if run.suite not in classifiers:
            classifiers[run.suite] = classifier_of(agent.pk, run.suite, mapping)
        for change in _changes(run, classifiers[run.suite]):
            found[change.scenario.key, run.suite, change.scenario.class_id, change.class_id] += 1
    return [Previewed(*names, runs) for names, runs in found.most_common()]


@transaction.atomic
def save_mapping(agent: Agent, source: str, *, by: User) -> ClassMapping:
    """Store a new version of the rules. Raises DocumentRefused; the caller enqueues the counting."""
    source = source.replace("\r\n", "\n")
    mapping = parse_mapping(source.encode(), shipped_taxonomy())
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)  # two people may save at once; uploads need not wait
    latest = latest_mapping(agent.pk)
    if latest and latest.sha256 == mapping.sha256:
        return latest
    made = ClassMapping.objects.create(
        agent=agent, number=latest.number + 1 if latest else 1, source=source, sha256=mapping.sha256, by=by
    )
    record_change(agent.client, "class_mapping.saved", agent, by=by, number=made.number, sha256=made.sha256)
    return made


@transaction.atomic
def choose_class(scenario: Scenario, class_id: str, *, by: User) -> None:
    """Note the class that a person gives a scenario of the agent, '' to leave it to artifact and rules again."""
    before = scenario.class_id
    scenario.class_id = class_id
    scenario.save(update_fields=["class_id"])
    record_change(
        scenario.agent.client, "scenario.reclassified", scenario, by=by, key=scenario.key, before=before, after=class_id
    )


def list_runs_behind(agent: Agent) -> QuerySet[Run]:
    """Return the agent's runs whose classes are not yet those of the latest rules and of what people chose."""
    scenarios = RunScenario.objects.filter(run=OuterRef("pk"), scenario__isnull=False)
    unheard = scenarios.exclude(scenario__class_id="").exclude(class_id=F("scenario__class_id"))
    withdrawn = scenarios.filter(scenario__class_id="", class_by=ClassOrigin.PERSON)
    old = ~Q(mapping_version=mapping_of(agent.pk).version, taxonomy_version=shipped_taxonomy().name)
    behind = old | Exists(unheard) | Exists(withdrawn)
    return _runs_of(agent).filter(behind)


def _runs_of(agent: Agent) -> QuerySet[Run]:
    return Run.objects.filter(agent=agent, intake__in=[Intake.OPEN, Intake.CLOSED])


def reclassify_runs(agent_id: uuid.UUID) -> int:
    """Bring the agent's runs up to date; return how many were looked at."""
    agent = Agent.objects.select_related("client").get(pk=agent_id)
    ids = list(list_runs_behind(agent).values_list("pk", flat=True))
    for run_id in ids:
        _reclassify_run(agent, run_id)
    return len(ids)


def list_agents_behind() -> list[uuid.UUID]:
    """Return agents with rules or chosen classes of which some run has not heard: their task was lost."""
    has_rules = Exists(ClassMapping.objects.filter(agent=OuterRef("pk")))
    has_chosen = Exists(Scenario.objects.filter(agent=OuterRef("pk")).exclude(class_id=""))
    agents = Agent.objects.filter(has_rules | has_chosen)
    return [agent.pk for agent in agents if list_runs_behind(agent).exists()]


@transaction.atomic
def _reclassify_run(agent: Agent, run_id: uuid.UUID) -> None:
    run = Run.objects.select_for_update().get(pk=run_id)
    classifier = classifier_of(agent.pk, run.suite)
    changes = list(_changes(run, classifier))
    run.mapping_version, run.taxonomy_version = classifier.mapping.version, classifier.taxonomy.name
    _store_changes(run, changes, classifier)
    if changes:
        count_class_results(run)
        count_totals(run)
    run.save(update_fields=["mapping_version", "taxonomy_version", *TOTALS])
    if changes:
        record_change(
            agent.client, "run.reclassified", run, by=None, scenarios=len(changes), mapping=run.mapping_version
        )


def _changes(run: Run, classifier: Classifier) -> Iterator[Change]:
    scenarios = RunScenario.objects.filter(run=run).only("key", "title", "class_id", "class_told", "class_by", "extras")
    for scenario in scenarios.iterator(chunk_size=2_000):
        described = Described(
            scenario.key, run.suite, scenario.title, scenario.class_told, labels_of(scenario.extras or {})
        )
        class_id, by = classifier.classify(described)
        if (class_id, by) != (scenario.class_id, scenario.class_by):
            yield Change(scenario, class_id, by)


def _store_changes(run: Run, changes: Iterable[Change], classifier: Classifier) -> None:
    """Rewrite the run's own rows: the scenario's class, and the categories of evaluations that took them from it."""
    by_target: dict[tuple[str, ClassOrigin], list[int]] = {}
    for change in changes:
        by_target.setdefault((change.class_id, change.by), []).append(change.scenario.pk)
    for (class_id, by), scenario_ids in by_target.items():
        mask = category_mask(classifier.taxonomy, class_id)
        for ids in batched(scenario_ids, MOST_AT_ONCE, strict=False):
            RunScenario.objects.filter(pk__in=ids).update(class_id=class_id, class_by=by)
            attempts = Attempt.objects.filter(run=run, scenario__in=ids).values("pk")
            of_class = Evaluation.objects.filter(run=run, categories_from_artifact=False, attempt__in=attempts)
            of_class.update(categories=mask)
