"""JUnit XML, as pytest and nearly every other test runner write it."""

import codecs
import sys
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, iterparse

from evals.errors import ImportRefused, Problem
from evals.parsers.cases import counted
from evals.parsers.head import Head
from evals.parsers.junit_records import (
    OF_SUITE,
    Case,
    Report,
    Suite,
    attempt_record,
    counts_in,
    run_record,
    scenario_keys,
    scenario_record,
)
from evals.parsers.junit_totals import total_notes
from evals.parsers.junit_words import IGNORED_CASE, UNJUDGED, Told, element_name, read_words
from evals.parsers.reading import Cleaner, Limits, head_of, read_capped, too_deep, too_large, unreadable
from evals.parsers.values import as_id, as_positive
from evals.records import EndRecord, EvaluatorRecord, Record

NAME = "junit"
TITLE = "JUnit XML"
VERSION = 1
HINT = "pytest --junitxml=results.xml, or the JUnit report of any test runner."

EVIDENCE_TEXT = 4_000  # characters of each text kept as evidence
EVIDENCE_TEXTS = 5  # of each kind
MAX_SUITES = 100_000
MAX_PROPERTIES = 200  # of a run, and of a test
# What Surefire and the plug-ins that repeat tests write of an earlier try; of each try its text is kept.
TRIES = {"flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun"}


def sniff(head: Head) -> bool:
    return head.xml_root in ("testsuites", "testsuite")


def parse(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    reading = _Reading(limits)
    reading.read(stream)
    report = reading.report
    if report.told_tests and not report.cases:
        detail = f"The file counts {report.told_tests} tests but holds none."
        raise ImportRefused(422, "no_tests", detail, (Problem(detail, expected=HINT),))
    yield run_record(report)
    evaluator = EvaluatorRecord(name=report.producer, version="")
    for number, (case, key) in enumerate(zip(report.cases, scenario_keys(report.cases), strict=True), 1):
        yield scenario_record(case, key)
        yield attempt_record(case, key, evaluator, f"testcase {number}")
    yield EndRecord(notes=(*reading.notes(), *reading.cleaner.notes()))


class _Reading:
    """Reads the elements one by one, forgets each, and keeps what a record needs."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cleaner = Cleaner(limits)
        self.report = Report()
        self._open: list[Suite] = []
        self._merged: dict[tuple[int, str, str], Case] = {}

    def read(self, stream: BinaryIO) -> None:
        path: list[Element] = []
        try:
            parser = DefusedXMLParser(encoding=_marked_encoding(stream), forbid_dtd=True)
            events = iterparse(read_capped(stream, self.limits), events=("start", "end"), parser=parser)
            for event, element in events:
                if event == "start":
                    self._start(element, path)
                else:
                    self._end(path.pop(), path)
            self._merged.clear()
        except DefusedXmlException as error:
            detail = "The XML declares a document type or entities, which are not read."
            problem = Problem(detail, expected="XML without a document type")
            raise ImportRefused(422, "forbidden_xml", detail, (problem,)) from error
        except ParseError as error:
            line = error.position[0]
            raise unreadable(f"Line {line} is not well-formed XML: {error}.", code="bad_xml", line=line) from error
        except (ValueError, LookupError) as error:
            raise unreadable("The XML names an encoding that can't be read.", code="bad_encoding") from error

    def _start(self, element: Element, path: list[Element]) -> None:
        element.tag = element_name(element.tag)
        if element.tag == IGNORED_CASE:
            element.tag = "testcase"
            element.set("result", "ignored")
        path.append(element)
        if len(path) == 1:
            self.report.root = dict(element.attrib)
            if element.tag not in ("testsuites", "testsuite"):
                detail = f"The root element is “{element.tag[:40]}”."
                raise ImportRefused(415, "unknown_format", detail, (Problem(detail, expected="testsuites"),))
        if len(path) > self.limits.max_depth:
            raise too_deep(self.limits)
        if element.tag == "testsuite":
            self._open_suite(element)

    def _open_suite(self, element: Element) -> None:
        suite = Suite(
            position=len(self.report.suites),
            name=element.get("name", ""),
            timestamp=element.get("timestamp", ""),
            seconds=_seconds(element.get("time")),
            nested=bool(self._open),
            counts=counts_in(element.attrib),
        )
        if len(self.report.suites) >= MAX_SUITES:
            raise too_large("The file holds too many suites.", expected=f"at most {MAX_SUITES}")
        self._open.append(suite)
        self.report.suites.append(suite)

    def _end(self, element: Element, path: list[Element]) -> None:
        parent = path[-1] if path else None
        if element.tag == "testcase":
            self._case(element)
        elif element.tag == "testsuite":
            self._open.pop()
        elif element.tag in ("error", "failure") and parent is not None and parent.tag in ("testsuite", "testsuites"):
            self._case(Element("testcase", name=OF_SUITE), broken=element)
        elif element.tag == "property" and len(path) > 1 and path[-2].tag != "testcase":
            _keep_property(self.report.properties, element, self.cleaner)
        if parent is not None and not any(above.tag == "testcase" for above in path):
            element.clear()
            parent.remove(element)

    def _case(self, element: Element, broken: Element | None = None) -> None:
        """Keep a test; `broken` tells of a suite that broke as a whole, which says nothing about any test."""
        if not self._open:  # a testcase directly under testsuites
            self._open_suite(Element("testsuite"))
        suite = self._open[-1]
        identity = (suite.position, element.get("classname", ""), element.get("name", ""))
        case = self._merged.get(identity)
        if case is None:
            if len(self.report.cases) * 2 >= self.limits.max_rows:
                raise too_large(
                    "The file holds too many tests.", expected=f"at most {self.limits.max_rows} rows (MAX_ROWS)"
                )
            case = Case(suite, sys.intern(identity[1]), identity[2])
            self._merged[identity] = case
            self.report.cases.append(case)
        else:
            self.report.repeated += 1
        if broken is not None:
            told = broken.get("message") or (broken.text or "").strip() or "the suite broke"
            case.errors += (self.cleaner.text(told),)
        else:
            _merge(case, element, self.cleaner)

    def notes(self) -> Iterator[str]:
        merged = sum(len(case.failures) > 1 for case in self.report.cases)
        if merged:
            yield f"{'1 test has' if merged == 1 else f'{merged} tests have'} several failures, which count as one."
        if self.report.repeated:
            elements = "1 element" if self.report.repeated == 1 else f"{self.report.repeated} elements"
            yield f"{elements} with the suite, class and name of another one: together they are one test."
        flaky = sum(case.repeats > 0 and not (case.failures or case.errors) for case in self.report.cases)
        if flaky:
            yield f"{counted(flaky, 'test')} passed only when repeated; the tries before are kept and not counted."
        yield from total_notes(self.report)
        if not self.report.cases:
            yield "The file holds no tests."
        if self.report.cases and all(not suite.timestamp for suite in self.report.suites):
            yield "The file has no start time."


def _merge(case: Case, element: Element, cleaner: Cleaner) -> None:
    seconds = _seconds(element.get("time"))
    if seconds is not None:
        case.seconds = as_positive((case.seconds or 0) + seconds)  # which may be beyond all floats
    before = (case.failures, case.errors, case.skips)
    for part in element.iter():
        message = cleaner.text(part.get("message") or (part.text or "").strip())
        if part.tag == "failure":
            case.failures += (message,)
        elif part.tag == "error":
            case.errors += (message,)
        elif part.tag == "skipped":
            case.skips += ((_skip_code(part.get("type", "")), message),)
        elif (unjudged := UNJUDGED.get(part.tag.lower())) and part is not element:
            case.skips += ((unjudged, message),)
        elif part.tag in TRIES:
            case.repeats += 1
            _keep_text(case, "failed_try", cleaner.text(f"{part.get('message') or ''}\n{part.text or ''}".strip()))
        elif part.tag == "property":
            case.properties = case.properties or {}
            _keep_property(case.properties, part, cleaner)
        if (
            part.tag in ("failure", "error", "skipped", "warning", "system-out", "system-err")
            and (part.text or "").strip()
        ):
            _keep_text(case, part.tag.replace("-", "_"), cleaner.text(part.text or ""))
    if (case.failures, case.errors, case.skips) == before:
        _read_status(case, element, cleaner)


def _keep_text(case: Case, kind: str, text: str) -> None:
    case.texts = case.texts or {}
    texts = case.texts.setdefault(kind, [])
    if len(texts) < EVIDENCE_TEXTS:
        texts.append(_shortened(text))


def _read_status(case: Case, element: Element, cleaner: Cleaner) -> None:
    """Without a failure, an error or a skip a test has passed, unless its status or result says otherwise."""
    told, code, words = read_words(element.attrib)
    reason = cleaner.text(words)
    if told is Told.FAILED:
        case.failures += (reason,)
    elif told is Told.BROKEN:
        case.errors += (reason,)
    elif told is Told.UNJUDGED:
        case.skips += ((code, reason),)


def _skip_code(kind: str) -> str:
    return "xfail" if kind.endswith("xfail") else "skipped"


def _keep_property(properties: dict[str, str], element: Element, cleaner: Cleaner) -> None:
    """Keep the first of its name."""
    if len(properties) < MAX_PROPERTIES:
        properties.setdefault(as_id(element.get("name")), cleaner.text(element.get("value") or element.text or ""))


def _shortened(text: str) -> str:
    # The end of a traceback tells more than its beginning.
    return text if len(text) <= EVIDENCE_TEXT else "[cut…] " + text[-EVIDENCE_TEXT:]


def _marked_encoding(stream: BinaryIO) -> str | None:
    """Return what a byte order mark says: a converted file may still declare what it was before."""
    is_marked = head_of(stream).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "utf-16" if is_marked else None


def _seconds(text: str | None) -> float | None:
    return as_positive((text or "").replace(",", ""))  # some tools write 1,234.5
