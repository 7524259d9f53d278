"""What the pages of a draft share: who stands at it, and how a refusal is said."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from evals.access import get_agent
from evals.models import Agent
from reliability.access import Standing, enter_client
from reliability.errors import AppError
from reliability.htmx import wants_partial
from reliability.models import User
from scorecards.access import get_draft
from scorecards.contexts import FormPage, Typed, build_form_page
from scorecards.models import DimensionScore, Revision
from scorecards.rubric import Dimension
from scorecards.rubrics_store import rubric_of

VARY = ["HX-Request", "HX-Request-Type", "HX-History-Restore-Request"]


@dataclass(frozen=True, slots=True)
class Desk:
    """A consultant at a draft."""

    standing: Standing
    agent: Agent
    revision: Revision

    @property
    def user(self) -> User:
        return self.standing.user

    @property
    def address(self) -> list[Any]:
        return [self.standing.client.slug, self.agent.slug, self.revision.review.number]

    def url(self, name: str, *more: Any, anchor: str = "") -> str:
        return reverse(name, args=[*self.address, *more]) + (f"#{anchor}" if anchor else "")

    def dimension(self, dimension_id: str) -> Dimension:
        found = rubric_of(self.revision.rubric).find(dimension_id)
        if found is None:
            raise Http404
        return found

    def score(self, dimension_id: str) -> DimensionScore:
        self.dimension(dimension_id)
        found = DimensionScore.objects.filter(revision=self.revision, dimension_id=dimension_id)
        return found.select_related("revision__review__agent", "revision__rubric", "changed_by").get()

    def fresh(self, typed: Typed | None = None) -> FormPage:
        """Return the form as it stands now."""
        revision = get_draft(self.standing, self.agent, self.revision.review.number)
        return build_form_page(revision, self.user, typed)

    def context(self, page: FormPage, **more: Any) -> dict[str, Any]:
        return {
            "standing": self.standing,
            "agent": self.agent,
            "review": page.revision.review,
            "revision": page.revision,
            "page": page,
            **more,
        }


def sit_down(request: HttpRequest, client: str, agent: str, number: int) -> Desk:
    """Return the desk of whoever may write this draft; others learn nothing of it."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    return Desk(standing, subject, get_draft(standing, subject, number))


def require_post(request: HttpRequest) -> None:
    if request.method != "POST":
        raise Http404


def render_saved(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Answer a save with small pieces: the state that was asked for, and what else on the page follows from it."""
    response = render(request, template, {**context, "oob": True}, status=status)
    patch_vary_headers(response, VARY)
    return response


def go(address: str) -> HttpResponse:
    """303: whatever was posted, the browser gets the page."""
    response = HttpResponseRedirect(address)
    response.status_code = 303
    return response


def answer_refusal(request: HttpRequest, error: AppError, address: str) -> HttpResponse:
    """Say why something was not done, on the page that it was asked from. 403 stays 403."""
    if error.status == 403:
        raise PermissionDenied(error.detail)
    messages.error(request, error.detail)
    return go(address)


def asks_for_part(request: HttpRequest) -> bool:
    return wants_partial(request)
