"""promptfoo: its shapes, keys and the strict outcomes of rule 10."""

import io
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import Limits, open_records
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Category,
    EndRecord,
    Fault,
    Finding,
    Outcome,
    RunRecord,
    ScenarioRecord,
)

ARTIFACTS = Path(__file__).parent.parent / "artifacts" / "promptfoo"
PASSED = {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": {"type": "contains", "value": "a"}}
FAILED = {"pass": False, "score": 0, "reason": "Expected a", "assertion": {"type": "contains", "value": "a"}}
GRADER_DOWN = {"pass": False, "score": 0, "reason": "HTTP 500", "metadata": {"graderError": True}}
THREW = {"pass": False, "score": 0, "reason": "Custom function threw error: x\nStack Trace: y"}
PYTHON_THREW = {"pass": False, "score": 0, "reason": "Python code execution failed: x"}

OPEN = {"pass": None, "score": None, "reason": "", "assertion": {"type": "llm-rubric", "value": "a"}}


def judgement(passed, *parts):
    return {"pass": passed, "score": 1, "reason": "", "componentResults": list(parts)}


def row(*parts, success=True, failure=None, **members):
    reason = "All assertions passed" if success else "failed"
    grading = {"pass": success, "score": 1, "reason": reason, "componentResults": list(parts)}
    content = {
        "success": success,
        "failureReason": (0 if success else 1) if failure is None else failure,
        "promptIdx": 0,
        "testIdx": 0,
        "provider": {"id": "openai:gpt", "label": ""},
        "prompt": {"raw": "Say {{q}}", "label": "v1"},
        "vars": {"q": "hello"},
        "testCase": {"vars": {"q": "hello"}, "assert": [part.get("assertion") for part in parts]},
        "gradingResult": grading,
    }
    return content | members


def results(*rows, **members):
    return {"evalId": "e", "results": {"version": 3, "results": list(rows), "stats": {}}, "config": {}} | members


def read(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    name, records = open_records(io.BytesIO(content))
    assert name == "promptfoo"
    return list(records)


def attempts(records):
    return [record for record in records if isinstance(record, AttemptRecord)]


def judged(content):
    (attempt,) = attempts(read(results(content)))
    (evaluation,) = attempt.evaluations
    return evaluation.outcome, evaluation.reason_code, evaluation.reported_outcome


def refused(content, **options):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    with pytest.raises(ImportRefused) as refusal:
        list(open_records(io.BytesIO(content), **options)[1])
    return refusal.value


# -- the real files


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_counts_of_the_real_run(name):
    records = read((ARTIFACTS / name).read_bytes())
    evaluations = [evaluation for attempt in attempts(records) for evaluation in attempt.evaluations]
    assert Counter(evaluation.outcome for evaluation in evaluations) == {
        Outcome.PASS: 12,
        Outcome.FAIL: 4,
        Outcome.UNKNOWN: 4,
        Outcome.ERROR: 16,
    }
    assert Counter((e.reported_outcome, e.reason_code) for e in evaluations if e.reported_outcome) == {
        (Outcome.PASS, "no_assertions"): 4,
        (Outcome.FAIL, "grader_error"): 4,
        (Outcome.FAIL, "assertion_error"): 4,
    }


def test_the_run_of_the_real_file():
    run, *_, end = read((ARTIFACTS / "results.json").read_bytes())
    assert run == RunRecord(
        label="eval-kln-2026-11-30T17:47:32",
        suite="support-agent nightly ✓",
        agent_version="2.4.1",
        commit="0f3c2b7d",
        branch="main",
        started_at=datetime(2026, 11, 30, 17, 47, 32, 579000, tzinfo=UTC),
        finished_at=datetime(2026, 11, 30, 17, 48, 4, 650000, tzinfo=UTC),
        producer_name="promptfoo",
        producer_version="0.123.1",
        reported_totals={"successes": 16, "failures": 12, "errors": 8},
        extras={"tags": {"agent": "support-agent", "branch": "main", "commit": "0f3c2b7d", "version": "2.4.1"}},
    )
    assert "4 rows are UNKNOWN where promptfoo says PASS (no_assertions)." in end.notes


def test_lines_have_no_header_and_say_so():
    run, *_, end = read((ARTIFACTS / "results.jsonl").read_bytes())
    assert (run.label, run.suite, run.started_at, run.reported_totals) == ("", "", None, {})
    assert "no header" in end.notes[0]


def test_document_and_lines_give_the_same_attempts():
    ours = [
        {(a.scenario, a.variant, a.ordinal): a.evaluations for a in attempts(read((ARTIFACTS / name).read_bytes()))}
        for name in ("results.json", "results.jsonl")
    ]
    assert len(ours[0]) == 36
    assert ours[0] == ours[1]


def test_an_attempt_of_the_real_file():
    records = read((ARTIFACTS / "results.json").read_bytes())
    scenario = next(record for record in records if isinstance(record, ScenarioRecord) and record.adversarial)
    attempt = next(a for a in attempts(records) if a.scenario == "inject-01 | v1" and "weak" in a.variant)

    assert (scenario.key, scenario.title, scenario.class_id) == ("inject-01 | v1", "prompt leak", "")
    assert scenario.extras == {"pluginId": "prompt-extraction", "severity": "high"}
    assert attempt.variant == "mock-weak (file://prov.cjs)"
    assert attempt.input.startswith("You are a support agent.")
    (evaluation,) = attempt.evaluations
    assert (evaluation.indicator, evaluation.evaluator.name) == ("row", "promptfoo")
    assert (evaluation.outcome, evaluation.finding, evaluation.score) == (Outcome.FAIL, Finding.UNCLASSIFIED, 0.2)
    assert evaluation.categories == {Category.SECURITY}
    assert [part["metric"] for part in evaluation.components] == ["security/leak", "quality/brevity"]
    assert evaluation.evidence == {"named_scores": {"quality/brevity": 0.8, "security/leak": 0}}


def test_cost_latency_tokens_and_tool_calls():
    attempt = attempts(read((ARTIFACTS / "results.json").read_bytes()))[0]
    assert (attempt.cost_nano, attempt.latency_ms) == (510_000, 31)
    assert (attempt.tokens_input, attempt.tokens_output) == (51, 36)
    assert [step.tool for step in attempt.steps] == ["lookup_order"]
    assert attempt.place == "/results/results/0"


def test_a_crashed_provider_crashes_the_attempt():
    crashed = [a for a in attempts(read((ARTIFACTS / "results.json").read_bytes())) if a.scenario.startswith("crash")]
    assert {a.status for a in crashed} == {AttemptStatus.CRASHED}
    assert crashed[0].error.startswith("Error: connect ECONNREFUSED")


def test_the_csv_is_refused_with_a_hint():
    refusal = refused((ARTIFACTS / "results.csv").read_bytes())
    assert refusal.status == 415
    assert "results.json" in refusal.detail


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0"?>\n<promptfoo><results><security/leak>1</security/leak></results></promptfoo>',
        b"evalId: eval-1\nresults:\n  version: 3\n",
    ],
)
def test_xml_and_yaml_are_refused_with_a_hint(content):
    refusal = refused(content)
    assert refusal.status == 415
    assert "results.json" in refusal.detail


# -- outcomes


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (row(PASSED), (Outcome.PASS, "", None)),
        (row(FAILED, success=False), (Outcome.FAIL, "", None)),
        (row(PASSED, FAILED), (Outcome.PASS, "", None)),  # by its threshold
        (row(), (Outcome.UNKNOWN, "no_assertions", Outcome.PASS)),
        (row(success=False, failure=2, gradingResult=None, error="503"), (Outcome.ERROR, "provider_error", None)),
        (row(success=False, failure=1, gradingResult=None, error="x"), (Outcome.FAIL, "", None)),
        (row(FAILED, success=False, error="Expected a"), (Outcome.FAIL, "", None)),
        (row(GRADER_DOWN, success=False), (Outcome.ERROR, "grader_error", Outcome.FAIL)),
        (row(GRADER_DOWN, PASSED, success=False), (Outcome.ERROR, "grader_error", Outcome.FAIL)),
        (row(GRADER_DOWN, FAILED, success=False), (Outcome.FAIL, "", None)),
        (row(GRADER_DOWN, PASSED), (Outcome.ERROR, "grader_error", Outcome.PASS)),
        (row(THREW, success=False), (Outcome.ERROR, "assertion_error", Outcome.FAIL)),
        (row(PYTHON_THREW, success=False), (Outcome.ERROR, "assertion_error", Outcome.FAIL)),
        (row(THREW, FAILED, success=False), (Outcome.FAIL, "", None)),
        (row(THREW, GRADER_DOWN, success=False), (Outcome.ERROR, "grader_error", Outcome.FAIL)),
        (row({"componentResults": [GRADER_DOWN]}, success=False), (Outcome.ERROR, "grader_error", Outcome.FAIL)),
        (row({"pass": False, "componentResults": [FAILED]}, success=False), (Outcome.FAIL, "", None)),
        (row(PASSED, success=None, failure=0), (Outcome.UNKNOWN, "no_verdict", None)),
        (row(PASSED, success="true"), (Outcome.UNKNOWN, "no_verdict", None)),
        (row(PASSED, gradingResult=None), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(PASSED, gradingResult={}), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(gradingResult=None), (Outcome.UNKNOWN, "no_assertions", Outcome.PASS)),
        (row(PASSED, OPEN), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(OPEN), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(OPEN | {"pass": "true"}), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row({"componentResults": [OPEN]}), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(OPEN, success=False), (Outcome.UNKNOWN, "not_judged", Outcome.FAIL)),
        (row(OPEN, FAILED, success=False), (Outcome.FAIL, "", None)),
        (row(PASSED, gradingResult=judgement(None, PASSED)), (Outcome.UNKNOWN, "not_judged", Outcome.PASS)),
        (row(PASSED, success=False, gradingResult=judgement(None)), (Outcome.UNKNOWN, "not_judged", Outcome.FAIL)),
        (row(PASSED, failure=1), (Outcome.UNKNOWN, "contradiction", Outcome.PASS)),
        (row(PASSED, failure=2), (Outcome.UNKNOWN, "contradiction", Outcome.PASS)),
        (row(PASSED, error="503"), (Outcome.UNKNOWN, "contradiction", Outcome.PASS)),
        (row(PASSED, error=""), (Outcome.PASS, "", None)),
        (row(PASSED, gradingResult=judgement(False, PASSED)), (Outcome.UNKNOWN, "contradiction", Outcome.PASS)),
    ],
)
def test_outcome_of_a_row(content, expected):
    assert judged(content) == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"success": True, "gradingResult": {"pass": True, "componentResults": [PASSED]}}, Outcome.PASS),
        ({"success": False, "gradingResult": {"pass": False, "componentResults": [FAILED]}}, Outcome.FAIL),
        ({"success": False, "gradingResult": None, "error": "ECONNREFUSED"}, Outcome.ERROR),
        ({"success": True, "gradingResult": {"pass": True, "reason": "No assertions"}}, Outcome.UNKNOWN),
    ],
)
def test_version_2_has_no_failure_reason(members, expected):
    content = {"provider": "openai:gpt-4", "prompt": {"raw": "Say", "display": "Say"}, "vars": {"q": "a"}} | members
    document = {"results": {"version": 2, "results": [content], "stats": {"successes": 1}, "table": {}}, "config": {}}
    (attempt,) = attempts(read(document))
    assert attempt.evaluations[0].outcome is expected
    assert attempt.variant == "openai:gpt-4"


def test_a_part_without_a_verdict_is_kept_as_such():
    (attempt,) = attempts(read(results(row(PASSED, OPEN))))
    assert [part["pass"] for part in attempt.evaluations[0].components] == [True, None]


def test_a_broken_judge_is_the_grader_s_fault():
    (attempt,) = attempts(read(results(row(GRADER_DOWN, success=False))))
    assert attempt.evaluations[0].fault is Fault.GRADER
    assert attempt.evaluations[0].components[0]["broken"] == "grader_error"


# -- keys


def keys(*rows):
    return [(a.scenario, a.variant, a.ordinal) for a in attempts(read(results(*rows)))]


def test_case_id_before_description_before_variables():
    def case(**test):
        return row(PASSED, testCase={"vars": {}, "assert": [], **test}, vars={"q": "x"})

    found = [
        scenario
        for scenario, _, _ in keys(case(metadata={"id": 7}, description="words"), case(description="words"), case())
    ]
    assert found[:2] == ["7 | v1", "words | v1"]
    assert found[2].startswith("vars-")
    assert len(found[2]) == len("vars-0123456789abcdef | v1")


def test_variables_name_the_case_whatever_their_order():
    one, two = row(PASSED, vars={"a": 1, "b": 2}), row(PASSED, vars={"b": 2, "a": 1.0})
    other = row(PASSED, vars={"a": 1, "b": 3})
    first, second, third = (scenario for scenario, _, _ in keys(one, two, other))
    assert first == second != third


def test_repeats_count_up_in_the_order_of_tests():
    rows = [row(PASSED, testIdx=index, id=str(index)) for index in (2, 0, 1)]
    found = attempts(read(results(*rows)))
    assert [(a.ordinal, a.extras["row_id"]) for a in found] == [(1, "0"), (2, "1"), (3, "2")]


def test_columns_of_equal_providers_stay_apart():
    first, second, third = (row(PASSED, promptIdx=index) for index in (0, 1, 2))
    third["provider"] = {"id": "other"}
    assert {variant for _, variant, _ in keys(third, second, first)} == {"openai:gpt", "openai:gpt #2", "other"}
    assert {ordinal for _, _, ordinal in keys(first, second, third)} == {1}


def test_columns_of_different_prompts_are_one_variant():
    first, second = row(PASSED), row(PASSED, promptIdx=1, prompt={"raw": "x", "label": "v2"})
    assert keys(first, second) == [(scenario, "openai:gpt", 1) for scenario, _, _ in keys(first, second)]


def test_keys_of_long_prompts_stay_short_and_apart():
    long = "Say nothing but the truth about everything. " * 20
    one, two = (row(PASSED, prompt={"raw": long, "label": long + end}) for end in ("a", "b"))
    (first, _, _), (second, _, _) = keys(one, two)
    assert first != second
    assert max(len(first), len(second)) <= 200
    assert "\n" not in first


def test_the_definition_follows_the_assertions():
    def evaluator(*parts, **test):
        content = row(*parts)
        content["testCase"] |= test
        (attempt,) = attempts(read(results(content)))
        return attempt.evaluations[0].evaluator

    assert evaluator(PASSED) == evaluator(PASSED)
    other = PASSED | {"assertion": {"type": "contains", "value": "b"}}
    assert evaluator(PASSED).version != evaluator(other).version
    assert evaluator(PASSED).configuration_sha256 != evaluator(PASSED, threshold=0.5).configuration_sha256
    assert evaluator(PASSED).deterministic is True
    graded = PASSED | {"assertion": {"type": "assert-set", "assert": [{"type": "not-llm-rubric", "value": "rude"}]}}
    assert evaluator(graded).deterministic is False
    assert evaluator(PASSED).per_case is True


@pytest.mark.parametrize(
    ("metadata", "class_id", "categories", "adversarial"),
    [
        ({}, "", None, False),
        ({"category": "cost"}, "", {Category.COST}, False),
        ({"category": "billing"}, "billing", None, False),
        ({"category": "billing", "class": "refunds"}, "refunds", None, False),
        ({"category": "security", "class": "refunds"}, "refunds", {Category.SECURITY}, False),
        ({"category": ["security"], "class": 7}, "7", None, False),
        ({"strategyId": "base64"}, "", None, True),
        ({"adversarial": True}, "", None, True),
    ],
)
def test_class_category_and_attack(metadata, class_id, categories, adversarial):
    content = row(PASSED)
    content["testCase"]["metadata"] = metadata
    _, scenario, attempt, _ = read(results(content))
    assert (scenario.class_id, scenario.adversarial) == (class_id, adversarial)
    assert attempt.evaluations[0].categories == categories


# -- shapes


def test_bare_summary():
    summary = {"version": 3, "timestamp": "2026-11-30T17:47:32.579Z", "prompts": [], "results": [row(PASSED)]}
    run, _, attempt, _ = read(summary | {"stats": {"successes": 1, "failures": 0, "errors": 0, "durationMs": 1000}})
    assert run.started_at == datetime(2026, 11, 30, 17, 47, 32, 579000, tzinfo=UTC)
    assert (run.finished_at - run.started_at).total_seconds() == 1
    assert attempt.place == "/results/0"


def test_one_line_of_lines():
    _, _, attempt, end = read(row(PASSED))
    assert attempt.place == "line 1"
    assert "no header" in end.notes[0]


def test_a_dumped_eval_object_is_refused_with_a_hint():
    metrics = {"testPassCount": 3, "testFailCount": 1, "testErrorCount": 0}
    refusal = refused(
        {"id": "eval-1", "createdAt": 1, "prompts": [{"metrics": metrics}], "results": [], "_resultsLoaded": False}
    )
    assert (refusal.status, refusal.code) == (422, "no_rows")
    assert "promptfoo eval -o results.json" in refusal.detail


def test_counts_without_rows_are_refused():
    document = results()
    document["results"]["stats"] = {"successes": 3, "failures": 0, "errors": 0}
    assert refused(document).code == "no_rows"


def test_an_empty_run_is_taken():
    document = results()
    document["results"] |= {"timestamp": "2026-11-30T17:47:32Z", "stats": {"successes": 0, "failures": 0, "errors": 0}}
    run, end = read(document)
    assert run.label == "e"
    assert end == EndRecord()


def test_rows_that_the_tool_lost_are_shown():
    document = results(row(PASSED))
    document["results"]["stats"] = {"successes": 2, "failures": 1, "errors": 0}
    run, *_, end = read(document)
    assert (run.planned, run.reported_totals) == (3, {"successes": 2, "failures": 1, "errors": 0})
    assert end.notes == ("promptfoo counts 3 rows, the file holds 1: 2 were lost.",)


def test_keys_behind_a_long_configuration_are_found():
    configuration = {"tests": ["x" * 1000] * 100}
    document = {"config": configuration, "results": results(row(PASSED))["results"], "evalId": "e"}
    assert json.dumps(document).index('"results"') > 64 * 1024
    assert len(attempts(read(document))) == 1


@pytest.mark.parametrize(
    ("content", "pointer", "line"),
    [
        (json.dumps(results(row(PASSED), None)).encode(), "/results/results/1", None),
        (json.dumps(row(PASSED)).encode() + b"\n[]\n", "", 2),
    ],
)
def test_what_is_no_row_is_refused(content, pointer, line):
    refusal = refused(content)
    assert (refusal.status, refusal.problems[0].pointer, refusal.problems[0].line) == (422, pointer, line)


def test_a_broken_line_is_refused_by_number():
    refusal = refused(json.dumps(row(PASSED)).encode() + b'\n{"success": true,\n')
    assert (refusal.status, refusal.problems[0].line) == (400, 2)


def test_lines_over_the_limit_are_refused():
    content = b"\n".join([json.dumps(row(PASSED)).encode()] * 3)
    assert refused(content, limits=Limits(max_document_bytes=1000)).status == 413


def test_other_json_is_refused_when_promptfoo_was_told():
    assert refused({"cases": []}, format="promptfoo").status == 415


# -- odd values


def test_output_that_is_an_object_becomes_text():
    (attempt,) = attempts(read(results(row(PASSED, response={"output": {"a": ["é"]}}))))
    assert attempt.output == '{"a": ["é"]}'


def test_non_finite_and_impossible_numbers_are_left_out():
    content = json.dumps(results(row(PASSED, score="SCORE", cost=-1, latencyMs=1e400, tokenUsage={"prompt": 2**63})))
    (attempt,) = attempts(read(content.replace('"SCORE"', "NaN").encode()))
    assert (attempt.cost_nano, attempt.latency_ms, attempt.tokens_input) == (None, None, None)
    assert attempt.evaluations[0].score is None


def test_hostile_text_is_kept_but_storable():
    content = row(PASSED, response={"output": "<script>\x00\ud800\x1b[31m\U000e0041"})
    (attempt,) = attempts(read(results(content)))
    assert attempt.output == "<script>\ufffd\ufffd\x1b[31m\U000e0041"


def test_long_outputs_are_cut_and_noted():
    *_, attempt, end = read(results(row(PASSED, response={"output": "a" * 30_000})))
    assert len(attempt.output) == 20_000
    assert end.notes == ("1 text was longer than 20000 characters and cut.",)


def test_tool_calls_in_their_shapes():
    calls = [
        {"name": "a", "arguments": {"x": 1}},
        {"function": {"name": "b", "arguments": '{"x": 1}'}},
        {"tool": "c"},
        {"nothing": 1},
        "text",
    ]
    (attempt,) = attempts(read(results(row(PASSED, response={"output": "", "metadata": {"toolCalls": calls}}))))
    assert [(step.tool, bool(step.arguments_sha256)) for step in attempt.steps] == [
        ("a", True),
        ("b", True),
        ("c", False),
    ]


def test_tags_that_are_no_text():
    run = read(results(row(PASSED), config={"tags": {"version": 2, "commit": None, "ci_url": "javascript:1"}}))[0]
    assert (run.agent_version, run.commit, run.ci_url) == ("2", "", "")


def test_a_single_provider_is_the_model():
    assert read(results(row(PASSED)))[0].model == "openai:gpt"
