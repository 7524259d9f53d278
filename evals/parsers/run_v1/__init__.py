"""run/v1, our own format: one JSON document, or NDJSON of any size."""

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from evals.errors import ImportRefused
from evals.parsers.head import Head
from evals.parsers.reading import Limits, lines_of, load_json, read_document, too_large
from evals.parsers.run_v1.document import PARTS, parse_document
from evals.parsers.run_v1.lines import parse_lines
from evals.records import Record

NAME = "run-v1"
TITLE = "run/v1, JSON or NDJSON"
VERSION = 1
HINT = "What the snapshot harness writes, or any CI by hand."


def sniff(head: Head) -> bool:
    return head.schema.startswith("run/") or ("run" in head.keys and any(part in head.keys for part in PARTS))


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    first = stream.readline(limits.max_document_bytes + 1)
    skipped = 1
    while first.isspace():
        first = stream.readline(limits.max_document_bytes + 1)
        skipped += 1
    start = stream.tell()
    second = next((line for _, line in lines_of(stream, limits)), None) if _is_json(first) else None
    stream.seek(start)
    if second is not None:
        yield from parse_lines(first, stream, limits, skipped)
        return
    content = first + read_document(stream, limits)
    if len(content) > limits.max_document_bytes:
        raise too_large("The document is too large.", expected=f"at most {limits.max_document_bytes} bytes, or NDJSON")
    yield from parse_document(b"\n" * (skipped - 1) + content, limits)


def _is_json(line: bytes) -> bool:
    """Whether the line is a JSON value by itself, and so the first of several or all there is."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        try:
            load_json(line)
        except ImportRefused:
            return False
    return True
