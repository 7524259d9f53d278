"""run/v1, our own format: one JSON document, or NDJSON of any size."""

from collections.abc import Iterator
from typing import BinaryIO

from evals.parsers.head import Head
from evals.parsers.reading import Limits, is_json_lines, read_document
from evals.parsers.run_v1.document import PARTS, parse_document
from evals.parsers.run_v1.lines import parse_lines
from evals.records import Record

NAME = "run-v1"
TITLE = "run/v1, JSON or NDJSON"
VERSION = 1
HINT = "Our own format, for what no tool below writes: a CI script writes it as the README (run/v1 by hand) shows."


def sniff(head: Head) -> bool:
    return head.schema.startswith("run/") or ("run" in head.keys and any(part in head.keys for part in PARTS))


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    if is_json_lines(stream, limits):
        return parse_lines(stream, limits)
    return parse_document(read_document(stream, limits), limits)
