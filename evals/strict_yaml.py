"""YAML that people edit, read strictly: bytes in, plain JSON values out, each fault named with its line and place.

No tags, no dates, no `yes` for true; keys are text; a key may not occur twice; aliases are few.
"""

import hashlib
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from .errors import Problem

MAX_BYTES = 500_000
MAX_ALIASES = 20  # enough for a person, too few to unfold into millions of values
MAX_DEPTH = 30
MAX_PROBLEMS = 50
MAX_DIGITS = 15  # of a whole number: exact in every reader of JSON
# What an escape may smuggle in: controls but tab and line feed, lone surrogates, what is no character.
UNSTORABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
TAG = "tag:yaml.org,2002:"
# What a plain scalar may mean beside text. YAML 1.1 would also read `no` as false and 1:30 as 90.
SCALARS = {
    "null": (r"(?:~|null|)", ["~", "n", ""]),
    "bool": (r"(?:true|false)", list("tf")),
    "int": (r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    "float": (r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)", list("-0123456789")),
}


class DocumentRefused(ValueError):
    """A rubric, taxonomy or policy is not taken; `problems` name each fault and its place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(describe_problem, self.problems)))


def describe_problem(problem: Problem) -> str:
    """Return "line 12, /dimensions/0/weight: …", with as much of the place as is known."""
    line = f"line {problem.line}" if problem.line else ""
    place = ", ".join(filter(None, [line, problem.pointer]))
    return f"{place}: {problem.message}" if place else problem.message


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader cut down to JSON's values."""

    aliases = 0
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # missing in types-PyYAML
        mark = event.start_mark
        if getattr(event, "tag", None):
            raise yaml.MarkedYAMLError(problem=f"tags such as {event.tag!r} are not read", problem_mark=mark)
        if isinstance(event, yaml.ScalarEvent) and UNSTORABLE.search(event.value):
            raise yaml.MarkedYAMLError(problem="a text holds a control character or half a one", problem_mark=mark)
        self.aliases += self.check_event(yaml.AliasEvent)
        self.depth += 1
        if self.aliases > MAX_ALIASES:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_ALIASES} aliases", problem_mark=mark)
        if self.depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested more than {MAX_DEPTH} deep", problem_mark=mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = True) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)
            if key.value in mapping:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark)
            mapping[key.value] = self.construct_object(value, deep=deep)
        return mapping

    def construct_sequence(self, node: yaml.SequenceNode, deep: bool = True) -> list[Any]:
        return [self.construct_object(value, deep=deep) for value in node.value]

    def construct_whole(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > MAX_DIGITS:
            raise yaml.MarkedYAMLError(problem="the number is too large", problem_mark=node.start_mark)
        return int(node.value)

    def construct_number(self, node: yaml.ScalarNode) -> float:
        number = float(node.value)
        if not math.isfinite(number):
            raise yaml.MarkedYAMLError(problem=f"{node.value} is too large", problem_mark=node.start_mark)
        return number


_StrictLoader.yaml_implicit_resolvers = {}
for name, (pattern, first) in SCALARS.items():
    _StrictLoader.add_implicit_resolver(TAG + name, re.compile(f"^{pattern}$"), first)
_StrictLoader.yaml_constructors = {
    TAG + "map": _StrictLoader.construct_mapping,
    TAG + "seq": _StrictLoader.construct_sequence,
    TAG + "float": _StrictLoader.construct_number,
    TAG + "int": _StrictLoader.construct_whole,
    **{TAG + name: yaml.SafeLoader.yaml_constructors[TAG + name] for name in ("str", "null", "bool")},
    None: yaml.SafeLoader.yaml_constructors[None],  # anything else: refused
}


def load_document(content: bytes, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the document as plain values, valid by the JSON Schema (2020-12). Raises DocumentRefused."""
    root, document = _parse(content)
    faults = list(Draft202012Validator(schema).iter_errors(document))
    if faults:
        problems = [problem for fault in faults for problem in _problems_of(fault, root)]
        raise DocumentRefused(sorted(problems, key=lambda problem: problem.line or 0)[:MAX_PROBLEMS])
    if not isinstance(document, dict):
        raise DocumentRefused([Problem("the document is not a mapping")])
    return document


def line_at(content: bytes, path: list[str | int]) -> int:
    """Return the line of a member of a document that was read before."""
    return _line_of(path, _parse(content)[0])


def content_sha256(content: bytes) -> str:
    """Return the digest of a text file with its line ends as LF and no byte order mark: the same on each system."""
    text = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    return hashlib.sha256(text).hexdigest()


def _parse(content: bytes) -> tuple[yaml.Node, Any]:
    if len(content) > MAX_BYTES:
        raise DocumentRefused([Problem(f"the file has more than {MAX_BYTES:,} bytes")])
    try:
        loader = _StrictLoader(content.decode("utf-8-sig"))
        root = loader.get_single_node()
        if root is None:
            raise DocumentRefused([Problem("the file is empty")])
        return root, loader.construct_document(root)
    except UnicodeDecodeError as error:
        raise DocumentRefused([Problem(f"byte {error.start} is not UTF-8")]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problem = Problem(error.problem or "cannot be read", line=mark.line + 1 if mark else None)
        raise DocumentRefused([problem]) from error
    except yaml.YAMLError as error:
        raise DocumentRefused([Problem(f"cannot be read as YAML: {error}")]) from error


def _problems_of(fault: ValidationError, root: yaml.Node) -> Iterator[Problem]:
    path = list(fault.absolute_path)
    if fault.validator == "additionalProperties" and fault.validator_value is False:
        for name in _unknown_members(fault):
            yield _problem("is not a member known here", [*path, name], root)
        return
    # The message quotes the value, which may be the whole document.
    message = fault.message if len(fault.message) <= 300 else f"{fault.message[:100]} … {fault.message[-150:]}"
    yield _problem(message, path, root)


def _unknown_members(fault: ValidationError) -> Iterator[str]:
    schema = fault.schema if isinstance(fault.schema, Mapping) else {}
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    if isinstance(fault.instance, dict):
        for name in fault.instance:
            if name not in known and not any(re.search(pattern, name) for pattern in patterns):
                yield name


def _problem(message: str, path: list[str | int], root: yaml.Node) -> Problem:
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return Problem(message, pointer=pointer, line=_line_of(path, root))


def _line_of(path: list[str | int], root: yaml.Node) -> int:
    node = root
    for step in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
        elif isinstance(node, yaml.MappingNode):
            node = next(value for key, value in node.value if key.value == step)
    return int(node.start_mark.line) + 1
