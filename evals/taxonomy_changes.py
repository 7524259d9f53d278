"""What a new version of a taxonomy changes: classes that come, go, or mean something else. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .taxonomy import FailureClass, Taxonomy


class ChangeKind(StrEnum):
    ADDED = "new"
    REMOVED = "gone"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ClassChange:
    """One class of either version. `words` say what is different of a changed one."""

    class_id: str
    title: str
    kind: ChangeKind
    words: tuple[str, ...] = ()


def list_class_changes(before: Taxonomy, after: Taxonomy) -> list[ClassChange]:
    """Return the classes that differ, those that go first: they take results with them."""
    old = {failure.id: failure for failure in before.classes}
    new = {failure.id: failure for failure in after.classes}
    gone = [ClassChange(c.id, c.title, ChangeKind.REMOVED) for c in before.classes if c.id not in new]
    changed = [
        ClassChange(c.id, c.title, ChangeKind.CHANGED, tuple(_differences(old[c.id], c)))
        for c in after.classes
        if c.id in old and old[c.id] != c
    ]
    added = [
        ClassChange(c.id, c.title, ChangeKind.ADDED, (f"category {c.category}",))
        for c in after.classes
        if c.id not in old
    ]
    return [*gone, *changed, *added]


def _differences(before: FailureClass, after: FailureClass) -> Iterator[str]:
    if before.category != after.category:
        yield f"category {before.category} → {after.category}"
    if before.title != after.title:
        yield f"title was “{before.title}”"
    if before.summary != after.summary:
        yield "summary reworded"
    if before.sources != after.sources:
        yield "other sources"
