"""DeepEval test runs: the JSON of a results folder, and `.latest_test_run.json`, which wraps the same."""

import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import (
    NO_START,
    CaseFacts,
    Ordinals,
    Tally,
    as_milliseconds,
    as_text,
    counted,
    facts_of,
    told_of_run,
    tool_step,
)
from evals.parsers.checked import Place, object_at, objects_in
from evals.parsers.head import Head, NearMiss, seen_in, wrong_format
from evals.parsers.reading import Cleaner, Limits, load_json, member, read_document
from evals.parsers.values import as_count, as_id, as_nano_dollars, as_number, first_id
from evals.records import (
    AttemptRecord,
    EndRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    Record,
    RunRecord,
    ScenarioRecord,
    StepRecord,
)

NAME = "deepeval"
TITLE = "DeepEval test run JSON"
VERSION = 1
HINT = "set DEEPEVAL_RESULTS_FOLDER, or take .deepeval/.latest_test_run.json"

WRAPPER = "testRunData"
LISTS = ("testCases", "conversationalTestCases")
RUN_KEYS = {
    "conversationalTestCases",
    "evaluationCost",
    "hyperparameters",
    "identifier",
    "metricsScores",
    "runDuration",
    "testCases",
    "testFailed",
    "testPassed",
}
METRIC_TOTALS = ("passes", "fails", "errors")
CACHE_KEY = "test_cases_lookup_map"
CACHE = NearMiss(
    "This is DeepEval's cache and no test run.",
    "Upload test_run_….json of the folder in DEEPEVAL_RESULTS_FOLDER, or .deepeval/.latest_test_run.json.",
)
RESULT = NearMiss("This is what DeepEval's evaluate() returns, dumped, and no test run.", CACHE.instead)
POSITION_NAME = re.compile(r"(conversational_)?test_case_\d+", re.ASCII)
MODEL_JUDGED = re.compile(r"\[[^\]]*(GEval|DAG)\]$")


def sniff(head: Head) -> bool:
    keys = {*head.keys, *head.inner.get(WRAPPER, ())}
    return bool(keys & set(LISTS)) and len(keys & RUN_KEYS) >= 3


def near_miss(head: Head) -> NearMiss | None:
    if CACHE_KEY in head.keys:
        return CACHE
    is_result = "test_results" in head.keys or {"success", "metrics_data"} <= set(head.keys)
    return RESULT if is_result else None


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    document, place = _read(stream, limits)
    cleaner, tally, ordinals = Cleaner(limits), Tally("DeepEval"), Ordinals()
    run = _run(document, place, cleaner)
    cases = [case for name in LISTS for case in objects_in(document, name, place)]
    _check_cases(run, len(cases))
    yield run
    declared: set[str] = set()
    span_metrics = 0
    for at, content in cases:
        case = Case(content, at, cleaner)
        if case.key not in declared:
            declared.add(case.key)
            yield case.scenario()
        span_metrics += case.span_metrics
        yield case.attempt(ordinals.take(case.key, run.model), run.model, tally)
    unstable = sum(POSITION_NAME.fullmatch(key) is not None for key in declared)
    notes = (*_unstable(unstable), *_of_spans(span_metrics), *_totals(run, len(cases), tally), *tally.notes())
    yield EndRecord(notes=(NO_START, *notes, *cleaner.notes()))


def _read(stream: BinaryIO, limits: Limits) -> tuple[dict[str, Any], Place]:
    """Return the test run, which may stand in a wrapper, and its place."""
    document, place = load_json(read_document(stream, limits)), Place()
    if isinstance(document, dict) and WRAPPER in document:
        place = place.at(WRAPPER)
        document = object_at(document[WRAPPER], place, "the test run, an object")
    if not isinstance(document, dict) or not any(name in document for name in LISTS):
        detail = f"This is no DeepEval test run: {seen_in(document)}."
        if isinstance(document, dict) and CACHE_KEY in document:
            detail = f"{CACHE.what} {CACHE.instead}"
        raise wrong_format(detail, HINT)
    return document, place


def _check_cases(run: RunRecord, cases: int) -> None:
    told = sum(run.reported_totals.get(name, 0) for name in ("testPassed", "testFailed"))
    if told and not cases:
        detail = f"The file counts {told} test cases but holds none."
        raise ImportRefused(422, "no_cases", detail, (Problem(detail, expected=HINT),))


def _run(document: dict[str, Any], place: Place, cleaner: Cleaner) -> RunRecord:
    parameters = document.get("hyperparameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    kept = ("hyperparameters", "prompts", "runDuration", "evaluationCost", "testFile")
    return RunRecord(
        suite=as_id(document.get("identifier")),
        model=first_id(parameters, "model"),
        **told_of_run(parameters),
        producer_name="deepeval",
        reported_totals=_reported_totals(document, place),
        extras={name: cleaner.value(document[name]) for name in kept if document.get(name) not in (None, [], {})},
    )


def _reported_totals(document: dict[str, Any], place: Place) -> dict[str, int]:
    totals = {name: as_count(document.get(name)) for name in ("testPassed", "testFailed")}
    scores = [score for _, score in objects_in(document, "metricsScores", place)]
    for name in METRIC_TOTALS if scores else ():
        totals[name] = sum(as_count(score.get(name)) or 0 for score in scores)
    return {name: total for name, total in totals.items() if total is not None}


class Case:
    """One test case or conversation."""

    def __init__(self, content: dict[str, Any], place: Place, cleaner: Cleaner) -> None:
        self.content = content
        self.place = place
        self.cleaner = cleaner
        self.key = as_id(content.get("name")) or self._position_name()
        self.facts = self._facts()

    def _position_name(self) -> str:
        kind, index = self.place.pointer.split("/")[-2:]
        return f"{'conversational_' if kind == LISTS[1] else ''}test_case_{index}"

    def _facts(self) -> CaseFacts:
        metadata: dict[str, Any] = {}
        for name in ("additionalMetadata", "metadata"):
            given = self.content.get(name)
            metadata |= given if isinstance(given, dict) else {}
        tags = self.content.get("tags")
        return facts_of(metadata, [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [])

    def scenario(self) -> ScenarioRecord:
        kept = ("tags", "metadata", "additionalMetadata", "expectedOutput", "expectedOutcome", "comments")
        return ScenarioRecord(
            key=self.key,
            class_id=self.facts.class_id,
            adversarial=self.facts.adversarial,
            extras={name: self.cleaner.value(self.content[name]) for name in kept if self.content.get(name)},
        )

    def attempt(self, ordinal: int, variant: str, tally: Tally) -> AttemptRecord:
        durations = (as_milliseconds(self.content.get(name)) for name in ("completionTime", "runDuration"))
        turns = objects_in(self.content, "turns", self.place)
        said = "\n\n".join(f"{as_id(t.get('role'))}: {as_text(t.get('content'), self.cleaner)}" for _, t in turns)
        asked, answered = self.content.get("input"), self.content.get("actualOutput")
        return AttemptRecord(
            scenario=self.key,
            ordinal=ordinal,
            variant=variant,
            latency_ms=next((duration for duration in durations if duration is not None), None),
            cost_nano=as_nano_dollars(self.content.get("tokenCost")),
            input=as_text(self.content.get("scenario") if asked is None else asked, self.cleaner),
            output=as_text(said if answered is None else answered, self.cleaner),
            steps=tally.steps(self._steps([(self.place, self.content), *turns])),
            evaluations=tally.evaluations(self._evaluations()),
            place=str(self.place),
        )

    def _steps(self, callers: list[tuple[Place, dict[str, Any]]]) -> Iterator[StepRecord]:
        for place, caller in callers:
            for _, call in objects_in(caller, "toolsCalled", place):
                arguments = call.get("inputParameters")
                yield tool_step(as_id(call.get("name")), arguments, call.get("output"), self.cleaner)

    @property
    def span_metrics(self) -> int:
        """How many metrics judged parts of the case's trace: they are no verdict on the case."""
        waiting, found = [self.content.get("trace")], 0
        while waiting:
            part = waiting.pop()
            metrics = member(part, "metricsData")
            found += len(metrics) if isinstance(metrics, list) else 0
            inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
            waiting.extend(value for value in inner if isinstance(value, dict | list))
        return found

    def _evaluations(self) -> Iterator[EvaluationRecord]:
        name = (
            "metricsMetadata" if self.content.get("metricsData") is None else "metricsData"
        )  # the first is its older name
        metrics = objects_in(self.content, name, self.place)
        for place, metric in metrics:
            yield self._evaluation(metric, place)
        if not metrics:
            yield EvaluationRecord(
                indicator="case",
                outcome=Outcome.UNKNOWN,
                evaluator=EvaluatorRecord(name="deepeval", version=""),
                categories=self.facts.categories,
                reason_code="no_metrics",
                reported_outcome=_reported(self.content, self.place),
            )

    def _evaluation(self, metric: dict[str, Any], place: Place) -> EvaluationRecord:
        reported = _reported(metric, place)
        outcome, code = _verdict(metric, reported)
        reason = metric.get("reason") if outcome is not Outcome.ERROR else metric.get("error")
        kept = ("threshold", "evaluationModel", "strictMode", "evaluationCost", "verboseLogs")
        name = first_id(metric, "name", "metric") or "unnamed metric"  # the second in older files
        return EvaluationRecord(
            indicator=name,
            outcome=outcome,
            evaluator=self._evaluator(name, metric),
            categories=self.facts.categories,
            finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
            fault=Fault.GRADER if outcome is Outcome.ERROR else Fault.UNKNOWN,
            reason_code=code,
            reason=as_text(reason, self.cleaner),
            score=as_number(metric.get("score")),
            evidence={key: self.cleaner.value(metric[key]) for key in kept if metric.get(key) is not None} or None,
            reported_outcome=reported if reported is not outcome else None,
        )

    def _evaluator(self, name: str, metric: dict[str, Any]) -> EvaluatorRecord:
        model = metric.get("evaluationModel")
        settings = {"threshold": metric.get("threshold"), "model": model, "strict": metric.get("strictMode") is True}
        return EvaluatorRecord(
            name=name,
            version="",
            configuration_sha256=self.cleaner.digest(settings),
            deterministic=model in (None, "", "none") and not MODEL_JUDGED.search(name),
        )


def _reported(content: dict[str, Any], place: Place) -> Outcome | None:
    success = content.get("success")
    if success is None:
        return None
    if not isinstance(success, bool):
        raise place.at("success").refusal("true, false or null")
    return Outcome.PASS if success else Outcome.FAIL


def _verdict(metric: dict[str, Any], reported: Outcome | None) -> tuple[Outcome, str]:
    """Return our outcome and why. A metric that broke or gave no number is `success: false` in the file."""
    score = metric.get("score")
    if metric.get("error"):
        return Outcome.ERROR, "metric_error"
    if metric.get("skipped") is True:
        return Outcome.UNKNOWN, "skipped"
    if isinstance(score, float) and not math.isfinite(score):
        return Outcome.UNKNOWN, "score_not_finite"
    return (Outcome.UNKNOWN, "no_verdict") if reported is None else (reported, "")


# -- notes


def _unstable(count: int) -> Iterator[str]:
    if count:
        yield f"{counted(count, 'case')} named by position (test_case_<n>): compare such cases only in the same order."


def _of_spans(count: int) -> Iterator[str]:
    if count:
        yield f"{counted(count, 'metric')} of spans inside traces not counted: only a test case's own are evaluations."


def _totals(run: RunRecord, cases: int, tally: Tally) -> Iterator[str]:
    told = run.reported_totals
    passed, failed = told.get("testPassed"), told.get("testFailed")
    if passed is not None and failed is not None:
        if passed + failed != cases:
            yield f"DeepEval counts {counted(passed + failed, 'test case')}, the file holds {cases}."
        if (passed, failed) != (tally.outcomes[Outcome.PASS], tally.outcomes[Outcome.FAIL]):
            yield "testPassed and testFailed count test cases, not evaluations; a metric that broke is failed there."
    judged, held = sum(told.get(name, 0) for name in METRIC_TOTALS), tally.outcomes.total()
    if judged > held:  # fewer is right: skipped metrics are not among them
        yield f"DeepEval's metricsScores count {judged}, the file holds {counted(held, 'evaluation')}."
