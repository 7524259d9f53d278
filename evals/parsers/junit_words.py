"""The words by which test runners say that a test did not simply pass: elements, and what `status` or `result` hold."""

import re
from collections.abc import Mapping
from enum import IntEnum

# What an element is called here, by its name in small letters: some tools write `Failure` or `TestCase`.
ELEMENTS = {
    name.lower(): name
    for name in (
        *("testsuites", "testsuite", "testcase", "properties", "property", "system-out", "system-err"),
        *("failure", "error", "skipped", "warning"),
        *("flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun"),
    )
}
IGNORED_CASE = "ignored-testcase"  # of old versions of Gradle, in place of a testcase
# Children other than `skipped` that say that a test gave no verdict, with their reason code; PHPUnit's `warning` is
# a test that could not be found or made no check.
UNJUDGED = {
    "warning": "warning",
    "risky": "warning",
    "ignored": "skipped",
    "skip": "skipped",
    "disabled": "not_run",
    "notrun": "not_run",
    "pending": "not_run",
    "incomplete": "not_run",
    "inconclusive": "not_run",
}
NOT_WORD = re.compile(r"[\s_-]+")


class Told(IntEnum):
    """What a word says, the gravest last."""

    GOOD = 0
    UNJUDGED = 1
    BROKEN = 2
    FAILED = 3


GOOD = ("pass", "passed", "success", "successful", "succeeded", "ok", "run", "executed", "completed", "finished")
FAILED = ("fail", "failed", "failure", "failing")
BROKEN = ("error", "errored", "broken", "timedout", "timeout", "aborted", "crashed", "panicked", "interrupted")
SKIPPED = ("skipped", "skip", "ignored")
NOT_RUN = ("notrun", "disabled", "suppressed", "untested", "undefined", "pending", "inconclusive", "incomplete")
NO_VERDICT = ("unknown", "none", "indeterminate")
CANCELLED = ("cancelled", "canceled")
WORDS: dict[str, tuple[Told, str]] = {
    "": (Told.GOOD, ""),
    **dict.fromkeys(GOOD, (Told.GOOD, "")),
    **dict.fromkeys(SKIPPED, (Told.UNJUDGED, "skipped")),
    **dict.fromkeys(NOT_RUN, (Told.UNJUDGED, "not_run")),
    **dict.fromkeys(NO_VERDICT, (Told.UNJUDGED, "no_verdict")),
    **dict.fromkeys(CANCELLED, (Told.UNJUDGED, "cancelled")),
    **dict.fromkeys(BROKEN, (Told.BROKEN, "error")),
    **dict.fromkeys(FAILED, (Told.FAILED, "")),
}
NOT_UNDERSTOOD = (Told.UNJUDGED, "status_not_understood")


def element_name(tag: str) -> str:
    """Return the name without its namespace, in the letters that we know it by."""
    local = tag.rpartition("}")[2]
    return ELEMENTS.get(local.lower(), local)


def read_words(attributes: Mapping[str, str]) -> tuple[Told, str, str]:
    """Return the gravest that `status` and `result` say, its reason code, and the words themselves.

    googletest has both: status “run” with result “skipped”.
    """
    found = []
    for name in ("status", "result"):
        text = attributes.get(name, "").strip()
        told, code = WORDS.get(NOT_WORD.sub("", text).lower(), NOT_UNDERSTOOD)
        found.append((told, code == NOT_UNDERSTOOD[1], code, f"{name} “{text}”"))
    # Of two words without a verdict the one that is understood says more.
    told, _, code, reason = max(found, key=lambda each: (each[0], not each[1]))
    return told, code, reason if told is not Told.GOOD else ""
