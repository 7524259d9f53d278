"""Reviews start, their texts and scores are saved under a version, and what was carried has to be confirmed."""

from datetime import date

import pytest

from reliability.errors import AppError, Conflict
from reliability.models.audit import AuditEntry
from scorecards import reviewing
from scorecards.conflicts import Frozen, VersionConflict
from scorecards.models import PracticeState, Revision, ScoreStanding
from scorecards.reviewing import HeadPart, ScoreFields
from tests.scorecards import making

pytestmark = pytest.mark.django_db


def test_first_review_has_eight_empty_scores(agent, alice):
    draft = making.draft_for(agent, alice)

    assert draft.review.number == 1
    assert draft.scores.count() == 8
    assert set(draft.scores.values_list("standing", flat=True)) == {"not_assessed"}


def test_review_of_an_agent_out_of_scope_is_refused(agent, other_agent, alice):
    engagement = making.engagement_for(agent, alice)
    with pytest.raises(AppError) as refusal:
        reviewing.start_review(engagement, other_agent, as_of=date(2026, 10, 1), by=alice)
    assert refusal.value.code == "not_in_scope"


def test_second_draft_of_an_agent_is_refused(agent, alice):
    making.draft_for(agent, alice)
    with pytest.raises(Conflict) as refusal:
        making.draft_for(agent, alice)
    assert refusal.value.code == "review_open"


def test_next_review_carries_scores_to_reconfirm_and_open_steps(agent, alice):
    first = making.fill(making.draft_for(agent, alice), alice)
    kept = making.step_for(first, alice)
    done = making.step_for(first, alice, "Already done.")
    item = making.link_item(making.score_of(first), alice)
    making.steps.set_step_state(done, making.steps.StepState.VERIFIED_DONE, by=alice)
    making.publish(first, alice)

    second = making.draft_for(agent, alice)
    score = making.score_of(second)

    assert second.review.previous == first.review
    assert (score.level, score.previous_level, score.to_reconfirm) == (2, 2, True)
    assert [link.item for link in score.links.all()] == [item]
    assert [appearance.step for appearance in second.steps.all()] == [kept]
    assert second.main_flows == first.main_flows
    assert (second.summary, second.recommendation) == ("", "")


def test_saving_a_head_bumps_its_own_version_only(agent, alice):
    draft = making.draft_for(agent, alice)
    saved = reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "m1"}, expected_version=1, by=alice)
    assert (saved.model, saved.version, saved.answer_version) == ("m1", 2, 1)


def test_saving_the_same_again_changes_nothing(agent, alice):
    draft = making.draft_for(agent, alice)
    reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "m1"}, expected_version=1, by=alice)
    entries = AuditEntry.objects.count()

    again = reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "m1"}, expected_version=1, by=alice)

    assert again.version == 2
    assert AuditEntry.objects.count() == entries


def test_head_saved_meanwhile_is_a_conflict_with_both_texts(agent, alice, erin):
    draft = making.draft_for(agent, alice)
    reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "theirs"}, expected_version=1, by=erin)

    with pytest.raises(VersionConflict) as conflict:
        reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "mine"}, expected_version=1, by=alice)

    assert [(d.name, d.mine, d.theirs) for d in conflict.value.differing] == [("model", "mine", "theirs")]
    assert conflict.value.version == 2
    assert Revision.objects.get(pk=draft.pk).model == "theirs"


def test_dimension_saved_meanwhile_is_a_conflict(agent, alice, erin):
    score = making.score_of(making.draft_for(agent, alice))
    making.assess(score, 2, erin)

    with pytest.raises(VersionConflict) as conflict:
        reviewing.save_dimension(
            score, ScoreFields(standing=ScoreStanding.ASSESSED, level=4), expected_version=1, by=alice
        )

    assert ("level", 4, 2) in [(d.name, d.mine, d.theirs) for d in conflict.value.differing]
    assert making.score_of(score.revision).level == 2


def test_practice_marks_are_stored_and_read_back(agent, alice):
    score = making.score_of(making.draft_for(agent, alice))
    marks = {
        "tools-have-rules": (PracticeState.MET, ""),
        "injection-cases-run": (PracticeState.NOT_APPLICABLE, "reads nothing from outside"),
    }
    making.assess(score, 3, alice, marks=marks)
    stored = {m.practice_id: (m.state, m.reason) for m in score.marks.all()}
    assert stored == {
        "tools-have-rules": ("met", ""),
        "injection-cases-run": ("not_applicable", "reads nothing from outside"),
    }


def test_unknown_practice_is_refused(agent, alice):
    score = making.score_of(making.draft_for(agent, alice))
    with pytest.raises(AppError) as refusal:
        making.assess(score, 3, alice, marks={"nonsense": (PracticeState.MET, "")})
    assert refusal.value.code == "practice_unknown"


def test_carried_score_stays_to_reconfirm_until_somebody_says_so(agent, alice):
    making.published_review(agent, alice)
    score = making.score_of(making.draft_for(agent, alice))
    making.assess(score, 2, alice, reconfirmed=False, rationale="Typing on")
    assert making.score_of(score.revision).to_reconfirm is True
    making.assess(score, 2, alice, rationale="Typing on")
    assert making.score_of(score.revision).to_reconfirm is False


def test_not_applicable_is_confirmed_by_somebody_else(agent, alice, erin):
    score = making.score_of(making.draft_for(agent, alice))
    fields = ScoreFields(standing=ScoreStanding.NOT_APPLICABLE, reason="No tools")
    reviewing.save_dimension(score, fields, expected_version=1, by=alice)

    with pytest.raises(AppError) as refusal:
        reviewing.confirm_not_applicable(score, by=alice)
    reviewing.confirm_not_applicable(score, by=erin)

    assert refusal.value.status == 403
    assert making.score_of(score.revision).confirmed_by == erin


def test_override_comes_from_another_person_than_the_recommendation(agent, alice, erin):
    draft = making.fill(making.draft_for(agent, alice), alice, recommendation="ready")
    with pytest.raises(AppError) as refusal:
        reviewing.write_override(draft, "It is fine.", by=alice)
    assert refusal.value.code == "second_person"
    assert reviewing.write_override(draft, "It is fine.", by=erin).override_by == erin


def test_changing_the_recommendation_drops_the_override(agent, alice, erin):
    draft = making.fill(making.draft_for(agent, alice), alice, recommendation="ready")
    draft = reviewing.write_override(draft, "It is fine.", by=erin)
    saved = reviewing.save_head(
        draft, HeadPart.ANSWER, {"recommendation": "not_ready"}, expected_version=draft.answer_version, by=alice
    )
    assert (saved.override_reason, saved.override_by) == ("", None)


def test_published_revision_is_frozen(agent, alice):
    revision = making.published_review(agent, alice)
    with pytest.raises(Frozen):
        reviewing.save_head(revision, HeadPart.SUBJECT, {"model": "x"}, expected_version=2, by=alice)
    with pytest.raises(Frozen):
        making.assess(making.score_of(revision), 5, alice)


def test_new_revision_begins_as_a_copy_and_says_why(agent, alice):
    first = making.published_review(agent, alice)
    second = reviewing.revise_review(first.review, because="A number was wrong.", by=alice)
    score = making.score_of(second)

    assert (second.number, second.supersedes_because) == (2, "A number was wrong.")
    assert (score.level, score.superseded_level, score.to_reconfirm) == (2, 2, False)
    assert second.summary == first.summary


def test_new_revision_needs_a_reason(agent, alice):
    first = making.published_review(agent, alice)
    with pytest.raises(AppError) as refusal:
        reviewing.revise_review(first.review, because=" ", by=alice)
    assert refusal.value.code == "reason_missing"


def test_each_save_leaves_one_audit_entry_without_the_text(agent, alice):
    draft = making.draft_for(agent, alice)
    before = AuditEntry.objects.count()
    reviewing.save_head(draft, HeadPart.SUBJECT, {"model": "secret words"}, expected_version=1, by=alice)
    entry = AuditEntry.objects.order_by("-number").first()
    assert AuditEntry.objects.count() == before + 1
    assert entry.action == "revision.changed"
    assert "secret words" not in str(entry.payload)


def test_discarded_draft_takes_its_own_steps_and_leaves_the_rest(agent, alice):
    first = making.draft_for(agent, alice)
    kept = making.step_for(first, alice, "Listed before.")
    making.publish(making.fill(first, alice), alice)
    second = making.draft_for(agent, alice)
    making.step_for(second, alice, "Only here.")
    item = making.link_item(making.score_of(second), alice)

    reviewing.discard_draft(second, by=alice)

    assert list(agent.reviews.values_list("number", flat=True)) == [1]
    assert list(agent.next_steps.all()) == [kept]
    assert list(agent.evidence_items.all()) == [item]
    assert making.draft_for(agent, alice).review.number == 2


def test_discarded_revision_leaves_the_published_one(agent, alice):
    published = making.published_review(agent, alice)
    second = reviewing.revise_review(published.review, because="A number was wrong.", by=alice)
    reviewing.discard_draft(second, by=alice)
    assert list(published.review.revisions.all()) == [published]
