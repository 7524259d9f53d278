"""Failure classes of scenarios: YAML (taxonomy/v1) in, a frozen taxonomy with its digest out."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .errors import Problem
from .records import Category
from .strict_yaml import MAX_PROBLEMS, DocumentRefused, content_sha256, line_at, load_document

FOLDER = Path(__file__).parent / "taxonomies"
SHIPPED = FOLDER / "default-1.yaml"
UNCLASSIFIED = "unclassified"  # a scenario without a class: a row of its own, in no category


@dataclass(frozen=True, slots=True)
class Source:
    """Where a class comes from. Frameworks renumber, so the edition belongs to the id."""

    framework: str
    title: str
    edition: str
    id: str


@dataclass(frozen=True, slots=True)
class FailureClass:
    id: str
    title: str
    category: Category
    summary: str
    sources: tuple[Source, ...] = ()

    @property
    def sources_words(self) -> str:
        """Return "OWASP Top 10 for LLM Applications 2026: LLM02, LLM08; …"."""
        by_framework: dict[str, list[str]] = {}
        for source in self.sources:
            by_framework.setdefault(f"{source.title} {source.edition}", []).append(source.id)
        return "; ".join(f"{framework}: {', '.join(ids)}" for framework, ids in by_framework.items())


@dataclass(frozen=True, slots=True)
class Taxonomy:
    id: str
    version: str
    title: str
    classes: tuple[FailureClass, ...]
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.id}@{self.version}"

    def find(self, class_id: str) -> FailureClass | None:
        return next((failure for failure in self.classes if failure.id == class_id), None)

    def category_of(self, class_id: str) -> Category | None:
        """Return the default category of a class; None for one that this taxonomy does not know."""
        found = self.find(class_id)
        return found.category if found else None

    def title_of(self, class_id: str) -> str:
        """Return the title of a class; an unknown class is named as unknown, never hidden."""
        if class_id in ("", UNCLASSIFIED):
            return "Unclassified"
        found = self.find(class_id)
        return found.title if found else f"{class_id} (unknown class)"


def parse_taxonomy(content: bytes) -> Taxonomy:
    """Return the taxonomy that a YAML file holds. Raises DocumentRefused, which names every fault."""
    document = load_document(content, taxonomy_schema())
    problems = _problems_of(document, content)
    if problems:
        raise DocumentRefused(problems)
    frameworks = document.get("frameworks", {})
    return Taxonomy(
        id=document["id"],
        version=document["version"],
        title=document["title"],
        classes=tuple(_failure_class(row, frameworks) for row in document["classes"]),
        sha256=content_sha256(content),
    )


@lru_cache(maxsize=1)
def shipped_taxonomy() -> Taxonomy:
    return parse_taxonomy(SHIPPED.read_bytes())


@lru_cache(maxsize=1)
def taxonomy_schema() -> dict[str, Any]:
    """Return the published JSON Schema of taxonomy/v1."""
    schema: dict[str, Any] = json.loads((FOLDER / "taxonomy.schema.json").read_text("utf-8"))
    return schema


def _failure_class(row: dict[str, Any], frameworks: dict[str, Any]) -> FailureClass:
    sources = (
        Source(framework=source["framework"], id=source["id"], **frameworks[source["framework"]])
        for source in row.get("sources", [])
    )
    return FailureClass(
        id=row["id"],
        title=row["title"],
        category=Category(row["category"]),
        summary=row["summary"],
        sources=tuple(sources),
    )


def _problems_of(document: dict[str, Any], content: bytes) -> list[Problem]:
    """Return what the schema cannot see: ids that repeat or are reserved, sources of frameworks never declared."""
    frameworks = document.get("frameworks", {})
    uses = Counter(row["id"] for row in document["classes"])
    found: list[tuple[str, list[str | int]]] = []
    for place, row in enumerate(document["classes"]):
        path: list[str | int] = ["classes", place]
        if uses[row["id"]] > 1:
            found.append((f"the class {row['id']!r} occurs {uses[row['id']]} times", [*path, "id"]))
        if row["id"] == UNCLASSIFIED:
            found.append((f"{UNCLASSIFIED!r} is kept for scenarios without a class", [*path, "id"]))
        for number, source in enumerate(row.get("sources", [])):
            if source["framework"] not in frameworks:
                message = f"the framework {source['framework']!r} is not declared under frameworks"
                found.append((message, [*path, "sources", number, "framework"]))
    return [
        Problem(message, "".join(f"/{step}" for step in path), line_at(content, path))
        for message, path in found[:MAX_PROBLEMS]
    ]
