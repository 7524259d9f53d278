"""The shapes of promptfoo results. Their rows stay bytes until each is read: whole, they are many times as large."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evals.errors import ImportRefused, Problem
from evals.parsers.head import seen_in, wrong_format
from evals.parsers.reading import (
    Limits,
    document_lines,
    is_json_lines,
    is_utf8,
    load_json,
    member,
    read_document,
)
from evals.parsers.values import as_count, as_id

COMMAND = "promptfoo eval -o results.json"
COUNTS = ("successes", "failures", "errors")
NOT_RESULTS = "These are no promptfoo results: {}."
NEEDS_CARE = (msgspec.MsgspecError, RecursionError, UnicodeError)

type Column = tuple[str, str, int]  # provider, prompt and number


class Header(msgspec.Struct):
    """What is read of the objects around the rows; what is not there stays unset."""

    evalId: Any = msgspec.UNSET  # noqa: N815 - promptfoo's names
    id: Any = msgspec.UNSET
    config: Any = msgspec.UNSET
    metadata: Any = msgspec.UNSET
    prompts: Any = msgspec.UNSET
    stats: Any = msgspec.UNSET
    timestamp: Any = msgspec.UNSET
    resultsLoaded: Any = msgspec.field(default=msgspec.UNSET, name="_resultsLoaded")  # noqa: N815

    def members(self) -> dict[str, Any]:
        named = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        found = {name: getattr(self, attribute) for name, attribute in named if name != "results"}
        return {name: value for name, value in found.items() if value is not msgspec.UNSET}


class Summary(Header, kw_only=True):
    results: list[msgspec.Raw]


class Document(Header, kw_only=True):
    results: Summary


class RowHead(msgspec.Struct):
    """What a row says of its place among the others."""

    provider: Any = None
    prompt: Any = None
    testIdx: Any = None  # noqa: N815
    promptIdx: Any = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class UnreadRow:
    place: str
    content: bytes | msgspec.Raw | dict[str, Any]
    test: int
    column: Column

    def load(self) -> dict[str, Any]:
        loaded = self.content if isinstance(self.content, dict) else load_json(bytes(self.content))
        assert isinstance(loaded, dict)  # noqa: S101 - its head was read
        return loaded


@dataclass(frozen=True, slots=True)
class Artifact:
    """The parts of any of the shapes: rows with their places, and what stands around them."""

    rows: list[UnreadRow]
    summary: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)  # empty for a bare summary and for lines
    has_header: bool = True

    @property
    def totals(self) -> dict[str, int]:
        stats = {name: as_count(member(self.summary, "stats", name)) for name in COUNTS}
        return {name: count for name, count in stats.items() if count is not None}

    @property
    def lost(self) -> int:
        """How many rows the tool counted but did not write."""
        return max(0, sum(self.totals.values()) - len(self.rows))

    def in_order(self) -> list[UnreadRow]:
        """Sort by test and column, as rows come in the order in which they were finished."""
        return sorted(self.rows, key=lambda row: (row.test, row.column[2]))


def read_artifact(stream: BinaryIO, limits: Limits) -> Artifact:
    if is_json_lines(stream, limits):
        lines = document_lines(stream, limits)
        return Artifact([_line(content, number) for number, content in lines], has_header=False)
    content = read_document(stream, limits)
    artifact = _read_lazily(content) or _read_whole(load_json(content))
    if not artifact.rows:
        _refuse_lost_rows(artifact)
    return artifact


def _read_lazily(content: bytes) -> Artifact | None:
    """Return the artifact if the document is of one of the usual shapes, and sound throughout."""
    if not is_utf8(content):  # which is not looked at where a text is passed over
        return None
    shapes: tuple[type[Document | Summary], ...] = (Document, Summary)
    for shape in shapes:
        try:
            found = msgspec.json.decode(content, type=shape)
        except NEEDS_CARE:
            continue
        if isinstance(found, Summary):
            return Artifact(_rows(found.results, "/results"), found.members())
        rows = _rows(found.results.results, "/results/results")
        return Artifact(rows, found.results.members(), found.members())
    return None


def _read_whole(document: Any) -> Artifact:
    if not isinstance(document, dict):
        raise wrong_format(NOT_RESULTS.format(seen_in(document)), COMMAND)
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return Artifact(_rows(results["results"], "/results/results"), results, document)
    if isinstance(results, list):
        return Artifact(_rows(results, "/results"), document)
    if "success" in document:
        return Artifact([_unread(document, document, "line 1")], has_header=False)
    raise wrong_format(NOT_RESULTS.format(seen_in(document)), COMMAND)


# -- rows


def _rows(contents: Iterable[Any], base: str) -> list[UnreadRow]:
    rows = []
    for index, content in enumerate(contents):
        head = _head(content) if isinstance(content, msgspec.Raw) else content
        if not isinstance(head, RowHead | dict):
            raise _no_row(f"Row {index + 1} is no object.", pointer=f"{base}/{index}")
        rows.append(_unread(content, head, f"{base}/{index}"))
    return rows


def _line(content: bytes, number: int) -> UnreadRow:
    head = _head(content, line=number) if is_utf8(content) else load_json(content, line=number)
    if not isinstance(head, RowHead | dict):
        raise _no_row(f"Line {number} is no row.", line=number)
    return _unread(content, head, f"line {number}")


def _head(content: bytes | msgspec.Raw, *, line: int | None = None) -> Any:
    """Return the head of a row, or the whole row where something in it is odd."""
    try:
        return msgspec.json.decode(content, type=RowHead)
    except NEEDS_CARE:
        return load_json(bytes(content), line=line)


def _unread(content: bytes | msgspec.Raw | dict[str, Any], head: RowHead | dict[str, Any], place: str) -> UnreadRow:
    if isinstance(head, dict):
        head = RowHead(head.get("provider"), head.get("prompt"), head.get("testIdx"), head.get("promptIdx"))
    column = _provider(head.provider), _prompt_label(head.prompt), as_count(head.promptIdx) or 0
    return UnreadRow(place, content, as_count(head.testIdx) or 0, column)


def _provider(provider: Any) -> str:
    """Name the provider by its id, and by its label where that says more."""
    if isinstance(provider, str):
        return as_id(provider, limit=180)
    name, label = as_id(member(provider, "id"), limit=90), as_id(member(provider, "label"), limit=80)
    return f"{name} ({label})" if name and label and label != name else name or label


def _prompt_label(prompt: Any) -> str:
    for name in ("label", "display", "raw"):
        text = member(prompt, name)
        if isinstance(text, str) and text:
            return as_id(text, limit=70)
    return ""


# -- refusals


def _no_row(detail: str, *, pointer: str = "", line: int | None = None) -> ImportRefused:
    return ImportRefused(422, "invalid_row", detail, (Problem(detail, pointer, line, "an object with a result"),))


def _refuse_lost_rows(artifact: Artifact) -> None:
    """Refuse what counts results but does not hold them, such as a dumped Eval object: 0 tests would be wrong."""
    prompts = artifact.summary.get("prompts")
    metrics = [member(prompt, "metrics") for prompt in prompts] if isinstance(prompts, list) else []
    names = ("testPassCount", "testFailCount", "testErrorCount")
    counted = sum(as_count(member(metric, name)) or 0 for metric in metrics for name in names)
    if counted or artifact.lost or "_resultsLoaded" in artifact.summary:
        detail = "The file counts results but holds no rows. Upload the file that this command writes: " + COMMAND
        raise ImportRefused(422, "no_rows", detail, (Problem(detail, "/results", expected=COMMAND),))
