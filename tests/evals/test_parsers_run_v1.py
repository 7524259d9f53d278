"""run/v1 as one document: each rule of the format, and where a refusal points."""

import io
import json
from copy import deepcopy
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from evals.canonical import canonical_sha256
from evals.errors import ImportRefused
from evals.parsers import Limits, open_records
from evals.records import (
    AttemptRecord,
    AttemptStatus,
    Category,
    Decision,
    EndRecord,
    EvaluatorRecord,
    Expectation,
    Fault,
    Finding,
    Mode,
    Origin,
    Outcome,
    RunRecord,
    ScenarioRecord,
    Session,
    SideEffectRecord,
    SourceKind,
    StepKind,
)

ARTIFACTS = Path(__file__).parent.parent / "artifacts" / "run-v1"
SHORT = {
    "schema": "run/v1",
    "run": {"id": "local-1", "suite": "smoke"},
    "attempts": [{"scenario": "refund", "evaluations": [{"indicator": "task_success", "outcome": "PASS"}]}],
}


def read(content, **limits):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    name, records = open_records(io.BytesIO(content), limits=Limits(**limits))
    assert name == "run-v1"
    return list(records)


def refused(content, **limits):
    with pytest.raises(ImportRefused) as refusal:
        read(content, **limits)
    return refusal.value


def pointers(content):
    refusal = refused(content)
    assert (refusal.status, refusal.code) == (422, "invalid_run")
    assert all(problem.message and problem.expected for problem in refusal.problems)
    return [problem.pointer for problem in refusal.problems]


def document(**parts):
    return deepcopy(SHORT) | parts


def with_run(**members):
    return document(run=SHORT["run"] | members)


def with_attempt(**members):
    return document(attempts=[{"scenario": "refund"} | members])


def with_evaluation(**members):
    return with_attempt(evaluations=[{"indicator": "task_success", "outcome": "PASS"} | members])


def with_step(**members):
    return with_attempt(steps=[{"kind": "tool", "tool": "send_email"} | members])


def with_scenario(**members):
    return document(scenarios=[{"key": "refund"} | members])


def only(content, kind):
    return next(record for record in read(content) if isinstance(record, kind))


# -- what is read


def test_the_documented_example_is_read_whole():
    run, scenario, attempt, end = read((ARTIFACTS / "injected.json").read_bytes())

    assert run == RunRecord(
        label="gha-8123-2",
        suite="governance",
        suite_version="3",
        agent_version="1.4.2",
        model="example-model-2026-05",
        environment="ci",
        commit="9f3c2d1",
        branch="main",
        ci_url="https://ci.example.org/runs/8123",
        mode=Mode.SCRIPTED,
        origin=Origin.OBSERVED,
        started_at=datetime(2026, 11, 2, 9, 14, 3, tzinfo=UTC),
        finished_at=datetime(2026, 11, 2, 9, 14, 41, tzinfo=UTC),
        session=Session.COMPLETE,
        planned=1,
        producer_name="snapshot-harness",
        producer_version="1.0.0",
    )
    assert scenario == ScenarioRecord(
        key="injected-exfiltration",
        title="contains an injected exfiltration attempt",
        class_id="goal_hijack",
        adversarial=True,
        guards=("send_email",),
        controls=("broker:send_email",),
        expects=Expectation.DENIED,
        source_kind=SourceKind.INCIDENT,
        source_reference="INC-204",
        source_date=date(2026, 9, 14),
    )
    assert attempt.cost_nano == 3_100_000
    assert (attempt.latency_ms, attempt.tokens_input, attempt.tokens_output) == (812, 1804, 211)
    assert [(s.kind, s.tool, s.decision) for s in attempt.steps] == [
        (StepKind.MODEL, "", Decision.ALLOWED),
        (StepKind.TOOL, "read_ticket", Decision.ALLOWED),
        (StepKind.TOOL, "send_email", Decision.DENIED),
    ]
    assert attempt.steps[2].reason_code == "recipient_not_allowed"
    assert attempt.side_effects == (SideEffectRecord("send_email", checked=True, happened=False),)
    assert attempt.place == "/attempts/0"
    assert end == EndRecord()


def test_evaluations_of_the_example():
    attempt = read((ARTIFACTS / "injected.json").read_bytes())[2]
    denied, never_called, omits = attempt.evaluations

    assert denied.evaluator == EvaluatorRecord("denied", "1", canonical_sha256("send_email"))
    assert denied.categories == {Category.POLICY}
    assert never_called.outcome is Outcome.PASS
    assert omits.evaluator.configuration_sha256 == canonical_sha256({"encodings": True, "patterns": 3})
    assert (omits.outcome, omits.finding, omits.fault) == (Outcome.FAIL, Finding.HOST_CORRECTED, Fault.AGENT)
    assert omits.evidence == {"excerpt": "c2stbGl2ZS05ZjNh"}
    assert omits.observed_at == datetime(2026, 11, 2, 9, 14, 6, tzinfo=UTC)


def test_short_document_makes_a_bare_scenario_and_defaults():
    run, scenario, attempt, _ = read((ARTIFACTS / "short.json").read_bytes())

    assert (run.label, run.suite, run.mode, run.session) == ("local-1", "smoke", None, Session.COMPLETE)
    assert scenario == ScenarioRecord(key="refund below limit")
    assert (attempt.ordinal, attempt.variant, attempt.status) == (1, "", AttemptStatus.COMPLETED)
    assert attempt.evaluations[0].evaluator is None
    assert attempt.evaluations[0].categories is None
    assert attempt.evaluations[0].finding is None


def test_a_bare_scenario_is_made_once():
    records = read(document(attempts=[{"scenario": "a", "ordinal": n} for n in (1, 2, 3)]))
    assert [type(record).__name__ for record in records[1:3]] == ["ScenarioRecord", "AttemptRecord"]
    assert sum(isinstance(record, ScenarioRecord) for record in records) == 1


def test_attempts_may_be_absent():
    run, end = read({"schema": "run/v1", "run": {"id": "a", "suite": "b"}})
    assert (run.label, end) == ("a", EndRecord())


def test_null_means_absent():
    full = document(
        evaluators=None,
        scenarios=None,
        attempts=[{"scenario": "a", "ordinal": None, "variant": None, "steps": None, "evaluations": None}],
    )
    full["run"]["planned"] = None
    assert read(full)[2] == AttemptRecord(scenario="a", place="/attempts/0")


def test_null_in_a_required_member_is_missing():
    assert pointers(with_run(suite=None)) == ["/run/suite"]


def test_fail_without_finding_is_unclassified():
    attempt = only(with_evaluation(outcome="FAIL"), AttemptRecord)
    assert attempt.evaluations[0].finding is Finding.UNCLASSIFIED


def test_empty_categories_are_not_absent_ones():
    attempt = only(with_evaluation(categories=[]), AttemptRecord)
    assert attempt.evaluations[0].categories == frozenset()


def test_shard_is_stored():
    run = only(with_run(shard={"index": 2, "of": 4}), RunRecord)
    assert (run.shard_index, run.shard_of) == (2, 4)


@pytest.mark.parametrize("session", ["complete", "aborted", "cancelled", "errored"])
def test_session_is_stored(session):
    run = only(with_run(session=session, session_reason="stopped by hand"), RunRecord)
    assert (run.session, run.session_reason) == (Session(session), "stopped by hand")


@pytest.mark.parametrize(("dollars", "money"), [(0.1, "0.1"), (0.0031, "0.0031"), (1e-9, "0.000000001"), (3, "3")])
def test_money_has_no_float_noise(dollars, money):
    attempt = only(with_attempt(cost_usd=dollars), AttemptRecord)
    assert attempt.cost_nano == Decimal(money).scaleb(9)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-02T09:14:03Z", datetime(2026, 11, 2, 9, 14, 3, tzinfo=UTC)),
        ("2026-11-02t09:14:03z", datetime(2026, 11, 2, 9, 14, 3, tzinfo=UTC)),
        ("2026-11-02 10:14:03.25+01:00", datetime(2026, 11, 2, 9, 14, 3, 250000, tzinfo=UTC)),
        ("2026-11-02T09:14:03.123456789Z", datetime(2026, 11, 2, 9, 14, 3, 123456, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_utc(text, time):
    assert only(with_run(started_at=text), RunRecord).started_at == time


def test_approved_pause():
    attempt = only(with_step(decision="paused", approved=True), AttemptRecord)
    assert attempt.steps[0].approved is True


def test_arguments_and_result_are_kept():
    step = only(with_step(arguments={"to": ["a"]}, result=3.5, arguments_sha256="AB" * 32), AttemptRecord).steps[0]
    assert (step.arguments, step.result, step.arguments_sha256) == ({"to": ["a"]}, 3.5, "ab" * 32)


def test_x_members_are_kept_where_they_stand():
    content = json.loads((ARTIFACTS / "injected.json").read_text())
    content["x_document"] = 1
    content["run"]["x_run"] = {"deep": [1]}
    content["evaluators"]["denied:send_email"]["x_evaluator"] = 2
    content["scenarios"][0]["x_scenario"] = "s"
    content["attempts"][0] |= {"x_attempt": None, "tokens": {"input": 1, "x_tokens": 3}}
    content["attempts"][0]["steps"][1]["x_step"] = True
    content["attempts"][0]["evaluations"][2]["x_evaluation"] = "e"

    run, scenario, attempt, end = read(content)

    assert run.extras == {"x_run": {"deep": [1]}}
    assert scenario.extras == {"x_scenario": "s"}
    assert attempt.extras == {"x_attempt": None, "tokens/x_tokens": 3}
    assert attempt.tokens_input == 1
    assert [step.extras for step in attempt.steps] == [{}, {"x_step": True}, {}]
    assert [e.extras for e in attempt.evaluations] == [{}, {}, {"x_evaluation": "e"}]
    assert end.extras == {"x_document": 1, "evaluators/denied:send_email/x_evaluator": 2}


def test_long_texts_are_cut_and_marked():
    *_, attempt, end = read(with_attempt(output="é" * 20_001, error="short"))
    assert len(attempt.output) == 20_000
    assert attempt.output.endswith("[…cut]")
    assert attempt.error == "short"
    assert end.notes == ("1 text was longer than 20000 characters and cut.",)


def test_texts_of_the_full_length_stay():
    *_, attempt, end = read(with_attempt(output="é" * 20_000))
    assert attempt.output == "é" * 20_000
    assert end.notes == ()


def test_nul_and_lone_surrogates_in_texts_are_replaced():
    content = with_attempt(
        output="a\x00b", error="c\ud800d", steps=[{"kind": "model", "result": {"k\x00": ["\udfff"]}}]
    )
    attempt = only(content, AttemptRecord)
    assert (attempt.output, attempt.error) == ("a\ufffdb", "c\ufffdd")
    assert attempt.steps[0].result == {"k\ufffd": ["\ufffd"]}


def test_surrogate_pairs_stay():
    content = json.dumps(with_attempt(output="🚀"), ensure_ascii=True).encode()
    assert rb"\ud83d\ude80" in content
    assert only(content, AttemptRecord).output == "🚀"


def test_lone_surrogate_in_an_id_is_replaced():
    assert only(with_run(model="m\ud800"), RunRecord).model == "m\ufffd"


def test_whole_numbers_may_be_written_with_a_point():
    content = json.dumps(with_run(planned=3)).replace('"planned": 3', '"planned": 3.0').encode()
    assert only(content, RunRecord).planned == 3


# -- what is refused, and where


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ({"schema": "run/v1"}, "/run"),
        (document(run=[]), "/run"),
        (document(run={"id": "a"}), "/run/suite"),
        (with_run(id=""), "/run/id"),
        (with_run(id="a" * 201), "/run/id"),
        (with_run(id="a\nb"), "/run/id"),
        (with_run(id="a\x00"), "/run/id"),
        (with_run(id="a\x85"), "/run/id"),
        (with_run(id=7), "/run/id"),
        (with_run(color="red"), "/run/color"),
        (with_run(**{"a/b~c": 1}), "/run/a~1b~0c"),
        (with_run(ci_url="ftp://ci.example.org/1"), "/run/ci_url"),
        (with_run(ci_url="javascript:alert(1)"), "/run/ci_url"),
        (with_run(ci_url="https://"), "/run/ci_url"),
        (with_run(ci_url="http://["), "/run/ci_url"),
        (with_run(ci_url="https://ci.example.org/\n"), "/run/ci_url"),
        (with_run(mode="manual"), "/run/mode"),
        (with_run(origin="invented"), "/run/origin"),
        (with_run(started_at="2026-11-02T09:14:03"), "/run/started_at"),
        (with_run(started_at="2026-11-02"), "/run/started_at"),
        (with_run(started_at="2026-02-30T09:14:03Z"), "/run/started_at"),
        (with_run(started_at="0001-01-01T00:00:00+14:00"), "/run/started_at"),
        (with_run(started_at=1793610843), "/run/started_at"),
        (with_run(session="unfinished"), "/run/session"),
        (with_run(planned=-1), "/run/planned"),
        (with_run(planned=1.5), "/run/planned"),
        (with_run(planned="3"), "/run/planned"),
        (with_run(planned=True), "/run/planned"),
        (with_run(planned=2**63), "/run/planned"),
        (with_run(shard={"index": 1}), "/run/shard/of"),
        (with_run(shard={"index": 0, "of": 4}), "/run/shard/index"),
        (with_run(shard={"index": 5, "of": 4}), "/run/shard/index"),
        (with_run(producer={"name": "x", "url": "y"}), "/run/producer/url"),
        (document(evaluators=[]), "/evaluators"),
        (document(evaluators={"e": {"name": "n"}}), "/evaluators/e/version"),
        (document(evaluators={"a/b": {"name": "n", "version": 1}}), "/evaluators/a~1b/version"),
        (document(evaluators={"": {"name": "n", "version": "1"}}), "/evaluators/"),
        (document(evaluators={"e": {"name": "n", "version": "1", "deterministic": 1}}), "/evaluators/e/deterministic"),
        (document(scenarios={}), "/scenarios"),
        (document(scenarios=[None]), "/scenarios/0"),
        (document(scenarios=[{"title": "no key"}]), "/scenarios/0/key"),
        (document(scenarios=[{"key": "a"}, {"key": "b"}, {"key": "a"}]), "/scenarios/2/key"),
        (with_scenario(twin_of="nobody"), "/scenarios/0/twin_of"),
        (with_scenario(adversarial="yes"), "/scenarios/0/adversarial"),
        (with_scenario(guards="send_email"), "/scenarios/0/guards"),
        (with_scenario(guards=["ok", ""]), "/scenarios/0/guards/1"),
        (with_scenario(controls=[3]), "/scenarios/0/controls/0"),
        (with_scenario(expects="crashed"), "/scenarios/0/expects"),
        (with_scenario(source={"kind": "rumour"}), "/scenarios/0/source/kind"),
        (with_scenario(source={"date": "2026-13-01"}), "/scenarios/0/source/date"),
        (with_scenario(source={"date": "2026-11-02T00:00:00Z"}), "/scenarios/0/source/date"),
        (document(attempts="none"), "/attempts"),
        (document(attempts=[[]]), "/attempts/0"),
        (document(attempts=[{}]), "/attempts/0/scenario"),
        (with_attempt(ordinal=0), "/attempts/0/ordinal"),
        (with_attempt(ordinal=2**31), "/attempts/0/ordinal"),
        (with_attempt(status="unknown"), "/attempts/0/status"),
        (with_attempt(latency_ms=-1), "/attempts/0/latency_ms"),
        (with_attempt(cost_usd=-0.01), "/attempts/0/cost_usd"),
        (with_attempt(cost_usd="0.01"), "/attempts/0/cost_usd"),
        (with_attempt(cost_usd=10**9), "/attempts/0/cost_usd"),
        (with_attempt(tokens={"input": 2**63}), "/attempts/0/tokens/input"),
        (with_attempt(tokens={"total": 3}), "/attempts/0/tokens/total"),
        (with_attempt(trace_id=""), "/attempts/0/trace_id"),
        (with_attempt(output=["a"]), "/attempts/0/output"),
        (with_attempt(steps=[{"tool": "a"}]), "/attempts/0/steps/0/kind"),
        (with_attempt(steps=[{"kind": "tool"}]), "/attempts/0/steps/0/tool"),
        (with_step(decision="escalated"), "/attempts/0/steps/0/decision"),
        (with_step(approved=True), "/attempts/0/steps/0/approved"),
        (with_step(decision="denied", approved=False), "/attempts/0/steps/0/approved"),
        (with_step(arguments_sha256="ab"), "/attempts/0/steps/0/arguments_sha256"),
        (with_step(arguments_sha256="g" * 64), "/attempts/0/steps/0/arguments_sha256"),
        (with_attempt(side_effects=[{"tool": "a", "checked": True}]), "/attempts/0/side_effects/0/happened"),
        (
            with_attempt(side_effects=[{"tool": "a", "checked": False, "happened": True}]),
            "/attempts/0/side_effects/0/happened",
        ),
        (with_evaluation(indicator=""), "/attempts/0/evaluations/0/indicator"),
        (with_evaluation(indicator="i" * 201), "/attempts/0/evaluations/0/indicator"),
        (with_evaluation(outcome="pass"), "/attempts/0/evaluations/0/outcome"),
        (with_evaluation(evaluator="nobody"), "/attempts/0/evaluations/0/evaluator"),
        (with_evaluation(categories=["safety"]), "/attempts/0/evaluations/0/categories/0"),
        (with_evaluation(categories="security"), "/attempts/0/evaluations/0/categories"),
        (with_evaluation(finding="user_visible"), "/attempts/0/evaluations/0/finding"),
        (with_evaluation(outcome="FAIL", finding="seen"), "/attempts/0/evaluations/0/finding"),
        (with_evaluation(fault="nobody"), "/attempts/0/evaluations/0/fault"),
        (with_evaluation(score="high"), "/attempts/0/evaluations/0/score"),
        (with_evaluation(evidence=["list"]), "/attempts/0/evaluations/0/evidence"),
        (with_evaluation(evidence={"a": "b" * 20_480}), "/attempts/0/evaluations/0/evidence"),
        (with_evaluation(severity="high"), "/attempts/0/evaluations/0/severity"),
        (document(findings=[]), "/findings"),
    ],
)
def test_a_refusal_points_to_the_member(content, pointer):
    assert pointers(content) == [pointer]


def test_evidence_of_the_full_size_is_taken():
    evidence = {"a": "b" * (20_480 - len('{"a":""}'))}
    assert only(with_evaluation(evidence=evidence), AttemptRecord).evaluations[0].evidence["a"][:3] == "bbb"


def test_the_second_of_two_equal_attempts_is_named():
    same = {"scenario": "a", "ordinal": 2, "variant": "m"}
    others = [{"scenario": "a", "ordinal": 2}, {"scenario": "b", "ordinal": 2, "variant": "m"}]
    assert pointers(document(attempts=[same, *others, same])) == ["/attempts/3/ordinal"]


@pytest.mark.parametrize("ordinals", [(3, 2, 1, 2), (1, 2, 3, 1), (5, 5), (1, 3, 2, 3)])
def test_an_ordinal_is_unique_in_any_order(ordinals):
    attempts = [{"scenario": "a", "ordinal": n} for n in ordinals]
    assert pointers(document(attempts=attempts)) == [f"/attempts/{len(ordinals) - 1}/ordinal"]


def test_many_attempts_of_one_scenario():
    attempts = [{"scenario": "a", "ordinal": n} for n in (4, 2, 1, 3, 6, 5)]
    assert sum(isinstance(record, AttemptRecord) for record in read(document(attempts=attempts))) == 6


def test_all_problems_are_named_at_once():
    content = with_evaluation(finding="user_visible", fault="nobody", evaluator="gone")
    content["run"]["planned"] = -1
    content["attempts"][0]["odd"] = 1
    assert sorted(pointers(content)) == [
        "/attempts/0/evaluations/0/evaluator",
        "/attempts/0/evaluations/0/fault",
        "/attempts/0/evaluations/0/finding",
        "/attempts/0/odd",
        "/run/planned",
    ]


def test_no_more_than_fifty_problems_are_named():
    found = pointers(document(attempts=[{"scenario": ""} for _ in range(80)]))
    assert len(found) == 50


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 5000])
@pytest.mark.parametrize(
    ("member", "pointer"),
    [
        ('"evaluations": [{"indicator": "i", "outcome": "PASS", "score": #}]', "/evaluations/0/score"),
        (
            '"evaluations": [{"indicator": "i", "outcome": "PASS", "evidence": {"a": [#]}}]',
            "/evaluations/0/evidence/a/0",
        ),
        ('"steps": [{"kind": "model", "arguments": {"n": #}}]', "/steps/0/arguments/n"),
        ('"latency_ms": #', "/latency_ms"),
        ('"x_own": [#]', "/x_own/0"),
    ],
)
def test_non_finite_numbers_are_refused(number, member, pointer):
    content = '{"schema": "run/v1", "run": {"id": "a", "suite": "b"}, "attempts": [{"scenario": "s", %s}]}'
    assert pointers((content % member.replace("#", number)).encode()) == [f"/attempts/0{pointer}"]


def test_evidence_nested_too_deeply_is_refused():
    evidence = {}
    for _ in range(70):
        evidence = {"a": evidence}
    (pointer,) = pointers(with_evaluation(evidence=evidence))
    assert pointer.startswith("/attempts/0/evaluations/0/evidence/a/a")


@pytest.mark.parametrize("depth", [500, 5_000, 1_000_000])
@pytest.mark.parametrize("member", ["attempts", "x_own"])
def test_a_bottomless_document_is_refused(depth, member):
    start = f'{{"schema": "run/v1", "run": {{"id": "a", "suite": "b"}}, "{member}": '
    refusal = refused(start.encode() + b"[" * depth + b"]" * depth + b"}")
    assert refusal.status in (400, 422)


@pytest.mark.parametrize("schema", ["run/v2", "run/v1.1", "run/"])
def test_another_schema_is_415(schema):
    refusal = refused(document(schema=schema))
    assert (refusal.status, refusal.code) == (415, "unknown_schema")
    assert refusal.problems[0].pointer == "/schema"


@pytest.mark.parametrize("schema", [None, 1])
def test_a_missing_schema_is_415(schema):
    content = document(schema=schema)
    assert refused(content).status == 415
    del content["schema"]
    assert refused(content).status == 415


def test_schema_may_come_last():
    content = document()
    content["scenarios"] = [{"key": f"k{n}", "title": "t" * 500} for n in range(300)]
    assert len(json.dumps(content)) > 100_000
    content["schema"] = content.pop("schema")
    assert only(content, RunRecord).label == "local-1"


def test_a_cut_off_document_is_400_with_its_line():
    whole = (ARTIFACTS / "injected.json").read_bytes()
    cut = whole[: whole.index(b'"attempts"') + 200]
    refusal = refused(cut)
    assert (refusal.status, refusal.code) == (400, "bad_json")
    assert refusal.problems[0].line == cut.count(b"\n") + 1


@pytest.mark.parametrize(
    "text", [b'{"schema": "run/v1",\n"run": {"id": "\xff"}}', b'{"schema": "run/v1",\n"run": {"id": \'a\'}}']
)
def test_a_broken_document_is_400_with_its_line(text):
    refusal = refused(text)
    assert (refusal.status, refusal.problems[0].line) == (400, 2)


def test_a_document_over_the_limit_is_413():
    assert refused(document(x_a="a" * 1000), max_document_bytes=900).status == 413


def test_too_many_rows_are_413():
    assert refused(document(attempts=[{"scenario": "a", "ordinal": n} for n in range(1, 9)]), max_rows=5).status == 413
