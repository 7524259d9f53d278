"""Which format a file is, by its content alone, and what is done about its encoding and packing."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import FORMATS, Limits, detect, open_records
from evals.records import ScenarioRecord

ARTIFACTS = Path(__file__).parent.parent / "artifacts"
RUN = {"schema": "run/v1", "run": {"id": "a", "suite": "b"}}
PROMPTFOO = (ARTIFACTS / "promptfoo" / "results.json").read_bytes()


def refused(content, **options):
    with pytest.raises(ImportRefused) as refusal:
        list(open_records(io.BytesIO(content), **options)[1])
    return refusal.value


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("run-v1/injected.json", "run-v1"),
        ("run-v1/injected.ndjson", "run-v1"),
        ("promptfoo/results.json", "promptfoo"),
        ("promptfoo/results.jsonl", "promptfoo"),
        ("promptfoo/results.junit.xml", "junit"),
        ("promptfoo/results.csv", None),
        ("pytest/basic.xml", "junit"),
    ],
)
def test_real_files(path, name):
    assert detect((ARTIFACTS / path).read_bytes()[: 64 * 1024]) == name


def test_every_format_has_what_pages_show():
    for name, kind in FORMATS.items():
        assert kind.name == name
        assert all((kind.title, kind.version, kind.hint))


@pytest.mark.parametrize("name", ["run-v1", "run/v1"])
def test_a_told_format_is_not_detected(name):
    found, records = open_records(io.BytesIO(json.dumps(RUN).encode()), format=name)
    assert found == "run-v1"
    assert len(list(records)) == 2


def test_a_told_format_must_be_one():
    refusal = refused(b"{}", format="deepeval")
    assert (refusal.status, refusal.code) == (415, "unknown_format")


def test_a_told_format_must_fit():
    assert refused(PROMPTFOO, format="junit").status == 400
    assert refused(PROMPTFOO, format="run-v1").status == 415


def test_unknown_json_names_the_keys_seen_and_what_is_read():
    refusal = refused(b'{"testCases": [], "metricsScores": [], "nested": {"schema": "run/v1"}}')
    assert (refusal.status, refusal.code) == (415, "unknown_format")
    assert "“testCases”, “metricsScores”, “nested”" in refusal.detail
    for name in FORMATS:
        assert name in refusal.problems[0].expected


def test_unknown_json_lines_name_the_keys_of_the_first():
    assert "“line_kind”" in refused(b'{"line_kind": "init"}\n{"line_kind": "eval"}\n').detail


def test_many_or_long_keys_are_not_all_named():
    detail = refused(json.dumps({f"key{n}" + "x" * 200: n for n in range(100)}).encode()).detail
    assert len(detail) < 1500
    assert "and more" in detail


@pytest.mark.parametrize("content", [b"", b" \n\t ", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file_is_400(content):
    assert (refused(content).status, refused(content).code) == (400, "empty")


@pytest.mark.parametrize("content", [b"hello", b"\x00\x01\x02", b"42", b'"text"', b"a,b\n1,2\n"])
def test_other_content_is_415(content):
    assert refused(content).status == 415


@pytest.mark.parametrize("content", [b"[]", b"{}", b"[1, 2]", b'[{"a": 1}]', b"{}\n{}\n"])
def test_json_without_a_known_key_is_415(content):
    assert refused(content).status == 415


def test_broken_json_of_no_format_is_400_with_its_line():
    refusal = refused(b'{"a": 1,\n"b": }')
    assert (refusal.status, refusal.problems[0].line) == (400, 2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom"])
def test_encodings_of_json(encoding):
    marks = {"utf-16-le-bom": b"\xff\xfe", "utf-16-be-bom": b"\xfe\xff"}
    text = json.dumps(RUN | {"x_a": "返金"}, ensure_ascii=False)
    content = marks.get(encoding, b"") + text.encode(encoding.removesuffix("-bom"))
    _, records = open_records(io.BytesIO(content))
    assert list(records)[-1].extras == {"x_a": "返金"}


def test_half_a_utf_16_character_is_400():
    content = json.dumps(RUN).encode("utf-16")
    assert refused(content[:-1]).code == "bad_encoding"


@pytest.mark.parametrize("name", ["run-v1/injected.ndjson", "promptfoo/results.json", "pytest/basic.xml"])
def test_gzip_files_are_unpacked(name):
    content = (ARTIFACTS / name).read_bytes()
    plain, packed = (list(open_records(io.BytesIO(c))[1]) for c in (content, gzip.compress(content)))
    assert plain == packed


def test_gzip_in_several_members():
    content = json.dumps(RUN).encode()
    _, records = open_records(io.BytesIO(gzip.compress(content[:20]) + gzip.compress(content[20:])))
    assert len(list(records)) == 2


@pytest.mark.parametrize("damage", [lambda packed: packed[:-10], lambda packed: packed[:12] + b"\xff" * 30])
def test_damaged_gzip_is_400(damage):
    refusal = refused(damage(gzip.compress(PROMPTFOO)))
    assert (refusal.status, refusal.code) == (400, "bad_gzip")


def test_a_gzip_bomb_is_413():
    bomb = gzip.compress(b" " * 2_000_000)
    assert len(bomb) < 4_000
    assert refused(bomb, limits=Limits(max_unpacked_bytes=1_000_000)).status == 413


def test_gzip_inside_gzip_is_not_unpacked_again():
    refusal = refused(gzip.compress(gzip.compress(PROMPTFOO)))
    assert (refusal.status, refusal.code) == (400, "bad_gzip")
    assert "pack it once" in refusal.detail


def test_a_path_is_opened_and_closed(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(gzip.compress(json.dumps(RUN).encode()))
    assert len(list(open_records(path)[1])) == 2
    path.write_bytes(b"nothing")
    with pytest.raises(ImportRefused):
        open_records(path)
    path.unlink()


def test_a_given_file_stays_open_and_is_read_from_where_it_stands():
    file = io.BytesIO(b"skipped" + json.dumps(RUN).encode())
    file.seek(7)
    assert len(list(open_records(file)[1])) == 2
    assert not file.closed


def test_a_head_of_quotes_and_backslashes_is_read_in_time():
    assert detect(b'{"' + b'\\"' * 32_000 + b"\\") is None
    assert detect(b'{"a": ' + b'"\\' * 32_000) is None
    assert detect(b"<" + b"!--" * 20_000) is None
    assert detect(b"<?" * 32_000) is None


def test_a_damaged_zip_is_unreadable():
    assert (refused(b"PK\x03\x04zip").status, refused(b"PK\x03\x04zip").code) == (400, "bad_zip")


@pytest.mark.parametrize("format", [None, "deepeval", "pydantic-evals", "inspect", "promptfoo"])
def test_a_refusal_that_names_odd_keys_can_be_sent(format):
    refusal = refused(b'{"\\ud800": 1, "\\u0000": 2}', format=format)
    assert refusal.status == 415
    assert "\ufffd" in refusal.detail
    assert refusal.detail.encode()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "HTML page, perhaps of a sign-in"),
        (b"<html><body>502</body></html>", "HTML page"),
    ],
)
def test_a_page_is_called_one(content, word):
    assert word in refused(content).detail


def test_a_zip_of_results_says_to_unpack_it():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("out/results.json", PROMPTFOO)
    assert "Unpack it, and upload “out/results.json” itself." in refused(packed.getvalue()).detail


def test_a_file_of_another_format_than_told_says_what_it_looks_like():
    detail = refused(PROMPTFOO, format="junit").detail
    assert "The upload says that it is JUnit XML; it looks like promptfoo" in detail


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_xml_that_was_converted_is_read_by_its_mark(encoding):
    text = '<?xml version="1.0" encoding="utf-8"?><testsuite name="é"><testcase name="ü"/></testsuite>'
    mark = "" if encoding == "utf-16" else "\ufeff"
    records = list(open_records(io.BytesIO((mark + text).encode(encoding)))[1])
    assert [r.title or r.key for r in records if isinstance(r, ScenarioRecord)] == ["ü"]
