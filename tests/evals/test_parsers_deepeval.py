"""DeepEval: its shapes, and outcomes of metrics that its own verdict mixes up."""

import json

import pytest

from evals.parsers import detect
from evals.records import Category, EvaluatorRecord, Fault, Finding, Outcome
from tests.evals.artifact_reading import ARTIFACTS, attempts, counts, evaluations, refused, repacked, scenarios
from tests.evals.artifact_reading import read as read_as

FILES = ARTIFACTS / "deepeval"
BASIC = (FILES / "test_run_basic.json").read_bytes()
ERRORS = (FILES / "test_run_metric_errors.json").read_bytes()


def metric(success=True, **members):
    return {"name": "Contains", "threshold": 0.5, "success": success, "score": 1.0, "reason": "r"} | members


def case(*metrics, name="a", **members):
    return {"name": name, "input": "q", "actualOutput": "a", "success": True, "metricsData": list(metrics)} | members


def test_run(*cases, **members):
    return {"testCases": list(cases), "conversationalTestCases": [], "metricsScores": [], "identifier": "i"} | members


test_run.__test__ = False


def read(content):
    return read_as(content, "deepeval")


def judged(content):
    (evaluation,) = evaluations(read(test_run(content)))
    return evaluation.outcome, evaluation.reason_code, evaluation.reported_outcome


# -- the real files


@pytest.mark.parametrize(("content", "expected"), [(BASIC, (5, 3, 2, 0, 0)), (ERRORS, (10, 3, 6, 0, 1))])
def test_counts_of_the_real_files(content, expected):
    assert counts(evaluations(read(content))) == expected


def test_the_run_of_the_real_file():
    run, *_, end = read(ERRORS)
    assert (run.suite, run.model, run.producer_name) == ("ci-errors", "mock-1", "deepeval")
    assert (run.started_at, run.planned) == (None, None)
    assert run.reported_totals == {"testPassed": 0, "testFailed": 5, "passes": 3, "fails": 6, "errors": 1}
    assert run.extras["hyperparameters"] == {"model": "mock-1", "prompt": "v2"}
    assert end.notes == (
        "The file has no start time.",
        "1 case named by position (test_case_<n>): compare such cases only in the same order.",
        "testPassed and testFailed count test cases, not evaluations; a metric that broke is failed there.",
        "1 evaluation is ERROR where DeepEval says FAIL (metric_error).",
    )


def test_a_metric_that_broke_is_the_graders_fault():
    (broken,) = [e for e in evaluations(read(ERRORS)) if e.outcome is Outcome.ERROR]
    assert (broken.fault, broken.finding, broken.reported_outcome) == (Fault.GRADER, None, Outcome.FAIL)
    assert broken.reason == "RuntimeError: metric backend down – 503"


def test_a_case_of_the_real_file():
    records = read(BASIC)
    scenario, attempt = scenarios(records)[1], attempts(records)[0]
    assert (scenario.key, scenario.adversarial, scenario.class_id) == ("inject-01", True, "")
    assert attempts(records)[1].evaluations[0].categories == {Category.SECURITY}
    assert attempts(records)[1].evaluations[0].finding is Finding.UNCLASSIFIED
    assert (attempt.variant, attempt.latency_ms, attempt.cost_nano) == ("mock-1", 210, 400_000)
    assert (attempt.input, attempt.output, attempt.place) == ("refund?", "30 days", "/testCases/0")
    (step,) = attempt.steps
    assert (step.tool, step.arguments, step.result, len(step.arguments_sha256)) == (
        "lookup_order",
        {"id": 12},
        "ok",
        64,
    )


def test_the_same_text_however_it_is_saved():
    plain, *others = (read(content) for content in repacked(json.dumps(json.loads(ERRORS), indent=1).encode()))
    assert plain[1:] == read(ERRORS)[1:]
    assert all(other == plain for other in others)


def test_the_wrapper_of_the_latest_run():
    wrapped = read({"testRunData": json.loads(ERRORS), "testRunLink": None})
    assert evaluations(wrapped) == evaluations(read(ERRORS))
    assert attempts(wrapped)[0].place == "/testRunData/testCases/0"


# -- outcomes


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, (Outcome.PASS, "", None)),
        ({"success": False, "score": 0}, (Outcome.FAIL, "", None)),
        ({"success": None}, (Outcome.UNKNOWN, "no_verdict", None)),
        ({"success": False, "error": "503", "score": None}, (Outcome.ERROR, "metric_error", Outcome.FAIL)),
        ({"success": True, "error": "503"}, (Outcome.ERROR, "metric_error", Outcome.PASS)),
        ({"skipped": True}, (Outcome.UNKNOWN, "skipped", Outcome.PASS)),
        ({"success": False, "score": float("nan")}, (Outcome.UNKNOWN, "score_not_finite", Outcome.FAIL)),
        ({"success": True, "score": float("inf")}, (Outcome.UNKNOWN, "score_not_finite", Outcome.PASS)),
        ({"success": False, "score": float("nan"), "error": "503"}, (Outcome.ERROR, "metric_error", Outcome.FAIL)),
    ],
)
def test_outcomes(members, expected):
    assert judged(case(metric(**members))) == expected


def test_a_missing_verdict_is_like_null():
    content = metric()
    del content["success"]
    assert judged(case(content)) == (Outcome.UNKNOWN, "no_verdict", None)


@pytest.mark.parametrize("metrics", [{"metricsData": []}, {"metricsData": None}])
def test_a_case_without_metrics_is_unknown(metrics):
    assert judged(case() | metrics) == (Outcome.UNKNOWN, "no_metrics", Outcome.PASS)


def test_differences_are_counted():
    *_, end = read(test_run(case(), case(name="b"), case(metric(skipped=True), name="c")))
    assert end.notes[1:] == (
        "2 evaluations are UNKNOWN where DeepEval says PASS (no_metrics).",
        "1 evaluation is UNKNOWN where DeepEval says PASS (skipped).",
    )


def test_nan_behind_a_long_run_is_found():
    cases = [case(metric(), name=f"c{n}", actualOutput="x" * 700) for n in range(100)]
    content = test_run(*cases, case(metric(False, score=float("nan"))))
    assert counts(evaluations(read(content))) == (101, 100, 0, 1, 0)


def test_older_files_name_the_metrics_otherwise():
    older = json.loads(ERRORS)
    for each in older["testCases"]:
        each["metricsMetadata"] = [m | {"metric": m.pop("name")} for m in each.pop("metricsData")]
    assert evaluations(read(older)) == evaluations(read(ERRORS))


def test_metrics_of_spans_are_noted_and_not_counted():
    trace = {"metricsData": None, "agentSpans": [{"metricsData": [metric()], "x": [[{"metricsData": [metric()] * 2}]]}]}
    *records, end = read(test_run(case(metric(), trace=trace)))
    assert counts(evaluations(records)) == (1, 1, 0, 0, 0)
    assert end.notes[1] == "3 metrics of spans inside traces not counted: only a test case's own are evaluations."


# -- who judged


def test_the_configuration_tells_definitions_apart():
    variants = [{}, {"threshold": 0.7}, {"strictMode": True}, {"evaluationModel": "gpt"}, {"name": "Other"}]
    found = {e.evaluator for e in evaluations(read(test_run(case(*(metric(**members) for members in variants)))))}
    assert len(found) == 5
    assert {evaluator.version for evaluator in found} == {""}


@pytest.mark.parametrize(
    ("members", "deterministic"),
    [
        ({"evaluationModel": "none"}, True),
        ({}, True),
        ({"evaluationModel": "gpt-9"}, False),
        ({"name": "Tone [GEval]"}, False),
        ({"name": "Tone [Conversational GEval]"}, False),
        ({"name": "Tree [DAG]"}, False),
    ],
)
def test_judges_that_are_models(members, deterministic):
    (evaluation,) = evaluations(read(test_run(case(metric(**members)))))
    assert isinstance(evaluation.evaluator, EvaluatorRecord)
    assert evaluation.evaluator.deterministic is deterministic


# -- cases


@pytest.mark.parametrize(
    ("members", "class_id", "categories", "adversarial"),
    [
        ({"metadata": {"category": "cost", "class": "budget"}}, "budget", {Category.COST}, False),
        ({"metadata": {"category": "tone"}}, "tone", None, False),
        ({"additionalMetadata": {"class": "leak", "adversarial": True}}, "leak", None, True),
        ({"additionalMetadata": {"class": "a"}, "metadata": {"class": "b"}}, "b", None, False),
        ({"tags": ["security", "policy"]}, "", {Category.SECURITY, Category.POLICY}, False),
        ({"tags": ["adversarial", "prompt-injection"]}, "prompt-injection", None, True),
        ({"tags": "security", "metadata": ["x"]}, "", None, False),
    ],
)
def test_class_category_and_attack(members, class_id, categories, adversarial):
    records = read(test_run(case(metric(), **members)))
    (scenario,) = scenarios(records)
    assert (scenario.class_id, scenario.adversarial) == (class_id, adversarial)
    assert evaluations(records)[0].categories == categories


def test_equal_names_are_numbered():
    records = read(test_run(case(metric()), case(metric(False)), case(metric(), name="b")))
    assert [(a.scenario, a.ordinal) for a in attempts(records)] == [("a", 1), ("a", 2), ("b", 1)]
    assert len(scenarios(records)) == 2


def test_a_name_that_is_missing_is_its_position():
    *_, attempt, end = read(test_run(case(metric(), name=None)))
    assert attempt.scenario == "test_case_0"
    assert "1 case named by position" in end.notes[1]


def test_conversations_are_cases_of_the_same_kind():
    turns = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "yes", "toolsCalled": [{"name": "find", "inputParameters": {}}]},
    ]
    conversation = {"name": "talk", "scenario": "greets", "turns": turns, "metricsData": [metric()]}
    records = read(test_run(case(metric()), conversationalTestCases=[conversation, {"metricsData": [metric(False)]}]))
    _, attempt, unnamed = attempts(records)
    assert (attempt.input, attempt.output) == ("greets", "user: hi\n\nassistant: yes")
    assert ([step.tool for step in attempt.steps], attempt.place) == (["find"], "/conversationalTestCases/0")
    assert unnamed.scenario == "conversational_test_case_1"


def test_a_run_without_cases_is_taken():
    assert len(read(test_run(testPassed=0, testFailed=0))) == 2


def test_cases_that_the_tool_lost_are_shown():
    scores = [{"metric": "Contains", "scores": [], "passes": 2, "fails": 1, "errors": 0}]
    *_, end = read(test_run(case(metric()), testPassed=2, testFailed=1, metricsScores=scores))
    assert "DeepEval counts 3 test cases, the file holds 1." in end.notes
    assert "DeepEval's metricsScores count 3, the file holds 1 evaluation." in end.notes


def test_many_tool_calls_are_cut_and_noted():
    *_, attempt, end = read(test_run(case(metric(), toolsCalled=[{"name": "t"}] * 1002)))
    assert len(attempt.steps) == 1000
    assert "2 tool calls beyond 1000 of an attempt left out." in end.notes


def test_hostile_text_and_long_names():
    records = read(test_run(case(metric(reason="\x00\ud800"), name="n" * 300)))
    assert len(attempts(records)[0].scenario) == 200
    assert evaluations(records)[0].reason == "\ufffd\ufffd"


# -- refusals


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (test_run(case(metric()), 7), "/testCases/1"),
        (test_run(case("metric")), "/testCases/0/metricsData/0"),
        (test_run(case(metric(success="yes"))), "/testCases/0/metricsData/0/success"),
        (test_run(case(metricsData={})), "/testCases/0/metricsData"),
        (test_run(case(metric(), toolsCalled=[1])), "/testCases/0/toolsCalled/0"),
        (test_run(testCases={}), "/testCases"),
        ({"testRunData": test_run(case(7))}, "/testRunData/testCases/0/metricsData/0"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(content, pointer):
    refusal = refused(content)
    assert (refusal.status, refusal.problems[0].pointer) == (422, pointer)


def test_the_cache_is_a_near_miss():
    for options in ({}, {"format": "deepeval"}):
        refusal = refused({"test_cases_lookup_map": {}}, **options)
        assert refusal.status == 415
        assert ".latest_test_run.json" in refusal.detail


@pytest.mark.parametrize("content", [{}, [], {"testRunData": {}}])
def test_other_json_is_refused_when_deepeval_was_told(content):
    assert refused(content, format="deepeval").status == 415


def test_a_cut_file_is_refused_with_its_line():
    refusal = refused(BASIC[:-40])
    assert (refusal.status, refusal.problems[0].line) == (400, 1)


def test_other_formats_keep_their_files():
    assert detect(b'{"testCases": [], "results": {}}') is None
