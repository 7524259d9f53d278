"""Published reviews as clients and consultants read them: the list, a revision, its bytes."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from evals.access import get_agent
from reliability.access import Standing, enter_client, require_internal
from reliability.errors import AppError
from reliability.htmx import render_page
from scorecards import access, reviewing
from scorecards.history import list_history
from scorecards.models import Engagement, Review, Revision
from scorecards.review_forms import StartForm
from scorecards.reviewing import revise_review
from scorecards.snapshot_reading import read_snapshot
from scorecards.views.desk import answer_refusal, go, require_post


@login_required
def review_list(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    engagements = Engagement.objects.filter(agents=subject) if standing.is_internal else Engagement.objects.none()
    history = list_history(standing, subject)
    context = {
        "standing": standing,
        "agent": subject,
        "history": history,
        "draft": next((row.draft for row in history if row.draft), None),
        "engagements": engagements,
        "start": StartForm(),
    }
    return render_page(request, "scorecards/review_list.html", "", context)


@login_required
def review(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """The latest published revision; consultants also see that a draft is in work."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    found = access.get_review(standing, subject, number)
    published = access.list_published(found).first()
    if published is None:  # only internal people get here
        return go(reverse("review-edit", args=[client, subject.slug, number]))
    return _answer_revision(request, standing, found, published)


@login_required
def revision(request: HttpRequest, client: str, agent: str, number: int, revision_number: int) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    found = access.get_review(standing, subject, number)
    return _answer_revision(request, standing, found, access.get_published(found, revision_number))


def _answer_revision(request: HttpRequest, standing: Standing, found: Review, shown: Revision) -> HttpResponse:
    stored = access.get_published_snapshot(standing, shown)
    revisions = list(access.list_published(found))
    context: dict[str, Any] = {
        "standing": standing,
        "agent": found.agent,
        "review": found,
        "revision": shown,
        "snapshot": read_snapshot(stored.body),
        "sha256": stored.sha256,
        "revisions": revisions,
        "latest": revisions[0],
        "draft": access.find_draft(found) if standing.is_internal else None,
    }
    return render_page(request, "scorecards/review.html", "", context)


@login_required
def revision_snapshot(request: HttpRequest, client: str, agent: str, number: int, revision_number: int) -> HttpResponse:
    """The stored bytes themselves: their SHA-256 is the printed hash. `full` is for internal people."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    found = access.get_review(standing, subject, number)
    published = access.get_published(found, revision_number)
    fetch = access.get_full_snapshot if "full" in request.GET else access.get_published_snapshot
    stored = fetch(standing, published)
    response = HttpResponse(bytes(stored.body), content_type="application/json")
    name = f"{subject.slug}-review-{number}-revision-{revision_number}-{stored.kind}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
def review_revise(request: HttpRequest, client: str, agent: str, number: int) -> HttpResponse:
    """Begin a revision that will replace the published one; `because` says why."""
    require_post(request)
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    found = access.get_review(standing, subject, number)
    require_internal(standing)
    address = [client, subject.slug, number]
    try:
        revise_review(found, because=request.POST.get("because", "")[:4000].replace("\0", ""), by=standing.user)
    except AppError as error:
        return answer_refusal(request, error, reverse("review", args=address))
    return go(reverse("review-edit", args=address))


@login_required
def review_start(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """Begin the agent's next review within an engagement."""
    require_post(request)
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    require_internal(standing)
    form = StartForm(request.POST)
    engagement = access.get_engagement(standing, _read_uuid(request.POST.get("engagement", "")))
    back = reverse("review-list", args=[client, subject.slug])
    if not form.is_valid():
        messages.error(request, "Give the date that the review speaks of.")
        return go(back)
    try:
        draft = reviewing.start_review(engagement, subject, as_of=form.cleaned_data["as_of"], by=standing.user)
    except AppError as error:
        return answer_refusal(request, error, back)
    return go(reverse("review-edit", args=[client, subject.slug, draft.review.number]))


def _read_uuid(word: str) -> uuid.UUID:
    try:
        return uuid.UUID(word)
    except ValueError:
        raise Http404 from None
