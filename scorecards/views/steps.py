"""Next steps: written at a draft, followed up on the agent's own list."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from evals.access import get_agent
from reliability.access import enter_client, require_internal
from reliability.errors import AppError
from reliability.htmx import render_page
from scorecards import access, steps
from scorecards.carrying import STILL_OPEN
from scorecards.conflicts import VersionConflict
from scorecards.forms import read_version
from scorecards.models import EvidenceItem, StepInRevision, StepState
from scorecards.rubrics_store import rubric_of
from scorecards.step_forms import StepForm, StepStateForm, initial_of_step
from scorecards.views.desk import Desk, answer_refusal, asks_for_part, go, render_saved, sit_down


@login_required
def step_create(request: HttpRequest, client: str, agent: str, number: int, dimension: str) -> HttpResponse:
    """A step of one's own, or (`template`) one that the rubric suggests: it begins at once, to be filled in."""
    desk = sit_down(request, client, agent, number)
    if template := request.POST.get("template"):
        try:
            made = steps.create_step_from_template(desk.revision, dimension, template, by=desk.user)
        except AppError as error:
            return answer_refusal(request, error, desk.url("review-edit", anchor=f"steps-{dimension}"))
        return _answer_saved(request, desk, dimension, opened=made)
    form = StepForm(desk.dimension(dimension), _items(desk, dimension), request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _answer_form(request, desk, dimension, form, status=422 if form.is_bound else 200)
    said = form.cleaned_data
    steps.create_step(
        desk.revision,
        dimension,
        form.step_fields(),
        evidence=form.chosen_evidence(),
        is_condition=said["is_condition"],
        by=desk.user,
    )
    return _answer_saved(request, desk, dimension)


def _items(desk: Desk, dimension: str) -> list[EvidenceItem]:
    """Return the evidence that the dimension rests on: what a step may point at."""
    items = EvidenceItem.objects.filter(links__score__revision=desk.revision, links__score__dimension_id=dimension)
    return list(items.distinct().order_by("created_at"))


@login_required
def step_change(request: HttpRequest, client: str, agent: str, number: int, step_id: uuid.UUID) -> HttpResponse:
    """Save (with the version that was read), or (`action=remove`) take back a step of this draft."""
    desk = sit_down(request, client, agent, number)
    listed = StepInRevision.objects.filter(revision=desk.revision).select_related("step", "revision")
    appearance = get_object_or_404(listed, step=step_id)
    dimension = appearance.step.dimension_id
    if request.POST.get("action") == "remove":
        return _remove(request, desk, appearance)
    form = StepForm(
        rubric_of(desk.revision.rubric).find(dimension),
        _items(desk, dimension),
        request.POST or None,
        appearance=appearance,
        initial=initial_of_step(appearance),
    )
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return _answer_form(request, desk, dimension, form, appearance=appearance, status=status)
    try:
        _save(appearance, form, expected_version=read_version(request.POST), desk=desk)
    except VersionConflict as conflict:
        more = {"appearance": appearance, "conflict": conflict}
        return _answer_form(request, desk, dimension, form, status=409, **more)
    return _answer_saved(request, desk, dimension)


def _save(appearance: StepInRevision, form: StepForm, *, expected_version: int, desk: Desk) -> None:
    steps.save_step(
        appearance.step,
        form.step_fields(),
        evidence=form.chosen_evidence(),
        expected_version=expected_version,
        by=desk.user,
    )
    if form.cleaned_data["is_condition"] != appearance.is_condition:
        steps.set_condition(appearance, form.cleaned_data["is_condition"], by=desk.user)


def _remove(request: HttpRequest, desk: Desk, appearance: StepInRevision) -> HttpResponse:
    dimension = appearance.step.dimension_id
    try:
        steps.remove_step(appearance, by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, desk.url("review-edit", anchor=f"steps-{dimension}"))
    return _answer_saved(request, desk, dimension)


def _answer_form(
    request: HttpRequest, desk: Desk, dimension: str, form: StepForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    page = desk.fresh()
    context = desk.context(page, part=page.part_of(dimension), dimension=desk.dimension(dimension), form=form, **more)
    if asks_for_part(request) and status != 200:
        return render_saved(request, "scorecards/saved_steps.html", context, status=status)
    return render_page(request, "scorecards/step_form.html", "step-editor", context, status=status)


def _answer_saved(
    request: HttpRequest, desk: Desk, dimension: str, *, opened: StepInRevision | None = None
) -> HttpResponse:
    if not asks_for_part(request):
        anchor = f"step-{opened.step_id}" if opened else f"steps-{dimension}"
        return go(desk.url("review-edit", anchor=anchor))
    page = desk.fresh()
    context = desk.context(page, part=page.part_of(dimension), saved=True)
    return render_saved(request, "scorecards/saved_steps.html", context)


@login_required
def step_list(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """The agent's steps: what is open first, by date; what is closed below."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    found = list(access.list_steps(standing, subject).prefetch_related("appearances__revision__review"))
    context = {
        "standing": standing,
        "agent": subject,
        "open_steps": sorted((s for s in found if s.is_open), key=lambda s: (s.due is None, str(s.due), s.priority)),
        "closed_steps": [s for s in found if not s.is_open],
    }
    return render_page(request, "scorecards/step_list.html", "", context)


@login_required
def step_state(request: HttpRequest, client: str, agent: str, step_id: uuid.UUID) -> HttpResponse:
    """Say where a step stands now; published revisions keep the state they were published with."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    step = access.get_step(standing, subject, step_id)
    require_internal(standing)
    form = StepStateForm(step, request.POST or None)
    context = {"standing": standing, "agent": subject, "step": step, "form": form, "still_open": STILL_OPEN}
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return render_page(request, "scorecards/step_state.html", "", context, status=status)
    try:
        steps.set_step_state(
            step, StepState(form.cleaned_data["state"]), acceptance=form.acceptance(), by=standing.user
        )
    except AppError as error:
        form.add_error(None, error.detail)
        return render_page(request, "scorecards/step_state.html", "", context, status=error.status)
    messages.success(request, f"“{step}” is now: {StepState(form.cleaned_data['state']).label.lower()}.")
    return go(reverse("step-list", args=[standing.client.slug, subject.slug]))
