"""What other rules or another taxonomy would change in stored runs. Nothing is written, and the look is bounded."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import batched

from django.db.models import Count, F, Sum, Value

from evals.class_mapping import Classifier
from evals.class_results import COUNTED
from evals.classifying import find_change
from evals.models import Agent, ClassResult, Evaluation, Intake, RunScenario

MOST_SCENARIOS = 20_000  # of runs, the newest first
MOST_CHANGES = 200  # shown
MOST_AT_ONCE = 500

type ClassifierOf = Callable[[Agent, str], Classifier]


@dataclass(frozen=True, slots=True)
class Previewed:
    """A scenario that would have another class, in so many runs with so many evaluations."""

    agent: str
    key: str
    suite: str
    before: str
    after: str
    runs: int
    evaluations: int


@dataclass(frozen=True, slots=True)
class Preview:
    """`total` scenarios would change, the commonest are listed. `runs` were looked at; not all unless `is_whole`."""

    changes: list[Previewed]
    total: int
    runs: int
    is_whole: bool


def preview_classes(agents: Iterable[Agent], classifier_for: ClassifierOf) -> Preview:
    """Return what would change in the runs of these agents, as the classifier of an agent and a suite would have it."""
    by_id = {agent.pk: agent for agent in agents}
    classifiers: dict[tuple[object, str], Classifier] = {}
    found: dict[tuple[str, str, str, str, str], list[int]] = defaultdict(list)
    runs: set[uuid.UUID] = set()
    affected: set[uuid.UUID] = set()
    looked = 0
    for scenario in _newest_scenarios(by_id):
        looked += 1
        if looked > MOST_SCENARIOS:
            break
        runs.add(scenario.run_id)
        agent, suite = by_id[scenario.run.agent_id], scenario.run.suite
        if (agent.pk, suite) not in classifiers:
            classifiers[agent.pk, suite] = classifier_for(agent, suite)
        change = find_change(scenario, suite, classifiers[agent.pk, suite])
        if change and change.class_id != scenario.class_id:
            found[agent.name, scenario.key, suite, scenario.class_id, change.class_id].append(scenario.pk)
            affected.add(scenario.run_id)
    evaluations = _count_evaluations(affected)
    commonest = sorted(found.items(), key=lambda item: -len(item[1]))[:MOST_CHANGES]
    return Preview(
        changes=[Previewed(*names, len(ids), sum(map(evaluations.__getitem__, ids))) for names, ids in commonest],
        total=len(found),
        runs=len(runs),
        is_whole=looked <= MOST_SCENARIOS,
    )


@dataclass(frozen=True, slots=True)
class Use:
    runs: int
    evaluations: int


def count_uses(agents: Iterable[Agent], class_ids: Iterable[str]) -> dict[str, Use]:
    """Return in how many stored runs, with how many evaluations, each of these classes stands."""
    ids = [agent.pk for agent in agents]
    results = ClassResult.objects.filter(
        run__agent__in=ids, run__intake__in=[Intake.OPEN, Intake.CLOSED], class_id__in=list(class_ids)
    )
    evaluations = Sum(sum((F(name) for name in COUNTED), Value(0)))
    rows = results.order_by().values_list("class_id").annotate(runs=Count("run", distinct=True), n=evaluations)
    return {class_id: Use(runs, number) for class_id, runs, number in rows}


def _newest_scenarios(agents: Iterable[object]) -> Iterable[RunScenario]:
    scenarios = RunScenario.objects.filter(run__agent__in=list(agents), run__intake__in=[Intake.OPEN, Intake.CLOSED])
    scenarios = scenarios.select_related("run").order_by("-run__at", "run", "pk")
    fields = ("key", "title", "class_id", "class_told", "class_by", "extras", "run__suite", "run__agent")
    return scenarios.only(*fields)[: MOST_SCENARIOS + 1].iterator(chunk_size=2_000)


def _count_evaluations(runs: Iterable[uuid.UUID]) -> Counter[int]:
    """Count the evaluations of each scenario of these runs. By run, as no index leads from a scenario to them."""
    counted: Counter[int] = Counter()
    for ids in batched(runs, MOST_AT_ONCE, strict=False):
        of_scenarios = Evaluation.objects.filter(run__in=ids, attempt__scenario__isnull=False).order_by()
        counted.update(dict(of_scenarios.values_list("attempt__scenario").annotate(n=Count("pk"))))
    return counted
