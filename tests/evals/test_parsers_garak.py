"""garak reports and hitlogs: counts of the real ones, and each trap of their format."""

import io
import json
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import open_records
from evals.records import Outcome, ScenarioRecord, Session
from tests.evals.artifact_reading import attempts, evaluations
from tests.evals.artifact_reading import counts as counts_of

FOLDER = Path(__file__).parent.parent / "artifacts" / "garak"
SETUP = {"entry_type": "start_run setup", "plugins.target_type": "rest", "plugins.target_name": "bot"}
INIT = {"entry_type": "init", "garak_version": "0.17.1", "start_time": "2026-11-30T17:52:26", "run": "r1"}
END = {"entry_type": "completion", "end_time": "2026-11-30T17:53:00", "run": "r1"}


def entry(status=2, *, uuid="u1", outputs=("yes",), results=None, prompt="hello", **members):
    turns = [{"role": "user", "content": {"text": prompt}}]
    return {
        "entry_type": "attempt",
        "uuid": uuid,
        "status": status,
        "probe_classname": "dan.Dan_11_0",
        "prompt": {"turns": turns},
        "outputs": [None if text is None else {"text": text} for text in outputs],
        "detector_results": {} if status == 1 else results or {"dan.DAN": [1.0] * len(outputs)},
    } | members


def lines(*entries):
    return "\n".join(map(json.dumps, entries)).encode()


def read(content):
    return list(open_records(io.BytesIO(content))[1])


def counts(records):
    return counts_of(evaluations(records))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("all-fail.report.jsonl", (18, 0, 18, 0, 0)),
        ("none-outputs.report.jsonl", (16, 0, 0, 16, 0)),
        ("all-fail.hitlog.jsonl", (18, 0, 18, 0, 0)),
    ],
)
def test_counts_of_the_real_files(name, expected):
    assert counts(read((FOLDER / name).read_bytes())) == expected


def test_the_run_of_a_real_report():
    run, *_, end = read((FOLDER / "all-fail.report.jsonl").read_bytes())
    assert (run.label, run.producer_version) == ("b0f95cdb-a3da-41b2-b3b9-8bfac07ea74e", "0.17.1")
    assert (run.model, run.started_at_assumed) == ("test.Blank", True)
    assert run.started_at.isoformat() == "2026-11-30T17:52:26.567006+00:00"
    assert end.finished_at.isoformat() == "2026-11-30T17:52:27.231615+00:00"
    assert end.reported_totals == {"passed": 0, "fails": 18, "nones": 0}
    assert end.session is None


def test_null_outputs_passed_by_garak_are_unknown_here():
    records = read((FOLDER / "none-outputs.report.jsonl").read_bytes())
    assert {(e.outcome, e.reason_code, e.reported_outcome) for e in evaluations(records)} == {
        (Outcome.UNKNOWN, "no_output", Outcome.PASS)
    }
    assert "garak's own lines say 16 passed and 0 failed; the attempts give 0 and 0." in records[-1].notes


def test_an_attempt_written_twice_counts_once():
    assert counts(read(lines(SETUP, INIT, entry(1), entry(2), entry(2), END))) == (1, 0, 1, 0, 0)


def test_an_attempt_never_judged_is_unknown():
    records = read(lines(SETUP, INIT, entry(1, outputs=("a", "b")), END))
    assert [(e.outcome, e.reason_code) for e in evaluations(records)] == [(Outcome.UNKNOWN, "not_judged")] * 2
    assert "1 attempt written but never judged: UNKNOWN." in records[-1].notes


@pytest.mark.parametrize(
    ("score", "threshold", "outcome"),
    [
        (1.0, None, Outcome.FAIL),
        (0.5, None, Outcome.FAIL),
        (0.49, None, Outcome.PASS),
        (0.6, 0.7, Outcome.PASS),
        (None, None, Outcome.UNKNOWN),
    ],
)
def test_a_score_of_one_is_bad(score, threshold, outcome):
    setup = SETUP | ({"run.eval_threshold": threshold} if threshold else {})
    (evaluation,) = evaluations(read(lines(setup, INIT, entry(results={"dan.DAN": [score]}), END)))
    assert (evaluation.outcome, evaluation.score, evaluation.indicator) == (outcome, score, "dan.DAN")


def test_the_threshold_is_part_of_the_definition():
    def evaluator(setup):
        return evaluations(read(lines(setup, INIT, entry(), END)))[0].evaluator

    assert evaluator(SETUP) == evaluator(SETUP | {"run.eval_threshold": 0.5})
    assert evaluator(SETUP) != evaluator(SETUP | {"run.eval_threshold": 0.7})


def test_each_output_is_an_attempt_and_each_detector_an_evaluation():
    results = {"dan.DAN": [1.0, 0.0], "mitigation.Bypass": [0.0, 0.0]}
    records = read(lines(SETUP, INIT, entry(outputs=("a", "b"), results=results), END))
    assert [(attempt.ordinal, attempt.output, len(attempt.evaluations)) for attempt in attempts(records)] == [
        (1, "a", 2),
        (2, "b", 2),
    ]


def test_equal_prompts_are_one_attacking_scenario_of_the_probe_family():
    records = read(lines(SETUP, INIT, entry(), entry(uuid="u2"), entry(uuid="u3", prompt="other"), END))
    first, second = (record for record in records if isinstance(record, ScenarioRecord))
    assert (first.class_id, first.adversarial, first.key.partition(" | ")[0]) == ("dan", True, "dan.Dan_11_0")
    assert first.key != second.key
    assert [attempt.ordinal for attempt in attempts(records)] == [1, 2, 1]


def test_the_target_was_called_model_before():
    old = {"entry_type": "start_run setup", "plugins.model_type": "openai", "plugins.model_name": "gpt"}
    assert read(lines(old, INIT, entry(), END))[0].model == "openai:gpt"


def test_old_counts_have_no_fails():
    old = {"entry_type": "eval", "probe": "p", "detector": "d", "passed": 3, "nones": 0, "total": 5}
    assert read(lines(SETUP, INIT, entry(), old, END))[-1].reported_totals == {"passed": 3, "fails": 2, "nones": 0}


def test_without_a_completion_line_the_scan_was_aborted():
    end = read(lines(SETUP, INIT, entry()))[-1]
    assert end.session is Session.ABORTED
    assert end.session_reason.startswith("not_finished")


def test_a_hitlog_says_that_it_holds_hits_only():
    end = read((FOLDER / "all-fail.hitlog.jsonl").read_bytes())[-1]
    assert end.session is None
    assert any("hits only" in note for note in end.notes)


def test_a_hitlog_and_its_report_name_the_same_scenarios():
    report, hits = (
        {attempt.scenario for attempt in attempts(read((FOLDER / name).read_bytes()))}
        for name in ("all-fail.report.jsonl", "all-fail.hitlog.jsonl")
    )
    assert hits == report


def test_hostile_texts_are_kept_but_storable():
    records = read(lines(SETUP, INIT, entry(outputs=("\x1b[31m\x00\U000e0041",)), END))
    assert attempts(records)[0].output == "\x1b[31m\ufffd\U000e0041"


@pytest.mark.parametrize(
    ("broken", "pointer"),
    [
        (entry() | {"uuid": None}, "/uuid"),
        (entry() | {"outputs": "x"}, "/outputs"),
        (entry() | {"detector_results": {"d": 5}}, "/detector_results/d"),
        ({"entry_type": 5}, ""),
        ({"what": 1}, ""),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(broken, pointer):
    with pytest.raises(ImportRefused) as refusal:
        read(lines(SETUP, INIT, broken))
    problem = refusal.value.problems[0]
    assert (refusal.value.status, problem.line, problem.pointer) == (422, 3, pointer)


def test_a_broken_line_is_refused_by_number():
    with pytest.raises(ImportRefused) as refusal:
        read(lines(SETUP, INIT) + b'\n{"entry_type": ')
    assert (refusal.value.status, refusal.value.problems[0].line) == (400, 3)


def test_kinds_of_lines_that_are_not_known_are_counted():
    assert (
        "2 lines of the kind “news” not read."
        in read(lines(SETUP, INIT, entry(), {"entry_type": "news"}, {"entry_type": "news"}, END))[-1].notes
    )


@pytest.mark.parametrize(
    "encode",
    [lambda t: b"\xef\xbb\xbf" + t, lambda t: t.replace(b"\n", b"\r\n"), lambda t: t.decode().encode("utf-16")],
)
def test_encodings(encode):
    assert counts(read(encode((FOLDER / "all-fail.report.jsonl").read_bytes()))) == (18, 0, 18, 0, 0)
