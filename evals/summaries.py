"""What an import's answer says to people: sentences, and the lines of a CI log."""

from collections.abc import Iterator
from typing import Any

from evals import wording
from evals.measures.display import format_quantity
from evals.models import Import, ImportState, Intake
from evals.records import Session
from evals.schemas import ImportOut

MOST_LINES = 30  # of one kind in a log


def summarise(job: Import) -> str:
    """Return sentences that say what became of the upload, and what of it a reader must not overlook."""
    if job.state in (ImportState.REFUSED, ImportState.FAILED):
        return job.detail
    if job.state != ImportState.DONE or not job.result:
        return f"{job.get_phase_display()}: {format_quantity(job.rows_read, 'row')} read so far."
    run = job.result["run"]
    return " ".join([_result(job, run), *_cautions(run)])


def _result(job: Import, run: dict[str, Any]) -> str:
    words = f"{format_quantity(run['counts']['total'], 'evaluation')}: {_count_words(run['counts'])}"
    if job.changed_nothing:
        return f"This part was there already, so nothing changes. Its run: {words}."
    if job.dry_run:
        return f"Would import {words}. Nothing was stored."
    return f"Imported {words}."


def _count_words(counts: dict[str, Any]) -> str:
    return f"{counts['pass']:,} PASS, {counts['fail']:,} FAIL, {counts['unknown']:,} UNKNOWN, {counts['error']:,} ERROR"


def _cautions(run: dict[str, Any]) -> Iterator[str]:
    if run["intake"] == Intake.OPEN:
        rest = f"the rest of its {run['shards_expected']} parts" if run["shards_expected"] else "more parts"
        yield f"The run is open for {rest}."
    elif run["session"] != Session.COMPLETE:
        reason = run["session_reason"] or wording.SESSION_SENTENCES[Session(run["session"])]
        yield f"The session is {run['session']}: {reason.rstrip('.')}."
    if run["invalidated"]:
        yield "The log was invalidated, so the run stays out of trends."
    planned, recorded = run["attempts"]["planned"], run["attempts"]["recorded"]
    if planned and planned > recorded:
        yield f"{format_quantity(planned - recorded, 'attempt')} of {planned:,} planned did not come."
    if run["differing"]:
        yield f"{format_quantity(run['differing'], 'outcome is', 'outcomes are')} not the tool's own."


def log_lines(answer: ImportOut, *, is_new: bool = True) -> Iterator[str]:
    """Yield the answer as plain lines, the most important first. `is_new` is False for an upload made before."""
    if not is_new:
        yield "The same was sent before, so nothing changes. The answer was:"
    yield answer.summary
    if not answer.run:
        return
    run, links = answer.run, answer.links
    yield f"Read as {run['format']}" + (f", suite {run['suite']}" if run["suite"] else "") + "."
    if links.run:
        yield f"Run: {links.run}"
        yield f"Compare: {links.compare}"
    yield from _bounded([f"  {_class_line(line)}" for line in answer.classes], "class line")
    yield from _bounded([_difference(found) for found in answer.differences], "difference")
    yield from _bounded([f"Note: {note}" for note in run["notes"]], "note")


def _class_line(line: dict[str, Any]) -> str:
    categories = ", ".join(line["categories"]) or "no category"
    name = f"{line['title']} ({categories}), {line['indicator']} by {line['evaluator'] or 'an unnamed evaluator'}"
    return f"{name}: {_count_words(line['counts'])}"


def _difference(found: dict[str, Any]) -> str:
    reason = wording.reason_sentence(found["reason_code"]) or found["reason_code"]
    words = f"{found['ours']} here, {found['reported']} by the tool: {found['count']:,}"
    return f"{words}. {reason}" if reason else f"{words}."


def _bounded(lines: list[str], name: str) -> Iterator[str]:
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"  and {format_quantity(len(lines) - MOST_LINES, f'more {name}')}: the JSON answer has all"
