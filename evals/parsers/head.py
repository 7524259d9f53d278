"""What the beginning of a file tells about its format: the keys of its JSON, the root of its XML."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from evals.errors import ImportRefused, Problem
from evals.parsers.reading import storable

# A string, also one that the end of the head cuts off; possessive, so that no input makes it backtrack.
TOKEN = re.compile(r'"((?:[^"\\]|\\(?:.|\Z))*+)(?:"|\Z)|([{}\[\]:])', re.DOTALL)
PROLOG = re.compile(r"[\s>]*(<\?|<!--)")
XML_ROOT = re.compile(r"<([A-Za-z_][^\s/>]*)")


@dataclass(frozen=True, slots=True)
class Head:
    """`keys` are the members of the first JSON object, `inner` the members of those that are objects themselves."""

    text: str = ""
    is_xml: bool = False
    is_json: bool = False
    keys: tuple[str, ...] = ()
    inner: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schema: str = ""  # value of the member "schema", if it is a string
    xml_root: str = ""
    is_list: bool = False  # the JSON is a list; `keys` are those of its first object
    zip_members: tuple[str, ...] = ()  # names in the zip's directory, in its order; () = no zip


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A file that belongs to a format's tool and is not the one that is read."""

    what: str  # a sentence that names it
    instead: str  # what to upload, an imperative sentence


def head_of_bytes(content: bytes) -> Head:
    """Read a beginning that may end anywhere, also inside a value."""
    text = _decoded(content).lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        root = XML_ROOT.search(text, _end_of_prolog(text))
        return Head(text=text, is_xml=True, xml_root=root.group(1) if root else "")
    if not text.startswith(("{", "[")):
        return Head(text=text)
    is_list = text.startswith("[")
    scan = _Scan()
    scan.read(text.lstrip("[ \t\r\n"))
    return Head(
        text=text,
        is_json=True,
        is_list=is_list,
        keys=tuple(scan.keys),
        inner={name: tuple(members) for name, members in scan.keys.items() if members},
        schema=scan.schema,
    )


def _end_of_prolog(text: str) -> int:
    """Return where the declaration and the comments before the root element end."""
    at = 0
    while opening := PROLOG.match(text, at):
        end = text.find("?>" if opening.group(1) == "<?" else "-->", opening.end())
        if end < 0:
            return len(text)
        at = end + 2
    return at


def head_of_document(content: bytes) -> Head | None:
    """Read the keys of a whole JSON object, wherever they stand; None if it is none."""
    try:
        members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        inner = {name: _members(raw) for name, raw in members.items()}
        schema = msgspec.json.decode(members["schema"]) if "schema" in members else ""
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _head_of_odd_document(content)
    return Head(
        is_json=True,
        keys=tuple(members),
        inner={name: names for name, names in inner.items() if names},
        schema=schema if isinstance(schema, str) else "",
    )


def _head_of_odd_document(content: bytes) -> Head | None:
    """Read what the quick decoder refuses and Python's tools write: NaN, infinities, lone surrogates."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    inner = {storable(name): tuple(map(storable, member)) for name, member in value.items() if isinstance(member, dict)}
    schema = value.get("schema")
    return Head(
        is_json=True,
        keys=tuple(map(storable, value)),
        inner={name: names for name, names in inner.items() if names},
        schema=storable(schema) if isinstance(schema, str) else "",
    )


def _members(raw: msgspec.Raw) -> tuple[str, ...]:
    if bytes(memoryview(raw)[:1]) != b"{":
        return ()
    return tuple(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "replace")


class _Scan:
    """Walks over tokens and notes the member names of the first two levels of the first object."""

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = {}
        self.schema = ""
        self._depth = 0
        self._key = ""  # of the first level
        self._word = ""

    def read(self, text: str) -> None:
        for token in TOKEN.finditer(text):
            word, sign = token.groups()
            if sign is None:
                self._string(word)
            elif sign in "{[":
                self._depth += 1
            elif sign in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    return
            elif sign == ":":
                self._name()

    def _string(self, word: str) -> None:
        if self._depth == 1 and self._key == "schema" and not self.schema:
            self.schema = word
        self._word = word

    def _name(self) -> None:
        if self._depth == 1:
            self._key = self._word
            self.keys.setdefault(self._word, [])
        elif self._depth == 2 and self._key in self.keys:
            self.keys[self._key].append(self._word)


def seen_in(document: Any) -> str:
    """Say what a JSON value was seen to be, for a message."""
    return f"its keys are {named(tuple(document))}" if isinstance(document, dict) else "it is no object"


def wrong_format(detail: str, hint: str) -> ImportRefused:
    """Refuse a file that is not of the format that it was taken for; `hint` says how to get one that is."""
    return ImportRefused(415, "unknown_format", detail, (Problem(detail, expected=hint),))


def named(keys: tuple[str, ...]) -> str:
    """Name the keys for a message, at most a dozen."""
    shown = ", ".join(f"“{storable(key[:40])}”" for key in keys[:12])
    return shown + (" and more" if len(keys) > 12 else "")
