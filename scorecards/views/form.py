"""The scorecard form: one page, saved in place. Without JavaScript each part is a plain form."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evals.access import list_runs
from reliability.errors import AppError
from reliability.htmx import render_page
from scorecards import reviewing
from scorecards.conflicts import Frozen, VersionConflict
from scorecards.contexts import Typed
from scorecards.forms import AnswerForm, DimensionForm, HeadForm, SubjectForm, read_version
from scorecards.markdown import render_markdown
from scorecards.views.desk import Desk, answer_refusal, asks_for_part, go, render_saved, require_post, sit_down

HEAD_FORMS: dict[str, type[HeadForm]] = {"subject": SubjectForm, "answer": AnswerForm}
PREVIEWED = ("rationale", "summary", "recommendation_reasons", "method", "limitations")


@login_required
def review_edit(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    desk = sit_down(request, client, agent, number)
    return render_page(request, "scorecards/review_edit.html", "", desk.context(desk.fresh()))


@login_required
def review_head(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Save one half of the head: `part` is subject or answer. A GET brings that half as stored."""
    desk = sit_down(request, client, agent, number)
    part = request.POST.get("part") or request.GET.get("part", "")
    if part not in HEAD_FORMS:
        raise Http404
    if request.method != "POST":
        context = desk.context(desk.fresh())
        return render(request, f"scorecards/_{part}.html", context)
    form = HEAD_FORMS[part](desk.revision, request.POST)
    if not form.is_valid():
        return _answer_head(request, desk, part, Typed(request.POST, head=part), status=422)
    try:
        reviewing.save_head(
            desk.revision, form.part, form.fields_to_save(), expected_version=read_version(request.POST), by=desk.user
        )
    except VersionConflict as conflict:
        return _answer_head(request, desk, part, Typed(request.POST, head=part, conflict=conflict), status=409)
    if not asks_for_part(request):
        messages.success(request, "Saved.")
        return go(desk.url("review-edit", anchor=part))
    return _answer_head(request, desk, part, Typed())


def _answer_head(request: HttpRequest, desk: Desk, part: str, typed: Typed, *, status: int = 200) -> HttpResponse:
    context = desk.context(desk.fresh(typed), part_name=part, saved=status == 200)
    if asks_for_part(request):
        return render_saved(request, "scorecards/saved_head.html", context, status=status)
    return render(request, "scorecards/review_edit.html", context, status=status)


@login_required
def review_dimension(request: HttpRequest, client: str, agent: str, number: int, dimension: str) -> HttpResponse:
    """Save a dimension, or (GET) bring it as stored: that is how one takes the other's version."""
    desk = sit_down(request, client, agent, number)
    score = desk.score(dimension)
    if request.method != "POST":
        context = desk.context(page := desk.fresh(), part=page.part_of(dimension))
        return render(request, "scorecards/_dimension.html", context)
    form = DimensionForm(desk.dimension(dimension), request.POST)
    if not form.is_valid():
        return _answer_dimension(request, desk, Typed(request.POST, dimension=dimension), status=422)
    try:
        reviewing.save_dimension(score, form.score_fields(), expected_version=read_version(request.POST), by=desk.user)
    except VersionConflict as conflict:
        typed = Typed(request.POST, dimension=dimension, conflict=conflict)
        return _answer_dimension(request, desk, typed, status=409)
    if not asks_for_part(request):
        messages.success(request, "Saved.")
        return go(desk.url("review-edit", anchor=f"dimension-{dimension}"))
    return _answer_dimension(request, desk, Typed(dimension=dimension))


def _answer_dimension(request: HttpRequest, desk: Desk, typed: Typed, *, status: int = 200) -> HttpResponse:
    page = desk.fresh(typed)
    for part in page.parts:
        part.form.is_valid()
    context = desk.context(page, part=page.part_of(typed.dimension), saved=status == 200)
    if asks_for_part(request):
        return render_saved(request, "scorecards/saved_dimension.html", context, status=status)
    return render(request, "scorecards/review_edit.html", context, status=status)


@login_required
def dimension_confirm(request: HttpRequest, client: str, agent: str, number: int, dimension: str) -> HttpResponse:
    require_post(request)
    desk = sit_down(request, client, agent, number)
    back = desk.url("review-edit", anchor=f"dimension-{dimension}")
    try:
        reviewing.confirm_not_applicable(desk.score(dimension), by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, back)
    messages.success(request, "Confirmed: it does not apply.")
    return go(back)


@login_required
def markdown_preview(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Show one text of the form as it will be printed."""
    require_post(request)
    sit_down(request, client, agent, number)
    name = request.POST.get("preview", "")
    if name not in PREVIEWED:
        raise Http404
    html = render_markdown(request.POST.get(name, "")[:20_000])
    return render(request, "scorecards/preview.html", {"html": html})


@login_required
def review_runs(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Choose the runs that the review rests on."""
    desk = sit_down(request, client, agent, number)
    runs = list(list_runs(desk.standing).filter(agent=desk.agent)[:100])
    if request.method != "POST":
        pinned = set(desk.revision.runs.values_list("pk", flat=True))
        context: dict[str, Any] = desk.context(desk.fresh(), runs=runs, pinned=pinned)
        return render_page(request, "scorecards/review_runs.html", "", context)
    chosen = set(request.POST.getlist("run"))
    try:
        reviewing.pin_runs(desk.revision, [run for run in runs if str(run.pk) in chosen], by=desk.user)
    except Frozen as error:
        return answer_refusal(request, error, desk.url("review"))
    return go(desk.url("review-edit", anchor="runs"))


@login_required
def review_override(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """A second person's reason for "ready" all the same."""
    require_post(request)
    desk = sit_down(request, client, agent, number)
    back = desk.url("review-edit", anchor="override")
    try:
        reviewing.write_override(desk.revision, request.POST.get("reason", "")[:4000].replace("\0", ""), by=desk.user)
    except AppError as error:
        return answer_refusal(request, error, back)
    messages.success(request, "The reason is kept under your name.")
    return go(back)
