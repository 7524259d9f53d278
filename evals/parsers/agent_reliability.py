"""agent-reliability SDK: evidence envelopes of many agent runs, or the report of one indicator."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from evals.parsers.agent_reliability_events import OUTCOMES, evaluator_of, evidence_records, in_brackets, text_of
from evals.parsers.cases import NO_START
from evals.parsers.checked import Place, object_at, read_documents
from evals.parsers.head import Head, seen_in, wrong_format
from evals.parsers.reading import Cleaner, Limits, member
from evals.parsers.values import MAX_COUNT, as_count, as_id
from evals.records import AggregateRecord, EndRecord, EvaluatorRecord, Record, RunRecord

NAME = "agent-reliability"
TITLE = "agent-reliability evidence (JSON Lines or a list) or report JSON"
VERSION = 1
HINT = "the envelopes that its exporter sends, one per line; or json.dumps(report_to_dict(report))"

REPORT_KEYS = {"indicator", "cohort", "counts", "unknown_policy"}
ENVELOPE_KEYS = {"event_id", "producer_run_id", "payload"}


def sniff(head: Head) -> bool:
    keys = set(head.keys)
    return keys >= REPORT_KEYS or keys >= ENVELOPE_KEYS


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    cleaner = Cleaner(limits)
    documents = [(place, _known(value, place)) for place, value in read_documents(stream, limits)]
    reports = [(place, document) for place, document in documents if "event_id" not in document]
    if reports and len(reports) < len(documents):
        raise reports[0][0].refusal("an envelope, as the others are: reports go into a file of their own")
    yield from _reports(reports, cleaner) if reports else evidence_records(documents, cleaner)


def _known(value: Any, place: Place) -> dict[str, Any]:
    if isinstance(value, dict) and (value.keys() >= REPORT_KEYS or value.keys() >= ENVELOPE_KEYS):
        return value
    if not place.is_whole:
        raise place.refusal("an envelope with event_id, producer_run_id and payload")
    raise wrong_format(f"This is no evidence of agent-reliability: {seen_in(value)}.", HINT)


# -- the report: counts of one indicator


def _reports(reports: list[tuple[Place, dict[str, Any]]], cleaner: Cleaner) -> Iterator[Record]:
    aggregates = [_aggregate(report, place) for place, report in reports]
    judged: set[tuple[str, EvaluatorRecord | None]] = set()
    for aggregate, (place, _) in zip(aggregates, reports, strict=True):
        if (aggregate.indicator, aggregate.evaluator) in judged:
            raise place.at("indicator").refusal("another indicator or evaluator than in the reports before")
        judged.add((aggregate.indicator, aggregate.evaluator))
    totals = {
        name: sum(getattr(aggregate, attribute) for aggregate in aggregates)
        for name, attribute in zip(OUTCOMES, ("passed", "failed", "unknown"), strict=True)
    }
    for outcome, total in totals.items():
        if total > MAX_COUNT:
            raise reports[-1][0].at("counts", outcome).refusal(f"counts that add up to at most {MAX_COUNT}")
    kept = [
        {key: cleaner.value(value) for key, value in report.items() if key not in ("counts", "cohort")}
        for _, report in reports
    ]
    yield RunRecord(
        producer_name=NAME,
        reported_totals=totals,
        extras=kept[0] if len(kept) == 1 else {"reports": kept},
    )
    yield from aggregates
    notes = dict.fromkeys(_report_notes([report for _, report in reports]))
    yield EndRecord(notes=(*notes, *cleaner.notes()))


def _aggregate(report: dict[str, Any], place: Place) -> AggregateRecord:
    counts = object_at(report["counts"], place.at("counts"))
    raw = {name: as_count(counts.get(name)) for name in OUTCOMES}
    for name, count in raw.items():
        if count is None:
            raise place.at("counts", name).refusal("a count; the raw one, not a considered one")
    cohort = object_at(report["cohort"], place.at("cohort"))
    judge = cohort.get("evaluator")
    at = place.at("cohort", "evaluator")
    return AggregateRecord(
        indicator=text_of(report, "indicator", place),
        passed=raw["pass"] or 0,
        failed=raw["fail"] or 0,
        unknown=raw["unknown"] or 0,
        evaluator=None if judge is None else evaluator_of(object_at(judge, at), cohort.get("deterministic"), at),
    )


def _report_notes(reports: list[dict[str, Any]]) -> Iterator[str]:
    yield "The file holds counts only, no single evaluations."
    yield NO_START
    for report in reports:
        policy = report["unknown_policy"]
        if policy != "exclude":
            yield f"The report's own ratios count unknown results by “{as_id(policy)}”; here they stay UNKNOWN."
        health = member(report, "measurement_health", "health")
        if health not in (None, "healthy"):
            yield f"Measurement health: {as_id(health)}{in_brackets(member(report, 'measurement_health', 'reasons'))}."
