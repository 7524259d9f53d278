"""Engagements: saved with an audit entry; their scope with the reviews that each agent has in them."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Prefetch

from evals.models import Agent
from reliability.audit import record_change
from reliability.models import User
from scorecards.models import Engagement, Review, Revision


@dataclass(frozen=True, slots=True)
class InScope:
    """An agent with its reviews in the engagement, newest first; `is_busy` while any review of it is in work."""

    agent: Agent
    reviews: tuple["ReviewInScope", ...]
    is_busy: bool


@dataclass(frozen=True, slots=True)
class ReviewInScope:
    review: Review
    draft: Revision | None
    published: Revision | None


@transaction.atomic
def save_engagement(form: forms.ModelForm[Engagement], *, is_new: bool, by: User) -> Engagement:
    """Save a valid form."""
    engagement = form.save()
    record_change(
        engagement.client,
        "engagement.created" if is_new else "engagement.changed",
        engagement,
        by=by,
        name=engagement.name,
        agents=sorted(engagement.agents.values_list("slug", flat=True)),
    )
    return engagement


def list_scope(engagement: Engagement) -> list[InScope]:
    """Four queries, whatever the number of agents and reviews."""
    reviews: Any = Review.objects.filter(engagement=engagement).prefetch_related("revisions")
    agents = engagement.agents.select_related("client").prefetch_related(
        Prefetch("reviews", queryset=reviews, to_attr="reviews_here")
    )
    busy = set(
        Revision.objects.exclude(state="published")
        .filter(review__agent__engagements=engagement)
        .values_list("review__agent", flat=True)
    )
    return [InScope(agent, tuple(map(_in_scope, agent.reviews_here)), agent.pk in busy) for agent in agents]


def _in_scope(review: Review) -> ReviewInScope:
    revisions = list(review.revisions.all())
    return ReviewInScope(
        review=review,
        draft=next((r for r in revisions if not r.is_published), None),
        published=next((r for r in revisions if r.is_published), None),
    )
