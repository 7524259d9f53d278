"""A scorecard's rubric: YAML (rubric/v1) in, a frozen rubric with its digest out. Pure."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from evals.errors import Problem
from evals.strict_yaml import DocumentRefused, content_sha256, load_document

FOLDER = Path(__file__).parent
SHIPPED = FOLDER / "rubrics" / "agent-reliability-default-1.0.0.yaml"
FIRST_PRACTICE_LEVEL = 3
MAX_LEVEL = 5
TOTAL_WEIGHT = 100


class Shows(StrEnum):
    """What a piece of evidence shows, or has to: that it is written, or that it happened."""

    DESIGN = "design"
    OPERATION = "operation"


class RubricStatus(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    RETIRED = "retired"


class Carried(StrEnum):
    """What becomes of a dimension's score when a review moves to another version of its rubric."""

    KEPT = "kept"
    RECONFIRM = "reconfirm"  # its wording changed
    NEW = "new"  # not assessed yet
    REMOVED = "removed"  # readable in the old snapshot only


@dataclass(frozen=True, slots=True)
class Practice:
    id: str
    level: int
    text: str
    shows: Shows


@dataclass(frozen=True, slots=True)
class NextStepTemplate:
    """A typical next step, offered to a dimension at `from_level` or below. Effort is S, M or L."""

    id: str
    from_level: int
    text: str
    effort: str


@dataclass(frozen=True, slots=True)
class SuggestRule:
    """A named rule over runs with its options; `level_if` maps the share reached to a level, ascending."""

    rule: str
    text: str
    min_n: int = 1
    level_if: tuple[tuple[Fraction, int], ...] = ()
    above: Fraction | None = None
    at_most: Fraction | None = None
    level: int | None = None
    cap: int | None = None


@dataclass(frozen=True, slots=True)
class Dimension:
    """`states` are levels 0 to 2; `practices` belong to levels 3 to 5, lowest level first."""

    id: str
    title: str
    weight: int
    question: str
    states: tuple[str, str, str]
    practices: tuple[Practice, ...]
    suggest: tuple[SuggestRule, ...] = ()
    next_steps: tuple[NextStepTemplate, ...] = ()

    def practices_at(self, level: int) -> tuple[Practice, ...]:
        return tuple(practice for practice in self.practices if practice.level == level)

    def practices_up_to(self, level: int) -> tuple[Practice, ...]:
        return tuple(practice for practice in self.practices if practice.level <= level)

    def next_steps_at(self, level: int) -> tuple[NextStepTemplate, ...]:
        return tuple(step for step in self.next_steps if level <= step.from_level)

    def reads_like(self, other: "Dimension") -> bool:
        """Say whether a level means the same in both: states and practices are word for word equal."""
        return self.states == other.states and set(self.practices) == set(other.practices)


@dataclass(frozen=True, slots=True)
class Replaced:
    """An earlier version; `renamed` maps its dimension ids to ours."""

    id: str
    version: str
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reference:
    framework: str
    edition: str
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Rubric:
    """A review pins `name` and `sha256`. `level_words` say what each level means in any dimension."""

    id: str
    version: str
    status: RubricStatus
    title: str
    bar: int
    bar_by_tier: Mapping[str, int]
    dimensions: tuple[Dimension, ...]
    sha256: str
    level_words: tuple[str, ...] = ()
    based_on: tuple[str, str] | None = None
    replaces: tuple[Replaced, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.id}@{self.version}"

    def find(self, dimension_id: str) -> Dimension | None:
        return next((dimension for dimension in self.dimensions if dimension.id == dimension_id), None)

    def bar_for(self, tier: str = "") -> int:
        return self.bar_by_tier.get(tier, self.bar)

    def successor_of(self, dimension_id: str, *, in_rubric: "Rubric") -> Dimension | None:
        """Return our dimension for one of another rubric, following the renames that we declare."""
        for replaced in self.replaces:
            if (replaced.id, replaced.version) == (in_rubric.id, in_rubric.version):
                dimension_id = replaced.renamed.get(dimension_id, dimension_id)
        return self.find(dimension_id)


def parse_rubric(content: bytes) -> Rubric:
    """Return the rubric that a YAML file holds. Raises DocumentRefused, which names every fault."""
    document = load_document(content, rubric_schema())
    problems = list(_problems_of(document))
    if problems:
        raise DocumentRefused(problems)
    return _rubric(document, content_sha256(content))


@lru_cache(maxsize=1)
def shipped_rubric() -> Rubric:
    return parse_rubric(SHIPPED.read_bytes())


@lru_cache(maxsize=1)
def rubric_schema() -> dict[str, Any]:
    """Return the published JSON Schema of rubric/v1."""
    schema: dict[str, Any] = json.loads((FOLDER / "rubric.schema.json").read_text("utf-8"))
    return schema


def carry_dimensions(before: Rubric, after: Rubric) -> dict[str, Carried]:
    """Say for each dimension what a move from `before` to `after` does to its score; removed ones by their old id."""
    carried = dict.fromkeys((dimension.id for dimension in after.dimensions), Carried.NEW)
    for dimension in before.dimensions:
        successor = after.successor_of(dimension.id, in_rubric=before)
        if successor is None:
            carried[dimension.id] = Carried.REMOVED
        else:
            carried[successor.id] = Carried.KEPT if dimension.reads_like(successor) else Carried.RECONFIRM
    return carried


def _rubric(document: dict[str, Any], sha256: str) -> Rubric:
    words = document.get("scale", {}).get("words", {})
    based_on = document.get("based_on")
    return Rubric(
        id=document["id"],
        version=document["version"],
        status=RubricStatus(document["status"]),
        title=document["title"],
        bar=document["bar"]["each_dimension_at_least"],
        bar_by_tier=MappingProxyType(document["bar"].get("by_tier", {})),
        dimensions=tuple(_dimension(row) for row in document["dimensions"]),
        sha256=sha256,
        level_words=tuple(words[level] for level in sorted(words)),
        based_on=(based_on["id"], based_on["version"]) if based_on else None,
        replaces=tuple(
            Replaced(row["id"], row["version"], MappingProxyType(row.get("map", {})))
            for row in document.get("replaces", [])
        ),
        references=tuple(Reference(**row) for row in document.get("references", [])),
    )


def _dimension(row: dict[str, Any]) -> Dimension:
    practices = (
        Practice(id=practice["id"], level=int(level), text=practice["text"], shows=Shows(practice["shows"]))
        for level in sorted(row["practices"])
        for practice in row["practices"][level]
    )
    states = row["states"]
    return Dimension(
        id=row["id"],
        title=row["title"],
        weight=row["weight"],
        question=row["question"],
        states=(states["0"], states["1"], states["2"]),
        practices=tuple(practices),
        suggest=tuple(_suggest_rule(rule) for rule in row.get("suggest", [])),
        next_steps=tuple(NextStepTemplate(**step) for step in row.get("next_steps", [])),
    )


def _suggest_rule(row: dict[str, Any]) -> SuggestRule:
    shares: dict[str, Any] = {name: Fraction(str(row[name])) for name in ("above", "at_most") if name in row}
    level_if = tuple(sorted((Fraction(share), level) for share, level in row.get("level_if", {}).items()))
    return SuggestRule(**(row | shares | {"level_if": level_if}))


def _problems_of(document: dict[str, Any]) -> Iterator[Problem]:
    """Yield what the schema cannot see or say well: the sum of weights, ids that repeat, rules without an answer."""
    dimensions = document["dimensions"]
    total = sum(row["weight"] for row in dimensions)
    if total != TOTAL_WEIGHT:
        yield Problem(f"the weights sum to {total}, not to {TOTAL_WEIGHT}", "/dimensions")
    yield from _repeated((row["id"], f"/dimensions/{place}/id") for place, row in enumerate(dimensions))
    # Evidence links and next steps name these ids without their dimension.
    yield from _repeated(
        (practice["id"], f"/dimensions/{place}/practices/{level}/{number}/id")
        for place, row in enumerate(dimensions)
        for level, practices in row["practices"].items()
        for number, practice in enumerate(practices)
    )
    yield from _repeated(
        (step["id"], f"/dimensions/{place}/next_steps/{number}/id")
        for place, row in enumerate(dimensions)
        for number, step in enumerate(row.get("next_steps", []))
    )
    for place, row in enumerate(dimensions):
        for number, rule in enumerate(row.get("suggest", [])):
            if not {"level_if", "level", "cap"} & rule.keys():
                yield Problem("a rule needs level_if, level or cap", f"/dimensions/{place}/suggest/{number}")


def _repeated(places: Iterator[tuple[str, str]]) -> Iterator[Problem]:
    found = list(places)
    uses = Counter(name for name, _ in found)
    return (Problem(f"the id {name!r} occurs {uses[name]} times", place) for name, place in found if uses[name] > 1)
