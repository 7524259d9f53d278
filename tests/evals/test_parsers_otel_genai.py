"""OpenTelemetry: evaluation results in logs and traces, as each exporter writes them."""

import base64
import json
from datetime import UTC, datetime

import pytest

from evals.records import AttemptStatus, Decision, Fault, Finding, Outcome
from tests.evals.artifact_reading import ARTIFACTS, attempts, counts, evaluations, lines, refused, repacked, scenarios
from tests.evals.artifact_reading import read as read_as

FILES = ARTIFACTS / "otel-genai"
LOGS = (FILES / "basic-logs.json").read_bytes()
TRACES = (FILES / "basic-traces.json").read_bytes()
EXPECTED = (5, 1, 1, 2, 1)
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
NANOS = 1_796_061_378_000_000_000
TIME = datetime(2026, 11, 30, 17, 56, 18, tzinfo=UTC)  # the same


def attributes(**values):
    """Write attributes; `gen_ai_` and the like become dotted names by the table."""
    return [{"key": NAMES.get(key, key), "value": typed(value)} for key, value in values.items() if value is not None]


NAMES = {
    "name": "gen_ai.evaluation.name",
    "score": "gen_ai.evaluation.score.value",
    "label": "gen_ai.evaluation.score.label",
    "error": "error.type",
    "case": "test.case.id",
    "response": "gen_ai.response.id",
    "model": "gen_ai.request.model",
    "operation": "gen_ai.operation.name",
    "service": "service.name",
    "version": "service.version",
    "tool": "gen_ai.tool.name",
    "arguments": "gen_ai.tool.call.arguments",
    "event": "event.name",
}


def typed(value):
    if isinstance(value, dict):
        return value
    kind = {bool: "boolValue", float: "doubleValue", int: "intValue", str: "stringValue"}[type(value)]
    return {kind: str(value) if kind == "intValue" else value}


def result(at=0, trace=TRACE, span=SPAN, event="gen_ai.evaluation.result", **values):
    told = attributes(**({"name": "Correctness", "label": "pass", "case": "a"} | values))
    record = {"timeUnixNano": str(NANOS + at), "attributes": told, "traceId": trace, "spanId": span}
    return record | ({"eventName": event} if event else {})


def logs(*records, service="agent", version="1"):
    resource = {"attributes": attributes(service=service, version=version)}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": list(records)}]}]}


def span(id=SPAN, parent="", start=0, end=1_000_000, events=(), trace=TRACE, name="invoke_agent x", **values):
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(NANOS + start),
        "endTimeUnixNano": str(NANOS + end),
        "attributes": attributes(**values),
        "events": [{"name": event.pop("eventName"), **event} for event in events],
    }


def tool(id, parent=SPAN, **values):
    return span(id, parent, name="execute_tool x", **({"operation": "execute_tool"} | values))


def traces(*spans):
    resource = {"attributes": attributes(service="agent", version="1")}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def read(content):
    return read_as(content, "otel-genai")


def judged(**values):
    (evaluation,) = evaluations(read(logs(result(**values))))
    return evaluation.outcome, evaluation.reason_code, evaluation.reported_outcome


# -- the real files


@pytest.mark.parametrize("content", [LOGS, TRACES])
def test_counts_of_the_real_files(content):
    assert counts(evaluations(read(content))) == EXPECTED


def test_the_run_of_the_real_files():
    for content, model in ((LOGS, ""), (TRACES, "mock-1")):
        run, *_, end = read(content)
        assert (run.agent_version, run.environment, run.commit, run.branch) == ("2.4.1", "ci", "0f3c2b7d", "main")
        assert (run.ci_url, run.model) == ("https://ci.example.test/runs/4711", model)
        assert (run.producer_name, run.producer_version) == ("opentelemetry", "1.45.2")
        assert run.started_at.replace(microsecond=0) == TIME
        assert run.started_at < run.finished_at
        assert end.notes == ()


def test_an_attempt_of_the_real_traces():
    attempt = attempts(read(TRACES))[0]
    (evaluation,) = attempt.evaluations
    assert (attempt.scenario, attempt.variant, attempt.ordinal) == ("refund-01", "mock-1", 1)
    assert (attempt.tokens_input, attempt.tokens_output) == (40, 8)
    assert attempt.latency_ms == pytest.approx(0.150742, abs=0.002)
    assert attempt.trace_id == "47020389939f76633116c35e918ba435"
    assert attempt.place == "/resourceSpans/0/scopeSpans/0/spans/0/events/0"
    assert (evaluation.indicator, evaluation.score, evaluation.reason) == ("Correctness", 1.0, "contains 30 days ✓")
    assert (evaluation.evaluator.name, evaluation.evaluator.version) == ("support-agent", "2.4.1")


def test_logs_and_traces_of_one_run_are_counted_once():
    *both, end = read(lines(json.loads(LOGS), json.loads(TRACES)))
    assert counts(evaluations(both)) == EXPECTED
    assert {attempt.variant for attempt in attempts(both)} == {"mock-1"}
    assert attempts(both)[0].tokens_input == 40
    assert end.notes == ("Not counted: 5 repeated results.",)
    (*listed,) = read([json.loads(TRACES), json.loads(LOGS)])
    assert counts(evaluations(listed)) == EXPECTED


def test_the_same_text_however_it_is_saved():
    plain, *others = (read(content) for content in repacked(LOGS))
    assert all(other == plain for other in others)


def test_one_object_per_line():
    split = json.loads(TRACES)
    spans = split["resourceSpans"][0]["scopeSpans"][0]["spans"]
    records = read(lines(*(traces(each) for each in spans)))
    assert counts(evaluations(records)) == EXPECTED
    assert attempts(records)[1].place == "line 2 /resourceSpans/0/scopeSpans/0/spans/0/events/0"


def test_plain_protobuf_dumps():
    document = json.loads(TRACES)
    for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId"):
            each[name] = base64.b64encode(bytes.fromhex(each[name])).decode()
        each |= {"kind": "SPAN_KIND_INTERNAL", "status": {"code": "STATUS_CODE_UNSET"}}
    assert read(document)[1:] == read(TRACES)[1:]
    both = read(lines(json.loads(LOGS), document))
    assert counts(evaluations(both)) == EXPECTED


def test_older_sdks_name_the_event_in_an_attribute():
    document = json.loads(LOGS)
    for record in document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
        record["attributes"].append({"key": "event.name", "value": {"stringValue": record.pop("eventName")}})
    assert counts(evaluations(read(document))) == EXPECTED


# -- outcomes


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"label": "PASS "}, (Outcome.PASS, "", None)),
        ({"label": "yes"}, (Outcome.PASS, "", None)),
        ({"label": True}, (Outcome.PASS, "", None)),
        ({"label": "Failed"}, (Outcome.FAIL, "", None)),
        ({"label": "no", "score": 1.0}, (Outcome.FAIL, "", None)),
        ({"label": "relevant"}, (Outcome.UNKNOWN, "unknown_label", None)),
        ({"label": None, "score": 1.0}, (Outcome.UNKNOWN, "no_label", None)),
        ({"label": None, "score": 1}, (Outcome.UNKNOWN, "no_label", None)),
        ({"label": None}, (Outcome.UNKNOWN, "no_label", None)),
        ({"label": None, "error": "Timeout"}, (Outcome.ERROR, "evaluation_error", None)),
        ({"label": "pass", "error": "Timeout"}, (Outcome.ERROR, "evaluation_error", Outcome.PASS)),
        ({"label": "pass", "error": ""}, (Outcome.ERROR, "evaluation_error", Outcome.PASS)),
        ({"label": "pass", "error": False}, (Outcome.ERROR, "evaluation_error", Outcome.PASS)),
        ({"label": "pass", "error": {}}, (Outcome.ERROR, "evaluation_error", Outcome.PASS)),
        ({"label": None, "score": {"doubleValue": "NaN"}}, (Outcome.UNKNOWN, "score_not_finite", None)),
        ({"label": "pass", "score": {"doubleValue": "NaN"}}, (Outcome.UNKNOWN, "score_not_finite", Outcome.PASS)),
        ({"label": "fail", "score": {"doubleValue": "-Infinity"}}, (Outcome.UNKNOWN, "score_not_finite", Outcome.FAIL)),
    ],
)
def test_outcomes(values, expected):
    assert judged(**values) == expected


@pytest.mark.parametrize(
    ("score", "expected"), [({"intValue": "3"}, 3), ({"intValue": 3}, 3), ({"doubleValue": "0.5"}, 0.5), ("x", None)]
)
def test_scores_as_they_are_written(score, expected):
    (evaluation,) = evaluations(read(logs(result(score=score))))
    assert evaluation.score == expected


def test_an_error_is_the_graders_fault_and_a_failure_has_a_finding():
    error, failure = evaluations(read(logs(result(error="Timeout"), result(1, name="b", label="no"))))
    assert (error.fault, error.reason, error.finding) == (Fault.GRADER, "Timeout", None)
    assert failure.finding is Finding.UNCLASSIFIED


def test_labels_that_we_do_not_follow_are_noted():
    *_, end = read(logs(result(error="Timeout")))
    assert end.notes == ("1 evaluation is ERROR where the label says PASS (evaluation_error).",)


# -- keys


def test_evaluations_of_a_trace_are_one_attempt_and_repeats_are_in_order_of_time():
    other = "1" * 32
    records = read(
        logs(result(9, trace=other), result(1), result(2, name="Tone"), result(10, trace=other, name="Tone"))
    )
    assert [(a.trace_id, a.ordinal, len(a.evaluations)) for a in attempts(records)] == [(TRACE, 1, 2), (other, 2, 2)]
    assert [scenario.key for scenario in scenarios(records)] == ["a"]


@pytest.mark.parametrize(
    ("values", "key", "is_noted"),
    [
        ({}, "a", False),
        ({"case": {"intValue": "7"}}, "7", False),
        ({"case": None, "response": "resp-1"}, "resp-1", True),
        ({"case": None}, SPAN, True),
        ({"case": None, "span": "", "trace": ""}, "unnamed /resourceLogs/0/scopeLogs/0/logRecords/0", True),
        ({"case": "k" * 300}, None, False),
    ],
)
def test_the_key_of_a_case(values, key, is_noted):
    *_, attempt, end = read(logs(result(**values)))
    assert len(attempt.scenario) == 200 if key is None else attempt.scenario == key
    assert any("test.case.id" in note for note in end.notes) is is_noted


def test_without_any_trace_each_execution_holds_an_evaluation_once():
    loose = {"trace": "", "span": ""}
    records = read(logs(result(**loose), result(1, name="Tone", **loose), result(2, **loose)))
    assert [len(attempt.evaluations) for attempt in attempts(records)] == [2, 1]


def test_two_models_are_two_variants():
    run, *rest, _ = read(logs(result(model="m1"), result(1, name="b", model="m2")))
    assert {(a.variant, a.ordinal) for a in attempts(rest)} == {("m1", 1), ("m2", 1)}
    assert run.model == ""


@pytest.mark.parametrize(
    ("repeats", "note"),
    [
        ([{"label": "fail"}], "1 evaluation has 2 results that contradict each other: UNKNOWN (contradiction)."),
        ([{"error": "Timeout"}], "1 evaluation has 2 results that contradict each other: UNKNOWN (contradiction)."),
        (
            [{}, {"label": "fail"}, {"label": "odd"}],
            "1 evaluation has 4 results that contradict each other: UNKNOWN (contradiction).",
        ),
    ],
)
def test_repeats_that_contradict_each_other_are_one_evaluation_without_a_verdict(repeats, note):
    told = [result(at, **values) for at, values in enumerate([{}, *repeats])]
    for order in (told, told[::-1]):
        *records, end = read(logs(*order))
        (evaluation,) = evaluations(records)
        assert (evaluation.outcome, evaluation.reason_code) == (Outcome.UNKNOWN, "contradiction")
        assert evaluation.finding is evaluation.reported_outcome is None
        assert note in end.notes


def test_what_contradicting_repeats_say_is_kept():
    (evaluation,) = evaluations(read(logs(result(score=1.0), result(1, label="fail", score=0.0))))
    assert evaluation.evidence["gen_ai.evaluation.score.label"] == "pass"
    place = "/resourceLogs/0/scopeLogs/0/logRecords/1"
    assert evaluation.evidence["repeats"] == [{"outcome": "FAIL", "score": 0.0, "label": "fail", "place": place}]


def test_repeats_with_another_score_and_the_same_verdict_keep_it():
    *records, end = read(logs(result(score=1.0), result(1, score=0.9), result(2, score=1.0)))
    assert counts(evaluations(records)) == (1, 1, 0, 0, 0)
    assert end.notes == (
        "Not counted: 1 repeated result.",
        "Not counted: 1 repeated result whose score differs and whose verdict does not.",
    )


def test_several_services_are_named():
    document = logs(result())
    document["resourceLogs"] += logs(result(1, name="b"), service="judge", version="2")["resourceLogs"]
    run, *_, end = read(document)
    assert run.agent_version == ""
    assert end.notes == ("The file holds 2 services or versions in one run: agent 1, judge 2.",)


# -- spans


def test_tool_calls_are_steps_in_order_of_time():
    failed = tool("2" * 16, start=10, end=2_000_010, tool="pay", arguments='{"sum": 1}') | {"status": {"code": 2}}
    timeout = tool("4" * 16, start=20, tool="look", error="Timeout")
    document = traces(failed, tool("3" * 16, start=5, tool="look"), timeout, span(events=[result()], model="m"))
    (attempt,) = attempts(read(document))
    assert [(s.tool, s.decision, s.reason_code) for s in attempt.steps] == [
        ("look", Decision.ALLOWED, ""),
        ("pay", Decision.FAILED, ""),
        ("look", Decision.FAILED, "Timeout"),
    ]
    assert (attempt.steps[1].latency_ms, attempt.steps[1].arguments) == (2, '{"sum": 1}')
    assert attempt.variant == "m"


def test_a_tool_without_attributes_is_named_by_its_span():
    unnamed = span("2" * 16, SPAN, name="execute_tool find_order")
    (attempt,) = attempts(read(traces(unnamed, span(events=[result()]))))
    assert attempt.steps[0].tool == "find_order"


def test_a_tool_call_belongs_to_the_nearest_attempt_above_it():
    first, second = "a" * 16, "b" * 16
    document = traces(
        span(first, events=[result(case="x")]),
        span(second, events=[result(case="y")]),
        span("c" * 16, parent=second, name="chat"),
        tool("d" * 16, parent="c" * 16, tool="under y"),
        tool("e" * 16, parent="f" * 16, tool="anywhere"),
        tool("1" * 16, trace="9" * 32, tool="elsewhere"),
    )
    *records, end = read(document)
    assert [[step.tool for step in attempt.steps] for attempt in attempts(records)] == [["anywhere"], ["under y"]]
    assert end.notes == ("Not counted: 1 other span.", "Not counted: 1 unrelated tool call.")


def test_spans_in_a_circle():
    document = traces(
        span(events=[result()]), tool("d" * 16, parent="e" * 16), span("e" * 16, parent="d" * 16, name="chat")
    )
    assert len(attempts(read(document))[0].steps) == 1


def test_an_agent_that_failed_crashed():
    status = {"code": "STATUS_CODE_ERROR", "message": "boom"}
    (attempt,) = attempts(read(traces(span(events=[result()], operation="invoke_agent") | {"status": status})))
    assert (attempt.status, attempt.error) == (AttemptStatus.CRASHED, "boom")
    (attempt,) = attempts(read(traces(span(events=[result()], operation="chat") | {"status": status})))
    assert attempt.status is AttemptStatus.COMPLETED


def test_what_is_not_read_is_counted():
    other = {"body": {"stringValue": "hello"}}
    document = traces(span(events=[result()]), span(events=[]), span("2" * 16, name="chat"))
    *records, end = read(lines(document, logs(other, other), {"resourceMetrics": []}))
    assert counts(evaluations(records)) == (1, 1, 0, 0, 0)
    assert end.notes == (
        "Not counted: 1 metrics or profiles object.",
        "Not counted: 2 other log records.",
        "Not counted: 1 other span.",
        "Not counted: 1 repeated span.",
    )


# -- odd values


@pytest.mark.parametrize("time", [None, 0, "0", "x", True, -1, "9" * 20, 10**40])
def test_times_that_are_none(time):
    *records, end = read(logs(result() | {"timeUnixNano": time, "observedTimeUnixNano": time}))
    assert evaluations(records)[0].observed_at is None
    assert end.notes == ("Some evaluations have no time.",)


def test_the_time_when_it_was_observed_is_the_second_choice():
    (evaluation,) = evaluations(read(logs(result() | {"timeUnixNano": "0", "observedTimeUnixNano": NANOS})))
    assert evaluation.observed_at == TIME


def test_values_of_all_types():
    messages = {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "role", "value": typed("user")}]}}]}}
    told = {"gen_ai.input.messages": messages, "gen_ai.output.messages": {"arrayValue": {}}}
    (attempt,) = attempts(read(traces(span(events=[result()], **told))))
    assert (attempt.input, attempt.output) == ('[{"role": "user"}]', "")


def test_hostile_text_is_kept_but_storable():
    records = read(logs(result(name="<b>\x00", case="\ud800", **{"gen_ai.evaluation.explanation": "\ud800<i>"})))
    assert evaluations(records)[0].indicator == "<b>\ufffd"
    assert (scenarios(records)[0].key, evaluations(records)[0].reason) == ("\ufffd", "\ufffd<i>")


# -- refusals


@pytest.mark.parametrize("content", [logs({"body": {}}), traces(span()), {"resourceLogs": []}, {"resourceSpans": None}])
def test_a_file_without_evaluations_is_refused_with_what_to_upload(content):
    refusal = refused(content)
    assert (refusal.status, refusal.code) == (422, "no_evaluations")
    assert "gen_ai.evaluation.result" in refusal.problems[0].expected


def test_metrics_are_a_near_miss():
    assert (refused({"resourceMetrics": []}).status, refused({"resourceMetrics": []}).code) == (415, "near_miss")


@pytest.mark.parametrize(
    ("content", "pointer", "line"),
    [
        ({"resourceLogs": {}}, "/resourceLogs", None),
        (logs(3), "/resourceLogs/0/scopeLogs/0/logRecords/0", None),
        (logs(result(), result() | {"attributes": {}}), "/resourceLogs/0/scopeLogs/0/logRecords/1/attributes", None),
        (logs(result(name=None)), "/resourceLogs/0/scopeLogs/0/logRecords/0/attributes", None),
        ({"resourceLogs": [{"resource": []}]}, "/resourceLogs/0/resource", None),
        (traces(span() | {"events": [1]}), "/resourceSpans/0/scopeSpans/0/spans/0/events/0", None),
        (
            logs(result() | {"attributes": [{"key": "a", "value": 1}]}),
            "/resourceLogs/0/scopeLogs/0/logRecords/0/attributes/0",
            None,
        ),
        (lines(logs(result()), {"other": 1}), "", 2),
        (lines(logs(result()), logs(result() | {"attributes": [{"key": 1}]})), None, 2),
        ([logs(result()), 1], "/1", None),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(content, pointer, line):
    refusal = refused(content)
    assert (refusal.status, refusal.problems[0].line) == (422, line)
    assert pointer in (None, refusal.problems[0].pointer)


def test_a_broken_line_is_refused_by_number():
    refusal = refused(lines(logs(result())) + b'{"resourceLogs": [\n')
    assert (refusal.status, refusal.problems[0].line) == (400, 2)


@pytest.mark.parametrize("content", [{"a": 1}, 7])
def test_other_json_is_refused_when_told(content):
    assert refused(content, format="otel-genai").status == 415
