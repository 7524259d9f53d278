"""OpenTelemetry: evaluation results of the GenAI conventions in OTLP JSON, as log records or as events of spans."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import Ordinals, Tally, as_text, counted, tool_step
from evals.parsers.checked import Place, read_documents
from evals.parsers.head import Head, NearMiss, named, wrong_format
from evals.parsers.otel_verdicts import Repeats, evaluation_of
from evals.parsers.otlp import Attributes, Entry, entries_of
from evals.parsers.reading import Cleaner, Limits, storable
from evals.parsers.values import MAX_ID, MAX_URL, as_count, as_id, as_url, first_id
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Decision,
    EndRecord,
    EvaluationRecord,
    Record,
    RunRecord,
    ScenarioRecord,
    StepRecord,
)

NAME = "otel-genai"
TITLE = "OpenTelemetry GenAI evaluations, OTLP JSON"
VERSION = 1
HINT = "the collector's file exporter for logs (or traces) that hold gen_ai.evaluation.result events"

RESULT = "gen_ai.evaluation.result"
SIGNALS = ("resourceLogs", "resourceSpans")
MAX_NESTING = 100  # of spans
OTHER_SIGNALS = {"resourceMetrics", "resourceProfiles"}
INSTEAD = f"Upload the logs or traces that hold the events {RESULT}."


def sniff(head: Head) -> bool:
    return any(name in head.keys for name in SIGNALS)


def near_miss(head: Head) -> NearMiss | None:
    if OTHER_SIGNALS & set(head.keys):
        return NearMiss("This is OTLP of metrics or profiles; they hold no evaluations.", INSTEAD)
    return None


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    cleaner, tally = Cleaner(limits), Tally("the label")
    telemetry = Telemetry(stream, limits)
    telemetry.refuse_if_empty()
    attempts = _attempts(telemetry)
    yield _run(telemetry, attempts, cleaner)
    calls = _steps_by_attempt(telemetry, attempts)
    declared: set[str] = set()
    ordinals = Ordinals()
    for attempt in attempts:
        if attempt.key not in declared:
            declared.add(attempt.key)
            yield ScenarioRecord(key=attempt.key, title=as_text(attempt.told("test.case.name"), cleaner))
        steps = tally.steps(_step(span, cleaner) for span in calls[id(attempt)])
        evaluations = (evaluation_of(result, telemetry.repeats.others(result), cleaner) for result in attempt.results)
        ordinal = ordinals.take(attempt.key, attempt.variant)
        yield attempt.record(ordinal, steps, tally.evaluations(evaluations), cleaner)
    yield EndRecord(notes=(*_notes(telemetry, attempts), *tally.notes(), *cleaner.notes()))


# -- reading


class Telemetry:
    """All of a file: its evaluation results, its spans, and how much of it is neither."""

    def __init__(self, stream: BinaryIO, limits: Limits) -> None:
        self.results: list[Entry] = []
        self.spans: dict[tuple[str, str], Entry] = {}
        self.tool_spans: list[Entry] = []
        self.ignored: Counter[str] = Counter()
        self.repeats = Repeats()
        for place, value in read_documents(stream, limits):
            if isinstance(value, dict) and any(name in value for name in SIGNALS):
                for entry in entries_of(value, place):
                    self._take(entry)
            else:
                self._take_other(value, place)

    def _take_other(self, value: Any, place: Place) -> None:
        if isinstance(value, dict) and OTHER_SIGNALS & set(value):
            self.ignored["metrics or profiles object"] += 1
        elif place.is_whole:
            detail = (
                f"This is no OTLP: {f'its keys are {named(tuple(value))}' if isinstance(value, dict) else 'no object'}."
            )
            raise wrong_format(storable(detail), HINT)
        else:
            raise place.refusal("an OTLP object with resourceLogs or resourceSpans")

    def _take(self, entry: Entry) -> None:
        if not entry.is_span:
            if _is_result(entry, "eventName"):
                self._take_result(entry)
            else:
                self.ignored["other log record"] += 1
            return
        is_repeated = bool(entry.span_id) and (entry.trace_id, entry.span_id) in self.spans
        self.spans.setdefault((entry.trace_id, entry.span_id), entry)
        results = [event for event in entry.events if _is_result(event, "name")]
        for event in results:
            self._take_result(event)
        if is_repeated:
            self.ignored["repeated span"] += 1
        elif _is_tool(entry):
            self.tool_spans.append(entry)
        elif not results:
            self.ignored["other span"] += 1

    def _take_result(self, entry: Entry) -> None:
        """Keep a result once, though it may be in the logs and in the traces."""
        name = as_id(entry.attributes.get("gen_ai.evaluation.name"))
        if not name:
            raise entry.place.at("attributes").refusal("gen_ai.evaluation.name, the evaluation's name")
        if not (entry.trace_id and entry.span_id) or self.repeats.is_first(entry, name):
            self.results.append(entry)

    @property
    def resources(self) -> list[Attributes]:
        """What the results come from; many share one."""
        return list({id(result.resource): result.resource for result in self.results}.values())

    def refuse_if_empty(self) -> None:
        if not self.results:
            seen = ", ".join(counted(number, word) for word, number in self.ignored.items()) or "nothing"
            detail = f"The file holds no event {RESULT} (but {seen}). {INSTEAD}"
            raise ImportRefused(422, "no_evaluations", detail, (Problem(detail, expected=INSTEAD),))


def _is_result(entry: Entry, member: str) -> bool:
    return RESULT in (entry.content.get(member), entry.attributes.get("event.name"))


def _is_tool(span: Entry) -> bool:
    return span.attributes.get("gen_ai.operation.name") == "execute_tool" or span.name.startswith("execute_tool ")


# -- attempts


class Attempt:
    """The results of one case in one trace."""

    def __init__(self, key: str, variant: str, result: Entry, span: Entry | None) -> None:
        self.key = key
        self.variant = variant
        self.trace_id = result.trace_id
        self.results = [result]
        self.span = span

    def told(self, name: str) -> Any:
        return _told(self.results[0], self.span).get(name)

    @property
    def time(self) -> datetime | None:
        return (self.span and self.span.time) or self.results[0].time

    @property
    def end(self) -> datetime | None:
        return (self.span and self.span.end) or self.results[-1].time

    def record(
        self, ordinal: int, steps: tuple[StepRecord, ...], judged: tuple[EvaluationRecord, ...], cleaner: Cleaner
    ) -> AttemptRecord:
        told = _told(self.results[0], self.span)
        crashed = self.span is not None and self.span.failed and told.get("gen_ai.operation.name") == "invoke_agent"
        message = self.span.status.get("message") if self.span else None
        return AttemptRecord(
            scenario=self.key,
            ordinal=ordinal,
            variant=self.variant,
            status=AttemptStatus.CRASHED if crashed else AttemptStatus.COMPLETED,
            started_at=self.time,
            latency_ms=self.span.latency_ms if self.span else None,
            tokens_input=as_count(told.get("gen_ai.usage.input_tokens")),
            tokens_output=as_count(told.get("gen_ai.usage.output_tokens")),
            trace_id=as_id(self.trace_id),
            input=as_text(told.get("gen_ai.input.messages"), cleaner),
            output=as_text(told.get("gen_ai.output.messages"), cleaner),
            error=as_text(message or told.get("error.type"), cleaner) if crashed else "",
            steps=steps,
            evaluations=judged,
            place=str(self.results[0].place),
        )


def _told(result: Entry, span: Entry | None) -> Attributes:
    """Return the attributes of a result, after them those of its span and of its resource."""
    return result.resource | (span.attributes if span else {}) | result.attributes


def _attempts(telemetry: Telemetry) -> list[Attempt]:
    """Group the results by case, variant and trace, in order of time."""
    found: dict[tuple[str, ...], Attempt] = {}
    loose: Counter[tuple[str, ...]] = Counter()
    for result in sorted(telemetry.results, key=_in_time):
        span = telemetry.spans.get((result.trace_id, result.span_id)) if result.span_id else None
        told = _told(result, span)
        key = first_id(told, "test.case.id", "gen_ai.response.id") or as_id(result.span_id)
        key, variant = key or as_id(f"unnamed {result.place}"), as_id(told.get("gen_ai.request.model"))
        execution = result.trace_id or as_id(told.get("gen_ai.response.id"))
        if not execution:  # nothing but the evaluation's name tells two executions apart: each holds it once
            name = str(told["gen_ai.evaluation.name"])
            loose[key, variant, name] += 1
            execution = f"#{loose[key, variant, name]}"
        group = (key, variant, execution)
        if group in found:
            found[group].results.append(result)
        else:
            found[group] = Attempt(key, variant, result, span)
    return list(found.values())


def _steps_by_attempt(telemetry: Telemetry, attempts: list[Attempt]) -> dict[int, list[Entry]]:
    """Give each tool call to an attempt of its trace: to the nearest one above it, else to the first."""
    traced = [attempt for attempt in reversed(attempts) if attempt.trace_id]
    by_span = {(attempt.trace_id, result.span_id): attempt for attempt in traced for result in attempt.results}
    first = {attempt.trace_id: attempt for attempt in traced}
    found: dict[int, list[Entry]] = defaultdict(list)
    for span in sorted(telemetry.tool_spans, key=_in_time):
        above = (by_span.get((at.trace_id, at.span_id)) for at in _upwards(span, telemetry.spans))
        owner = next(filter(None, above), None) or first.get(span.trace_id)
        if owner is None:
            telemetry.ignored["unrelated tool call"] += 1
        else:
            found[id(owner)].append(span)
    return found


def _upwards(span: Entry, spans: dict[tuple[str, str], Entry]) -> Iterator[Entry]:
    at: Entry | None = span
    for _ in range(MAX_NESTING):
        if at is None:
            return
        yield at
        at = spans.get((at.trace_id, at.parent_id)) if at.parent_id else None


def _in_time(entry: Entry) -> float:
    return entry.nanos or math.inf  # those without a time last


def _step(span: Entry, cleaner: Cleaner) -> StepRecord:
    told = span.attributes
    error = as_id(told.get("error.type"))
    return tool_step(
        as_id(told.get("gen_ai.tool.name")) or as_id(span.name.removeprefix("execute_tool ")),
        told.get("gen_ai.tool.call.arguments"),
        told.get("gen_ai.tool.call.result"),
        cleaner,
        decision=Decision.FAILED if span.failed or error else Decision.ALLOWED,
        reason_code=error,
        started_at=span.time,
        latency_ms=span.latency_ms,
    )


# -- the run


def _run(telemetry: Telemetry, attempts: list[Attempt], cleaner: Cleaner) -> RunRecord:
    resources = telemetry.resources
    variants, suites = {a.variant for a in attempts}, {as_id(a.told("test.suite.name")) for a in attempts}
    times = [time for attempt in attempts for time in (attempt.time, attempt.end) if time]
    shared = {name: value for name, value in resources[0].items() if all(r.get(name) == value for r in resources)}
    return RunRecord(
        suite=suites.pop() if len(suites) == 1 else "",
        agent_version=_only(resources, "service.version"),
        model=variants.pop() if len(variants) == 1 else "",
        environment=_only(resources, "deployment.environment.name", "deployment.environment"),
        commit=_only(resources, "vcs.ref.head.revision", "vcs.repository.ref.revision"),
        branch=_only(resources, "vcs.ref.head.name", "vcs.repository.ref.name"),
        ci_url=as_url(_only(resources, "cicd.pipeline.run.url.full", limit=MAX_URL)),
        started_at=min(times, default=None),
        finished_at=max(times, default=None),
        producer_name=_only(resources, "telemetry.sdk.name") or "opentelemetry",
        producer_version=_only(resources, "telemetry.sdk.version"),
        extras={"resource": cleaner.value(shared)} if shared else {},
    )


def _only(resources: list[Attributes], *names: str, limit: int = MAX_ID) -> str:
    """Return what all resources say, '' where they differ."""
    found = {next((t for name in names if (t := as_id(r.get(name), limit=limit))), "") for r in resources}
    return found.pop() if len(found) == 1 else ""


def _notes(telemetry: Telemetry, attempts: list[Attempt]) -> Iterator[str]:
    services = {
        f"{as_id(resource.get('service.name')) or 'unnamed'} {as_id(resource.get('service.version'))}".strip()
        for resource in telemetry.resources
    }
    if len(services) > 1:
        yield f"The file holds {len(services)} services or versions in one run: {as_id(', '.join(sorted(services)))}."
    unnamed = sum(not as_id(attempt.told("test.case.id")) for attempt in attempts)
    if unnamed:
        yield f"{counted(unnamed, 'attempt')} without test.case.id: such cases can't be compared with another run's."
    if not all(attempt.time for attempt in attempts):
        yield "Some evaluations have no time."
    for word, number in sorted(telemetry.ignored.items()):
        yield f"Not counted: {counted(number, word)}."
    yield from telemetry.repeats.notes()
