"""An agent's classifier as the database has it: the client's taxonomy, the latest mapping, what people chose."""

from functools import lru_cache

from evals.class_mapping import Classifier, Mapping, read_mapping
from evals.models import Agent, ClassMapping, Scenario
from evals.taxonomies_store import taxonomy_of
from evals.taxonomy import Taxonomy


def latest_mapping(agent: Agent) -> ClassMapping | None:
    return ClassMapping.objects.filter(agent=agent).order_by("-number").first()


def mapping_of(agent: Agent) -> Mapping:
    """Return the rules as they were stored; the taxonomy may know less by now."""
    stored = latest_mapping(agent)
    return _parse(stored.source) if stored else Mapping()


def classifier_of(
    agent: Agent, suite: str, *, mapping: Mapping | None = None, taxonomy: Taxonomy | None = None
) -> Classifier:
    """Return the classifier for scenarios of a suite; with another mapping or taxonomy than holds to try it out."""
    chosen = Scenario.objects.filter(agent=agent, suite=suite).exclude(class_id="")
    return Classifier(
        taxonomy or taxonomy_of(agent.client_id),
        mapping_of(agent) if mapping is None else mapping,
        dict(chosen.order_by().values_list("key", "class_id")),
    )


@lru_cache(maxsize=64)
def _parse(source: str) -> Mapping:
    return read_mapping(source.encode())
