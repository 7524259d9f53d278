"""run/v1 as NDJSON: the run, then evaluators, scenarios and attempts, one a line, and the closing end."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

import msgspec

from evals.parsers.reading import CHUNK, Limits, check_length, lines_of, load_json
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.build import is_plain
from evals.parsers.run_v1.reader import RunReader, check_schema
from evals.records import Record

KINDS = ("evaluator", "scenario", "attempt", "end")


def parse_lines(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    begin, first = next(lines_of(stream, limits))
    head = load_json(first, line=begin)
    check_schema(head.get("schema") if isinstance(head, dict) else None)
    reader = RunReader(limits)
    reader.problems.line = begin
    if record := reader.first_line(head):
        yield record
    finished = False
    decode = msgspec.json.Decoder(wire.Line).decode
    for number, line, plain in _later_lines(stream, limits, begin):
        reader.problems.line = number
        if finished:
            reader.problems.add("", "There is a line after the end.", "nothing after the closing end line")
            break
        try:
            part = decode(line)
            attempt = part.attempt
            if plain and attempt is not None and part.scenario is None and part.evaluator is None and part.end is None:
                yield from reader.plain_attempt(attempt, f"line {number}")  # nearly all lines
                continue
            known = _parts(part)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            known = _kinds(load_json(line, line=number), reader)
        if len(known) != 1:
            reader.problems.add("", "The line is not one part of a run.", "one of " + ", ".join(KINDS))
        else:
            yield from _records(*known[0], reader)
            finished = known[0][0] == "end"
        reader.check_full()
    reader.problems.line = None
    yield reader.end(finished=finished)


def _later_lines(stream: BinaryIO, limits: Limits, number: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield every line that is not blank with its number, and whether all of its texts are plain and short. Some
    hundred lines are read at a time: what most of them are is asked once."""
    while block := stream.read(CHUNK):
        if not block.endswith(b"\n"):
            block += stream.readline(limits.max_line_bytes + 1)
        plain = is_plain(block)
        for number, line in enumerate(BytesIO(block), number + 1):  # noqa: B020 (it goes on from block to block)
            check_length(line, number, limits)
            if not line.isspace():
                yield number, line, len(line) <= limits.max_text and (plain or is_plain(line))


def _parts(line: wire.Line) -> list[tuple[str, Any]]:
    return [(kind, part) for kind in KINDS if (part := getattr(line, kind)) is not None]


def _kinds(value: Any, reader: RunReader) -> list[tuple[str, Any]]:
    return list(reader.members(value, KINDS).items()) if isinstance(value, dict) else []


def _records(kind: str, part: Any, reader: RunReader) -> list[Record]:
    match kind:
        case "attempt":
            return reader.attempt(part, "/attempt", f"line {reader.problems.line}")
        case "scenario":
            scenario = reader.scenario(part, "/scenario")
            return [scenario] if scenario else []
        case "evaluator":
            reader.keyed_evaluator(part, "/evaluator")
        case _:
            reader.finish(part)
    return []
