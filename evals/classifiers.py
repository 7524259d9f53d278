"""An agent's classifier as the database has it: the taxonomy, the latest mapping, what people chose."""

import uuid
from functools import lru_cache

from evals.class_mapping import Classifier, Mapping, parse_mapping
from evals.models import ClassMapping, Scenario
from evals.taxonomy import shipped_taxonomy


def latest_mapping(agent_id: uuid.UUID) -> ClassMapping | None:
    return ClassMapping.objects.filter(agent=agent_id).order_by("-number").first()


def mapping_of(agent_id: uuid.UUID) -> Mapping:
    stored = latest_mapping(agent_id)
    return _parse(stored.source) if stored else Mapping()


def classifier_of(agent_id: uuid.UUID, suite: str, mapping: Mapping | None = None) -> Classifier:
    """Return the classifier for scenarios of a suite; with another mapping than the stored one to try it out."""
    chosen = Scenario.objects.filter(agent=agent_id, suite=suite).exclude(class_id="")
    rules = mapping_of(agent_id) if mapping is None else mapping
    return Classifier(shipped_taxonomy(), rules, dict(chosen.order_by().values_list("key", "class_id")))


@lru_cache(maxsize=64)
def _parse(source: str) -> Mapping:
    return parse_mapping(source.encode(), shipped_taxonomy())
