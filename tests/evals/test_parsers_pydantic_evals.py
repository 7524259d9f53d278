"""pydantic-evals: assertions, evaluators that broke, agents that raised, repeats."""

import json

import pytest

from evals.parsers import detect
from evals.records import AttemptStatus, Category, Fault, Finding, Outcome
from tests.evals.artifact_reading import ARTIFACTS, attempts, counts, evaluations, refused, repacked, scenarios
from tests.evals.artifact_reading import read as read_as

FILES = ARTIFACTS / "pydantic-evals"
BASIC = (FILES / "basic.json").read_bytes()
REPEATED = (FILES / "repeat2.json").read_bytes()
FAILURE = {"name": "Judge", "error_message": "ValueError: x", "source": {"name": "Judge", "arguments": None}}


def assertion(value=True, **members):
    return {"name": "Contains", "value": value, "source": {"name": "Contains", "arguments": ["a"]}} | members


def case(name="a", **assertions):
    return {"name": name, "inputs": "q", "output": "o", "assertions": assertions, "evaluator_failures": []}


def report(*cases, failures=(), **members):
    document = {"name": "r", "cases": list(cases), "failures": list(failures), "report_evaluator_failures": []}
    return document | members


def read(content):
    return read_as(content, "pydantic-evals")


# -- the real files


@pytest.mark.parametrize(("content", "expected"), [(BASIC, (13, 9, 1, 0, 3)), (REPEATED, (14, 8, 2, 0, 4))])
def test_counts_of_the_real_files(content, expected):
    assert counts(evaluations(read(content))) == expected


def test_the_run_of_the_real_file():
    run, *_, end = read(BASIC)
    assert (run.label, run.suite, run.model, run.commit) == ("ci-basic", "support-agent", "mock-1", "0f3c2b7d")
    assert (run.ci_url, run.started_at, run.reported_totals) == ("https://ci.example.test/runs/4711", None, {})
    assert end.notes == (
        "The file has no start time.",
        "1 case named by position (Case <n>): compare such cases only in the same order.",
    )


def test_a_case_of_the_real_file():
    records = read(BASIC)
    attempt = attempts(records)[0]
    assert (attempt.cost_nano, attempt.place, attempt.output) == (300_000, "/cases/0", "Refund within 30 days")
    assert attempt.latency_ms == pytest.approx(0.020197)
    assert attempt.extras["scores"]["quality"]["value"] == 0.5
    assert attempt.extras["labels"]["tone"]["value"] == "neutral"
    assert attempt.extras["metrics"] == {"cost_usd": 0.0003, "tool_calls": 2}
    assert [e.indicator for e in attempt.evaluations] == ["Contains", "IsInstance", "polite"]
    polite = attempt.evaluations[2].evaluator
    assert (polite.name, polite.deterministic, polite.configuration_sha256) == ("Judge", False, "")
    contains = attempt.evaluations[0].evaluator
    assert (contains.deterministic, len(contains.configuration_sha256)) == (True, 64)
    assert scenarios(records)[1].adversarial
    failed = attempts(records)[1].evaluations[0]
    assert (failed.outcome, failed.finding, failed.categories) == (
        Outcome.FAIL,
        Finding.UNCLASSIFIED,
        {Category.SECURITY},
    )


def test_what_broke_is_an_error():
    crashed = attempts(read(BASIC))[-1]
    (crash,) = crashed.evaluations
    assert (crashed.status, crashed.error) == (AttemptStatus.CRASHED, "RuntimeError: agent crashed: 503 ✗")
    assert (crash.outcome, crash.reason_code, crash.indicator) == (Outcome.ERROR, "agent_raised", "execution")
    assert crash.evidence["error_stacktrace"].startswith("Traceback")
    judge = attempts(read(BASIC))[2].evaluations[-1]
    assert (judge.outcome, judge.fault, judge.reason_code) == (Outcome.ERROR, Fault.GRADER, "evaluator_error")
    assert (judge.reason, judge.evidence["error_type"]) == ("ValueError: judge exploded", "ValueError")


def test_repeats_of_the_real_file():
    places = [(attempt.scenario, attempt.ordinal) for attempt in attempts(read(REPEATED))]
    assert places == [(key, number) for key in ("refund-01", "inject-01", "crash-01") for number in (1, 2)]


def test_the_same_text_however_it_is_saved():
    plain, *others = (read(content) for content in repacked(BASIC))
    assert all(other == plain for other in others)


def test_older_reports():
    document = json.loads(BASIC)
    for name in ("analyses", "report_evaluator_failures", "experiment_metadata", "dataset_name", "trace_id", "span_id"):
        del document[name]
    run, *_ = records = read(document)
    assert counts(evaluations(records)) == (13, 9, 1, 0, 3)
    assert (run.suite, run.commit) == ("", "")
    del document["failures"]
    for entry in document["cases"]:
        del entry["evaluator_failures"], entry["source_case_name"]
    assert counts(evaluations(read(document))) == (10, 9, 1, 0, 0)


# -- outcomes and keys


def test_a_case_that_nobody_judged_is_unknown():
    (evaluation,) = evaluations(read(report(case() | {"scores": {"q": {"value": 0.9}}})))
    assert (evaluation.outcome, evaluation.reason_code) == (Outcome.UNKNOWN, "no_assertions")


def test_an_evaluator_that_broke_is_enough():
    found = evaluations(read(report(case() | {"evaluator_failures": [FAILURE, FAILURE]})))
    assert [e.outcome for e in found] == [Outcome.ERROR] * 2


def test_null_is_no_verdict():
    (evaluation,) = evaluations(read(report(case(a=assertion(None)))))
    assert (evaluation.outcome, evaluation.reason_code) == (Outcome.UNKNOWN, "no_verdict")


def test_assertions_of_one_evaluator_are_told_apart_by_key():
    found = evaluations(read(report(case(polite=assertion(name="x"), brief=assertion(False, name="x")))))
    assert [(e.indicator, e.evaluator.name) for e in found] == [("polite", "Contains"), ("brief", "Contains")]


def test_a_repeat_that_failed_keeps_its_number():
    first = case("a [2/3]", x=assertion()) | {"source_case_name": "a"}
    second = case("a [3/3]", x=assertion()) | {"source_case_name": "a"}
    crashed = {"name": "a [1/3]", "source_case_name": "a", "error_message": "x"}
    records = read(report(first, second, failures=[crashed]))
    assert [(a.scenario, a.ordinal, a.status) for a in attempts(records)] == [
        ("a", 2, AttemptStatus.COMPLETED),
        ("a", 3, AttemptStatus.COMPLETED),
        ("a", 1, AttemptStatus.CRASHED),
    ]


def test_a_name_in_brackets_is_no_repeat():
    (attempt,) = attempts(read(report(case("a [2/3]", x=assertion()))))
    assert (attempt.scenario, attempt.ordinal) == ("a [2/3]", 1)


def test_equal_names_and_equal_repeats_are_numbered():
    repeats = [case("a [2/2]", x=assertion()) | {"source_case_name": "a"}] * 3
    records = read(report(*repeats, case("b", x=assertion()), case("b", x=assertion())))
    assert [(a.scenario, a.ordinal) for a in attempts(records)] == [("a", 2), ("a", 1), ("a", 3), ("b", 1), ("b", 2)]


def test_a_case_without_a_name_has_its_place():
    *_, attempt, end = read(report(case(None, x=assertion())))
    assert attempt.scenario == "unnamed /cases/0"
    assert "1 case named by position" in end.notes[1]


@pytest.mark.parametrize(
    ("metadata", "class_id", "categories", "adversarial"),
    [
        ({"class": "leak", "category": "policy", "adversarial": True}, "leak", {Category.POLICY}, True),
        ({"category": "tone"}, "tone", None, False),
        ("text", "", None, False),
    ],
)
def test_class_category_and_attack(metadata, class_id, categories, adversarial):
    records = read(report(case(x=assertion()) | {"metadata": metadata}))
    (scenario,) = scenarios(records)
    assert (scenario.class_id, scenario.adversarial) == (class_id, adversarial)
    assert evaluations(records)[0].categories == categories


def test_metrics_and_metadata():
    content = case(x=assertion()) | {"metrics": {"cost": 0, "input_tokens": 7, "output_tokens": 2}, "trace_id": "t"}
    told = {"branch": "main", "version": 3, "ci_url": "javascript:1", "model": "m"}
    run, _, attempt, _ = read(report(content, experiment_metadata=told))
    assert (attempt.cost_nano, attempt.tokens_input, attempt.tokens_output, attempt.trace_id) == (0, 7, 2, "t")
    assert (run.branch, run.agent_version, run.ci_url, run.model) == ("main", "3", "", "m")


def test_nan_is_left_out_of_what_is_kept():
    *_, attempt, end = read(
        report(case(x=assertion()) | {"scores": {"q": {"value": float("nan")}}, "task_duration": 1e307})
    )
    assert (attempt.extras["scores"], attempt.latency_ms) == ({"q": {"value": None}}, None)
    assert end.notes == ("The file has no start time.",)


def test_report_evaluators_that_failed_are_noted():
    *_, end = read(report(case(x=assertion()), report_evaluator_failures=[{"name": "Matrix"}, {"name": "Matrix"}]))
    assert end.notes[1] == "2 evaluators of the whole report failed: Matrix."


def test_an_empty_report_is_taken():
    assert len(read(report())) == 2


def test_hostile_text_is_kept_but_storable():
    (evaluation,) = evaluations(read(report(case(**{"k\x00": assertion(reason="<b>\ud800")}))))
    assert (evaluation.indicator, evaluation.reason) == ("k\ufffd", "<b>\ufffd")


# -- refusals


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (report(case(x=assertion()), 1), "/cases/1"),
        (report(case(**{"a/b~": assertion(1)})), "/cases/0/assertions/a~1b~0/value"),
        (report(case(x="PASS")), "/cases/0/assertions/x"),
        (report(case() | {"assertions": []}), "/cases/0/assertions"),
        (report(case() | {"evaluator_failures": [1]}), "/cases/0/evaluator_failures/0"),
        (report(failures={"a": 1}.keys()), "/failures/0"),
        (report(cases={}), "/cases"),
        (report(report_evaluator_failures={}), "/report_evaluator_failures"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(content, pointer):
    refusal = refused(content)
    assert (refusal.status, refusal.problems[0].pointer) == (422, pointer)


def test_a_cut_report_is_refused_with_its_line():
    refusal = refused(BASIC[:4000])
    assert (refusal.status, refusal.problems[0].line) == (400, BASIC[:4000].count(b"\n") + 1)


def test_other_json_is_refused_when_told():
    assert refused({"name": "a"}, format="pydantic-evals").status == 415
    assert refused([], format="pydantic-evals").status == 415


def test_other_formats_keep_their_files():
    assert detect(b'{"name": "a", "cases": [{"id": 1}]}') is None
    assert detect(b'[{"name": "a", "cases": [], "failures": [], "analyses": []}]') is None
