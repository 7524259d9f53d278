"""What users of the tools report that their files hold: each is understood, or refused in plain words."""

import pytest

from evals.records import AttemptStatus, Outcome
from tests.evals.artifact_reading import attempts, evaluations, read, refused
from tests.evals.inspect_logs import SAMPLE, log


def outcomes(records):
    return [(e.outcome.value, e.reason_code) for e in evaluations(records)]


# -- promptfoo

ASSERT = [{"type": "equals", "value": "x"}]
ROW = {
    "success": True,
    "failureReason": 0,
    "provider": {"id": "p"},
    "prompt": {"label": "l", "raw": "l"},
    "vars": {"q": "1"},
    "testCase": {"assert": ASSERT},
    "gradingResult": {"pass": True, "score": 1, "componentResults": [{"pass": True, "score": 1}]},
}
FAILED = {"success": False, "failureReason": 1}


def promptfoo(*rows):
    return read({"evalId": "e", "results": {"version": 3, "results": rows, "stats": {}}, "config": {}}, "promptfoo")


def test_promptfoo_row_and_judgement_contradict_each_other():
    """Results edited by hand in older versions (promptfoo#392)."""
    grading = {"pass": False, "score": 0, "componentResults": [{"pass": False, "score": 0}]}
    records = promptfoo(ROW | {"gradingResult": grading})
    assert outcomes(records) == [("UNKNOWN", "contradiction")]
    assert "1 row is UNKNOWN where promptfoo says PASS (contradiction)." in records[-1].notes


def test_promptfoo_judge_answered_no_json():
    """Before 0.121 nothing but its sentence tells a broken judge (promptfoo#2084, #6491)."""
    part = {"pass": False, "score": 0, "reason": "Could not extract JSON from llm-rubric response: {}"}
    grading = {"pass": False, "score": 0, "reason": part["reason"], "componentResults": [part]}
    assert outcomes(promptfoo(ROW | FAILED | {"gradingResult": grading})) == [("ERROR", "grader_error")]
    really = {"pass": False, "score": 0, "reason": "Expected x"}
    both = grading | {"componentResults": [part, really]}
    assert outcomes(promptfoo(ROW | FAILED | {"gradingResult": both})) == [("FAIL", "")]


def test_promptfoo_without_variables_and_judgements():
    """PROMPTFOO_STRIP_TEST_VARS and PROMPTFOO_STRIP_GRADING_RESULT leave rows that nothing tells apart."""
    stripped = ROW | {"vars": {}, "gradingResult": None}
    records = promptfoo(stripped, stripped | FAILED | {"testIdx": 1}, stripped | {"testCase": {}, "testIdx": 2})
    assert outcomes(records) == [("UNKNOWN", "not_judged"), ("FAIL", ""), ("UNKNOWN", "no_assertions")]
    assert [attempt.ordinal for attempt in attempts(records)] == [1, 2, 3]
    assert any(note.startswith("2 rows have neither id, description nor variables") for note in records[-1].notes)


# -- JUnit


def junit(*elements, tests=None):
    counted = f' tests="{tests}" failures="2"' if tests is not None else ""
    return f'<testsuites><testsuite name="s"{counted}>{"".join(elements)}</testsuite></testsuites>'.encode()


def test_junit_tells_of_tries_that_did_not_pass():
    """Surefire, and pytest-rerunfailures as proposed (#170, #380)."""
    records = read(
        junit(
            '<testcase classname="a" name="t"><flakyFailure message="first">assert 0</flakyFailure></testcase>',
            '<testcase classname="a" name="u"><rerunFailure message="r"/><failure message="f"/></testcase>',
        ),
        "junit",
    )
    flaky, failing = attempts(records)
    assert outcomes(records) == [("PASS", ""), ("FAIL", "")]
    assert flaky.extras == failing.extras == {"failed_tries": 1}
    assert flaky.evaluations[0].evidence == {"failed_try": ["first\nassert 0"]}
    assert "1 test passed only when repeated; the tries before are kept and not counted." in records[-1].notes


def test_junit_suite_that_broke_as_a_whole_is_an_error():
    suite = junit('<error message="no database"/>', '<testcase classname="a" name="t"/>', "<failure>hook</failure>")
    records = read(suite, "junit")
    assert outcomes(records) == [("ERROR", "error"), ("PASS", "")]
    assert [e.reason for e in evaluations(records)] == ["no database", ""]
    assert attempts(records)[0].scenario == "s::(the suite itself)"


def test_junit_counts_without_tests_are_refused():
    refusal = refused(junit(tests=5))
    assert (refusal.status, refusal.code) == (422, "no_tests")
    assert refused(b'<testsuites tests="5"/>').code == "no_tests"
    assert "The file holds no tests." in read(junit(tests=0), "junit")[-1].notes


def test_junit_test_without_a_name():
    """The plug-in flaky and CPython's own test runner write such elements (flaky#113, cpython#126237)."""
    records = read(junit("<testcase/>", '<testcase time="0.2"><failure/></testcase>'), "junit")
    assert outcomes(records) == [("FAIL", "")]
    assert any("together they are one test" in note for note in records[-1].notes)


# -- DeepEval and pydantic-evals

RESULT = {"name": "a", "success": True, "metrics_data": [{"name": "m", "success": True, "score": 1}]}


@pytest.mark.parametrize("content", [{"test_results": [RESULT], "confident_link": None}, [RESULT], RESULT])
def test_deepeval_what_evaluate_returned_is_refused_by_name(content):
    refusal = refused(content)
    assert (refusal.status, refusal.code) == (415, "near_miss")
    assert "evaluate()" in refusal.detail


def test_deepeval_counts_without_cases_are_refused():
    run = {"testCases": None, "conversationalTestCases": [], "metricsScores": [], "testPassed": 3, "testFailed": 1}
    assert (refused(run).status, refused(run).code) == (422, "no_cases")
    empty = run | {"testPassed": 0, "testFailed": 0}
    assert evaluations(read(empty, "deepeval")) == []


def test_pydantic_evals_list_of_reports_is_refused_by_name():
    refusal = refused([{"name": "r", "cases": [], "failures": []}] * 2)
    assert (refusal.status, refusal.code) == (415, "near_miss")
    assert "each report by itself" in refusal.detail


# -- Inspect


def inspect(sample):
    return read(log(SAMPLE | sample), "inspect")


def test_inspect_error_may_be_a_plain_text():
    records = inspect({"scores": None, "error": "sandbox died"})
    assert [(e.outcome, e.reason) for e in evaluations(records)] == [(Outcome.ERROR, "sandbox died")]
    assert attempts(records)[0].error == "sandbox died"


def test_inspect_sample_scored_after_its_error_keeps_both():
    """With score_on_error a sample has scores and an error."""
    records = inspect({"error": {"message": "late"}})
    assert outcomes(records) == [("PASS", "")]
    assert (attempts(records)[0].status, attempts(records)[0].error) == (AttemptStatus.CRASHED, "late")


def test_inspect_invalidated_sample_is_kept_and_noted():
    records = inspect({"invalidation": {"author": "x", "reason": "leaked"}})
    assert outcomes(records) == [("PASS", "")]
    assert attempts(records)[0].extras["invalidation"] == {"author": "x", "reason": "leaked"}
    assert any(note.startswith("1 sample marked as not to be relied on") for note in records[-1].notes)


@pytest.mark.parametrize("word", ["c", "correct", "True", "1", "NaN", " C"])
def test_inspect_words_that_only_look_like_verdicts_are_unknown(word):
    assert [e.outcome for e in evaluations(inspect({"scores": {"s": {"value": word}}}))] == [Outcome.UNKNOWN]
