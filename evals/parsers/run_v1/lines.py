"""run/v1 as NDJSON: the run, then evaluators, scenarios and attempts, one a line, and the closing end."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from evals.parsers.reading import Limits, lines_of, load_json
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.build import is_plain
from evals.parsers.run_v1.reader import RunReader, check_schema
from evals.records import Record

KINDS = ("evaluator", "scenario", "attempt", "end")


def parse_lines(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    lines = lines_of(stream, limits)
    number, first = next(lines)
    head = load_json(first, line=number)
    check_schema(head.get("schema") if isinstance(head, dict) else None)
    reader = RunReader(limits)
    reader.problems.line = number
    if record := reader.first_line(head):
        yield record
    finished = False
    decode = msgspec.json.Decoder(wire.Line).decode
    for reader.problems.line, line in lines:
        if finished:
            reader.problems.add("", "There is a line after the end.", "nothing after the closing end line")
            break
        try:
            part = decode(line)
            if part.attempt is not None and is_plain(line, limits) and _is_attempt_alone(part):  # nearly all lines
                yield from reader.plain_attempt(part.attempt, f"line {reader.problems.line}")
                continue
            known = _parts(part)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            known = _kinds(load_json(line, line=reader.problems.line), reader)
        if len(known) != 1:
            reader.problems.add("", "The line is not one part of a run.", "one of " + ", ".join(KINDS))
        else:
            yield from _records(*known[0], reader)
            finished = known[0][0] == "end"
        reader.check_full()
    reader.problems.line = None
    yield reader.end(finished=finished)


def _is_attempt_alone(line: wire.Line) -> bool:
    return line.scenario is None and line.evaluator is None and line.end is None


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
