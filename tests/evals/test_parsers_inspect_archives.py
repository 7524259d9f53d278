"""Inspect's zip archives: how they are packed, what is written twice, and what is not read."""

import gzip
import json

import pytest
from backports.zstd import zipfile

from evals.errors import ImportRefused
from evals.parsers import Limits
from evals.records import Outcome, Session
from tests.evals.artifact_reading import attempts
from tests.evals.inspect_logs import FOLDER, HEADER, SAMPLE, archive, counts, read, repeated


@pytest.mark.parametrize("compression", [zipfile.ZIP_ZSTANDARD, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_each_compression_is_read(compression):
    content = archive({"header.json": HEADER, "samples/a_epoch_1.json": SAMPLE}, compression)
    assert counts(read(content)) == (1, 1, 0, 0, 0)
    assert counts(read(gzip.compress(content))) == (1, 1, 0, 0, 0)


def test_a_sample_written_again_under_its_name_is_kept_beside_the_first():
    again = SAMPLE | {"scores": {"includes": {"value": "I"}}}
    content = repeated(
        ("header.json", HEADER | {"results": {"total_samples": 1, "completed_samples": 1}}),
        ("samples/a_epoch_1.json", SAMPLE),
        ("samples/a_epoch_1.json", again),
    )
    records = read(content)
    assert [(a.ordinal, a.evaluations[0].outcome, a.place) for a in attempts(records)] == [
        (1, Outcome.PASS, "samples/a_epoch_1.json"),
        (2, Outcome.FAIL, "samples/a_epoch_1.json (2)"),
    ]
    assert (
        "1 sample written to the archive again under the same name: all are kept, where Inspect itself reads only the "
        "last." in records[-1].notes
    )
    assert "Inspect counts 1 sample, the log holds 2." in records[-1].notes


def test_of_headers_the_last_counts_and_it_says_so():
    sample = ("samples/a_epoch_1.json", SAMPLE)
    content = repeated(("header.json", HEADER | {"status": "started"}), sample, ("header.json", HEADER))
    run, *records = read(content)
    assert run.session is Session.COMPLETE
    assert "The archive holds header.json 2 times: the last one counts." in records[-1].notes


@pytest.mark.parametrize("name", ["samples/a_epoch_1.json", "samples/swe/django_epoch_3/x_epoch_1.json"])
def test_chunked_samples_are_refused_by_name_with_what_to_do(name):
    content = archive(
        {
            "header.json": HEADER | {"version": 3},
            name: SAMPLE,
            "samples/b_epoch_1/sample.json": {"id": "b", "epoch": 1, "message_refs": []},
            "samples/b_epoch_1/skeleton.json": [],
            "samples/b_epoch_1/events/0.json": [],
            "samples/b_epoch_1/events/stats.json": {},
        }
    )
    with pytest.raises(ImportRefused) as refusal:
        read(content)
    assert (refusal.value.status, refusal.value.code) == (422, "chunked_samples")
    assert "“b_epoch_1”" in refusal.value.detail
    assert "inspect log dump" in refusal.value.detail


def test_an_id_with_slashes_is_no_chunked_sample():
    name = "samples/swe/django_epoch_3/x_epoch_1.json"
    assert counts(read(archive({"header.json": HEADER, name: SAMPLE}))) == (1, 1, 0, 0, 0)


def test_a_killed_run_has_a_journal_and_no_header():
    start = {"version": 2, "eval": {**HEADER["eval"], "dataset": {"sample_ids": ["a", "b"]}, "config": {"epochs": 3}}}
    run, *records = read(archive({"_journal/start.json": start, "samples/a_epoch_1.json": SAMPLE}))
    assert (run.session, run.planned, counts(records)) == (Session.ABORTED, 6, (1, 1, 0, 0, 0))
    assert "The log plans 6 samples (its data set × epochs) and holds 1." in records[-1].notes


def test_a_member_that_is_no_json_is_named():
    with pytest.raises(ImportRefused) as refusal:
        read(archive({"header.json": HEADER, "samples/a_epoch_1.json": "{"}))
    assert refusal.value.status == 400
    assert "samples/a_epoch_1.json" in refusal.value.detail


def test_a_cut_off_archive_is_unreadable():
    content = (FOLDER / "sample-errors.eval").read_bytes()
    for end in (100, len(content) // 2, len(content) - 1):
        with pytest.raises(ImportRefused) as refusal:
            read(content[:end])
        assert refusal.value.status == 400


def test_other_members_are_left_alone():
    members = {"header.json": HEADER, "samples/a_epoch_1.json": SAMPLE, "../../etc/passwd": "x", "samples/x.txt": "y"}
    assert counts(read(archive(members))) == (1, 1, 0, 0, 0)


def test_an_archive_that_unpacks_to_too_much_is_refused():
    content = archive({"header.json": HEADER, "samples/a_epoch_1.json": " " * 3_000_000 + json.dumps(SAMPLE)})
    with pytest.raises(ImportRefused) as refusal:
        read(content, limits=Limits(max_unpacked_bytes=1_000_000))
    assert (refusal.value.status, refusal.value.code) == (413, "too_large")


def test_samples_without_a_header_are_refused_by_name():
    with pytest.raises(ImportRefused) as refusal:
        read(archive({"samples/a_epoch_1.json": SAMPLE}))
    assert refusal.value.code == "near_miss"


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_methods_that_inspect_never_wrote_are_refused(compression):
    with pytest.raises(ImportRefused) as refusal:
        read(archive({"header.json": HEADER, "samples/a_epoch_1.json": SAMPLE}, compression))
    assert (refusal.value.status, refusal.value.code) == (400, "bad_zip_member")
    assert "header.json" in refusal.value.detail


def test_another_zip_names_what_it_holds():
    with pytest.raises(ImportRefused) as refusal:
        read(archive({"word/document.xml": "<x/>"}))
    assert (refusal.value.status, refusal.value.code) == (415, "unknown_format")
    assert "word/document.xml" in refusal.value.detail
