"""run/v1 as one JSON document: its parts are decoded one by one."""

from collections.abc import Iterator
from typing import Any

import msgspec

from evals.errors import ImportRefused
from evals.parsers.reading import Limits, load_json
from evals.parsers.run_v1 import wire
from evals.parsers.run_v1.careful import escaped
from evals.parsers.run_v1.reader import RunReader, check_schema
from evals.records import Record

PARTS = ("evaluators", "scenarios", "attempts")


def parse_document(content: bytes, limits: Limits) -> Iterator[Record]:
    try:
        document: Any = msgspec.json.decode(content, type=wire.Document)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        document = load_json(content)
    reader = RunReader(limits)
    try:
        yield from _document_records(_members(document, reader), reader)
    except ImportRefused as refusal:
        if refusal.status == 400:  # a part told the line within itself: find it in the document
            load_json(content)
        raise


def _members(document: Any, reader: RunReader) -> dict[str, Any]:
    """Return the parts of the document, raw or as plain values; report what is none."""
    if isinstance(document, wire.Document):
        check_schema(document.schema)
        return {name: getattr(document, name) for name in ("run", *PARTS)}
    check_schema(document.get("schema") if isinstance(document, dict) else None)
    found = dict.fromkeys(("run", *PARTS)) | reader.members(document, ("schema", "run", *PARTS))
    for name, kind in (("evaluators", dict), ("scenarios", list), ("attempts", list)):
        if not isinstance(found[name], kind | None):
            what = "an object" if kind is dict else "a list"
            reader.problems.add(f"/{name}", f"“{name}” is not {what}.", what)
            found[name] = None
    return found


def _document_records(members: dict[str, Any], reader: RunReader) -> Iterator[Record]:
    if members["run"] is None:
        reader.problems.add("/run", "“run” is missing.", "an object with id and suite")
    elif record := reader.run(members["run"], "/run"):
        yield record
    for key, evaluator in (members["evaluators"] or {}).items():
        base = f"/evaluators/{escaped(key)}"
        reader.evaluator(key, evaluator, base, base)
    for index, scenario in enumerate(members["scenarios"] or ()):
        if found := reader.scenario(scenario, f"/scenarios/{index}"):
            yield found
        reader.check_full()
    reader.ledger.check_twins()
    for index, attempt in enumerate(members["attempts"] or ()):
        place = f"/attempts/{index}"
        yield from reader.attempt(attempt, place, place)
        reader.check_full()
    yield reader.end()
