"""From the tests of a JUnit file, merged, to records."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evals.parsers.cases import CATEGORIES, as_milliseconds
from evals.parsers.values import as_id, as_nano_dollars, as_url, first_id, parse_loose_time
from evals.records import (
    AttemptRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Finding,
    Outcome,
    RunRecord,
    ScenarioRecord,
)

COUNTS = ("tests", "failures", "errors", "skipped")
OF_SUITE = "(the suite itself)"
TOOL_SUITES = {"pytest", "pytest tests", "promptfoo"}  # what tools call a suite that nobody named


@dataclass(slots=True)
class Suite:
    """One `testsuite`; its position tells it from others of the same name."""

    position: int
    name: str
    timestamp: str
    seconds: float | None
    nested: bool
    counts: dict[str, int]


@dataclass(slots=True)
class Case:
    """All `testcase` elements of one suite with the same class and name, merged."""

    suite: Suite
    classname: str
    name: str
    seconds: float | None = None
    failures: tuple[str, ...] = ()  # messages
    errors: tuple[str, ...] = ()
    skips: tuple[tuple[str, str], ...] = ()  # (reason code, message)
    texts: dict[str, list[str]] | None = None  # evidence by element
    properties: dict[str, str] | None = None
    repeats: int = 0  # earlier tries that did not pass, where the file tells of them

    def told(self, name: str) -> str:
        return (self.properties or {}).get(name, "")


@dataclass(slots=True)
class Report:
    """All that one file holds."""

    root: dict[str, str] = field(default_factory=dict)  # attributes of the root element
    suites: list[Suite] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)  # of the run
    repeated: int = 0  # elements that are of a test which another element is of

    @property
    def told_tests(self) -> int:
        """Return how many tests the file says that it has."""
        top = [suite.counts.get("tests", 0) for suite in self.suites if not suite.nested]
        return max(sum(top), counts_in(self.root).get("tests", 0))

    @property
    def producer(self) -> str:
        names = {self.root.get("name", ""), *(suite.name for suite in self.suites)}
        if self.root.get("name") == "promptfoo":
            return "promptfoo"
        return "pytest" if names & {"pytest", "pytest tests"} else "junit"


def counts_in(attributes: Mapping[str, str]) -> dict[str, int]:
    return {name: int(text) for name in COUNTS if (text := attributes.get(name, "")).isdecimal() and len(text) < 10}


def run_record(report: Report) -> RunRecord:
    started, finished, assumed = _times(report)
    top = [suite for suite in report.suites if not suite.nested]
    totals = {name: sum(suite.counts.get(name, 0) for suite in top) for name in COUNTS}
    told = report.properties
    return RunRecord(
        suite=_suite_name(report, top),
        suite_version=first_id(told, "suite_version"),
        agent_version=first_id(told, "agent_version"),
        model=first_id(told, "model"),
        environment=first_id(told, "environment"),
        commit=first_id(told, "git_sha", "commit", "git_commit"),
        branch=first_id(told, "branch", "git_branch"),
        ci_url=as_url(told.get("ci_url")),
        started_at=started,
        started_at_assumed=assumed,
        finished_at=finished,
        producer_name=report.producer,
        reported_totals=totals if any(suite.counts for suite in top) else counts_in(report.root),
        extras={"properties": told} if told else {},
    )


def _suite_name(report: Report, top: list[Suite]) -> str:
    name = top[0].name if len({suite.name for suite in top}) == 1 else report.root.get("name", "")
    return "" if name in TOOL_SUITES else as_id(name)


def _times(report: Report) -> tuple[datetime | None, datetime | None, bool]:
    """Return when the first suite began, when the last one ended, and whether the zone is assumed."""
    starts = [(*parse_loose_time(suite.timestamp.strip()), suite.seconds) for suite in report.suites]
    known = [(start, assumed, seconds) for start, assumed, seconds in starts if start is not None]
    if not known:
        return None, None, False
    first = min(start for start, _, _ in known)
    assumed = any(assumed for start, assumed, _ in known if start == first)
    try:
        ends = [start + timedelta(seconds=seconds) for start, _, seconds in known if seconds is not None]
    except OverflowError:
        ends = []
    return first, max(ends, default=None), assumed


def scenario_keys(cases: list[Case]) -> Iterator[str]:
    """Name each case by suite, class and name; where suites have the same name the later ones get a number."""
    used: Counter[str] = Counter()
    for case in cases:
        name = as_id("::".join(part for part in (case.suite.name, case.classname, case.name) if part)) or "unnamed"
        key = name
        while used[key]:
            used[name] += 1
            key = f"{as_id(name, limit=180)} (suite {used[name]})"
        used[key] += 1
        yield key


def scenario_record(case: Case, key: str) -> ScenarioRecord:
    category, case_id = case.told("category"), case.told("case_id")
    class_id = case.told("class") or ("" if category in CATEGORIES else category)
    return ScenarioRecord(
        key=key,
        title=case.name,
        class_id=as_id(class_id),
        adversarial=case.told("adversarial").strip().lower() in ("true", "1", "yes"),
        extras={"case_id": case_id} if case_id else {},
    )


def attempt_record(case: Case, key: str, evaluator: EvaluatorRecord, place: str) -> AttemptRecord:
    cost = case.told("cost_usd") or case.told("cost")
    return AttemptRecord(
        scenario=key,
        latency_ms=as_milliseconds(case.seconds),
        cost_nano=as_nano_dollars(cost) if cost else None,
        error=case.errors[0] if case.errors else "",
        evaluations=(_evaluation(case, evaluator),),
        place=place,
        extras=_extras(case),
    )


def _extras(case: Case) -> dict[str, Any]:
    extras: dict[str, Any] = {"properties": case.properties} if case.properties else {}
    return extras | ({"failed_tries": case.repeats} if case.repeats else {})


def _evaluation(case: Case, evaluator: EvaluatorRecord) -> EvaluationRecord:
    outcome, code, reason = _verdict(case, evaluator.name)
    category = CATEGORIES.get(case.told("category"))
    return EvaluationRecord(
        indicator="test",
        outcome=outcome,
        evaluator=evaluator,
        categories=frozenset({category}) if category else None,
        finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
        reason_code=code,
        reason=reason,
        evidence=None if outcome is Outcome.PASS and not case.repeats else case.texts,
    )


def outcome_of(case: Case) -> Outcome:
    return _verdict(case, "")[0]


def _verdict(case: Case, producer: str) -> tuple[Outcome, str, str]:
    """Any failure before any error before any skip; the message of the first one is the reason."""
    if case.failures:
        return Outcome.FAIL, _failure_code(case.failures[0], producer), case.failures[0]
    if case.errors:
        code = "collection_error" if not case.classname and producer == "pytest" else "error"
        return Outcome.ERROR, code, case.errors[0]
    if case.skips:
        return Outcome.UNKNOWN, *case.skips[0]
    return Outcome.PASS, "", ""


def _failure_code(message: str, producer: str) -> str:
    """Tell a failed assertion from any other exception, where the producer lets us: it stays a FAIL."""
    if producer != "pytest":
        return ""
    if message.startswith("[XPASS(strict)]"):
        return "xpass_strict"
    if "Timeout" in message.partition("\n")[0]:
        return "timeout"
    told = ("AssertionError", "assert", "Failed:", "contains ")
    return "" if message.startswith(told) else "exception"
