"""promptfoo results: JSON of version 3 and 2, the bare summary of its Node API, and JSON Lines."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from evals.parsers.cases import told_of_run
from evals.parsers.head import Head, NearMiss
from evals.parsers.promptfoo_rows import Row, columns_of
from evals.parsers.promptfoo_shapes import COMMAND, Artifact, read_artifact
from evals.parsers.reading import Cleaner, Limits, member
from evals.parsers.values import as_id, as_positive, parse_loose_time
from evals.records import EndRecord, EvaluationRecord, Record, RunRecord

NAME = "promptfoo"
TITLE = "promptfoo JSON or JSON Lines"
VERSION = 1
HINT = COMMAND

ROW_KEYS = {"success", "promptIdx", "testIdx", "failureReason", "gradingResult", "provider"}
RESULT_KEYS = {"timestamp", "results", "prompts", "stats"}
SUMMARY_KEYS = {"version", "timestamp", "prompts", "results", "stats"}
CSV_HEADER = ("Status,Score", "Grader Reason", "[PASS]", "[FAIL]")
INSTEAD = f"Upload the .json of the same evaluation: {COMMAND}."


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
    artifact = read_artifact(stream, limits)
    cleaner = Cleaner(limits)
    columns = columns_of(row.column for row in artifact.rows)
    yield _run(artifact, columns.names, cleaner)
    declared: set[str] = set()
    ordinals: Counter[tuple[str, str]] = Counter()
    differing: Counter[str] = Counter()
    nameless = 0
    for unread in artifact.in_order():
        row = Row(unread, columns, cleaner)
        if row.scenario_key not in declared:
            declared.add(row.scenario_key)
            yield row.scenario()
        ordinals[row.scenario_key, row.variant] += 1
        attempt = row.attempt(ordinals[row.scenario_key, row.variant])
        nameless += row.is_nameless and attempt.ordinal > 1
        if attempt.evaluations[0].reported_outcome:
            differing[_difference(attempt.evaluations[0])] += 1
        row.content.clear()  # a file that was decoded whole need not be there twice, as rows and as records
        yield attempt
    notes = (*_notes(artifact), *_nameless(nameless), *_differing_notes(differing))
    yield EndRecord(notes=(*notes, *cleaner.notes()))


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


def _difference(evaluation: EvaluationRecord) -> str:
    return f"{evaluation.outcome} where promptfoo says {evaluation.reported_outcome} ({evaluation.reason_code})"


def _differing_notes(differing: Counter[str]) -> Iterator[str]:
    for difference, count in sorted(differing.items()):
        yield f"{count} row is {difference}." if count == 1 else f"{count} rows are {difference}."
