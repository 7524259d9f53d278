"""Detects the format of an artifact by its content and opens it as records."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import msgspec

from evals.errors import ImportRefused, Problem
from evals.parsers import (
    agent_reliability,
    deepeval,
    garak,
    inspect_log,
    junit,
    otel_genai,
    promptfoo,
    pydantic_evals,
    run_v1,
)
from evals.parsers.head import Head, NearMiss, head_of_bytes, head_of_document, named
from evals.parsers.reading import Limits, head_of, load_json, too_deep, too_large, unpacked, unreadable
from evals.parsers.zipped import ZIP_MAGIC, open_zip
from evals.records import AttemptRecord, Record

__all__ = ["FORMATS", "Format", "Limits", "detect", "open_records"]


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    title: str
    version: str
    hint: str  # how to get such a file
    sniff: Callable[[Head], bool]
    parse: Callable[[BinaryIO, Limits], Iterator[Record]]
    near_miss: Callable[[Head], NearMiss | None]  # what the tool also writes, and is not read


def format_of(module: ModuleType) -> Format:
    near_miss = getattr(module, "near_miss", lambda head: None)
    return Format(module.NAME, module.TITLE, str(module.VERSION), module.HINT, module.sniff, module.parse, near_miss)


# In the order of detection. To add a format, write a module of the same shape and list it here.
FORMATS = {
    module.NAME: format_of(module)
    for module in (
        run_v1,
        promptfoo,
        inspect_log,
        deepeval,
        pydantic_evals,
        otel_genai,
        garak,
        agent_reliability,
        junit,
    )
}


def detect(head: bytes) -> str | None:
    """Return the name of the format whose file begins so, or None."""
    return _sniffed(head_of_bytes(head))


def open_records(
    source: Path | BinaryIO, *, format: str | None = None, limits: Limits | None = None
) -> tuple[str, Iterator[Record]]:
    """Return the format's name and its records, read as they are asked for.

    Detects the format when none is given. Raises ImportRefused, here or while the records are read, and
    nothing else but the errors of reading the file itself. The file is closed at the end if given as a path.
    """
    limits = limits or Limits()
    opened = source.open("rb") if isinstance(source, Path) else source
    stream = opened
    try:
        stream = unpacked(opened, limits)
        name = _known(format) if format else _recognised(stream, limits)
    except BaseException:
        _close(stream, opened, source)
        raise
    return name, _guarded(FORMATS[name], stream, opened, source, limits, is_detected=not format)


def _guarded(
    kind: Format, stream: BinaryIO, opened: BinaryIO, source: Path | BinaryIO, limits: Limits, *, is_detected: bool
) -> Iterator[Record]:
    """Pass the records on, count them, and turn whatever a hostile file provokes into a refusal."""
    rows = 0
    try:
        for record in kind.parse(stream, limits):
            if isinstance(record, AttemptRecord):
                if len(record.evaluations) > limits.max_evaluations:
                    expected = f"at most {limits.max_evaluations} evaluations of one attempt"
                    raise too_large("An attempt holds too many evaluations.", expected=expected)
                rows += 1 + len(record.evaluations)
                if rows > limits.max_rows:
                    raise too_large(
                        "The artifact holds too many rows.", expected=f"at most {limits.max_rows} rows (MAX_ROWS)"
                    )
            yield record
    except ImportRefused as refusal:
        if is_detected or not (looks := _looks_like(kind, stream)):
            raise
        detail = f"{refusal.detail} The upload says that it is {kind.title}; it looks like {looks}."
        raise ImportRefused(refusal.status, refusal.code, detail, refusal.problems) from refusal
    except RecursionError as error:
        raise too_deep(limits) from error
    except (MemoryError, UnicodeError, ArithmeticError, msgspec.MsgspecError) as error:
        raise unreadable(f"The file can't be read as {kind.title}.") from error
    finally:
        _close(stream, opened, source)


def _looks_like(kind: Format, stream: BinaryIO) -> str:
    """Return the title of another format that the file begins like; '' for none."""
    stream.seek(0)
    name = detect(head_of(stream))
    return "" if name in (None, kind.name) else FORMATS[str(name)].title


def _close(stream: BinaryIO, opened: BinaryIO, source: Path | BinaryIO) -> None:
    """Close what was opened here: an unpacked copy, and the file if it was given as a path."""
    for file in (stream, opened):
        if file is not source:
            with suppress(OSError):
                file.close()


def _known(format: str) -> str:
    name = format.replace("/", "-")
    if name not in FORMATS:
        raise _not_read(f"“{format[:40]}” is not a format that is read.")
    return name


def _sniffed(head: Head) -> str | None:
    return next((name for name, kind in FORMATS.items() if kind.sniff(head)), None)


def _recognised(stream: BinaryIO, limits: Limits) -> str:
    beginning = head_of(stream)
    if not beginning.strip():
        raise unreadable("The file is empty.", code="empty")
    head = _zip_head(stream, limits) if beginning.startswith(ZIP_MAGIC) else head_of_bytes(beginning)
    name = _sniffed(head)
    if name is None and head.is_json:
        # The telling keys may stand behind a long first member.
        head = _whole_head(stream, limits) or head
        name = _sniffed(head)
    if name is None:
        raise _unrecognised(head)
    return name


def _whole_head(stream: BinaryIO, limits: Limits) -> Head | None:
    """Return the head of a JSON document or of JSON lines; refuse with the line what is no JSON at all."""
    start = stream.tell()
    content = stream.read(limits.max_document_bytes)
    stream.seek(start)
    if head := head_of_document(content):
        return head
    first_line, _, rest = content.partition(b"\n")
    if rest.strip() and head_of_document(first_line):
        return head_of_document(first_line)
    load_json(content)
    return None


def _zip_head(stream: BinaryIO, limits: Limits) -> Head:
    with open_zip(stream, limits) as archive:
        names = tuple(archive.namelist())
    stream.seek(0)
    return Head(zip_members=names)


def _unrecognised(head: Head) -> ImportRefused:
    for kind in FORMATS.values():
        if miss := kind.near_miss(head):
            return ImportRefused(
                415, "near_miss", f"{miss.what} {miss.instead}", (Problem(miss.what, expected=miss.instead),)
            )
    if head.text[:15].lower().startswith(("<!doctype html", "<html")):
        return _not_read("This is an HTML page, perhaps of a sign-in or an error, and no results.")
    if head.is_xml:
        return _not_read(f"XML with the root element “{head.xml_root[:40]}” is not a format that is read.")
    if head.zip_members:
        inside = next((name for name in head.zip_members if name.endswith((".json", ".jsonl", ".xml", ".eval"))), "")
        instead = f" Unpack it, and upload “{inside[:80]}” itself." if inside else ""
        return _not_read(f"This zip archive is no format that is read: it holds {named(head.zip_members)}.{instead}")
    if head.is_json:
        seen = f"its keys are {named(head.keys)}" if head.keys else "it has no keys"
        return _not_read(f"This JSON is not a format that is read: {seen}.")
    return _not_read("The file is neither JSON nor XML of a format that is read.")


def _not_read(detail: str) -> ImportRefused:
    hint = "Formats that are read: " + "; ".join(f"{kind.name} ({kind.title})" for kind in FORMATS.values())
    return ImportRefused(415, "unknown_format", detail, (Problem(detail, expected=hint),))
