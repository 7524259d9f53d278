"""garak reports and hitlogs: counts of the real ones, and each trap of their format."""

import gzip
import io
import json
import tracemalloc
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
HIT = {"probe": "p.P", "detector": "d", "score": 1.0, "attempt_id": "u1", "run_id": "r1", "output": {"text": "x"}}
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


@pytest.mark.parametrize("nothing", [None, {"text": None, "lang": "en", "data_path": None, "notes": {}}])
@pytest.mark.parametrize("score", [0.0, 1.0, None])
def test_without_an_output_there_is_no_verdict(nothing, score):
    (evaluation,) = evaluations(read(lines(SETUP, INIT, entry(outputs=[None], results={"d": [score]}), END)))
    (same,) = evaluations(
        read(lines(SETUP, INIT, entry(results={"d": [score]}) | {"outputs": [nothing]}, END)),
    )
    assert same == evaluation
    assert (evaluation.outcome, evaluation.reason_code, evaluation.finding) == (Outcome.UNKNOWN, "no_output", None)
    assert evaluation.reported_outcome == {0.0: Outcome.PASS, 1.0: Outcome.FAIL, None: None}[score]


@pytest.mark.parametrize("output", [{"text": ""}, "", {"text": None, "data_path": "answer.png"}])
def test_an_empty_text_and_a_file_are_outputs(output):
    assert counts(read(lines(SETUP, INIT, entry() | {"outputs": [output]}, END))) == (1, 0, 1, 0, 0)


def test_a_hit_without_an_output_is_unknown_and_seen():
    records = read(lines(HIT | {"output": None}, HIT))
    assert counts(records) == (2, 0, 1, 1, 0)
    assert "1 evaluation is UNKNOWN where garak says FAIL (no_output)." in records[-1].notes


def test_a_detector_with_fewer_scores_than_outputs_leaves_unknown():
    results = {"a": [0.0], "b": [0.0, 1.0], "c": []}
    records = read(lines(SETUP, INIT, entry(outputs=("x", "y"), results=results), END))
    assert [(e.indicator, e.outcome.value, e.reason_code) for e in evaluations(records)] == [
        ("a", "PASS", ""),
        ("b", "PASS", ""),
        ("c", "UNKNOWN", "no_score"),
        ("a", "UNKNOWN", "no_score"),
        ("b", "FAIL", ""),
        ("c", "UNKNOWN", "no_score"),
    ]
    assert any("fewer scores" in note for note in records[-1].notes)


def test_a_score_may_be_a_plain_yes_or_no():
    results = {"files.Pickled": [True, False]}
    records = read(lines(SETUP, INIT, entry(outputs=("x", "y"), results=results), END))
    assert counts(records) == (2, 1, 1, 0, 0)


def test_an_attempt_never_judged_is_unknown():
    records = read(lines(SETUP, INIT, entry(1, outputs=("a", "b")), END))
    assert [(e.outcome, e.reason_code) for e in evaluations(records)] == [(Outcome.UNKNOWN, "not_judged")] * 2
    assert "1 attempt written but never judged: UNKNOWN." in records[-1].notes
    assert [(a.input, a.output, a.place) for a in attempts(records)] == [
        ("hello", "a", "line 3"),
        ("hello", "b", "line 3"),
    ]


@pytest.mark.parametrize("encode", [bytes, gzip.compress, lambda content: b"\xef\xbb\xbf" + content])
def test_attempts_never_judged_are_read_again_at_the_end(encode):
    entries = [entry(1, uuid=f"u{n}", prompt=f"prompt ö {n}") for n in range(30)]
    content = b"\r\n\r\n".join(lines(one) for one in (SETUP, INIT, *entries, entry(uuid="u7"), END))
    records = read(encode(content))
    assert {a.input for a in attempts(records)} == {f"prompt ö {n}" for n in range(30) if n != 7} | {"hello"}


def test_prompts_of_open_attempts_are_not_held():
    content = lines(SETUP, INIT, *(entry(1, uuid=f"u{n}", prompt=f"{n}" + "x" * 20_000) for n in range(500)), END)
    records = open_records(io.BytesIO(content))[1]
    tracemalloc.start()
    for _ in records:
        pass
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 2_000_000 < len(content) / 4


def test_a_line_of_an_attempt_judged_before_is_noted():
    assert (
        "1 line of attempts that were judged before not counted again."
        in read(lines(SETUP, INIT, entry(), entry(), END))[-1].notes
    )


def test_lines_of_one_attempt_whose_scores_differ_give_no_verdict():
    one, two = ({"a": [0.0, 0.0], "b": [0.1, 0.9]}, {"a": [1.0, 0.0], "b": [0.2, 0.9]})
    for pair in ((one, two), (two, one)):
        told = [entry(outputs=("x", "y"), results=results) for results in pair]
        records = read(lines(SETUP, INIT, told[0], entry(uuid="u2"), told[1], told[0], END))
        assert [(e.indicator, e.outcome.value, e.reason_code) for e in evaluations(records)[:4]] == [
            ("a", "UNKNOWN", "contradiction"),
            ("b", "PASS", ""),
            ("a", "PASS", ""),
            ("b", "FAIL", ""),
        ]
        assert "1 attempt judged by lines whose scores differ: 1 evaluation UNKNOWN (contradiction)." in (
            records[-1].notes
        )


@pytest.mark.parametrize("second", [{}, {"d": []}, {"d": [None]}, {"d": [1.0]}, {"other": [0.0]}])
def test_a_pass_that_another_line_does_not_give_is_no_pass(second):
    told = [entry(results={"d": [0.0]}), entry() | {"detector_results": second}]
    for pair in (told, told[::-1]):
        records = read(lines(SETUP, INIT, *pair, END))
        assert not any(e.outcome is Outcome.PASS for e in evaluations(records) if e.indicator == "d")
        assert any("whose scores differ" in note for note in records[-1].notes)


@pytest.mark.parametrize(
    ("score", "outcome", "code", "reported"),
    [
        (None, Outcome.UNKNOWN, "no_score", Outcome.FAIL),
        ("x", Outcome.UNKNOWN, "no_score", Outcome.FAIL),
        (0.2, Outcome.UNKNOWN, "no_threshold", Outcome.FAIL),  # the scan's own was lower, and is not in the file
        (0.5, Outcome.FAIL, "", None),
        (True, Outcome.FAIL, "", None),
    ],
)
def test_a_hit_is_judged_by_its_score(score, outcome, code, reported):
    (evaluation,) = evaluations(read(lines(HIT | {"score": score})))
    assert (evaluation.outcome, evaluation.reason_code, evaluation.reported_outcome) == (outcome, code, reported)


def test_a_hit_below_a_threshold_that_is_told_passes_and_the_difference_is_noted():
    records = read(lines(SETUP | {"run.eval_threshold": 0.7}, INIT, HIT | {"score": 0.6}, HIT | {"score": 0.7}))
    assert counts(records) == (2, 1, 1, 0, 0)
    assert "1 evaluation is PASS where garak says FAIL (score_below_threshold)." in records[-1].notes


def test_counts_without_their_attempts_are_refused():
    told = {"entry_type": "eval", "probe": "p", "detector": "d", "passed": 3, "fails": 2, "nones": 0}
    with pytest.raises(ImportRefused) as refusal:
        read(lines(SETUP, INIT, told, END))
    assert (refusal.value.status, refusal.value.code) == (422, "no_attempts")


@pytest.mark.parametrize(
    "content",
    [
        (SETUP, INIT, entry(), END, SETUP, INIT | {"run": "r2"}, entry(uuid="u2"), END),
        (HIT, HIT | {"run_id": "r2"}),
    ],
)
def test_lines_of_two_scans_are_refused(content):
    with pytest.raises(ImportRefused) as refusal:
        read(lines(*content))
    assert (refusal.value.status, refusal.value.code) == (422, "several_runs")


def test_an_init_line_of_a_payload_is_not_that_of_the_run():
    """Before 0.10.1 the loading of a payload had the entry type of the run's own line."""
    run, *_ = read(lines(SETUP, INIT, {"entry_type": "init", "loading_complete": "payload"}, entry(), END))
    assert (run.label, run.producer_version) == ("r1", "0.17.1")


def test_a_report_put_together_of_several_has_no_completion_line():
    *_, end = read(lines(SETUP | {"aggregation": ["a.report.jsonl", "b.report.jsonl"]}, INIT, entry()))
    assert end.session is Session.UNFINISHED
    assert "put together of several" in end.session_reason


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


@pytest.mark.parametrize(
    ("setup", "generator", "name"),
    [
        ({"plugins.target_type": "test.Blank", "plugins.target_name": None}, "test.Blank None", "test.Blank"),
        ({"plugins.model_type": "huggingface", "plugins.model_name": "gpt2"}, "huggingface gpt2", "huggingface:gpt2"),
        ({"plugins.target_type": "rest", "plugins.target_name": "my bot"}, "rest my bot", "rest:my bot"),
    ],
)
def test_a_hitlog_and_its_report_name_the_same_target(setup, generator, name):
    report = read(lines({"entry_type": "start_run setup", **setup}, INIT, entry(), END))
    hits = read(lines(HIT | {"generator": generator}))
    assert {record.model for record in (report[0], hits[0])} == {name}
    assert {attempt.variant for attempt in attempts(report) + attempts(hits)} == {name}


def test_a_hitlog_says_that_it_holds_hits_only():
    end = read((FOLDER / "all-fail.hitlog.jsonl").read_bytes())[-1]
    assert end.session is Session.UNFINISHED
    assert end.session_reason.startswith("hits_only: this is garak's hitlog")
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
    kinds = [{"entry_type": f"kind {n}"} for n in range(500)]
    notes = read(lines(SETUP, INIT, entry(), *kinds, END))[-1].notes
    assert len(notes) == 11
    assert "490 lines of other kinds not read." in notes


@pytest.mark.parametrize(
    "encode",
    [lambda t: b"\xef\xbb\xbf" + t, lambda t: t.replace(b"\n", b"\r\n"), lambda t: t.decode().encode("utf-16")],
)
def test_encodings(encode):
    assert counts(read(encode((FOLDER / "all-fail.report.jsonl").read_bytes()))) == (18, 0, 18, 0, 0)
