"""Inspect logs, current and old: counts of the real ones, and each trap of their format."""

import json
import math
from copy import deepcopy

import pytest

from evals.errors import ImportRefused
from evals.records import AttemptStatus, Decision, EndRecord, Outcome, RunRecord, ScenarioRecord, Session
from tests.evals.artifact_reading import attempts
from tests.evals.inspect_logs import FOLDER, SAMPLE, counts, log, read

LOG = json.loads((FOLDER / "support-agent.json").read_text())


def only_evaluation(**score):
    (attempt,) = attempts(read(log({**SAMPLE, "scores": {"includes": score}})))
    (evaluation,) = attempt.evaluations
    return evaluation


@pytest.mark.parametrize(
    ("name", "expected", "recorded"),
    [
        ("odd-scores-nan.json", (20, 10, 1, 9, 0), 5),
        ("public-2025-02-deflate.eval", (10, 8, 2, 0, 0), 10),
        ("sample-errors.eval", (5, 2, 2, 0, 1), 5),
        ("support-agent-epochs2.eval", (10, 6, 4, 0, 0), 10),
        ("support-agent.json", (10, 5, 5, 0, 0), 5),
    ],
)
def test_counts_of_the_real_logs(name, expected, recorded):
    records = read((FOLDER / name).read_bytes())
    run = records[0]
    assert counts(records) == expected
    assert (run.planned, len(attempts(records)), run.session) == (recorded, recorded, Session.COMPLETE)


def test_an_errored_sample_is_an_error_beside_the_metric_of_the_others():
    records = read((FOLDER / "sample-errors.eval").read_bytes())
    (crashed,) = [attempt for attempt in attempts(records) if attempt.status is AttemptStatus.CRASHED]
    assert [(e.outcome, e.reason_code) for e in crashed.evaluations] == [(Outcome.ERROR, "sample_error")]
    assert crashed.error
    assert "Inspect completed 4 of 5 samples; its own metrics are over the completed ones." in records[-1].notes
    assert records[0].reported_totals == {
        "total_samples": 5,
        "completed_samples": 4,
        "scored_samples of includes": 4,
    }


def test_the_run_of_a_real_log():
    run = read((FOLDER / "support-agent-epochs2.eval").read_bytes())[0]
    assert (run.label, run.suite, run.suite_version) == ("LuBCSTZPFJJfUWxazbGC2R", "support_agent_epochs", "0")
    assert (run.commit, run.branch, run.ci_url) == ("0f3c2b7d", "main", "https://ci.example.test/runs/4711")
    assert (run.model, run.producer_version) == ("mockllm/model", "0.3.285")
    assert run.started_at.isoformat() == "2026-11-30T17:48:11+00:00"


def test_an_old_log_has_local_times_and_a_limited_data_set():
    records = read((FOLDER / "public-2025-02-deflate.eval").read_bytes())
    run = records[0]
    assert (run.started_at.isoformat(), run.planned) == ("2025-02-11T20:18:04+00:00", 10)
    assert run.label == "2wRuCQ9hGYaGPyAdoobgYV"  # there was no eval_id yet
    assert run.commit == "ef1d858c"
    assert attempts(records)[0].output == "Yes"


def test_epochs_are_attempts_of_one_scenario():
    records = read((FOLDER / "support-agent-epochs2.eval").read_bytes())
    assert sum(isinstance(record, ScenarioRecord) for record in records) == 5
    assert sorted({attempt.ordinal for attempt in attempts(records)}) == [1, 2]


@pytest.mark.parametrize(
    ("value", "outcome", "code"),
    [
        ("C", Outcome.PASS, ""),
        (True, Outcome.PASS, ""),
        (1, Outcome.PASS, ""),
        (1.0, Outcome.PASS, ""),
        ("I", Outcome.FAIL, ""),
        (False, Outcome.FAIL, ""),
        (0, Outcome.FAIL, ""),
        ("P", Outcome.UNKNOWN, "partial"),
        ("N", Outcome.UNKNOWN, "no_answer"),
        (0.75, Outcome.UNKNOWN, "no_threshold"),
        (float("nan"), Outcome.UNKNOWN, "unscored"),
        (None, Outcome.UNKNOWN, "unscored"),
        ("excellent", Outcome.UNKNOWN, "no_verdict"),
        (["C", "I"], Outcome.UNKNOWN, "several_values"),
        ({}, Outcome.UNKNOWN, "several_values"),
    ],
)
def test_what_a_score_says(value, outcome, code):
    evaluation = only_evaluation(value=value)
    assert (evaluation.outcome, evaluation.reason_code) == (outcome, code)
    assert evaluation.score == (value if type(value) in (int, float) and not math.isnan(value) else None)


def test_a_dict_score_is_one_evaluation_per_key():
    (attempt,) = attempts(read(log({**SAMPLE, "scores": {"multi": {"value": {"security": 1, "cost": 0.2}}}})))
    assert [(e.indicator, e.outcome) for e in attempt.evaluations] == [
        ("multi.security", Outcome.PASS),
        ("multi.cost", Outcome.UNKNOWN),
    ]


def test_numbers_and_texts_are_different_ids():
    records = read(log({**SAMPLE, "id": 5}, {**SAMPLE, "id": "5"}))
    assert [attempt.scenario for attempt in attempts(records)] == ["support | 5", 'support | "5"']


def test_the_same_id_and_epoch_twice_is_kept_twice():
    records = read(log(SAMPLE, SAMPLE))
    assert [attempt.ordinal for attempt in attempts(records)] == [1, 2]
    assert "1 sample had an id and epoch that another one has: both are kept." in records[-1].notes


@pytest.mark.parametrize(
    ("status", "session"),
    [
        ("started", Session.ABORTED),
        ("cancelled", Session.CANCELLED),
        ("error", Session.ERRORED),
        ("?", Session.ABORTED),
    ],
)
def test_a_session_that_did_not_end_well_keeps_its_samples(status, session):
    run, *records = read(log(SAMPLE, status=status, error={"message": "out of money"}, results=None))
    assert run.session is session
    assert counts(records) == (1, 1, 0, 0, 0)
    if status == "error":
        assert run.session_reason == "out of money"
    if status == "started":
        assert run.session_reason.startswith("not_finished")


def test_all_samples_errored_and_the_run_succeeded():
    failed = {"id": "a", "epoch": 1, "error": {"message": "boom"}}
    records = read(log(failed, results=None))
    assert (records[0].session, counts(records)) == (Session.COMPLETE, (1, 0, 0, 0, 1))


def test_a_cancelled_sample_says_so():
    failed = {"id": "a", "epoch": 1, "error": {"message": "Cancelled via cancel scope"}, "scores": {}}
    assert attempts(read(log(failed)))[0].evaluations[0].reason_code == "cancelled"


def test_without_scores_and_error_nothing_is_known():
    (attempt,) = attempts(read(log({"id": "a", "epoch": 1})))
    assert [(e.outcome, e.reason_code) for e in attempt.evaluations] == [(Outcome.UNKNOWN, "not_scored")]


@pytest.mark.parametrize("error", [{}, {"message": None}, [], "boom"])
@pytest.mark.parametrize("scores", [{}, {"scores": None}, {"scores": {}}])
def test_an_error_that_says_nothing_is_an_error(error, scores):
    (attempt,) = attempts(read(log({"id": "a", "epoch": 1, "error": error} | scores)))
    assert attempt.status is AttemptStatus.CRASHED
    assert [(e.outcome, e.reason_code) for e in attempt.evaluations] == [(Outcome.ERROR, "sample_error")]


@pytest.mark.parametrize("error", [None, False, ""])
def test_no_error_is_none(error):
    (attempt,) = attempts(read(log({"id": "a", "epoch": 1, "error": error})))
    assert attempt.status is AttemptStatus.COMPLETED
    assert attempt.evaluations[0].outcome is Outcome.UNKNOWN


def test_a_limit_is_the_reason_of_a_failure():
    sample = {**SAMPLE, "limit": {"type": "token", "limit": 1000}, "scores": {"includes": {"value": "I"}}}
    (attempt,) = attempts(read(log(sample)))
    assert (attempt.evaluations[0].outcome, attempt.evaluations[0].reason_code) == (Outcome.FAIL, "limit_token")
    assert attempt.extras["limit"] == {"type": "token", "limit": 1000}


def test_earlier_tries_are_no_samples():
    (attempt,) = attempts(read(log({**SAMPLE, "error_retries": [{"message": "x"}, {"message": "y"}]})))
    assert attempt.extras["error_retries"] == 2


def test_an_invalidated_log_says_so():
    assert read(log(SAMPLE, invalidated=True))[0].invalidated
    assert not read(log(SAMPLE))[0].invalidated


def test_an_old_log_has_one_score():
    sample = {"id": "a", "epoch": 1, "score": {"value": "I"}}
    (attempt,) = attempts(read(log(sample, eval={"scorers": [{"name": "inspect_ai/match"}]})))
    assert [(e.indicator, e.outcome) for e in attempt.evaluations] == [("match", Outcome.FAIL)]


def test_the_definition_follows_scorer_task_version_and_parameters():
    def evaluator(options):
        scorers = [{"name": "includes", "options": options}]
        return attempts(read(log(SAMPLE, eval={"scorers": scorers})))[0].evaluations[0].evaluator

    assert evaluator({"ignore_case": True}) == evaluator({"ignore_case": True})
    assert evaluator({"ignore_case": True}) != evaluator({"ignore_case": False})
    assert (evaluator({}).name, evaluator({}).version, evaluator({}).deterministic) == ("includes", "2", True)
    judged = {**SAMPLE, "scores": {"model_graded_qa": {"value": "C"}}}
    assert not attempts(read(log(judged)))[0].evaluations[0].evaluator.deterministic


def test_class_category_attack_and_guards_come_from_the_metadata():
    metadata = {"class": "goal_hijack", "category": "security", "adversarial": True, "guards": ["send_email"]}
    _, scenario, attempt, _ = read(log({**SAMPLE, "metadata": metadata}))
    assert (scenario.class_id, scenario.adversarial, scenario.guards) == ("goal_hijack", True, ("send_email",))
    assert {category.value for category in attempt.evaluations[0].categories} == {"security"}


CALLS = [
    {"id": "c1", "function": "lookup", "arguments": {"order": 5}},
    {"id": "c2", "function": "send_email", "arguments": {"to": "x"}},
]


def test_tool_calls_of_messages_are_steps():
    messages = [
        {"role": "assistant", "content": "", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "c1", "content": "attachment://abc"},
        {"role": "tool", "tool_call_id": "c2", "content": "", "error": {"type": "timeout", "message": "late"}},
    ]
    (attempt,) = attempts(read(log({**SAMPLE, "messages": messages, "attachments": {"abc": "shipped"}})))
    first, second = attempt.steps
    assert (first.tool, first.decision, first.arguments, first.result) == (
        "lookup",
        Decision.ALLOWED,
        {"order": 5},
        "shipped",
    )
    assert len(first.arguments_sha256) == 64
    assert (second.decision, second.reason_code) == (Decision.FAILED, "timeout")


def test_attachments_of_arguments_are_put_in():
    long = "x" * 150

    def step(arguments, **members):
        call = {"event": "tool", "id": "c1", "function": "send_email", "arguments": arguments}
        (attempt,) = attempts(read(log({**SAMPLE, "events": [call], **members})))
        return attempt.steps[0]

    plain = step({"to": "a", "body": {"parts": [long]}})
    put_in = step({"to": "a", "body": {"parts": ["attachment://abc"]}}, attachments={"abc": long})
    assert put_in.arguments == {"to": "a", "body": {"parts": [long]}}
    assert put_in == plain  # so the digest of the arguments does not depend on how the log was packed
    assert step({"body": "attachment://lost"}, attachments={"abc": long}).arguments == {"body": "attachment://lost"}


def test_a_large_attachment_named_many_times_is_put_in_a_few_times():
    parts = ["attachment://abc"] * 900
    call = {"event": "tool", "id": "c1", "function": "f", "arguments": {"parts": parts}, "result": parts}
    sample = {**SAMPLE, "input": parts, "events": [call] * 50, "attachments": {"abc": "x" * 900_000}}
    (attempt,) = attempts(read(log(sample)))
    assert attempt.steps[0].extras == {"too_large": ["arguments"]}
    assert attempt.steps[49].arguments == {"parts": parts}
    assert attempt.input.endswith("[…cut]")


@pytest.mark.parametrize(
    ("decisions", "decision", "approved"),
    [
        (["approve"], Decision.ALLOWED, False),
        (["reject"], Decision.DENIED, False),
        (["terminate"], Decision.DENIED, False),
        (["escalate"], Decision.PAUSED, False),
        (["escalate", "approve"], Decision.PAUSED, True),
        (["escalate", "reject"], Decision.DENIED, False),
    ],
)
def test_what_approvers_decided(decisions, decision, approved):
    events = [{"event": "approval", "call": {"id": "c2"}, "decision": d} for d in decisions]
    messages = [{"role": "assistant", "content": "", "tool_calls": CALLS[1:]}]
    (attempt,) = attempts(read(log({**SAMPLE, "messages": messages, "events": events})))
    assert [(step.decision, step.approved) for step in attempt.steps] == [(decision, approved)]


@pytest.mark.parametrize("member", ["events", "transcript"])
def test_events_give_times_and_model_calls(member):
    at = {"timestamp": "2026-11-30T17:41:52.137023+00:00", "working_time": 0.25}
    events = [{"event": "model", **at}, {"event": "tool", **CALLS[0], "result": "ok", **at}]
    sample = {**SAMPLE, member: {"events": events} if member == "transcript" else events}
    (attempt,) = attempts(read(log(sample)))
    assert [(step.kind.value, step.latency_ms) for step in attempt.steps] == [("model", 250), ("tool", 250)]


def test_input_may_be_a_conversation():
    conversation = [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image", "image": "x"}]}]
    (attempt,) = attempts(read(log({**SAMPLE, "input": conversation})))
    assert attempt.input == "user: hi"


# -- what is no log


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({"2026-11-30_support.eval": {"version": 2, "status": "success", "eval": {}}}, "index"),
        ({"eval_set_id": "x", "tasks": []}, "manifest"),
    ],
)
def test_near_misses_are_refused_by_name(content, word):
    with pytest.raises(ImportRefused) as refusal:
        read(json.dumps(content).encode())
    assert (refusal.value.status, refusal.value.code) == (415, "near_miss")
    assert word in refusal.value.detail
    assert "Upload one .eval file" in refusal.value.detail


def test_counted_but_missing_samples_are_not_zero_tests():
    with pytest.raises(ImportRefused) as refusal:
        read(log(results={"total_samples": 5, "completed_samples": 5}))
    assert (refusal.value.status, refusal.value.code) == (422, "no_samples")


def test_a_run_that_failed_before_its_first_sample_is_kept():
    run, end = read(log(status="error", error={"message": "no key"}, results=None))
    assert isinstance(run, RunRecord)
    assert isinstance(end, EndRecord)
    assert run.session is Session.ERRORED


@pytest.mark.parametrize(
    ("sample", "pointer"),
    [(5, "/samples/0"), ({"epoch": 1}, "/samples/0/id"), ({**SAMPLE, "scores": 5}, "/samples/0/scores")],
)
def test_what_is_no_sample_is_refused_with_its_place(sample, pointer):
    with pytest.raises(ImportRefused) as refusal:
        read(log(sample))
    assert (refusal.value.status, refusal.value.problems[0].pointer) == (422, pointer)


@pytest.mark.parametrize(
    "encode",
    [lambda t: b"\xef\xbb\xbf" + t.encode(), lambda t: t.encode("utf-16"), lambda t: t.replace("\n", "\r\n").encode()],
)
def test_encodings(encode):
    assert counts(read(encode(json.dumps(LOG, indent=1)))) == (10, 5, 5, 0, 0)


def test_a_log_of_version_3_with_pools_is_read():
    document = deepcopy(LOG) | {"version": 3}
    for sample in document["samples"]:
        sample["message_pool"] = sample.pop("messages")
    assert counts(read(json.dumps(document).encode())) == (10, 5, 5, 0, 0)
