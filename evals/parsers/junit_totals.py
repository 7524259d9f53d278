"""The totals that a JUnit file states, beside the tests that are in it."""

from collections import Counter
from collections.abc import Iterator

from evals.parsers.junit_records import COUNTS, OF_SUITE, Case, Report, counts_in, outcome_of
from evals.records import Outcome

SURELY_SKIPPED = {"skipped", "xfail"}  # what every tool counts as skipped; of the rest only some do
WORDS = {"tests": ("test", "tests"), "failures": ("failure", "failures"), "errors": ("error", "errors")}


def total_notes(report: Report) -> Iterator[str]:
    """Say where the file contradicts itself.

    Tools count differently: a failed test once or each of its failures, a broken teardown as a test of its own, a
    test that was not run as skipped or not. Only what no such way of counting gives is a contradiction.
    """
    if not report.cases:
        return
    ours, ranges = _ours(report)
    top = [suite.counts for suite in report.suites if not suite.nested]
    root = counts_in(report.root)  # which may be the only suite itself
    of_root = {} if top == [root] else {name: (number,) for name, number in root.items()}
    seen: list[dict[str, int]] = []
    for told in (_of_suites(report), of_root):
        wrong = {
            name: numbers[0]
            for name, numbers in told.items()
            if not any(ranges[name][0] <= number <= ranges[name][1] for number in numbers)
        }
        if wrong and wrong not in seen:
            seen.append(wrong)
            says = _listed(f"{number} {_word(name, number)}" for name, number in wrong.items())
            yield f"The file's own totals say {says}; the tests in it give {_listed(str(ours[n]) for n in wrong)}."


def _ours(report: Report) -> tuple[dict[str, int], dict[str, tuple[float, float]]]:
    """Return what we count, and from where to where another way of counting the same elements may come."""
    rows = [case for case in report.cases if case.name != OF_SUITE]
    rows_by = Counter(outcome_of(case) for case in rows)
    all_by = Counter(outcome_of(case) for case in report.cases)
    broken_suites = sum(len(case.errors) for case in report.cases if case.name == OF_SUITE)
    failures, errors = (sum(len(getattr(case, name)) for case in report.cases) for name in ("failures", "errors"))
    skips = sum(len(case.skips) for case in report.cases)
    unknown = rows_by[Outcome.UNKNOWN]
    # pytest counts subtests that passed, of which the file holds nothing.
    most = float("inf") if report.producer == "pytest" else len(report.cases) + report.repeated + errors
    ours = {
        "tests": len(report.cases),
        "failures": all_by[Outcome.FAIL],
        "errors": all_by[Outcome.ERROR],
        "skipped": all_by[Outcome.UNKNOWN],
    }
    ranges: dict[str, tuple[float, float]] = {
        "tests": (len(rows) - _left_out(report, unknown), most),
        "failures": (rows_by[Outcome.FAIL], failures + broken_suites),
        "errors": (rows_by[Outcome.ERROR], errors),
        "skipped": (sum(_is_surely_skipped(case) for case in rows), skips),
    }
    return ours, ranges


def _left_out(report: Report, unknown: int) -> int:
    """Return how many tests that were not run may be missing in `tests`: those that are counted apart."""
    apart = sum(suite.counts.get("skipped", 0) for suite in report.suites)
    return min(unknown, apart)


def _is_surely_skipped(case: Case) -> bool:
    return outcome_of(case) is Outcome.UNKNOWN and {code for code, _ in case.skips} <= SURELY_SKIPPED


def _of_suites(report: Report) -> dict[str, tuple[int, ...]]:
    """Return the sums of the suites: of the outermost, which may hold those in them, and of all."""
    top = [suite for suite in report.suites if not suite.nested]
    holding = {case.suite.position for case in report.cases}
    found: dict[str, tuple[int, ...]] = {}
    for name in COUNTS:
        sums = []
        if all(name in suite.counts for suite in top):
            sums.append(sum(suite.counts[name] for suite in top))
        if all(name in suite.counts for suite in report.suites if suite.position in holding):
            sums.append(sum(suite.counts.get(name, 0) for suite in report.suites))
        if sums:
            found[name] = tuple(sums)
    return found


def _word(name: str, number: int) -> str:
    one, many = WORDS.get(name, ("skipped", "skipped"))
    return one if number == 1 else many


def _listed(words: Iterator[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
