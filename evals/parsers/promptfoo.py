"""promptfoo results: JSON of version 3 and 2, the bare summary of its Node API, and JSON Lines."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import told_of_run
from evals.parsers.head import Head, NearMiss, seen_in, wrong_format
from evals.parsers.promptfoo_rows import Row, columns_of
from evals.parsers.reading import (
    Cleaner,
    Limits,
    is_json_lines,
    json_lines,
    load_json,
    member,
    read_document,
)
from evals.parsers.values import as_count, as_id, as_positive, parse_loose_time
from evals.records import EndRecord, EvaluationRecord, Record, RunRecord

NAME = "promptfoo"
TITLE = "promptfoo JSON or JSON Lines"
VERSION = 1
HINT = "promptfoo eval -o results.json"

ROW_KEYS = {"success", "promptIdx", "testIdx", "failureReason", "gradingResult", "provider"}
RESULT_KEYS = {"timestamp", "results", "prompts", "stats"}
SUMMARY_KEYS = {"version", "timestamp", "prompts", "results", "stats"}
COUNTS = ("successes", "failures", "errors")
CSV_HEADER = ("Status,Score", "Grader Reason", "[PASS]", "[FAIL]")
NOT_RESULTS = "These are no promptfoo results: {}."
INSTEAD = "Upload the .json of the same evaluation: promptfoo eval -o results.json."


@dataclass(frozen=True, slots=True)
class Artifact:
    """The parts of any of the shapes: rows with their places, and what stands around them."""

    rows: list[tuple[str, Any]]
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


def sniff(head: Head) -> bool:
    keys, inner = set(head.keys), set(head.inner.get("results", ()))
    if "results" in keys and inner & RESULT_KEYS and ("version" in inner or {"results", "stats"} <= inner):
        return True
    if {"results", "_resultsLoaded"} <= keys or keys >= SUMMARY_KEYS:
        return True
    return "success" in keys and len(keys & ROW_KEYS) >= 3


def near_miss(head: Head) -> NearMiss | None:
    if head.xml_root == "promptfoo":
        return NearMiss("promptfoo's own XML is often not well-formed and is not read.", INSTEAD)
    if head.is_xml or head.is_json:
        return None
    first_line = head.text.partition("\n")[0]
    if any(word in first_line for word in CSV_HEADER):
        return NearMiss("promptfoo's CSV can't tell all outcomes apart and is not read.", INSTEAD)
    if head.text.startswith(("evalId:", "results:")):
        return NearMiss("promptfoo's YAML is not read.", INSTEAD)
    return None


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    artifact = _read(stream, limits)
    cleaner = Cleaner(limits)
    columns = columns_of(content for _, content in artifact.rows)
    yield _run(artifact, columns.names, cleaner)
    declared: set[str] = set()
    ordinals: Counter[tuple[str, str]] = Counter()
    differing: Counter[str] = Counter()
    nameless = 0
    for place, content in _in_order(artifact.rows):
        row = Row(content, place, columns, cleaner)
        if row.scenario_key not in declared:
            declared.add(row.scenario_key)
            yield row.scenario()
        ordinals[row.scenario_key, row.variant] += 1
        attempt = row.attempt(ordinals[row.scenario_key, row.variant])
        nameless += row.is_nameless and attempt.ordinal > 1
        differing.update(_difference(attempt.evaluations[0]))
        content.clear()  # a large file need not be there twice, as rows and as records
        yield attempt
    notes = (*_notes(artifact), *_nameless(nameless), *_differing_notes(differing))
    yield EndRecord(notes=(*notes, *cleaner.notes()))


# -- the shapes


def _read(stream: BinaryIO, limits: Limits) -> Artifact:
    if is_json_lines(stream, limits):
        return Artifact(_read_rows(stream, limits), has_header=False)
    document = load_json(read_document(stream, limits))
    if not isinstance(document, dict):
        raise wrong_format(NOT_RESULTS.format(seen_in(document)), HINT)
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        artifact = Artifact(_checked(results["results"], "/results/results"), results, document)
    elif isinstance(results, list):
        artifact = Artifact(_checked(results, "/results"), document)
    elif "success" in document:
        return Artifact([("line 1", document)], has_header=False)
    else:
        raise wrong_format(NOT_RESULTS.format(seen_in(document)), HINT)
    if not artifact.rows:
        _refuse_lost_rows(artifact)
    return artifact


def _read_rows(stream: BinaryIO, limits: Limits) -> list[tuple[str, Any]]:
    rows = []
    for number, row in json_lines(stream, limits):
        if not isinstance(row, dict):
            raise _no_row(f"Line {number} is no row.", line=number)
        rows.append((f"line {number}", row))
    return rows


def _checked(rows: list[Any], base: str) -> list[tuple[str, Any]]:
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _no_row(f"Row {index + 1} is no object.", pointer=f"{base}/{index}")
    return [(f"{base}/{index}", row) for index, row in enumerate(rows)]


def _no_row(detail: str, *, pointer: str = "", line: int | None = None) -> ImportRefused:
    return ImportRefused(422, "invalid_row", detail, (Problem(detail, pointer, line, "an object with a result"),))


def _refuse_lost_rows(artifact: Artifact) -> None:
    """Refuse what counts results but does not hold them, such as a dumped Eval object: 0 tests would be wrong."""
    prompts = artifact.summary.get("prompts")
    metrics = [member(prompt, "metrics") for prompt in prompts] if isinstance(prompts, list) else []
    names = ("testPassCount", "testFailCount", "testErrorCount")
    counted = sum(as_count(member(metric, name)) or 0 for metric in metrics for name in names)
    if counted or artifact.lost or "_resultsLoaded" in artifact.summary:
        detail = "The file counts results but holds no rows. Upload the file that this command writes: " + HINT
        raise ImportRefused(422, "no_rows", detail, (Problem(detail, "/results", expected=HINT),))


def _in_order(rows: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Sort by test and column, as rows come in the order in which they were finished."""

    def position(row: tuple[str, Any]) -> tuple[int, int]:
        return as_count(row[1].get("testIdx")) or 0, as_count(row[1].get("promptIdx")) or 0

    return sorted(rows, key=position)


# -- the run


def _run(artifact: Artifact, variants: tuple[str, ...], cleaner: Cleaner) -> RunRecord:
    document, summary = artifact.document or artifact.summary, artifact.summary
    started, finished, assumed = _times(document, summary)
    tags = _tags(document)
    return RunRecord(
        label=as_id(document.get("evalId") or document.get("id")),
        suite=as_id(member(document, "config", "description")),
        **told_of_run(tags),
        model=variants[0] if len(variants) == 1 else "",
        started_at=started,
        started_at_assumed=assumed,
        finished_at=finished,
        planned=len(artifact.rows) + artifact.lost if artifact.lost else None,
        producer_name="promptfoo",
        producer_version=as_id(member(document, "metadata", "promptfooVersion")),
        reported_totals=artifact.totals,
        extras={"tags": cleaner.value(tags)} if tags else {},
    )


def _tags(document: dict[str, Any]) -> dict[str, Any]:
    """Return what users put into `--tag`, before what they put into the configuration's metadata."""
    found: dict[str, Any] = {}
    for name in ("metadata", "tags"):
        given = member(document, "config", name)
        found |= given if isinstance(given, dict) else {}
    return found


def _times(document: dict[str, Any], summary: dict[str, Any]) -> tuple[datetime | None, datetime | None, bool]:
    text = summary.get("timestamp") or member(document, "metadata", "evaluationCreatedAt")
    started, assumed = parse_loose_time(text)
    duration = as_positive(member(summary, "stats", "durationMs"))
    if started is None or duration is None:
        return started, None, assumed
    try:
        return started, started + timedelta(milliseconds=duration), assumed
    except OverflowError:
        return started, None, assumed


def _notes(artifact: Artifact) -> Iterator[str]:
    if not artifact.has_header:
        yield "The file has no header: suite, version, dates and totals are unknown, and it may be cut short."
    if artifact.lost:
        total = sum(artifact.totals.values())
        yield f"promptfoo counts {total} rows, the file holds {len(artifact.rows)}: {artifact.lost} were lost."


def _nameless(count: int) -> Iterator[str]:
    if count:
        rows = "1 row has" if count == 1 else f"{count} rows have"
        yield (
            f"{rows} neither id, description nor variables of its own and counts as a repeat of the first such case: "
            "compare such rows only in the same order."
        )


def _difference(evaluation: EvaluationRecord) -> Iterator[str]:
    if evaluation.reported_outcome:
        yield f"{evaluation.outcome} where promptfoo says {evaluation.reported_outcome} ({evaluation.reason_code})"


def _differing_notes(differing: Counter[str]) -> Iterator[str]:
    for difference, count in sorted(differing.items()):
        yield f"{count} row is {difference}." if count == 1 else f"{count} rows are {difference}."
