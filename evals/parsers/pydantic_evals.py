"""pydantic-evals: an `EvaluationReport` dumped as JSON."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from evals.parsers.cases import NO_START, Ordinals, Tally, as_milliseconds, as_text, counted, facts_of, told_of_run
from evals.parsers.checked import Place, list_in, object_at, objects_in
from evals.parsers.head import Head, NearMiss, seen_in, wrong_format
from evals.parsers.reading import Cleaner, Limits, load_json, member, read_document
from evals.parsers.values import as_count, as_id, as_nano_dollars, first_id
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    EndRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    Record,
    RunRecord,
    ScenarioRecord,
)

NAME = "pydantic-evals"
TITLE = "pydantic-evals report JSON"
VERSION = 1
HINT = "TypeAdapter(EvaluationReport).dump_json(report)"

REPORT_KEYS = {"analyses", "experiment_metadata", "failures", "report_evaluator_failures"}
REPEAT = re.compile(r" \[([1-9]\d{0,3})/\d+\]$", re.ASCII)
POSITION_NAME = re.compile(r"Case \d+", re.ASCII)
COSTS = ("cost_usd", "cost", "total_cost")
ITSELF = EvaluatorRecord(name="pydantic-evals", version="")


def sniff(head: Head) -> bool:
    if head.is_list or not {"name", "cases"} <= set(head.keys):
        return False
    # The oldest reports hold nothing else; their cases then say what they are.
    return len(REPORT_KEYS & set(head.keys)) > 1 or '"assertions"' in head.text or '"error_stacktrace"' in head.text


def near_miss(head: Head) -> NearMiss | None:
    if head.is_list and {"name", "cases"} <= set(head.keys):
        return NearMiss("This is a list of pydantic-evals reports.", "Upload each report by itself.")
    return None


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    document = _read(stream, limits)
    cleaner, tally, ordinals = Cleaner(limits), Tally("pydantic-evals"), Ordinals()
    cases = [
        Case(content, place, cleaner, crashed=name == "failures")
        for name in ("cases", "failures")
        for place, content in objects_in(document, name, Place())
    ]
    yield _run(document, cases, cleaner)
    declared: set[str] = set()
    for case in cases:
        if case.key not in declared:
            declared.add(case.key)
            yield case.scenario()
        yield case.attempt(ordinals.take(case.key, wanted=case.repeat), tally)
    notes = (NO_START, *_unstable(declared), *_broken_reports(document), *tally.notes(), *cleaner.notes())
    yield EndRecord(notes=notes)


def _read(stream: BinaryIO, limits: Limits) -> dict[str, Any]:
    document = load_json(read_document(stream, limits))
    if isinstance(document, dict) and "cases" in document:
        return document
    raise wrong_format(f"This is no pydantic-evals report: {seen_in(document)}.", HINT)


def _run(document: dict[str, Any], cases: "list[Case]", cleaner: Cleaner) -> RunRecord:
    told = document.get("experiment_metadata")
    told = told if isinstance(told, dict) else {}
    models = {as_id(member(case.content, "attributes", "model")) for case in cases if not case.crashed}
    kept = ("experiment_metadata", "analyses", "report_evaluator_failures", "trace_id", "span_id")
    return RunRecord(
        label=as_id(document.get("name")),
        suite=as_id(document.get("dataset_name")),
        model=first_id(told, "model") or (models.pop() if len(models) == 1 else ""),
        **told_of_run(told),
        producer_name="pydantic-evals",
        extras={name: cleaner.value(document[name]) for name in kept if document.get(name)},
    )


class Case:
    """One entry of `cases`, or of `failures`: there the agent itself raised."""

    def __init__(self, content: dict[str, Any], place: Place, cleaner: Cleaner, *, crashed: bool) -> None:
        self.content = content
        self.place = place
        self.cleaner = cleaner
        self.crashed = crashed
        source, name = as_id(content.get("source_case_name")), as_id(content.get("name"))
        self.key = source or name or as_id(f"unnamed {place.pointer}")
        repeat = REPEAT.search(name) if source else None
        self.repeat = int(repeat.group(1)) if repeat else None
        metadata = content.get("metadata")
        self.facts = facts_of(metadata if isinstance(metadata, dict) else {})

    def scenario(self) -> ScenarioRecord:
        kept = ("metadata", "expected_output")
        return ScenarioRecord(
            key=self.key,
            class_id=self.facts.class_id,
            adversarial=self.facts.adversarial,
            extras={name: self.cleaner.value(self.content[name]) for name in kept if self.content.get(name)},
        )

    def attempt(self, ordinal: int, tally: Tally) -> AttemptRecord:
        metrics = self.content.get("metrics")
        metrics = metrics if isinstance(metrics, dict) else {}
        costs = (as_nano_dollars(metrics.get(name)) for name in COSTS)
        kept = ("scores", "labels", "metrics", "attributes", "span_id", "total_duration")
        return AttemptRecord(
            scenario=self.key,
            ordinal=ordinal,
            status=AttemptStatus.CRASHED if self.crashed else AttemptStatus.COMPLETED,
            latency_ms=as_milliseconds(self.content.get("task_duration")),
            cost_nano=next((cost for cost in costs if cost is not None), None),
            tokens_input=as_count(metrics.get("input_tokens")),
            tokens_output=as_count(metrics.get("output_tokens")),
            trace_id=as_id(self.content.get("trace_id")),
            input=as_text(self.content.get("inputs"), self.cleaner),
            output=as_text(self.content.get("output"), self.cleaner),
            error=as_text(self.content.get("error_message"), self.cleaner) if self.crashed else "",
            evaluations=tally.evaluations([self._crash()] if self.crashed else self._evaluations()),
            place=str(self.place),
            extras={name: self.cleaner.value(self.content[name]) for name in kept if self.content.get(name)},
        )

    def _evaluations(self) -> Iterator[EvaluationRecord]:
        given = self.content.get("assertions")
        assertions = object_at({} if given is None else given, self.place.at("assertions"))
        for key, assertion in assertions.items():
            place = self.place.at("assertions", key)
            yield self._assertion(key, object_at(assertion, place), place)
        failures = objects_in(self.content, "evaluator_failures", self.place)
        for _, failure in failures:
            yield self._evaluator_failure(failure)
        if not assertions and not failures:
            yield self._evaluation("case", Outcome.UNKNOWN, ITSELF, "no_assertions")

    def _assertion(self, key: str, assertion: dict[str, Any], place: Place) -> EvaluationRecord:
        value = assertion.get("value")
        if value is None:
            outcome = Outcome.UNKNOWN
        elif isinstance(value, bool):
            outcome = Outcome.PASS if value else Outcome.FAIL
        else:
            raise place.at("value").refusal("true, false or null")
        name = as_id(key) or as_id(assertion.get("name")) or "unnamed assertion"
        evaluator = self._evaluator(assertion, name)
        code = "no_verdict" if value is None else ""
        return self._evaluation(name, outcome, evaluator, code, reason=assertion.get("reason"))

    def _evaluator_failure(self, failure: dict[str, Any]) -> EvaluationRecord:
        name = as_id(failure.get("name")) or "unnamed evaluator"
        return self._evaluation(
            name,
            Outcome.ERROR,
            self._evaluator(failure, name),
            "evaluator_error",
            reason=failure.get("error_message"),
            fault=Fault.GRADER,
            evidence=self._trace(failure),
        )

    def _crash(self) -> EvaluationRecord:
        reason = self.content.get("error_message")
        evidence = self._trace(self.content)
        return self._evaluation("execution", Outcome.ERROR, ITSELF, "agent_raised", reason=reason, evidence=evidence)

    def _evaluation(
        self,
        indicator: str,
        outcome: Outcome,
        evaluator: EvaluatorRecord,
        code: str,
        *,
        reason: Any = None,
        fault: Fault = Fault.UNKNOWN,
        evidence: dict[str, Any] | None = None,
    ) -> EvaluationRecord:
        return EvaluationRecord(
            indicator=indicator,
            outcome=outcome,
            evaluator=evaluator,
            categories=self.facts.categories,
            finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
            fault=fault,
            reason_code=code,
            reason=as_text(reason, self.cleaner),
            evidence=evidence,
        )

    def _trace(self, failure: dict[str, Any]) -> dict[str, Any] | None:
        kept = ("error_type", "error_stacktrace")
        return {name: self.cleaner.value(failure[name]) for name in kept if failure.get(name)} or None

    def _evaluator(self, result: dict[str, Any], key: str) -> EvaluatorRecord:
        name, arguments = as_id(member(result, "source", "name")) or key, member(result, "source", "arguments")
        return EvaluatorRecord(
            name=name,
            version=as_id(result.get("evaluator_version")),
            configuration_sha256="" if arguments is None else self.cleaner.digest(arguments),
            deterministic="judge" not in name.lower(),  # LLMJudge and its like
        )


# -- notes


def _unstable(keys: set[str]) -> Iterator[str]:
    count = sum(POSITION_NAME.fullmatch(key) is not None or key.startswith("unnamed /") for key in keys)
    if count:
        yield f"{counted(count, 'case')} named by position (Case <n>): compare such cases only in the same order."


def _broken_reports(document: dict[str, Any]) -> Iterator[str]:
    failures = list_in(document, "report_evaluator_failures", Place())
    if failures:
        names = ", ".join(dict.fromkeys(as_id(member(failure, "name"), limit=80) or "unnamed" for failure in failures))
        yield f"{counted(len(failures), 'evaluator')} of the whole report failed: {as_id(names, limit=300)}."
