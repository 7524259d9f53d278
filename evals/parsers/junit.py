"""JUnit XML, as pytest and nearly every other test runner write it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from evals.errors import ImportRefused, Problem
from evals.parsers.head import Head
from evals.parsers.reading import Cleaner, Limits, read_capped, too_deep, too_large, unreadable
from evals.parsers.values import MAX_URL, as_id, as_money, as_positive, first_id, is_http_url, parse_loose_time
from evals.records import (
    AttemptRecord,
    Category,
    EndRecord,
    EvaluationRecord,
    EvaluatorRecord,
    Finding,
    Outcome,
    Record,
    RunRecord,
    ScenarioRecord,
)

NAME = "junit"
TITLE = "JUnit XML"
VERSION = 1
HINT = "pytest --junitxml=results.xml, or the JUnit report of any test runner."

EVIDENCE_TEXT = 4_000  # characters of each text kept as evidence
EVIDENCE_TEXTS = 5  # of each kind
CATEGORIES = {category.value: category for category in Category}
NOT_RUN = {"notrun", "disabled", "skipped", "ignored"}
TOOL_SUITES = {"pytest", "pytest tests", "promptfoo"}  # what tools call a suite that nobody named
COUNTS = ("tests", "failures", "errors", "skipped")


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
    place: str
    seconds: float = 0.0
    timed: bool = False
    failures: list[str] = field(default_factory=list)  # messages
    errors: list[str] = field(default_factory=list)
    skips: list[tuple[str, str]] = field(default_factory=list)  # (reason code, message)
    texts: dict[str, list[str]] = field(default_factory=dict)  # evidence by element
    properties: dict[str, str] = field(default_factory=dict)


def sniff(head: Head) -> bool:
    return head.xml_root in ("testsuites", "testsuite")


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    reading = _Reading(limits)
    reading.read(stream)
    yield _run(reading)
    keys = _scenario_keys(reading.cases)
    evaluator = EvaluatorRecord(name=reading.producer, version="")
    for case, key in zip(reading.cases, keys, strict=True):
        yield _scenario(case, key)
        yield _attempt(case, key, evaluator)
    yield EndRecord(notes=(*reading.notes(), *reading.cleaner.notes()))


class _Reading:
    """Reads the elements one by one, forgets each, and keeps what a record needs."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cleaner = Cleaner(limits)
        self.root_name = ""
        self.root: dict[str, str] = {}  # attributes of the root element
        self.suites: list[Suite] = []
        self.cases: list[Case] = []
        self.properties: dict[str, str] = {}
        self._open: list[Suite] = []
        self._merged: dict[tuple[int, str, str], Case] = {}

    @property
    def producer(self) -> str:
        names = {self.root.get("name", ""), *(suite.name for suite in self.suites)}
        if self.root.get("name") == "promptfoo":
            return "promptfoo"
        return "pytest" if names & {"pytest", "pytest tests"} else "junit"

    def read(self, stream: BinaryIO) -> None:
        path: list[Element] = []
        try:
            events = iterparse(read_capped(stream, self.limits), events=("start", "end"), forbid_dtd=True)
            for event, element in events:
                if event == "start":
                    self._start(element, path)
                else:
                    self._end(path.pop(), path)
        except DefusedXmlException as error:
            detail = "The XML declares a document type or entities, which are not read."
            raise ImportRefused(
                422, "forbidden_xml", detail, (Problem(detail, expected="XML without a DTD"),)
            ) from error
        except ParseError as error:
            line = error.position[0]
            raise unreadable(f"Line {line} is not well-formed XML: {error}.", code="bad_xml", line=line) from error
        except (ValueError, LookupError) as error:
            raise unreadable("The XML names an encoding that can't be read.", code="bad_encoding") from error

    def _start(self, element: Element, path: list[Element]) -> None:
        element.tag = element.tag.rpartition("}")[2]  # some tools declare a namespace
        path.append(element)
        if len(path) == 1:
            self.root_name, self.root = element.tag, dict(element.attrib)
            if element.tag not in ("testsuites", "testsuite"):
                detail = f"The root element is “{element.tag[:40]}”."
                raise ImportRefused(415, "unknown_format", detail, (Problem(detail, expected="testsuites"),))
        if len(path) > self.limits.max_depth:
            raise too_deep()
        if element.tag == "testsuite":
            self._open_suite(element)

    def _open_suite(self, element: Element) -> None:
        counts = {name: int(text) for name in COUNTS if (text := element.get(name, "")).isdecimal() and len(text) < 10}
        suite = Suite(
            position=len(self.suites),
            name=element.get("name", ""),
            timestamp=element.get("timestamp", ""),
            seconds=_seconds(element.get("time")),
            nested=bool(self._open),
            counts=counts,
        )
        self._open.append(suite)
        self.suites.append(suite)

    def _end(self, element: Element, path: list[Element]) -> None:
        parent = path[-1] if path else None
        if element.tag == "testcase":
            self._case(element)
        elif element.tag == "testsuite":
            self._open.pop()
        elif element.tag == "property" and len(path) > 1 and path[-2].tag != "testcase":
            self.properties.setdefault(as_id(element.get("name")), self.cleaner.text(_value(element)))
        if parent is not None and not any(above.tag == "testcase" for above in path):
            element.clear()
            parent.remove(element)

    def _case(self, element: Element) -> None:
        if not self._open:  # a testcase directly under testsuites
            self._open_suite(Element("testsuite"))
        suite = self._open[-1]
        identity = (suite.position, element.get("classname", ""), element.get("name", ""))
        case = self._merged.get(identity)
        if case is None:
            if len(self.cases) * 2 >= self.limits.max_rows:
                raise too_large("The file holds too many tests.", expected=f"at most {self.limits.max_rows} rows")
            case = Case(suite, identity[1], identity[2], f"testcase {len(self.cases) + 1}")
            self._merged[identity] = case
            self.cases.append(case)
        _merge(case, element, self.cleaner)

    def notes(self) -> Iterator[str]:
        merged = sum(len(case.failures) > 1 for case in self.cases)
        if merged:
            yield f"{merged} tests have several failures; each counts once."
        if not self.cases:
            yield "The file holds no tests."
        if self.cases and all(not suite.timestamp for suite in self.suites):
            yield "The file has no start time."


def _merge(case: Case, element: Element, cleaner: Cleaner) -> None:
    seconds = _seconds(element.get("time"))
    if seconds is not None:
        case.seconds, case.timed = case.seconds + seconds, True
    for part in element.iter():
        message = cleaner.text(part.get("message") or (part.text or "").strip())
        if part.tag == "failure":
            case.failures.append(message)
        elif part.tag == "error":
            case.errors.append(message)
        elif part.tag == "skipped":
            case.skips.append((_skip_code(part.get("type", "")), message))
        elif part.tag == "property":
            case.properties[as_id(part.get("name"))] = cleaner.text(_value(part))
        if part.tag in ("failure", "error", "skipped", "system-out", "system-err") and (part.text or "").strip():
            texts = case.texts.setdefault(part.tag.replace("-", "_"), [])
            if len(texts) < EVIDENCE_TEXTS:
                texts.append(_shortened(cleaner.text(part.text or "")))
    if not (case.failures or case.errors or case.skips) and element.get("status", "").lower() in NOT_RUN:
        case.skips.append(("not_run", element.get("status", "")))


def _skip_code(kind: str) -> str:
    return "xfail" if kind.endswith("xfail") else "skipped"


def _value(element: Element) -> str:
    return element.get("value") or element.text or ""


def _shortened(text: str) -> str:
    # The end of a traceback tells more than its beginning.
    return text if len(text) <= EVIDENCE_TEXT else "[cut…] " + text[-EVIDENCE_TEXT:]


def _seconds(text: str | None) -> float | None:
    return as_positive((text or "").replace(",", ""))  # some tools write 1,234.5


# -- records


def _run(reading: _Reading) -> RunRecord:
    started, finished, assumed = _times(reading)
    top = [suite for suite in reading.suites if not suite.nested]
    totals = {name: sum(suite.counts.get(name, 0) for suite in top) for name in COUNTS}
    told = reading.properties
    ci_url = told.get("ci_url", "")
    return RunRecord(
        suite=_suite_name(reading, top),
        suite_version=first_id(told, "suite_version"),
        agent_version=first_id(told, "agent_version"),
        model=first_id(told, "model"),
        environment=first_id(told, "environment"),
        commit=first_id(told, "git_sha", "commit", "git_commit"),
        branch=first_id(told, "branch", "git_branch"),
        ci_url=ci_url if is_http_url(ci_url) and len(ci_url) <= MAX_URL else "",
        started_at=started,
        started_at_assumed=assumed,
        finished_at=finished,
        producer_name=reading.producer,
        reported_totals=totals if any(suite.counts for suite in top) else {},
        extras={"properties": told} if told else {},
    )


def _suite_name(reading: _Reading, top: list[Suite]) -> str:
    name = top[0].name if len({suite.name for suite in top}) == 1 else reading.root.get("name", "")
    return "" if name in TOOL_SUITES else as_id(name)


def _times(reading: _Reading) -> tuple[datetime | None, datetime | None, bool]:
    """Return when the first suite began, when the last one ended, and whether the zone is assumed."""
    starts = [(*parse_loose_time(suite.timestamp.strip()), suite.seconds) for suite in reading.suites]
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


def _scenario_keys(cases: list[Case]) -> list[str]:
    """Name each case by suite, class and name; of suites with the same name the later ones get a number."""
    seen: dict[str, dict[int, int]] = {}  # rank by position of the suite
    keys = []
    for case in cases:
        key = as_id("::".join(part for part in (case.suite.name, case.classname, case.name) if part)) or "unnamed"
        ranks = seen.setdefault(key, {})
        rank = ranks.setdefault(case.suite.position, len(ranks) + 1)
        keys.append(key if rank == 1 else f"{as_id(key, limit=180)} (suite {rank})")
    return keys


def _scenario(case: Case, key: str) -> ScenarioRecord:
    properties = case.properties
    category = properties.get("category", "")
    class_id = properties.get("class", "") or ("" if category in CATEGORIES else category)
    return ScenarioRecord(
        key=key,
        title=case.name,
        class_id=as_id(class_id),
        adversarial=properties.get("adversarial", "").strip().lower() in ("true", "1", "yes"),
        extras={"case_id": properties["case_id"]} if properties.get("case_id") else {},
    )


def _attempt(case: Case, key: str, evaluator: EvaluatorRecord) -> AttemptRecord:
    cost = case.properties.get("cost_usd") or case.properties.get("cost")
    return AttemptRecord(
        scenario=key,
        latency_ms=case.seconds * 1000 if case.timed else None,
        cost_usd=as_money(cost) if cost else None,
        error=case.errors[0] if case.errors else "",
        evaluations=(_evaluation(case, evaluator),),
        place=case.place,
        extras={"properties": case.properties} if case.properties else {},
    )


def _evaluation(case: Case, evaluator: EvaluatorRecord) -> EvaluationRecord:
    outcome, code, reason = _verdict(case, evaluator.name)
    category = CATEGORIES.get(case.properties.get("category", ""))
    evidence = {name: texts for name, texts in case.texts.items() if outcome is not Outcome.PASS}
    return EvaluationRecord(
        indicator="test",
        outcome=outcome,
        evaluator=evaluator,
        categories=frozenset({category}) if category else None,
        finding=Finding.UNCLASSIFIED if outcome is Outcome.FAIL else None,
        reason_code=code,
        reason=reason,
        evidence=evidence or None,
    )


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
