"""Next steps keep one identity: their text has a version, their state a date, and published ones are never removed."""

from datetime import date

import pytest

from reliability.errors import AppError, Conflict
from scorecards import steps
from scorecards.conflicts import VersionConflict
from scorecards.models import NextStep, StepState
from tests.scorecards import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(agent, alice):
    return making.draft_for(agent, alice)


def test_step_from_a_template_has_the_rubrics_words(draft, alice):
    step = steps.create_step_from_template(draft, "guardrails", "gr-deny-default", by=alice).step
    step.refresh_from_db()
    assert (step.template_id, step.effort) == ("gr-deny-default", "M")
    assert step.text == "Deny by default - a tool without a rule is refused."


def test_unknown_template_is_refused(draft, alice):
    with pytest.raises(AppError) as refusal:
        steps.create_step_from_template(draft, "guardrails", "ec-flows", by=alice)
    assert refusal.value.code == "template_unknown"


def test_step_saved_meanwhile_is_a_conflict(draft, alice):
    step = making.step_for(draft, alice)
    steps.save_step(step, {"owner": "Nia"}, expected_version=1, by=alice)
    with pytest.raises(VersionConflict) as conflict:
        steps.save_step(step, {"owner": "Bob Builder"}, expected_version=1, by=alice)
    assert [(d.name, d.theirs) for d in conflict.value.differing] == [("owner", "Nia")]


def test_acceptance_takes_a_name_and_a_date(draft, alice):
    step = making.step_for(draft, alice)
    with pytest.raises(AppError) as refusal:
        steps.set_step_state(step, StepState.ACCEPTED, by=alice)
    assert refusal.value.code == "acceptance_incomplete"
    accepted = steps.set_step_state(
        step, StepState.ACCEPTED, acceptance=steps.Acceptance("Nia", date(2027, 6, 1)), by=alice
    )
    assert (accepted.accepted_by, accepted.is_open) == ("Nia", False)
    assert accepted.closed_at is not None


def test_open_step_cannot_come_back(draft, alice):
    step = making.step_for(draft, alice)
    with pytest.raises(Conflict):
        steps.set_step_state(step, StepState.CAME_BACK, by=alice)
    steps.set_step_state(step, StepState.VERIFIED_DONE, by=alice)
    assert steps.set_step_state(step, StepState.CAME_BACK, by=alice).is_open


def test_step_of_this_draft_alone_can_be_taken_back(draft, alice):
    step = making.step_for(draft, alice)
    steps.remove_step(draft.steps.get(step=step), by=alice)
    assert NextStep.objects.count() == 0


def test_step_of_an_earlier_review_cannot_be_taken_back(draft, agent, alice):
    making.step_for(draft, alice)
    making.publish(making.fill(draft, alice), alice)
    second = making.draft_for(agent, alice)
    with pytest.raises(Conflict) as refusal:
        steps.remove_step(second.steps.get(), by=alice)
    assert refusal.value.code == "step_listed"


def test_lapsed_acceptance_comes_up_again(draft, agent, alice):
    step = making.step_for(draft, alice)
    making.publish(making.fill(draft, alice), alice)
    steps.set_step_state(step, StepState.ACCEPTED, acceptance=steps.Acceptance("Nia", date(2026, 1, 1)), by=alice)
    assert [appearance.step for appearance in making.draft_for(agent, alice).steps.all()] == [step]


def test_state_changed_later_leaves_the_published_one(draft, alice):
    step = making.step_for(draft, alice)
    published = making.publish(making.fill(draft, alice), alice)
    steps.set_step_state(step, StepState.VERIFIED_DONE, by=alice)
    assert published.steps.get().state == "open"
