"""Which class a scenario has: the artifact's, else by the agent's rules, else by the tool's own ids, else none.

YAML (class-mapping/v1) in, a frozen mapping out; pure.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from .errors import Problem
from .strict_yaml import DocumentRefused, content_sha256, line_at, load_document
from .taxonomy import FOLDER, UNCLASSIFIED, Taxonomy

LABEL_EXTRAS = ("pluginId", "strategyId", "owasp", "label")  # what tools say of a red-team scenario
CONDITIONS = ("key", "suite", "title", "label")
PLUGINS = ("PROMPTFOO",)  # frameworks of named plug-ins, which artifacts write without an edition
EMPTY = b"schema: class-mapping/v1\nrules: []\n"


class ClassOrigin(StrEnum):
    """Who says which class a scenario has. The order is part of the database's schema."""

    NONE = "none"
    ARTIFACT = "artifact"
    MAPPING = "mapping"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of a scenario when its class is looked for. `told` is the artifact's own word."""

    key: str
    suite: str = ""
    title: str = ""
    told: str = ""
    labels: tuple[str, ...] = ()  # further words of the tool, such as a plug-in's id

    @property
    def all_labels(self) -> tuple[str, ...]:
        return (self.told, *self.labels) if self.told else self.labels


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns that must all match; '' asks nothing."""

    class_id: str
    key: str = ""
    suite: str = ""
    title: str = ""
    label: str = ""

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.key, self.suite, self.title, self.label)

    def matches(self, scenario: Described) -> bool:
        asked = ((self.key, scenario.key), (self.suite, scenario.suite), (self.title, scenario.title))
        if not all(matches_pattern(pattern, text) for pattern, text in asked if pattern):
            return False
        return not self.label or any(matches_pattern(self.label, label) for label in scenario.all_labels)


@dataclass(frozen=True, slots=True)
class Mapping:
    rules: tuple[Rule, ...] = ()
    sha256: str = ""

    @property
    def version(self) -> str:
        """Short name of this very text; '' for none."""
        return self.sha256[:12]

    def rules_without(self, taxonomy: Taxonomy) -> list[tuple[int, str]]:
        """Return the rules, counted from 1, whose class this taxonomy lacks: they are passed over."""
        return [
            (number, rule.class_id)
            for number, rule in enumerate(self.rules, 1)
            if rule.class_id != UNCLASSIFIED and taxonomy.find(rule.class_id) is None
        ]


def parse_mapping(content: bytes, taxonomy: Taxonomy) -> Mapping:
    """Return the mapping that a YAML file holds. Raises DocumentRefused, which names every fault with its place."""
    mapping = read_mapping(content)
    problems = [*_unknown_classes(mapping, taxonomy, content), *_idle_rules(mapping, content)]
    if problems:
        raise DocumentRefused(problems)
    return mapping


def read_mapping(content: bytes) -> Mapping:
    """Return a mapping whose classes the taxonomy need not know: it was stored under an earlier one."""
    document = load_document(content, mapping_schema())
    made = (Rule(rule["class"], *(rule.get(name, "") for name in CONDITIONS)) for rule in document["rules"])
    return Mapping(tuple(made), content_sha256(content))


def _unknown_classes(mapping: Mapping, taxonomy: Taxonomy, content: bytes) -> Iterator[Problem]:
    known = {failure.id for failure in taxonomy.classes} | {UNCLASSIFIED}
    for place, rule in enumerate(mapping.rules):
        if rule.class_id not in known:
            message = f"the taxonomy has no class {rule.class_id!r}"
            line = line_at(content, ["rules", place, "class"])
            yield Problem(message, f"/rules/{place}/class", line, "one of " + ", ".join(sorted(known)))


def _idle_rules(mapping: Mapping, content: bytes) -> Iterator[Problem]:
    """Yield rules that ask nothing, and those that could never decide: an earlier rule asks the same."""
    first: dict[tuple[str, ...], int] = {}
    for place, rule in enumerate(mapping.rules):
        asked = tuple(pattern.lower() for pattern in rule.patterns)
        earlier = first.setdefault(asked, place)
        if not any(asked):
            message = "the rule has no condition"
        elif earlier != place:
            message = f"rule {earlier + 1} has the same conditions, so this one would never decide"
        else:
            continue
        expected = "one or more of " + ", ".join(CONDITIONS) if not any(asked) else "another condition"
        yield Problem(message, f"/rules/{place}", line_at(content, ["rules", place]), expected)


@lru_cache(maxsize=1)
def mapping_schema() -> dict[str, Any]:
    """Return the published JSON Schema of class-mapping/v1."""
    schema: dict[str, Any] = json.loads((FOLDER / "mapping.schema.json").read_text("utf-8"))
    return schema


class Classifier:
    """Says the class of scenarios by one taxonomy and one mapping. `chosen` are the classes that a person gave, by
    the scenario's key: they stand above all else."""

    def __init__(self, taxonomy: Taxonomy, mapping: Mapping, chosen: dict[str, str] | None = None) -> None:
        self.taxonomy = taxonomy
        self.mapping = mapping
        self.chosen = chosen or {}
        self._known = {failure.id for failure in taxonomy.classes}
        self._rules = [r for r in mapping.rules if r.class_id in self._known or r.class_id == UNCLASSIFIED]
        self._by_source = dict(_sources(taxonomy))

    def classify(self, scenario: Described) -> tuple[str, ClassOrigin]:
        """Return the class and who says so. A word that nobody knows is kept, and shown as an unknown class."""
        if chosen := self.chosen.get(scenario.key):
            return chosen, ClassOrigin.PERSON
        if scenario.told in self._known:
            return scenario.told, ClassOrigin.ARTIFACT
        for rule in self._rules:
            if rule.matches(scenario):
                return rule.class_id, ClassOrigin.MAPPING
        for label in scenario.all_labels:
            if found := self._by_source.get(label.lower().removeprefix("owasp:")):
                return found, ClassOrigin.ARTIFACT
        return (scenario.told, ClassOrigin.ARTIFACT) if scenario.told else (UNCLASSIFIED, ClassOrigin.NONE)


def _sources(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """Yield what an artifact may write for a source, `LLM01:2026` or `owasp:llm:2026:LLM01`, and its class. Frameworks
    renumber, so an id without its edition says nothing; one that two classes share says nothing either."""
    classes: dict[str, set[str]] = {}
    for failure in taxonomy.classes:
        for source in failure.sources:
            framework = source.framework.rstrip("0123456789")  # LLM25 is LLM in its edition of 2025
            for name in (f"{source.id}:{source.edition}", f"{framework}:{source.edition}:{source.id}"):
                classes.setdefault(name.lower(), set()).add(failure.id)
            if source.framework in PLUGINS:  # a plug-in's name stays the same from version to version
                classes.setdefault(source.id.lower(), set()).add(failure.id)
    return ((name, min(found)) for name, found in classes.items() if len(found) == 1)


def matches_pattern(pattern: str, text: str) -> bool:
    """Match a whole text, whatever its case, against * (any characters) and ? (one); in time of their product."""
    pattern, text = pattern.lower(), text.lower()
    at = in_text = 0
    star, resume = -1, 0
    while in_text < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, in_text
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", text[in_text]):
            at += 1
            in_text += 1
        elif star >= 0:  # let the last star take one character more
            resume += 1
            at, in_text = star + 1, resume
        else:
            return False
    return all(sign == "*" for sign in pattern[at:])


def labels_of(extras: dict[str, Any]) -> tuple[str, ...]:
    """Return the words by which a tool names what a scenario probes."""
    return tuple(text for name in LABEL_EXTRAS if isinstance(text := extras.get(name), str) and text)
