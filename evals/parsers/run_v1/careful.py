"""The slow reading of run/v1, for whatever the fast one refuses: it finds every problem and names the member.

It walks over the types of `wire`, so that both readings know the same members. It alone keeps x_ members.
"""

import json
import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from msgspec import inspect

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import CONTROL, storable
from evals.parsers.run_v1 import wire
from evals.parsers.values import is_http_url, parse_day, parse_time

MAX_PROBLEMS = 50


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with a run. `line` is the one being read, None in a document."""

    line: int | None = None
    found: list[Problem] = field(default_factory=list)

    def add(self, pointer: str, message: str, expected: str, *, line: int | None = None) -> None:
        if not self.full:
            self.found.append(Problem(message, pointer, line or self.line, expected))

    @property
    def full(self) -> bool:
        return len(self.found) >= MAX_PROBLEMS

    def raise_any(self) -> None:
        if not self.found:
            return
        first = self.found[0]
        where = f"line {first.line}, {first.pointer}" if first.line else first.pointer or "the document"
        count = f"{MAX_PROBLEMS} or more problems" if self.full else f"{len(self.found)} problems"
        more = f" ({count})" if len(self.found) > 1 else ""
        raise ImportRefused(
            422, "invalid_run", f"At {where}: {first.message} Expected {first.expected}.{more}", tuple(self.found)
        )


EXPECTED_KINDS = {
    "id": "1 to 200 characters without control characters",
    "sha256": "64 hexadecimal digits",
    "time": "a time with a zone after RFC 3339, such as 2026-11-02T09:14:03Z",
    "date": "a date, such as 2026-11-02",
    "url": "an http or https address of at most 2000 characters",
}


def follows_kind(kind: str, text: str) -> bool:
    """Apply the rule that the types of `wire` only name."""
    match kind:
        case "id":
            return CONTROL.search(text) is None
        case "sha256":
            return len(text) == 64 and all(digit in "0123456789abcdefABCDEF" for digit in text)
        case "time":
            return parse_time(text) is not None
        case "date":
            return parse_day(text) is not None
        case _:
            return is_http_url(text)


class CarefulReader:
    """Reads one part of a run from plain JSON values. `extras` holds its x_ members by pointer within the part."""

    def __init__(self, problems: Problems, base: str, max_depth: int) -> None:
        self.problems = problems
        self.max_depth = max_depth  # of a free JSON value
        self.base = base  # pointer of the part
        self.extras: dict[str, Any] = {}

    def read[T: wire.Wire](self, value: Any, kind: type[T]) -> T | None:
        """Return the part with everything that is right in it; what is wrong is reported and left None."""
        part: T | None = self._struct(value, _shape(kind), "")
        return part

    def _report(self, path: str, message: str, expected: str) -> None:
        self.problems.add(self.base + path, message, expected)

    def _any(self, value: Any, shape: inspect.Type, path: str, kind: str = "") -> Any:
        match shape:
            case inspect.Metadata(type=inner, extra=extra):
                return self._any(value, inner, path, (extra or {}).get("kind", ""))
            case inspect.UnionType(types=types):
                return self._any(value, next(t for t in types if not isinstance(t, inspect.NoneType)), path, kind)
            case inspect.StructType():
                return self._struct(value, shape, path)
            case inspect.ListType(item_type=item):
                return self._list(value, item, path)
            case inspect.AnyType() | inspect.DictType():
                return self._json(value, shape, path)
            case _:
                return self._plain(value, shape, path, kind)

    def _struct(self, value: Any, shape: inspect.StructType, path: str) -> Any:
        if not isinstance(value, dict):
            self._report(path, f"{_shown(value)} is not an object.", f"an object with {_members(shape)}")
            return None
        found: dict[str, Any] = {}
        names = {member.encode_name: member for member in shape.fields}
        for name, member_value in value.items():
            at = f"{path}/{escaped(name)}"
            if name in names and member_value is not None:
                found[names[name].name] = self._any(member_value, names[name].type, at)
            elif name.startswith("x_"):
                self.extras[at] = self._json(member_value, inspect.AnyType(), at)
            elif name not in names:
                self._report(at, f"“{storable(name)[:80]}” is not a member here.", f"{_members(shape)}, or x_…")
        for member in shape.fields:
            if member.required and member.name not in found:
                found[member.name] = None
                self._report(
                    f"{path}/{member.encode_name}", f"“{member.encode_name}” is missing.", _expected(member.type)
                )
        return shape.cls(**found)

    def _list(self, value: Any, item: inspect.Type, path: str) -> list[Any] | None:
        if not isinstance(value, list):
            self._report(path, f"{_shown(value)} is not a list.", "a list")
            return None
        return [self._any(member, item, f"{path}/{index}") for index, member in enumerate(value)]

    def _plain(self, value: Any, shape: inspect.Type, path: str, kind: str) -> Any:
        if isinstance(value, float) and value.is_integer() and isinstance(shape, inspect.IntType):
            value = int(value)
        if _fits(value, shape) and (not kind or follows_kind(kind, value)):
            if isinstance(value, str):
                value = storable(value)
            if isinstance(shape, inspect.EnumType):
                return shape.cls(value)
            return float(value) if isinstance(shape, inspect.FloatType) else value
        self._report(path, f"{_shown(value)} does not fit.", EXPECTED_KINDS.get(kind) or _expected(shape))
        return None

    def _json(self, value: Any, shape: inspect.Type, path: str, depth: int = 1) -> Any:
        """Check a free JSON value: finite numbers, and no deeper than what is stored."""
        before = len(self.problems.found)
        if isinstance(shape, inspect.DictType) and not isinstance(value, dict):
            self._report(path, f"{_shown(value)} is not an object.", "an object")
        elif isinstance(value, float) and not math.isfinite(value):
            self._report(path, "The number is not finite.", "a finite number")
        elif isinstance(value, dict | list) and depth > self.max_depth:
            self._report(path, "The value is nested too deeply.", f"at most {self.max_depth} levels (MAX_NESTING)")
        elif isinstance(value, dict | list):
            members = value.items() if isinstance(value, dict) else enumerate(value)
            for name, member in members:
                self._json(member, inspect.AnyType(), f"{path}/{escaped(str(name))}", depth + 1)
        return value if len(self.problems.found) == before else None


@cache
def _shape(kind: type[wire.Wire]) -> inspect.StructType:
    shape = inspect.type_info(kind)
    assert isinstance(shape, inspect.StructType)  # noqa: S101 - tells the type checker what a Struct's info is
    return shape


def _fits(value: Any, shape: inspect.Type) -> bool:
    match shape:
        case inspect.StrType(min_length=least, max_length=most):
            return isinstance(value, str) and (least or 0) <= len(value) <= (most or len(value))
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType(ge=least, le=most):
            return type(value) is int and (least is None or value >= least) and (most is None or value <= most)
        case inspect.FloatType(ge=least, lt=limit):
            if type(value) not in (int, float):
                return False
            finite = abs(value) <= 1.7976931348623157e308  # also false for NaN; an int may exceed it
            return finite and (least is None or value >= least) and (limit is None or value < limit)
        case inspect.EnumType(cls=cls):
            return isinstance(value, str) and value in {member.value for member in cls}
        case inspect.LiteralType(values=values):
            return isinstance(value, str) and value in values
    raise NotImplementedError(type(shape).__name__)


def _expected(shape: inspect.Type) -> str:
    match shape:
        case inspect.Metadata(type=inner, extra=extra):
            return EXPECTED_KINDS.get((extra or {}).get("kind", "")) or _expected(inner)
        case inspect.UnionType(types=types):
            return _expected(next(t for t in types if not isinstance(t, inspect.NoneType)))
        case inspect.StrType(max_length=most):
            return f"a text of 1 to {most} characters" if most else "a text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType(ge=least, le=most):
            return f"a whole number from {least} to {most}"
        case inspect.FloatType(ge=least, lt=limit):
            return "a finite number" + ("" if least is None else ", 0 or more") + (f", below {limit}" if limit else "")
        case inspect.EnumType(cls=cls):
            return "one of " + ", ".join(member.value for member in cls)
        case inspect.LiteralType(values=values):
            return "one of " + ", ".join(map(str, values))
        case inspect.StructType():
            return f"an object with {_members(shape)}"
        case _:
            return "a list" if isinstance(shape, inspect.ListType) else "a JSON value"


def _members(shape: inspect.StructType) -> str:
    return ", ".join(member.encode_name for member in shape.fields)


def _shown(value: Any) -> str:
    """Show a value in a message, cut to what a reader needs to find it."""
    if isinstance(value, dict | list):
        return "An object" if isinstance(value, dict) else "A list"
    if isinstance(value, float) and not math.isfinite(value):
        return "A number that is not finite"
    text = json.dumps(storable(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"


def escaped(name: str) -> str:
    """Escape a member's name for a JSON pointer (RFC 6901)."""
    return storable(name).replace("~", "~0").replace("/", "~1")
