"""Write functions of next steps: one identity for life, listed in each revision with its state then."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import timezone

from reliability.audit import record_change
from reliability.errors import AppError, Conflict
from reliability.models import User
from scorecards.carrying import STILL_OPEN
from scorecards.conflicts import VersionConflict
from scorecards.models import EvidenceItem, NextStep, Revision, StepInRevision, StepState
from scorecards.reviewing import lock_draft
from scorecards.rubrics_store import rubric_of

STEP_FIELDS = (
    "text",
    "seen",
    "matters",
    "cause",
    "severity",
    "practices",
    "owner",
    "due",
    "priority",
    "effort",
    "visibility",
)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The client lives with it: who said so, and until when."""

    by: str
    until: date


@transaction.atomic
def create_step(
    revision: Revision,
    dimension_id: str,
    fields: Mapping[str, Any],
    *,
    evidence: list[EvidenceItem] | None = None,
    is_condition: bool = False,
    by: User,
) -> StepInRevision:
    """Create a step and list it in the draft."""
    now = lock_draft(revision)
    agent = now.review.agent
    step = NextStep(client=now.client, agent=agent, dimension_id=dimension_id, created_by=by)
    _fill(step, fields)
    step.save(force_insert=True)
    _set_evidence(step, evidence)
    appearance = StepInRevision.objects.create(step=step, revision=now, is_condition=is_condition)
    record_change(now.client, "step.created", step, by=by, dimension=dimension_id)
    return appearance


@transaction.atomic
def create_step_from_template(revision: Revision, dimension_id: str, template_id: str, *, by: User) -> StepInRevision:
    """Begin a step with the rubric's own words and effort."""
    dimension = rubric_of(revision.rubric).find(dimension_id)
    templates = {template.id: template for template in dimension.next_steps} if dimension else {}
    if template_id not in templates:
        raise AppError("The rubric has no such next step.", code="template_unknown")
    template = templates[template_id]
    appearance = create_step(revision, dimension_id, {"text": template.text, "effort": template.effort}, by=by)
    NextStep.objects.filter(pk=appearance.step_id).update(template_id=template.id)
    return appearance


def _fill(step: NextStep, fields: Mapping[str, Any]) -> None:
    for name in STEP_FIELDS:
        if name in fields:
            setattr(step, name, fields[name])
    if not step.text.strip():
        raise AppError("Say what is to be done.", code="text_missing")


def _set_evidence(step: NextStep, evidence: list[EvidenceItem] | None) -> None:
    if evidence is None:
        return
    if any(item.agent_id != step.agent_id for item in evidence):
        raise AppError("This evidence belongs to another agent.", code="other_agent")
    step.evidence.set(evidence)


@transaction.atomic
def save_step(
    step: NextStep,
    fields: Mapping[str, Any],
    *,
    evidence: list[EvidenceItem] | None = None,
    expected_version: int,
    by: User,
) -> NextStep:
    """Save what a step says. Raises `VersionConflict` when somebody else saved another text meanwhile."""
    now = NextStep.objects.select_for_update().get(pk=step.pk)
    stored = {name: getattr(now, name) for name in STEP_FIELDS}
    wanted = {name: fields[name] for name in STEP_FIELDS if name in fields}
    changed = sorted(name for name in wanted if wanted[name] != stored[name])
    linked = None if evidence is None else {item.pk for item in evidence}
    relinks = linked is not None and linked != set(now.evidence.values_list("pk", flat=True))
    if not changed and not relinks:
        return now
    if changed and now.version != expected_version:
        raise VersionConflict(now, version=now.version, by=None, mine=wanted, now=stored)
    _fill(now, fields)
    _set_evidence(now, evidence)
    now.version += 1
    now.save()
    record_change(now.client, "step.changed", now, by=by, fields=changed, version=now.version)
    return now


@transaction.atomic
def set_step_state(step: NextStep, state: StepState, *, acceptance: Acceptance | None = None, by: User) -> NextStep:
    """Say where a step stands. Accepting it takes the name of somebody at the client, and a date."""
    now = NextStep.objects.select_for_update().get(pk=step.pk)
    if state == StepState.ACCEPTED and not (acceptance and acceptance.by.strip()):
        raise AppError("Say who at the client accepts it, and until when.", code="acceptance_incomplete")
    if state == StepState.CAME_BACK and now.state in (StepState.OPEN, StepState.CAME_BACK):
        raise Conflict("Only a step that was done or accepted can come back.", code="wrong_state")
    before, now.state = now.state, state
    accepted = acceptance if state == StepState.ACCEPTED else None
    now.accepted_by, now.accepted_until = (accepted.by.strip(), accepted.until) if accepted else ("", None)
    now.closed_at = None if state in STILL_OPEN else timezone.now()
    now.version += 1
    now.save()
    record_change(now.client, "step.state", now, by=by, before=before, after=state.value)
    return now


@transaction.atomic
def set_condition(appearance: StepInRevision, is_condition: bool, *, by: User) -> None:
    """Make a step a condition of "ready with conditions", or no longer."""
    lock_draft(appearance.revision)
    StepInRevision.objects.filter(pk=appearance.pk).update(is_condition=is_condition)
    appearance.is_condition = is_condition
    record_change(appearance.step.client, "step.condition", appearance.step, by=by, is_condition=is_condition)


@transaction.atomic
def remove_step(appearance: StepInRevision, *, by: User) -> None:
    """Take back a step that no other revision lists. An older one is closed by its state, never removed."""
    revision = lock_draft(appearance.revision)
    step = appearance.step
    if step.appearances.exclude(pk=appearance.pk).exists():
        raise Conflict("An earlier revision lists this step: set its state instead.", code="step_listed")
    text = step.text[:200]
    subject = f"next step {step.pk}"
    step.delete()
    record_change(revision.client, "step.removed", subject, by=by, text=text)
