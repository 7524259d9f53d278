"""agent-reliability: evidence of many agent runs, each event once, and reports that hold counts only."""

import json
from datetime import UTC, datetime

import pytest

from evals.outcomes import settle_attempt
from evals.parsers import detect
from evals.records import (
    AggregateRecord,
    AttemptStatus,
    EndRecord,
    EvaluatorRecord,
    Fault,
    Finding,
    Outcome,
    RunRecord,
    ScenarioRecord,
)
from tests.evals.artifact_reading import ARTIFACTS, attempts, counts, evaluations, lines, refused, repacked
from tests.evals.artifact_reading import read as read_as

FILES = ARTIFACTS / "agent-reliability"
EVIDENCE = (FILES / "evidence.jsonl").read_bytes()
ENVELOPES = [json.loads(line) for line in EVIDENCE.splitlines()]
REPORT = json.loads((FILES / "report.json").read_bytes())
JUDGED_REPORT = json.loads((FILES / "report_evaluator.json").read_bytes())
AT = "2026-11-30T17:56:58Z"
JUDGE = {"name": "judge", "version": "3", "configuration_id": None, "deterministic": True}


def envelope(id, run="r", **payload):
    return {
        "schema_version": 2,
        "source": "agent-reliability",
        "event_id": id,
        "producer_run_id": run,
        "deployment_id": "d",
        "producer_identity": {"agent_id": "a", "version": "1", "environment": "ci"},
        "producer_timestamp": AT,
        "payload": payload,
    }


def outcome(id, result="pass", run="r", provenance=None, **members):
    payload = {"kind": "evaluation_outcome", "evaluation_id": f"e{id}", "indicator": "task", "outcome": result}
    return envelope(id, run, **payload, recorded_at=AT, provenance=provenance, **members)


def lifecycle(id, status, run="r", at=AT, error=None):
    return envelope(id, run, kind="run_lifecycle", status=status, occurred_at=at, exception_type=error)


def failure(id, run="r", name="judge", version="3", configuration=None, stage="evaluation"):
    return envelope(
        id,
        run,
        kind="evaluation_execution_failure",
        evaluation_id=f"e{id}",
        indicator="task",
        stage=stage,
        exception_type="TimeoutError",
        occurred_at=AT,
        evaluator_name=name,
        evaluator_version=version,
        evaluator_configuration_id=configuration,
    )


def health(id, state, *reasons, run="r"):
    return envelope(id, run, kind="measurement_health", health=state, reasons=list(reasons), observed_at=AT)


def changed(value, **members):
    return value | members


def paid(value, **members):
    return value | {"payload": value["payload"] | members}


def read(content):
    return read_as(content, "agent-reliability")


# -- the real evidence


def test_counts_of_the_real_evidence_also_with_what_we_add():
    records = read(EVIDENCE)
    assert counts(evaluations(records)) == (7, 3, 2, 1, 1)
    settled = [settle_attempt(ScenarioRecord(key=""), attempt) for attempt in attempts(records)]
    assert counts([evaluation for each in settled for evaluation in each.evaluations]) == (7, 3, 2, 1, 1)


def test_the_run_of_the_real_evidence():
    run, *rest, end = read(EVIDENCE)
    assert (run.agent_version, run.environment, run.planned) == ("2.4.1", "ci", None)
    assert run.started_at == datetime(2026, 11, 30, 17, 56, 58, 399999, tzinfo=UTC)
    assert run.finished_at == datetime(2026, 11, 30, 17, 56, 58, 406010, tzinfo=UTC)
    assert run.extras["agents"] == [{"agent_id": "support-agent", "version": "2.4.1", "environment": "ci"}]
    assert len(attempts(rest)) == len(rest) == 3
    assert end.notes == (
        "1 of 3 agent runs failed.",
        "1 of 3 agent runs with measurement health unavailable (evaluator_execution_failure).",
    )


def test_agent_runs_of_the_real_evidence():
    by_id = {attempt.trace_id[:8]: attempt for attempt in attempts(read(EVIDENCE))}
    manual, judged, failed = by_id["74c8f642"], by_id["a3516d5b"], by_id["6da03cd1"]
    assert (manual.scenario, manual.ordinal, manual.place, manual.status) == ("", 1, "line 1", AttemptStatus.COMPLETED)
    assert manual.latency_ms == pytest.approx(3.513)
    assert [e.evaluator for e in manual.evaluations] == [None] * 3
    assert manual.evaluations[1].finding is Finding.UNCLASSIFIED
    assert manual.extras["measurement_health"][0]["health"] == "healthy"
    assert [entry["status"] for entry in manual.extras["lifecycle"]] == ["started", "completed"]
    assert [e.reason_code for e in judged.evaluations] == ["equal", "not_equal", "evaluation_failure"]
    assert judged.evaluations[0].evaluator == EvaluatorRecord(name="expected-answer", version="1")
    broken = judged.evaluations[2]
    assert (broken.outcome, broken.fault, broken.reason) == (Outcome.ERROR, Fault.GRADER, "TimeoutError")
    assert broken.evaluator == EvaluatorRecord(name="judge", version="3")
    assert (failed.status, failed.error) == (AttemptStatus.CRASHED, "ConnectionError")


def test_the_same_text_however_it_is_saved():
    plain, *others = (read(content) for content in repacked(EVIDENCE))
    assert all(other == plain for other in others)


def test_a_list_of_envelopes():
    records = read(ENVELOPES)
    assert evaluations(records) == evaluations(read(EVIDENCE))
    assert attempts(records)[0].place == "/0"


def test_a_single_envelope():
    (attempt,) = attempts(read(outcome("1")))
    assert (attempt.place, attempt.started_at) == ("", datetime(2026, 11, 30, 17, 56, 58, tzinfo=UTC))


def test_schema_version_1_names_no_agent():
    older = [changed(each, schema_version=1) for each in ENVELOPES]
    for each in older:
        del each["producer_identity"]
    run, *rest, end = read(older)
    assert counts(evaluations(rest)) == (7, 3, 2, 1, 1)
    assert (run.agent_version, run.extras["agents"]) == ("", [])
    assert "16 events of schema version 1 or without an agent's identity." in end.notes


# -- events


def test_what_the_exporter_sent_again_is_counted_once():
    *records, end = read(lines(*ENVELOPES, *ENVELOPES))
    assert counts(evaluations(records)) == (7, 3, 2, 1, 1)
    assert end.notes[0] == "16 events repeated in the file; each was counted once."


def test_absent_and_null_are_the_same():
    shorter = outcome("1")
    del shorter["payload"]["provenance"]
    *records, end = read([outcome("1"), shorter])
    assert counts(evaluations(records)) == (1, 1, 0, 0, 0)
    assert end.notes[0] == "1 event repeated in the file; each was counted once."


def test_an_event_id_with_other_content_is_noted():
    *records, end = read([outcome("1"), outcome("1", "fail")])
    assert counts(evaluations(records)) == (1, 1, 0, 0, 0)
    assert end.notes[0] == "1 event with an earlier event_id and other content left out; the first was kept."


def test_agent_runs_may_be_interleaved_and_of_several_deployments():
    other = changed(outcome("3", "fail"), deployment_id="other")
    *records, end = read([outcome("1"), outcome("2", run="s"), other, outcome("4")])
    assert [(a.trace_id, len(a.evaluations)) for a in attempts(records)] == [("r", 2), ("s", 1), ("r", 1)]
    assert "The file holds 2 deployments." in end.notes


def test_several_agents_are_named():
    other = {"agent_id": "b", "version": "2", "environment": "prod"}
    run, *_, end = read([outcome("1"), changed(outcome("2"), producer_identity=other)])
    assert (run.agent_version, run.environment) == ("", "")
    assert end.notes[0] == "The file holds 2 agents, versions or environments: a 1 (ci), b 2 (prod)."


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_an_agent_run_that_ended_badly_changes_no_count(status):
    *records, end = read([lifecycle("1", "started"), lifecycle("2", status, error="E"), outcome("3", run="s")])
    bare, judged = attempts(records)
    assert (bare.status, bare.error, judged.status) == (AttemptStatus.COMPLETED, "E", AttemptStatus.COMPLETED)
    assert settle_attempt(ScenarioRecord(key=""), bare).evaluations == ()
    assert end.notes == (
        f"1 of 2 agent runs {status}.",
        "1 of 2 agent runs without an end in the file.",
        "1 of 2 agent runs without any evaluation.",
    )


def test_a_failure_is_not_undone_and_clocks_may_go_back():
    events = [
        lifecycle("1", "started"),
        lifecycle("2", "failed", at="2026-11-30T17:00:00Z"),
        lifecycle("3", "completed", at="2026-11-30T17:00:00Z"),
        outcome("4"),
    ]
    (attempt,) = attempts(read(events))
    assert (attempt.status, attempt.error, attempt.latency_ms) == (AttemptStatus.CRASHED, "failed", None)


def test_the_last_health_of_a_run_is_noted():
    events = [
        outcome("1"),
        health("2", "healthy"),
        health("3", "degraded", "partial_evidence", "event_delivery_failure"),
    ]
    *_, end = read(events)
    assert (
        end.notes[-1] == "1 of 1 agent run with measurement health degraded (event_delivery_failure, partial_evidence)."
    )


def test_the_evaluator_that_failed_is_the_one_that_judged():
    judge = JUDGE | {"deterministic": False, "configuration_id": "c1"}
    judged, broken = evaluations(read([outcome("1", provenance=judge), failure("2", configuration="c1")]))
    assert judged.evaluator == broken.evaluator
    assert len(judged.evaluator.configuration_sha256) == 64


def test_other_configurations_are_other_evaluators():
    judges = [JUDGE | {"configuration_id": name} for name in (None, "c1", "c2")]
    found = evaluations(read([outcome(str(n), provenance=judge) for n, judge in enumerate(judges)]))
    assert len({evaluation.evaluator for evaluation in found}) == 3


def test_a_failure_without_a_named_evaluator_is_no_manual_outcome():
    (broken,) = evaluations(read(failure("1", name=None, version=None, stage="timestamp")))
    assert (broken.evaluator.name, broken.reason_code) == ("unnamed", "timestamp_failure")


def test_what_an_evaluation_keeps():
    child = changed(outcome("1", "unknown"), parent_producer_run_id="p")
    (attempt,) = attempts(read(child))
    (evaluation,) = attempt.evaluations
    assert evaluation.extras == {"event_id": "1", "evaluation_id": "e1"}
    assert evaluation.observed_at == datetime(2026, 11, 30, 17, 56, 58, tzinfo=UTC)
    assert attempt.extras == {"parent_producer_run_id": "p"}


def test_indicators_that_the_wire_allows():
    (evaluation,) = evaluations(read(paid(outcome("1"), indicator="返金 🚀 <b>\u202e")))
    assert evaluation.indicator == "返金 🚀 <b>\u202e"


# -- refusals of evidence


@pytest.mark.parametrize(
    ("broken", "pointer"),
    [
        (changed(outcome("2"), schema_version=3), "/schema_version"),
        (changed(outcome("2"), schema_version=True), "/schema_version"),
        (changed(outcome("2"), payload=[]), "/payload"),
        (changed(outcome("2"), event_id=2), "/event_id"),
        (changed(outcome("2"), producer_run_id=None), "/producer_run_id"),
        (paid(outcome("2"), kind="new"), "/payload/kind"),
        (paid(outcome("2"), outcome="error"), "/payload/outcome"),
        (paid(outcome("2"), outcome=["pass"]), "/payload/outcome"),
        (paid(outcome("2"), indicator=""), "/payload/indicator"),
        (paid(outcome("2"), recorded_at="2026-11-30T17:56:58"), "/payload/recorded_at"),
        (paid(outcome("2"), provenance="x"), "/payload/provenance"),
        (paid(outcome("2"), provenance=JUDGE | {"version": None}), "/payload/provenance/version"),
        (paid(outcome("2"), provenance=JUDGE | {"deterministic": 1}), "/payload/provenance/deterministic"),
        (failure("2", version=None), "/payload/evaluator_version"),
        (lifecycle("2", "paused"), "/payload/status"),
        (health("2", None), "/payload/health"),
        ({"other": 1}, ""),
        (7, ""),
        (REPORT, ""),
    ],
)
def test_what_is_no_event_is_refused_with_its_place(broken, pointer):
    for content, prefix, line in ((lines(outcome("1"), broken), "", 2), ([outcome("1"), broken], "/1", None)):
        refusal = refused(content)
        problem = refusal.problems[0]
        assert (refusal.status, problem.pointer, problem.line) == (422, prefix + pointer, line)


def test_a_broken_line_is_refused_by_number():
    refusal = refused(lines(outcome("1")) + b'{"event_id": \n')
    assert (refusal.status, refusal.problems[0].line) == (400, 2)


# -- reports


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (REPORT, AggregateRecord(indicator="task_success", passed=7, failed=2, unknown=1)),
        (
            JUDGED_REPORT,
            AggregateRecord(
                indicator="task_success",
                passed=2,
                failed=1,
                unknown=0,
                evaluator=EvaluatorRecord(name="expected-answer", version="1"),
            ),
        ),
    ],
)
def test_real_reports_are_aggregates(report, expected):
    run, aggregate, end = read(report)
    assert isinstance(run, RunRecord)
    assert (run.planned, run.extras["unknown_policy"]) == (None, "exclude")
    assert run.reported_totals == {
        "pass": expected.passed,
        "fail": expected.failed,
        "unknown": expected.unknown,
    }
    assert aggregate == expected
    assert end == EndRecord(notes=("The file holds counts only, no single evaluations.", "The file has no start time."))


def test_raw_counts_are_taken_whatever_the_policy():
    report = REPORT | {"unknown_policy": "treat_as_bad"}
    report["counts"] = REPORT["counts"] | {"considered": 10, "considered_fail": 3}
    _, aggregate, end = read(report)
    assert (aggregate.passed, aggregate.failed, aggregate.unknown) == (7, 2, 1)
    assert "The report's own ratios count unknown results by “treat_as_bad”; here they stay UNKNOWN." in end.notes


def test_no_data_stays_no_data():
    report = REPORT | {"counts": dict.fromkeys(REPORT["counts"], 0), "reliability": {"pass_ratio": None}}
    run, aggregate, _ = read(report)
    assert (aggregate.passed, aggregate.failed, aggregate.unknown) == (0, 0, 0)
    assert run.extras["reliability"] == {"pass_ratio": None}


def test_health_of_a_report_is_noted():
    *_, end = read(REPORT | {"measurement_health": {"health": "degraded", "reasons": ["partial_evidence"]}})
    assert "Measurement health: degraded (partial_evidence)." in end.notes


def test_several_reports():
    run, *aggregates, _ = read(lines(REPORT, JUDGED_REPORT))
    assert [aggregate.passed for aggregate in aggregates] == [7, 2]
    assert (run.reported_totals["pass"], len(run.extras["reports"])) == (9, 2)
    assert refused([REPORT, REPORT]).problems[0].pointer == "/1/indicator"


def test_reports_whose_sum_no_column_holds_are_refused():
    most = {"counts": REPORT["counts"] | {"pass": 2**63 - 1}}
    assert read(REPORT | most)[1].passed == 2**63 - 1
    refusal = refused(lines(REPORT | most, JUDGED_REPORT))
    assert (refusal.status, refusal.problems[0].pointer) == (422, "/counts/pass")


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"counts": {}}, "/counts/pass"),
        ({"counts": []}, "/counts"),
        ({"counts": {"pass": 1, "fail": -1, "unknown": 0}}, "/counts/fail"),
        ({"cohort": None}, "/cohort"),
        ({"cohort": {"evaluator": 1}}, "/cohort/evaluator"),
        ({"cohort": {"evaluator": JUDGE}}, "/cohort/evaluator/deterministic"),
        ({"indicator": None}, "/indicator"),
    ],
)
def test_reports_without_counts_are_refused(members, pointer):
    refusal = refused(REPORT | members)
    assert (refusal.status, refusal.problems[0].pointer) == (422, pointer)


@pytest.mark.parametrize("content", [{"counts": {}}, 7])
def test_other_json_is_refused_when_told(content):
    assert refused(content, format="agent-reliability").status == 415


def test_other_formats_keep_their_files():
    assert detect(b'{"indicator": "a", "counts": {}}') is None
    assert detect(b'{"event_id": 1, "payload": {}}') is None
