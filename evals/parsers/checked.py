"""Members that must be of a kind: of another one the file is refused with the place, and no row is skipped."""

from dataclasses import dataclass, replace
from typing import Any

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import storable


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: a JSON pointer, in JSON Lines together with the line."""

    pointer: str = ""
    line: int | None = None

    def at(self, *steps: str | int) -> "Place":
        escaped = (storable(str(step)).replace("~", "~0").replace("/", "~1") for step in steps)
        return replace(self, pointer="/".join((self.pointer, *escaped)))

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        return " ".join(part for part in (line, self.pointer) if part)

    def refusal(self, expected: str, *, code: str = "invalid_member") -> ImportRefused:
        where = str(self) or "The document"
        detail = f"{where[:200]} is not as expected: {expected}."
        return ImportRefused(422, code, detail, (Problem(detail, self.pointer, self.line, expected),))


def object_at(value: Any, place: Place, expected: str = "an object") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.refusal(expected)
    return value


def list_in(parent: dict[str, Any], name: str, place: Place) -> list[Any]:
    """Return a list member; an absent one and null are empty."""
    value = parent.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise place.at(name).refusal("a list")
    return value


def objects_in(parent: dict[str, Any], name: str, place: Place) -> list[tuple[Place, dict[str, Any]]]:
    """Return the objects of a list member, each with its place."""
    places = ((place.at(name, index), value) for index, value in enumerate(list_in(parent, name, place)))
    return [(at, object_at(value, at)) for at, value in places]
