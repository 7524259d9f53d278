"""Evidence of a dimension: found by typing or entered, changed, verified, taken off; its files."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.files.storage import storages
from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evals.access import get_agent
from reliability.access import enter_client
from reliability.audit import record_change
from reliability.errors import AppError
from reliability.htmx import render_page
from scorecards import access, evidence
from scorecards.evidence_forms import EvidenceForm, VerificationForm, initial_of_item
from scorecards.evidence_search import Chosen, read_choice, search_evidence
from scorecards.models import DimensionScore, EvidenceItem, EvidenceLink, SourceType
from scorecards.views.desk import Desk, asks_for_part, go, render_saved, sit_down

ENTERED = [
    (SourceType.LINK.value, "A link"),
    (SourceType.FILE.value, "A file"),
    (SourceType.INTERVIEW.value, "An interview"),
]


@login_required
def evidence_create(request: HttpRequest, client: str, agent: str, number: int, dimension: str) -> HttpResponse:
    """Choose a source (`q` searches, `source` picks), then say what it shows."""
    desk = sit_down(request, client, agent, number)
    score = desk.score(dimension)
    word = request.POST.get("source") or request.GET.get("source", "")
    chosen = read_choice(desk.agent, word)
    if chosen is None:
        if request.method == "POST" or word:
            raise Http404
        return _answer_search(request, desk, dimension)
    if chosen.item is not None:
        return _answer_item(request, desk, score, chosen.item)
    if request.method != "POST":
        form = EvidenceForm(desk.dimension(dimension), chosen.type, initial=_suggested(chosen))
        return _answer_form(request, desk, dimension, form, chosen=chosen, word=word)
    form = EvidenceForm(desk.dimension(dimension), chosen.type, request.POST, files=request.FILES)
    if not form.is_valid():
        return _answer_form(request, desk, dimension, form, chosen=chosen, word=word, status=422)
    source = form.source_of(run=chosen.run, class_id=chosen.class_id, attempt_number=chosen.attempt_number)
    try:
        evidence.add_evidence(score, form.evidence_fields(), source, form.attachment(), by=desk.user)
    except AppError as error:
        form.add_error(None, error.detail)
        return _answer_form(request, desk, dimension, form, chosen=chosen, word=word, status=error.status)
    return _answer_saved(request, desk, dimension)


def _suggested(chosen: Chosen) -> dict[str, Any]:
    """A run happened on its day; that is what it shows until somebody says otherwise."""
    if chosen.run is None:
        return {}
    day = chosen.run.at.date()
    return {"shows": "operation", "operated_from": day, "operated_to": day, "visibility": chosen.run.visibility}


def _answer_search(request: HttpRequest, desk: Desk, dimension: str) -> HttpResponse:
    query = request.GET.get("q", "")
    context = desk.context(
        desk.fresh(),
        dimension=desk.dimension(dimension),
        found=search_evidence(desk.agent, query),
        query=query,
        sources=ENTERED,
    )
    part = "evidence-results" if "results" in request.GET else "evidence-chooser"
    return render_page(request, "scorecards/evidence_form.html", part, context)


def _answer_form(
    request: HttpRequest, desk: Desk, dimension: str, form: EvidenceForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    page = desk.fresh()
    context = desk.context(page, part=page.part_of(dimension), dimension=desk.dimension(dimension), form=form, **more)
    if asks_for_part(request) and status != 200:
        return render_saved(request, "scorecards/saved_evidence.html", context, status=status)
    return render_page(request, "scorecards/evidence_form.html", "evidence-editor", context, status=status)


def _answer_saved(request: HttpRequest, desk: Desk, dimension: str) -> HttpResponse:
    if not asks_for_part(request):
        return go(desk.url("review-edit", anchor=f"evidence-{dimension}"))
    page = desk.fresh()
    context = desk.context(page, part=page.part_of(dimension), saved=True)
    return render_saved(request, "scorecards/saved_evidence.html", context)


@login_required
def evidence_change(
    request: HttpRequest, client: str, agent: str, number: int, dimension: str, item_id: uuid.UUID
) -> HttpResponse:
    """Change an item and how it bears on this dimension: `action` is save, detach, verify or unverify."""
    desk = sit_down(request, client, agent, number)
    return _answer_item(request, desk, desk.score(dimension), access.get_evidence(desk.standing, desk.agent, item_id))


def _answer_item(request: HttpRequest, desk: Desk, score: DimensionScore, item: EvidenceItem) -> HttpResponse:
    dimension = desk.dimension(score.dimension_id)
    links = list(EvidenceLink.objects.filter(item=item, score=score))
    action = request.POST.get("action", "save") if request.method == "POST" else ""
    form = EvidenceForm(
        dimension,
        SourceType(item.source),
        request.POST if action == "save" else None,
        initial=initial_of_item(item, links),
    )
    for name in ("url", "file", "interviewee", "interviewed_on"):
        form.fields.pop(name, None)  # where it came from does not change
    check = VerificationForm(item, request.POST if action == "verify" else None)
    more: dict[str, Any] = {"item": item, "verification": check, "is_attached": bool(links)}
    if not action:
        return _answer_form(request, desk, dimension.id, form, **more)
    try:
        done = _act(desk, score, item, action, form, check)
    except AppError as error:
        (check if action == "verify" else form).add_error(None, error.detail)
        return _answer_form(request, desk, dimension.id, form, status=error.status, **more)
    if not done:
        return _answer_form(request, desk, dimension.id, form, status=422, **more)
    return _answer_saved(request, desk, dimension.id)


def _act(
    desk: Desk, score: DimensionScore, item: EvidenceItem, action: str, form: EvidenceForm, check: VerificationForm
) -> bool:
    """Do what was asked; False when its form has faults."""
    match action:
        case "save" if form.is_valid():
            evidence.change_evidence(score, item, form.evidence_fields(), form.attachment(), by=desk.user)
        case "verify" if check.is_valid():
            evidence.verify_evidence(item, check.verification(), by=desk.user)
        case "unverify":
            evidence.withdraw_verification(item, by=desk.user)
        case "detach":
            evidence.detach_evidence(score, item, by=desk.user)
        case "save" | "verify":
            return False
        case _:
            raise Http404
    return True


@login_required
def evidence_file(request: HttpRequest, client: str, agent: str, item_id: uuid.UUID) -> FileResponse:
    """Send the file, always as a download: it came from anybody."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    item = get_object_or_404(access.list_evidence(standing, subject), pk=item_id, source=SourceType.FILE)
    with transaction.atomic():
        record_change(standing.client, "evidence.downloaded", item, by=standing.user)
    return FileResponse(
        storages["default"].open(item.file_path),
        as_attachment=True,
        filename=item.file_name,
        content_type="application/octet-stream",
    )
