"""run/v1 as NDJSON: order, the closing end, and refusals that name the line."""

import io
import json
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import Limits, open_records
from evals.records import AttemptRecord, EndRecord, RunRecord, ScenarioRecord, Session

ARTIFACTS = Path(__file__).parent.parent / "artifacts" / "run-v1"
FIRST = {"schema": "run/v1", "run": {"id": "a", "suite": "b"}}
EVALUATOR = {"evaluator": {"key": "e", "name": "n", "version": "1"}}
SCENARIO = {"scenario": {"key": "s"}}
ATTEMPT = {"attempt": {"scenario": "s", "evaluations": [{"indicator": "i", "outcome": "PASS", "evaluator": "e"}]}}
BARE = {"attempt": {"scenario": "bare"}}


def end(attempts):
    return {"end": {"attempts": attempts}}


def joined(*lines):
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def read(*lines, **limits):
    name, records = open_records(io.BytesIO(joined(*lines)), limits=Limits(**limits))
    assert name == "run-v1"
    return list(records)


def problems(*lines, **limits):
    with pytest.raises(ImportRefused) as refusal:
        read(*lines, **limits)
    return refusal.value.status, [(problem.line, problem.pointer) for problem in refusal.value.problems]


def test_document_and_lines_give_the_same_records():
    _, document = open_records(ARTIFACTS / "injected.json")
    _, lines = open_records(ARTIFACTS / "injected.ndjson")
    of_document, of_lines = list(document), list(lines)

    assert of_lines[:2] == of_document[:2]
    assert of_lines[2].evaluations == of_document[2].evaluations
    assert (of_document[2].place, of_lines[2].place) == ("/attempts/0", "line 6")
    assert of_lines[3] == EndRecord()


def test_complete_run():
    run, scenario, attempt, closing = read(FIRST, EVALUATOR, SCENARIO, ATTEMPT, end(1))
    assert isinstance(run, RunRecord)
    assert scenario == ScenarioRecord(key="s")
    assert attempt.evaluations[0].evaluator.name == "n"
    assert closing == EndRecord()


def test_without_end_a_complete_session_becomes_aborted():
    *_, closing = read(FIRST, EVALUATOR, SCENARIO, ATTEMPT)
    assert closing.session is Session.ABORTED
    assert closing.session_reason.startswith("not_finished")
    assert "no closing end line" in closing.notes[0]


def test_without_end_another_session_stays():
    first = {"schema": "run/v1", "run": {"id": "a", "suite": "b", "session": "cancelled"}}
    run, *_, closing = read(first, BARE)
    assert run.session is Session.CANCELLED
    assert closing.session is None


def test_a_lone_first_line_is_a_document():
    run, closing = read(FIRST)
    assert run.session is Session.COMPLETE
    assert closing == EndRecord()


def test_empty_run_with_an_end():
    _, closing = read(FIRST, end(0))
    assert closing.session is None


def test_blank_lines_carriage_returns_and_a_bom():
    content = b"\xef\xbb\xbf" + joined(FIRST, "", "  ", BARE, end(1)).replace(b"\n", b"\r\n") + b"\r\n\r\n"
    _, records = open_records(io.BytesIO(content))
    attempt = next(record for record in records if isinstance(record, AttemptRecord))
    assert attempt.place == "line 4"


def test_leading_blank_lines_count():
    assert problems("", "", FIRST, {"attempt": {}}) == (422, [(4, "/attempt/scenario")])


def test_utf_16_lines():
    content = joined(FIRST, {"attempt": {"scenario": "返金"}}, end(1)).decode().encode("utf-16")
    _, records = open_records(io.BytesIO(content))
    assert [record.key for record in records if isinstance(record, ScenarioRecord)] == ["返金"]


def test_twins_may_be_declared_in_any_order():
    twin = {"scenario": {"key": "t", "twin_of": "s"}}
    assert len(read(FIRST, twin, SCENARIO, end(0))) == 4
    assert problems(FIRST, twin, EVALUATOR, end(0)) == (422, [(2, "/scenario/twin_of")])


def test_x_members_of_lines_are_kept():
    first = FIRST | {"x_first": 1, "run": FIRST["run"] | {"x_run": 2}}
    attempt = {"attempt": {"scenario": "s", "x_attempt": 3}, "x_line": 4}
    run, _, found, closing = read(first, attempt, {"end": {"attempts": 1, "x_end": 5}})
    assert run.extras == {"x_run": 2}
    assert found.extras == {"x_attempt": 3}
    assert closing.extras == {"x_first": 1, "x_line": 4, "end/x_end": 5}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((FIRST | {"run": {"id": "a"}}, BARE, end(1)), [(1, "/run/suite")]),
        ((FIRST | {"attempts": []}, BARE, end(1)), [(1, "/attempts")]),
        ((FIRST, EVALUATOR, EVALUATOR, end(0)), [(3, "/evaluator/key")]),
        ((FIRST, {"evaluator": {"name": "n", "version": "1"}}, end(0)), [(2, "/evaluator/key")]),
        ((FIRST, SCENARIO, SCENARIO, end(0)), [(3, "/scenario/key")]),
        ((FIRST, BARE, {"scenario": {"key": "bare"}}, end(1)), [(3, "/scenario/key")]),
        ((FIRST, SCENARIO, ATTEMPT, EVALUATOR, end(1)), [(3, "/attempt/evaluations/0/evaluator")]),
        ((FIRST, BARE, BARE, end(2)), [(3, "/attempt/ordinal")]),
        ((FIRST, BARE, end(2)), [(3, "/end/attempts")]),
        ((FIRST, BARE, end(-1)), [(3, "/end/attempts")]),
        ((FIRST, BARE, {"end": {}}), [(3, "/end/attempts")]),
        ((FIRST, BARE, end(1), {"attempt": {"scenario": "late"}}), [(4, "")]),
        ((FIRST, BARE, end(1), end(1)), [(4, "")]),
        ((FIRST, {"attempt": {"scenario": "a"}, "scenario": {"key": "a"}}, end(1)), [(2, "")]),
        ((FIRST, {"comment": "none of the four"}, end(0)), [(2, "/comment"), (2, "")]),
        ((FIRST, [], end(0)), [(2, "")]),
        ((FIRST, FIRST, end(0)), [(2, "/schema"), (2, "/run"), (2, "")]),
        ((FIRST, {"attempt": []}, end(0)), [(2, "/attempt")]),
        (
            (FIRST, {"attempt": {"scenario": "a", "evaluations": [{"outcome": "PASS"}]}}, end(1)),
            [(2, "/attempt/evaluations/0/indicator")],
        ),
    ],
)
def test_a_refusal_names_line_and_member(lines, expected):
    assert problems(*lines) == (422, expected)


@pytest.mark.parametrize("broken", ['{"attempt": {"scenario": "s"}', "nonsense", '{"attempt": {"scenario": "s"}} {}'])
def test_a_broken_line_is_400_by_number(broken):
    status, found = problems(FIRST, SCENARIO, broken, end(1))
    assert (status, found) == (400, [(3, "")])


def test_a_broken_first_line_is_400():
    assert problems('{"schema": "run/v1", "run": {"id": "a"', BARE) == (400, [(1, "")])


def test_invalid_utf_8_is_400_by_number():
    content = joined(FIRST, SCENARIO) + b'\n{"attempt": {"scenario": "\xff"}}\n'
    with pytest.raises(ImportRefused) as refusal:
        list(open_records(io.BytesIO(content))[1])
    assert (refusal.value.status, refusal.value.problems[0].line) == (400, 3)


def test_another_schema_is_415():
    status, found = problems(FIRST | {"schema": "run/v9"}, BARE)
    assert (status, found) == (415, [(None, "/schema")])


def test_no_more_than_fifty_problems_are_read():
    lines = [{"attempt": {"scenario": ""}} for _ in range(200)]
    status, found = problems(FIRST, *lines)
    assert (status, len(found), found[-1][0]) == (422, 50, 51)


def test_a_line_over_the_limit_is_413():
    status, _ = problems(FIRST, {"attempt": {"scenario": "s", "output": "a" * 500}}, max_line_bytes=400)
    assert status == 413


def test_nothing_is_given_after_a_problem():
    _, records = open_records(io.BytesIO(joined(FIRST, SCENARIO, {"attempt": {}}, BARE, end(2))))
    assert [type(next(records)), type(next(records))] == [RunRecord, ScenarioRecord]
    with pytest.raises(ImportRefused):
        next(records)


def test_records_come_while_the_file_is_read():
    content = io.BytesIO(joined(FIRST, *[{"attempt": {"scenario": "s", "ordinal": n}} for n in range(1, 20_000)]))
    _, records = open_records(content)
    next(records)
    assert content.tell() < len(content.getvalue())


ODD = ["", "  ", "żółć", "a\\b", "nul \x00", "\ud800", "x" * 300, "\x7f", "plain"]


def odd_lines():
    """Plain attempts, odd ones, and blank lines, in no order."""
    for n in range(120):
        text = ODD[n * 7 % len(ODD)] if n % 3 else "plain"
        evaluation = {"indicator": "i", "outcome": "PASS", "reason": text, "evaluator": "e"}
        yield {"attempt": {"scenario": f"s{n % 5}", "ordinal": n + 1, "output": text, "evaluations": [evaluation]}}
        if n % 17 == 0:
            yield "  "


@pytest.mark.parametrize("size", [1, 50, 1_000, 10_000_000])
def test_lines_are_the_same_whatever_stands_beside_them(monkeypatch, size):
    alone = [
        record
        for number, line in enumerate(odd_lines(), 3)
        if line != "  "
        for record in read(FIRST, EVALUATOR, *[""] * (number - 3), line, max_text=200)
        if isinstance(record, AttemptRecord)
    ]
    monkeypatch.setattr("evals.parsers.run_v1.lines.CHUNK", size)
    together = read(FIRST, EVALUATOR, *odd_lines(), max_text=200)

    assert [record for record in together if isinstance(record, AttemptRecord)] == alone
    assert len(alone) == 120


@pytest.mark.parametrize("size", [1, 50, 10_000_000])
def test_problems_name_their_line_whatever_stands_beside_it(monkeypatch, size):
    monkeypatch.setattr("evals.parsers.run_v1.lines.CHUNK", size)
    status, found = problems(
        FIRST, BARE, "", {"attempt": {"scenario": ""}}, {"attempt": {"scenario": "t"}, "x": 1}, "", end(7)
    )
    assert (status, [line for line, _ in found]) == (422, [4, 5])
