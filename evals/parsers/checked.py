"""Values with their places: where a member is not of the expected kind the file is refused, and no row is skipped."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import Limits, is_json_lines, json_lines, load_json, read_document, storable


class Place:
    """Where a value stands: a JSON pointer, in JSON Lines together with the line. Made for every value, seldom read."""

    __slots__ = ("_parent", "_step", "line")

    def __init__(self, *, line: int | None = None, parent: "Place | None" = None, step: str | int = "") -> None:
        self.line = line
        self._parent = parent
        self._step = step

    def at(self, *steps: str | int) -> "Place":
        place = self
        for step in steps:
            place = Place(line=self.line, parent=place, step=step)
        return place

    @property
    def pointer(self) -> str:
        steps: list[str] = []
        place = self
        while place._parent is not None:
            steps.append(storable(str(place._step)).replace("~", "~0").replace("/", "~1"))
            place = place._parent
        return "".join("/" + step for step in reversed(steps))

    @property
    def is_whole(self) -> bool:
        """Whether it is that of a whole document, no line and no member of it."""
        return self._parent is None and self.line is None

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        return " ".join(part for part in (line, self.pointer) if part)

    def refusal(self, expected: str, *, code: str = "invalid_member") -> ImportRefused:
        where = str(self) or "The document"
        detail = f"{where[:200]} is not as expected: {expected}."
        return ImportRefused(422, code, detail, (Problem(detail, self.pointer, self.line, expected),))


def read_documents(stream: BinaryIO, limits: Limits) -> Iterator[tuple[Place, Any]]:
    """Yield the JSON values of a file, each with its place: one, those of a list, or one per line."""
    if is_json_lines(stream, limits):
        yield from ((Place(line=number), value) for number, value in json_lines(stream, limits))
        return
    document = load_json(read_document(stream, limits))
    if isinstance(document, list):
        yield from ((Place().at(index), value) for index, value in enumerate(document))
    else:
        yield Place(), document


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
