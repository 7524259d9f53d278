"""Engagements of a client: internal pages."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from reliability.access import Standing, enter_client
from reliability.htmx import render_page
from scorecards import access
from scorecards.engaging import list_scope, save_engagement
from scorecards.models import Engagement
from scorecards.review_forms import EngagementForm, StartForm
from scorecards.views.desk import go


@login_required
def engagement_list(request: HttpRequest, client: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    engagements = access.list_engagements(standing).annotate(
        agents_count=Count("agents", distinct=True), reviews_count=Count("reviews", distinct=True)
    )
    context = {"standing": standing, "engagements": engagements, "today": timezone.localdate()}
    return render_page(request, "scorecards/engagement_list.html", "", context)


@login_required
def engagement_create(request: HttpRequest, client: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    access.list_engagements(standing)  # 404 for those who may not see engagements
    lead = standing.user if standing.user.is_internal else None
    initial: dict[str, object] = {"starts_on": timezone.localdate(), "lead": lead}
    return _answer_form(request, standing, Engagement(client=standing.client), initial=initial)


@login_required
def engagement_change(request: HttpRequest, client: str, engagement_id: uuid.UUID) -> HttpResponse:
    standing = enter_client(request.user, client)
    return _answer_form(request, standing, access.get_engagement(standing, engagement_id))


def _answer_form(
    request: HttpRequest, standing: Standing, engagement: Engagement, initial: dict[str, object] | None = None
) -> HttpResponse:
    is_new = engagement._state.adding
    form = EngagementForm(standing.client, request.POST or None, instance=engagement, initial=initial)
    if request.method == "POST" and form.is_valid():
        saved = save_engagement(form, is_new=is_new, by=standing.user)
        messages.success(request, f"“{saved}” was saved.")
        return go(saved.get_absolute_url())
    context = {"standing": standing, "form": form, "engagement": None if is_new else engagement}
    return render_page(request, "scorecards/engagement_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
def engagement(request: HttpRequest, client: str, engagement_id: uuid.UUID) -> HttpResponse:
    standing = enter_client(request.user, client)
    found = access.get_engagement(standing, engagement_id)
    context = {
        "standing": standing,
        "engagement": found,
        "scope": list_scope(found),
        "people": found.people.order_by("name", "email"),
        "start": StartForm(),
    }
    return render_page(request, "scorecards/engagement.html", "", context)
