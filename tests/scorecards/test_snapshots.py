"""Snapshots: canonical bytes under a hash, and nothing internal in what a client gets."""

import hashlib
import json

import pytest

from evals.canonical import canonical_json
from evals.models import Visibility
from scorecards import evidence, remarks, reviewing
from scorecards.fact_checks import open_fact_check
from scorecards.models import Shows, Snapshot
from scorecards.snapshot_reading import read_snapshot
from tests.scorecards import making

pytestmark = pytest.mark.django_db

MARKER = "zanzibar"  # in every internal thing, and nowhere else


@pytest.fixture
def draft(agent, alice):
    return making.fill(making.draft_for(agent, alice), alice)


@pytest.fixture
def full_of_secrets(draft, agent, alice, erin):
    """A draft with one visible and one internal thing of each kind."""
    score = making.score_of(draft)
    marks = making.meet_all(score, 3)
    making.assess(score, 3, alice, marks=marks)
    making.link_item(score, alice, "Seen by all.")
    making.link_item(
        score,
        alice,
        f"{MARKER} link",
        visibility=Visibility.INTERNAL,
        made_by="consultancy",
        shows=Shows.OPERATION,
        attachment=evidence.Attachment(tuple(marks)),
    )
    hidden = making.make_run(agent, label=f"{MARKER} run", visibility=Visibility.INTERNAL)
    making.run_item(score, hidden, alice, f"{MARKER} of a hidden run")
    reviewing.pin_runs(draft, [making.make_run(agent), hidden], by=alice)
    making.step_for(draft, alice, "Visible step.")
    making.step_for(draft, alice, f"{MARKER} step", visibility=Visibility.INTERNAL)
    remark = remarks.add_remark(draft, f"{MARKER} remark", by=alice)
    remarks.answer_remark(remark, accepted=True, reason=f"{MARKER} answer", by=erin)
    return draft


def stored(revision, kind) -> Snapshot:
    return Snapshot.objects.get(revision=revision, kind=kind)


def test_snapshot_is_canonical_and_hashed(draft, alice):
    published = making.publish(draft, alice)
    for snapshot in published.snapshots.all():
        body = bytes(snapshot.body)
        assert snapshot.sha256 == hashlib.sha256(body).hexdigest()
        assert canonical_json(json.loads(body)) == body
        assert snapshot.schema == json.loads(body)["schema"] == "snapshot/v1"


def test_snapshot_reads_back_what_was_scored(draft, agent, alice):
    making.run_item(making.score_of(draft), making.make_run(agent), alice)
    read = read_snapshot(stored(making.publish(draft, alice), "client").body)

    assert [score.level for score in read.scores] == [2] * 8
    assert read.verdict.outcome == "not_met"
    assert (read.overall.low.fraction, read.overall.percentage) == (read.overall.high.fraction, "40%")
    assert read.runs[0].classes[0].measure.counts_words == "1 PASS, 0 FAIL, 0 UNKNOWN, 0 ERROR"
    assert read.runs[0].artifacts[0].sha256 == "a" * 64
    assert read.rubric.sha256 == draft.rubric.sha256
    assert read.audit.count > 0


def test_client_snapshot_holds_nothing_internal(full_of_secrets, alice):
    published = making.publish(full_of_secrets, alice)
    full, client = (bytes(stored(published, kind).body).decode() for kind in ("full", "client"))

    assert full.count(MARKER) >= 6
    assert MARKER not in client
    read = read_snapshot(client.encode())
    assert [item.claim for item in read.evidence] == ["Seen by all."]
    assert [link.item for link in read.score("guardrails").evidence] == [read.evidence[0].id]
    assert [run.name for run in read.runs] == ["nightly"]
    assert [step.text for step in read.steps] == ["Visible step."]
    assert read.remarks == []


def test_judgement_is_the_same_for_both_readers(full_of_secrets, alice):
    published = making.publish(full_of_secrets, alice)
    full, client = (read_snapshot(stored(published, kind).body) for kind in ("full", "client"))
    assert client.verdict == full.verdict
    assert client.score("guardrails").basis == full.score("guardrails").basis == "on_evidence"


def test_fact_check_holds_nothing_internal_and_no_levels(full_of_secrets, alice, bob):
    reviewing.submit_for_review(full_of_secrets, by=alice)
    check = open_fact_check(full_of_secrets, people=[bob], until=making.timezone.localdate(), by=alice)
    body = bytes(check.snapshot.body).decode()
    read = read_snapshot(check.snapshot.body)

    assert MARKER not in body
    assert (read.levels_shown, read.verdict, read.overall) == (False, None, None)
    assert {score.level for score in read.scores} == {None}
    assert read.recommendation.words == ""
    assert read.revision.state == "fact_check"


def test_snapshot_does_not_change_with_what_it_was_made_of(draft, alice):
    item = making.link_item(making.score_of(draft), alice, "As it was.")
    published = making.publish(draft, alice)
    before = bytes(stored(published, "client").body)
    item.claim = "Rewritten"
    item.save()
    assert bytes(stored(published, "client").body) == before
    assert read_snapshot(before).evidence[0].claim == "As it was."
