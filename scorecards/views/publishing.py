"""From draft to published: the list of what is missing, the way through review, the fact check, remarks."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from evals.access import get_agent
from reliability.access import Standing, enter_client
from reliability.errors import AppError
from reliability.htmx import render_page
from scorecards import access, fact_checks, remarks, reviewing
from scorecards.models import FactCheck, Remark, RevisionState
from scorecards.publishing import publish_revision
from scorecards.readiness import check_publisher
from scorecards.review_forms import AnswerRemarkForm, FactCheckForm, PublishForm, RemarkForm
from scorecards.snapshot_reading import read_snapshot
from scorecards.views.desk import Desk, answer_refusal, go, require_post, sit_down


@login_required
def review_publish(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    desk = sit_down(request, client, agent, number)
    page = desk.fresh()
    if request.method != "POST":
        return _answer_publish(request, desk)
    form = PublishForm(page.revision, request.POST)
    if page.readiness.is_ready and not form.is_valid():
        return _answer_publish(request, desk, form=form, refused="It was not confirmed.", status=422)
    try:
        published = publish_revision(page.revision, by=desk.user)
    except AppError as error:
        if error.status == 403:
            raise PermissionDenied(error.detail) from error
        return _answer_publish(request, desk, refused=error.detail, status=error.status)
    messages.success(request, f"Revision {published.number} is published.")
    return go(desk.url("review"))


def _answer_publish(
    request: HttpRequest, desk: Desk, *, form: PublishForm | None = None, refused: str = "", status: int = 200
) -> HttpResponse:
    page = desk.fresh()
    checks = page.revision.fact_checks.prefetch_related("people")
    context = desk.context(
        page,
        refused=refused,
        publish_form=form or PublishForm(page.revision),
        why_not_me=check_publisher(page.revision, desk.user, page.scorecard),
        fact_checks=checks,
        open_check=next((check for check in checks if check.closed_at is None), None),
        fact_check_form=FactCheckForm(desk.standing.client),
        can_fact_check=page.revision.state == RevisionState.IN_REVIEW,
    )
    return render_page(request, "scorecards/review_publish.html", "", context, status=status)


@login_required
def review_state(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Submit the draft for review, or (`action=return`) take it back."""
    require_post(request)
    desk = sit_down(request, client, agent, number)
    move = reviewing.return_to_draft if request.POST.get("action") == "return" else reviewing.submit_for_review
    back = desk.url("review-publish")
    try:
        move(desk.revision, by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, back)
    return go(back)


@login_required
def review_discard(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Throw the draft away; the page before has said what goes with it."""
    require_post(request)
    desk = sit_down(request, client, agent, number)
    try:
        reviewing.discard_draft(desk.revision, by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, desk.url("review-publish"))
    messages.success(request, f"The draft of review {number} is gone.")
    return go(reverse("review-list", args=[client, desk.agent.slug]))


@login_required
def fact_check(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """What the named people read, and where they remark; consultants see the same page with the answers."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    check = access.get_fact_check(standing, subject, number)
    return _answer_fact_check(request, standing, check, RemarkForm())


def _answer_fact_check(
    request: HttpRequest, standing: Standing, check: FactCheck, form: RemarkForm, *, status: int = 200
) -> HttpResponse:
    said = check.remarks.filter(internal=False).select_related("by", "answered_by")
    context: dict[str, Any] = {
        "standing": standing,
        "agent": check.revision.review.agent,
        "review": check.revision.review,
        "revision": check.revision,
        "check": check,
        "snapshot": read_snapshot(check.snapshot.body),
        "sha256": check.snapshot.sha256,
        "said": said,
        "form": form,
    }
    return render_page(request, "scorecards/fact_check.html", "", context, status=status)


@login_required
def fact_check_open(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    require_post(request)
    desk = sit_down(request, client, agent, number)
    form = FactCheckForm(desk.standing.client, request.POST)
    back = desk.url("review-publish")
    if not form.is_valid():
        messages.error(request, "A fact check needs at least one reader and a last day.")
        return go(back)
    said = form.cleaned_data
    try:
        fact_checks.open_fact_check(
            desk.revision,
            people=list(said["people"]),
            until=said["until"],
            with_levels=said["with_levels"],
            by=desk.user,
        )
    except AppError as error:
        return answer_refusal(request, error, back)
    messages.success(request, "The fact check is open. Tell the people that you named: the page is theirs only.")
    return go(back)


@login_required
def fact_check_close(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    require_post(request)
    desk = sit_down(request, client, agent, number)
    check = access.get_fact_check(desk.standing, desk.agent, number)
    fact_checks.close_fact_check(check, by=desk.user)
    messages.success(request, "The fact check is closed.")
    return go(desk.url("review-publish"))


@login_required
def fact_check_remark(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """A named person says something about what they read."""
    require_post(request)
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    check = access.get_fact_check(standing, subject, number)
    if standing.is_internal:
        raise PermissionDenied("Consultants remark on the form.")
    form = RemarkForm(request.POST)
    snapshot = read_snapshot(check.snapshot.body)
    known = {"", *(dimension.id for dimension in snapshot.rubric.dimensions)}
    if not form.is_valid() or not form.cleaned_data["text"] or form.cleaned_data["dimension"] not in known:
        return _answer_fact_check(request, standing, check, form, status=422)
    place = remarks.Place(dimension_id=form.cleaned_data["dimension"])
    remarks.add_remark(
        check.revision,
        form.cleaned_data["text"],
        place=place,
        internal=False,
        fact_check=check,
        by=standing.user,
    )
    messages.success(request, "Your remark is with the consultants.")
    return go(reverse("fact-check", args=[client, subject.slug, number]) + "#said")


@login_required
def remark_create(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """A consultant's own remark on a dimension, practice, item or step, or on the whole."""
    require_post(request)
    desk = sit_down(request, client, agent, number)
    form = RemarkForm(request.POST)
    if not form.is_valid():
        raise Http404
    said = form.cleaned_data
    dimension = desk.dimension(said["dimension"]) if said["dimension"] else None
    place = remarks.Place(
        dimension_id=dimension.id if dimension else "",
        practice_id=said["practice"] if dimension and said["practice"] in {p.id for p in dimension.practices} else "",
        item=access.get_evidence(desk.standing, desk.agent, said["item"]) if said["item"] else None,
        step=access.get_step(desk.standing, desk.agent, said["step"]) if said["step"] else None,
    )
    anchor = f"remarks-{place.dimension_id}" if place.dimension_id else "remarks"
    try:
        remarks.add_remark(desk.revision, said["text"], place=place, by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, desk.url("review-edit", anchor=anchor))
    return go(desk.url("review-edit", anchor=anchor))


@login_required
def remark_answer(request: HttpRequest, client: str, agent: str, number: int, remark_id: uuid.UUID) -> HttpResponse:
    require_post(request)
    desk = sit_down(request, client, agent, number)
    remark = get_object_or_404(Remark, revision=desk.revision, pk=remark_id)
    form = AnswerRemarkForm(request.POST)
    anchor = f"remarks-{remark.dimension_id}" if remark.dimension_id else "remarks"
    back = desk.url("review-edit", anchor=anchor)
    if not form.is_valid():
        messages.error(request, "Accept or decline, with a reason.")
        return go(back)
    try:
        remarks.answer_remark(
            remark, accepted=form.cleaned_data["answer"] == "accept", reason=form.cleaned_data["reason"], by=desk.user
        )
    except AppError as error:
        return answer_refusal(request, error, back)
    return go(back)
