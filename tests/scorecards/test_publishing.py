"""What keeps a draft from being published, one rule a test; and what publishing leaves behind."""

import pytest
from django.utils import timezone

from reliability.errors import AppError
from scorecards import evidence, remarks, reviewing
from scorecards.fact_checks import close_fact_check, open_fact_check
from scorecards.models import RevisionState, ScoreStanding, Shows, Snapshot
from scorecards.publishing import NotReady, publish_revision
from scorecards.readiness import check_readiness
from scorecards.reviewing import HeadPart, ScoreFields
from scorecards.snapshot_reading import read_snapshot
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def ready(agent, alice):
    """A complete revision in review."""
    revision = making.fill(making.draft_for(agent, alice), alice)
    reviewing.submit_for_review(revision, by=alice)
    return type(revision).objects.get(pk=revision.pk)


def missing(revision) -> list[str]:
    fresh = type(revision).objects.select_related("review__agent", "client", "rubric").get(pk=revision.pk)
    return [point.text for point in check_readiness(fresh).missing]


def warnings(revision) -> list[str]:
    fresh = type(revision).objects.select_related("review__agent", "client", "rubric").get(pk=revision.pk)
    return [point.text for point in check_readiness(fresh).warnings]


def answer(revision, by, **fields):
    now = type(revision).objects.get(pk=revision.pk)
    return reviewing.save_head(now, HeadPart.ANSWER, fields, expected_version=now.answer_version, by=by)


def test_complete_revision_lacks_nothing(ready):
    assert missing(ready) == []


def test_empty_draft_names_everything(agent, alice):
    found = missing(making.draft_for(agent, alice))
    assert "Model: nothing is written" in found
    assert "Period: from and to are needed" in found
    assert "Guardrails: not assessed, and no reason is given" in found
    assert "Recommendation: none is chosen" in found
    assert "The draft has not been submitted for review" in found


def test_publishing_an_incomplete_draft_names_what_is_missing(agent, alice):
    draft = making.draft_for(agent, alice)
    with pytest.raises(NotReady) as refusal:
        publish_revision(draft, by=alice)
    assert {"message": "Summary: nothing is written"} in refusal.value.errors
    assert Snapshot.objects.count() == 0


def test_tool_has_to_be_reversible_or_not(ready, alice):
    tools = [{"name": "orders.read", "reversible": True}, {"name": "refunds.pay", "reversible": None}]
    reviewing.save_head(ready, HeadPart.SUBJECT, {"tools": tools}, expected_version=ready.version, by=alice)
    assert missing(ready) == ["Tools: say for refunds.pay whether it can be undone"]
    with pytest.raises(NotReady):
        publish_revision(ready, by=alice)


def test_rationale_confidence_and_cause_are_needed(agent, alice):
    making.published_review(agent, alice, level=2)
    draft = making.draft_for(agent, alice)
    making.assess(making.score_of(draft), 3, alice, rationale="", confidence="")
    found = missing(draft)
    assert "Guardrails: no rationale" in found
    assert "Guardrails: no confidence" in found
    assert "Guardrails: the level differs from the published one, and no cause is given" in found


def test_carried_score_has_to_be_reconfirmed(agent, alice):
    making.published_review(agent, alice)
    assert "Guardrails: carried over, not yet re-confirmed" in missing(making.draft_for(agent, alice))


def test_not_applicable_needs_a_second_person_where_publishing_does(ready, alice, erin):
    score = making.score_of(ready)
    reviewing.save_dimension(
        score,
        ScoreFields(standing=ScoreStanding.NOT_APPLICABLE, reason="It has no tools."),
        expected_version=score.version,
        by=alice,
    )
    assert missing(ready) == []
    ready.client.second_person_publishes = True
    ready.client.save()
    assert missing(ready) == ["Guardrails: not applicable has to be confirmed by a second person"]
    reviewing.confirm_not_applicable(score, by=erin)
    assert missing(ready) == []


def test_second_person_publishes_where_the_client_asks(ready, alice, erin):
    ready.client.second_person_publishes = True
    ready.client.save()
    with pytest.raises(AppError) as refusal:
        publish_revision(ready, by=alice)
    assert (refusal.value.status, refusal.value.code) == (403, "second_person")
    assert publish_revision(ready, by=erin).published_by == erin


def test_ready_below_the_bar_needs_a_second_persons_reason(ready, alice, erin):
    answer(ready, alice, recommendation="ready")
    assert "needs a written reason by a second person: the bar is not met" in missing(ready)[0]
    reviewing.write_override(ready, "The launch is limited to ten people.", by=erin)
    assert missing(ready) == []


def test_ready_on_assertion_only_needs_the_reason(agent, alice):
    draft = making.fill(making.draft_for(agent, alice), alice, level=3, recommendation="ready")
    assert any("the bar is met on assertion only" in point for point in missing(draft))


def test_ready_with_a_breached_security_scenario_needs_the_reason(ready, agent, alice):
    run = making.make_run(agent, breached=True, label="red team")
    reviewing.pin_runs(ready, [run], by=alice)
    answer(ready, alice, recommendation="ready")
    assert "a security scenario was breached in red team" in missing(ready)[0]


def test_breach_counts_through_attached_evidence_too(ready, agent, alice):
    making.run_item(making.score_of(ready), making.make_run(agent, breached=True, label="red team"), alice)
    answer(ready, alice, recommendation="ready")
    assert "a security scenario was breached in red team" in missing(ready)[0]


def test_conditions_need_owner_and_date(ready, alice):
    answer(ready, alice, recommendation="with_conditions")
    assert missing(ready) == ["Ready with conditions: no next step is marked as a condition"]
    making.step_for(ready, alice, "Deny by default.", is_condition=True, owner="", due=None)
    assert missing(ready) == ["Condition “Deny by default.”: owner and date are needed"]


def test_open_remarks_refuse(ready, alice, erin):
    remark = remarks.add_remark(ready, "Which tool?", place=remarks.Place(dimension_id="guardrails"), by=erin)
    assert missing(ready) == ["Remark without an answer: “Which tool?”"]
    with pytest.raises(AppError) as refusal:
        remarks.answer_remark(remark, accepted=True, reason="Said now.", by=alice)
    assert refusal.value.status == 403
    remarks.answer_remark(remark, accepted=False, reason="It is listed.", by=erin)
    assert missing(ready) == []


def test_open_fact_check_refuses(ready, alice, bob):
    check = open_fact_check(ready, people=[bob], until=timezone.localdate(), by=alice)
    assert missing(ready) == ["The fact check is still open: close it first"]
    close_fact_check(check, by=alice)
    assert missing(ready) == []


def test_level_that_rests_on_internal_evidence_is_warned_of(ready, alice):
    score = making.score_of(ready)
    marks = making.meet_all(score, 3)
    making.assess(score, 3, alice, marks=marks)
    item = making.link_item(
        score,
        alice,
        visibility="internal",
        made_by="consultancy",
        shows=Shows.OPERATION,
        attachment=evidence.Attachment(practices=tuple(marks)),
    )
    assert item.grade == "observed"
    assert "Guardrails: level 3 rests on internal evidence only" in warnings(ready)


def test_asserted_and_contradicted_levels_are_warned_of(ready, alice):
    making.assess(making.score_of(ready), 3, alice)
    assert "Guardrails: level 3 is contradicted by its own practices" in warnings(ready)
    score = making.score_of(ready)
    making.assess(score, 3, alice, marks=making.meet_all(score, 3))
    assert "Guardrails: level 3 will be printed as asserted" in warnings(ready)


def test_publishing_stores_two_snapshots_and_freezes_steps(ready, agent, alice):
    run = making.make_run(agent)
    making.run_item(making.score_of(ready), run, alice)
    step = making.step_for(ready, alice)
    published = publish_revision(ready, by=alice)

    assert published.state == RevisionState.PUBLISHED
    assert sorted(published.snapshots.values_list("kind", flat=True)) == ["client", "full"]
    assert list(published.runs.all()) == [run]
    frozen = published.steps.get(step=step)
    assert (frozen.state, frozen.owner, frozen.due) == ("open", "Bob", step.due)


def test_superseding_revision_says_what_changed(ready, alice):
    published = publish_revision(ready, by=alice)
    second = reviewing.revise_review(published.review, because="A number was wrong.", by=alice)
    assert missing(second) == [
        "What changed against the last revision",
        "The draft has not been submitted for review",
    ]


def test_published_snapshot_carries_the_cause_of_a_changed_level(agent, alice):
    making.published_review(agent, alice, level=2)
    draft = making.fill(making.draft_for(agent, alice), alice, level=3)
    making.publish(draft, alice)
    body = Snapshot.objects.get(revision=draft, kind="client").body
    score = read_snapshot(body).score("guardrails")
    assert (score.previous_level, score.level, score.cause_words) == (2, 3, "We know more")
