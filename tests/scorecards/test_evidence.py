"""Grades follow from the source until somebody verifies; files are hashed, limited and go with their last link."""

import errno
from datetime import date
from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage, storages

from evals.models import MadeBy, Visibility
from evals.records import Origin
from reliability.errors import AppError
from reliability.people import issue_token
from scorecards import evidence
from scorecards.models import EvidenceItem, Grade, Shows, SourceType, Stance
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def score(agent, alice):
    return making.score_of(making.draft_for(agent, alice))


def test_run_of_a_ci_token_is_observed(score, agent, client_org, alice):
    token = issue_token(client_org, name="ci", scopes=[]).token
    item = making.run_item(score, making.make_run(agent, token=token), alice)
    assert (item.grade, item.sha256) == (Grade.OBSERVED, "a" * 64)


def test_run_that_the_client_uploaded_by_hand_is_declared(score, agent, alice):
    assert making.run_item(score, making.make_run(agent, by_hand=True), alice).grade == Grade.DECLARED


def test_run_that_the_consultancy_made_is_observed(score, agent, alice):
    run = making.make_run(agent, by_hand=True, made_by=MadeBy.CONSULTANCY)
    assert making.run_item(score, run, alice).grade == Grade.OBSERVED


def test_synthetic_run_is_declared_until_verified(score, agent, alice):
    run = making.make_run(agent, made_by=MadeBy.CONSULTANCY, origin=Origin.SYNTHETIC)
    item = making.run_item(score, run, alice)
    assert item.grade == Grade.DECLARED
    evidence.verify_evidence(
        item, evidence.Verification(on=date(2026, 10, 20), how="Ran it again.", rerun=(5, 41, 5)), by=alice
    )
    item.refresh_from_db()
    assert (item.grade, item.verified_by) == (Grade.VERIFIED, alice)
    assert (item.rerun_scenarios, item.rerun_of, item.rerun_agreed) == (5, 41, 5)


@pytest.mark.parametrize(
    ("made_by", "grade"), [("client", "declared"), ("consultancy", "observed"), ("third_party", "observed")]
)
def test_link_is_declared_when_the_client_made_and_sent_it(score, alice, made_by, grade):
    assert making.link_item(score, alice, made_by=MadeBy(made_by)).grade == grade


def test_interview_is_declared(score, alice):
    source = evidence.Source(SourceType.INTERVIEW, interviewee="Nia, owner", interviewed_on=date(2026, 10, 3))
    item = evidence.add_evidence(
        score, evidence.EvidenceFields(claim="She stops it by hand."), source, evidence.Attachment(), by=alice
    )
    assert item.grade == Grade.DECLARED


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (evidence.Source(SourceType.RUN), "run_missing"),
        (evidence.Source(SourceType.LINK, url="javascript:alert(1)"), "url_missing"),
        (evidence.Source(SourceType.FILE), "file_missing"),
        (evidence.Source(SourceType.INTERVIEW, interviewee="Nia"), "interview_incomplete"),
    ],
)
def test_source_that_lacks_something_is_refused(score, alice, source, code):
    with pytest.raises(AppError) as refusal:
        evidence.add_evidence(score, evidence.EvidenceFields(claim="x"), source, evidence.Attachment(), by=alice)
    assert refusal.value.code == code


def test_run_of_another_agent_is_refused(score, other_agent, alice):
    with pytest.raises(AppError) as refusal:
        making.run_item(score, making.make_run(other_agent), alice)
    assert refusal.value.code == "run_missing"


def test_file_is_kept_by_its_hash_and_goes_with_its_last_link(score, alice, django_capture_on_commit_callbacks):
    item = making.file_item(score, alice, b"minutes of the meeting")
    with storages["default"].open(item.file_path) as stored:
        assert stored.read() == b"minutes of the meeting"
    with django_capture_on_commit_callbacks(execute=True):
        evidence.detach_evidence(score, item, by=alice)
    assert not storages["default"].exists(item.file_path)
    assert EvidenceItem.objects.count() == 0


def test_equal_files_share_one_copy(score, alice, django_capture_on_commit_callbacks):
    first, second = making.file_item(score, alice), making.file_item(score, alice)
    assert first.file_path == second.file_path
    with django_capture_on_commit_callbacks(execute=True):
        evidence.detach_evidence(score, first, by=alice)
    assert storages["default"].exists(second.file_path)


def test_file_beyond_the_limit_is_refused_and_leaves_nothing(score, alice, settings):
    settings.MAX_EVIDENCE_MB = 1
    with pytest.raises(evidence.FileTooLarge):
        making.file_item(score, alice, b"x" * (1024 * 1024 + 1))
    assert EvidenceItem.objects.count() == 0


def test_changed_claim_has_to_be_verified_again(score, alice):
    item = making.link_item(score, alice)
    evidence.verify_evidence(item, evidence.Verification(on=date(2026, 10, 20), how="Read it."), by=alice)
    evidence.change_evidence(
        score, item, evidence.EvidenceFields(claim="Something else."), evidence.Attachment(), by=alice
    )
    item.refresh_from_db()
    assert (item.grade, item.verified_how) == (Grade.DECLARED, "")


@pytest.mark.parametrize("rerun", [(0, 5, 0), (6, 5, 1), (3, 5, 4)])
def test_rerun_counts_that_make_no_sense_are_refused(score, alice, rerun):
    item = making.link_item(score, alice)
    with pytest.raises(AppError):
        evidence.verify_evidence(item, evidence.Verification(on=date(2026, 1, 1), how="x", rerun=rerun), by=alice)


def test_attaching_again_replaces_the_practices(score, alice):
    item = making.link_item(score, alice, attachment=evidence.Attachment(("tools-have-rules",)))
    evidence.attach_evidence(score, item, evidence.Attachment(("injection-cases-run",), Stance.CONTRADICTS), by=alice)
    assert [(x.practice_id, x.stance) for x in item.links.all()] == [("injection-cases-run", "contradicts")]


def test_practice_of_another_dimension_is_refused(score, alice):
    with pytest.raises(AppError) as refusal:
        making.link_item(score, alice, attachment=evidence.Attachment(("five-runs-explained",)))
    assert refusal.value.code == "practice_unknown"


def test_item_never_says_more_than_its_run_may(score, agent, alice):
    run = making.make_run(agent, visibility=Visibility.INTERNAL)
    assert making.run_item(score, run, alice, visibility=Visibility.CLIENT).is_client_visible is False


def test_period_belongs_to_what_happened(score, alice):
    item = making.link_item(score, alice, shows=Shows.DESIGN, operated_from=date(2026, 1, 1))
    assert item.operated_from is None


def test_file_that_a_full_disk_cut_off_is_kept_anew(score, alice, monkeypatch):
    def save_half(storage, name, content):
        Path(storage.path(name)).parent.mkdir(parents=True, exist_ok=True)
        Path(storage.path(name)).write_bytes(content.read()[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(FileSystemStorage, "save", save_half)
        with pytest.raises(OSError, match="No space"):
            making.file_item(score, alice, b"minutes")
    item = making.file_item(score, alice, b"minutes")
    with storages["default"].open(item.file_path) as stored:
        assert stored.read() == b"minutes"
