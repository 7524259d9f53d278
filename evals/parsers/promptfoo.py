"""promptfoo results: JSON of version 3 and 2, the bare summary of its Node API, and JSON Lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from evals.errors import ImportRefused, Problem
from evals.parsers.head import Head
from evals.parsers.promptfoo_rows import Row, columns_of, row_records
from evals.parsers.reading import Cleaner, Limits, lines_of, load_json, member, read_document
from evals.parsers.values import as_count, as_id, as_positive, is_http_url, parse_loose_time
from evals.records import AttemptRecord, EndRecord, Outcome, Record, RunRecord, ScenarioRecord

NAME = "promptfoo"
TITLE = "promptfoo JSON or JSON Lines"
VERSION = 1
HINT = "promptfoo eval -o results.json"

ROW_KEYS = {"success", "promptIdx", "testIdx", "failureReason", "gradingResult", "provider"}
SUMMARY_KEYS = {"version", "timestamp", "prompts", "results", "stats"}
TAGS = {
    "agent_version": ("version", "agent_version", "agentVersion"),
    "commit": ("commit", "git_sha", "sha"),
    "branch": ("branch",),
    "environment": ("environment",),
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """The parts of any of the shapes: rows, and what stands around them."""

    rows: list[tuple[str, Any]]  # (place, row)
    summary: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    has_header: bool = True


def sniff(head: Head) -> bool:
    keys, inner = set(head.keys), set(head.inner.get("results", ()))
    if "results" in keys and inner & {"version", "results"} and inner & {"timestamp", "results", "prompts", "stats"}:
        return True
    if {"results", "_resultsLoaded"} <= keys or SUMMARY_KEYS <= keys:
        return True
    return "success" in keys and len(keys & ROW_KEYS) >= 3


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    artifact = _read(stream, limits)
    cleaner = Cleaner(limits)
    columns = columns_of(row for _, row in artifact.rows)
    yield _run(artifact, columns)
    seen: set[str] = set()
    ordinals: dict[tuple[str, str], int] = {}
    differing: dict[tuple[Outcome, Outcome, str], int] = {}
    for place, content in _in_order(artifact.rows):
        row = Row(content, place, columns, cleaner)
        identity = (row.scenario_key, row.variant)
        ordinals[identity] = ordinals.get(identity, 0) + 1
        for record in row_records(row, ordinals[identity]):
            if isinstance(record, ScenarioRecord) and record.key in seen:
                continue
            if isinstance(record, AttemptRecord):
                _count_differing(record, differing)
            seen.add(row.scenario_key)
            yield record
    notes = (*_notes(artifact), *_differing_notes(differing), *cleaner.notes())
    yield EndRecord(notes=notes)


# -- the shapes


def _read(stream: BinaryIO, limits: Limits) -> Artifact:
    start = stream.tell()
    first = next((line for _, line in lines_of(_Unlimited(stream), limits)), b"")  # type: ignore[arg-type]
    stream.seek(start)
    return Artifact([])
