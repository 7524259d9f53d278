"""Fetching what somebody may see of engagements, reviews, evidence and steps; everything else is 404."""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from evals.access import list_agents
from evals.models import Agent, Visibility
from reliability.access import Standing
from scorecards.fact_checks import is_open_to
from scorecards.models import (
    Engagement,
    EvidenceItem,
    FactCheck,
    NextStep,
    Review,
    Revision,
    RevisionState,
    Snapshot,
    SnapshotKind,
)


def list_engagements(standing: Standing) -> QuerySet[Engagement]:
    """Engagements are the consultancy's own plans: clients see what comes out of them."""
    if not standing.is_internal:
        raise Http404
    return Engagement.objects.filter(client=standing.client).select_related("client", "lead")


def get_engagement(standing: Standing, engagement_id: uuid.UUID) -> Engagement:
    return get_object_or_404(list_engagements(standing), pk=engagement_id)


def list_reviews(standing: Standing) -> QuerySet[Review]:
    """Return the reviews that are visible: clients see those with something published."""
    reviews = Review.objects.filter(client=standing.client, agent__in=list_agents(standing))
    reviews = reviews.select_related("client", "agent", "engagement")
    if standing.is_internal:
        return reviews
    published = Revision.objects.filter(state=RevisionState.PUBLISHED)
    return reviews.filter(pk__in=published.values("review"))


def get_review(standing: Standing, agent: Agent, number: int) -> Review:
    _require_sane(number)
    return get_object_or_404(list_reviews(standing), agent=agent, number=number)


def _require_sane(number: int) -> None:
    """An address may hold more digits than a column."""
    if number > 2**31 - 1:
        raise Http404


def get_review_by_id(standing: Standing, review_id: uuid.UUID) -> Review:
    return get_object_or_404(list_reviews(standing), pk=review_id)


def get_published(review: Review, number: int) -> Revision:
    _require_sane(number)
    return get_object_or_404(list_published(review), number=number)


def list_published(review: Review) -> QuerySet[Revision]:
    """Return the review's published revisions, newest first."""
    revisions = Revision.objects.filter(review=review, state=RevisionState.PUBLISHED)
    return revisions.select_related("published_by").order_by("-number")


def get_published_snapshot(standing: Standing, revision: Revision) -> Snapshot:
    """Return the client snapshot: the one behind page, API, PDF and the printed hash, also for internal people."""
    return get_object_or_404(Snapshot, revision=revision, kind=SnapshotKind.CLIENT)


def get_full_snapshot(standing: Standing, revision: Revision) -> Snapshot:
    if not standing.is_internal:
        raise Http404
    return get_object_or_404(Snapshot, revision=revision, kind=SnapshotKind.FULL)


def get_draft(standing: Standing, agent: Agent, number: int) -> Revision:
    """Return the working revision of a review, to internal people only."""
    _require_sane(number)
    if not standing.is_internal:
        raise Http404
    drafts = Revision.objects.exclude(state=RevisionState.PUBLISHED).filter(client=standing.client)
    drafts = drafts.select_related(
        "review__agent", "review__engagement", "review__previous", "client", "rubric", "changed_by", "override_by"
    )
    return get_object_or_404(drafts, review__agent=agent, review__number=number)


def find_draft(review: Review) -> Revision | None:
    return Revision.objects.filter(review=review).exclude(state=RevisionState.PUBLISHED).first()


def list_steps(standing: Standing, agent: Agent) -> QuerySet[NextStep]:
    """Return the agent's steps; clients see those that a published revision lists for them."""
    steps = NextStep.objects.filter(client=standing.client, agent=agent)
    if standing.is_internal:
        return steps
    published = Q(appearances__revision__state=RevisionState.PUBLISHED)
    return steps.filter(published, visibility=Visibility.CLIENT).distinct()


def get_step(standing: Standing, agent: Agent, step_id: uuid.UUID) -> NextStep:
    return get_object_or_404(list_steps(standing, agent), pk=step_id)


def list_evidence(standing: Standing, agent: Agent) -> QuerySet[EvidenceItem]:
    """Return the agent's evidence; clients see what a published revision rests on and may be shown."""
    items = EvidenceItem.objects.filter(client=standing.client, agent=agent).select_related("run", "verified_by")
    if standing.is_internal:
        return items
    shown = Q(run=None) | Q(run__visibility=Visibility.CLIENT)
    published = Q(links__score__revision__state=RevisionState.PUBLISHED)
    return items.filter(shown, published, visibility=Visibility.CLIENT).distinct()


def get_evidence(standing: Standing, agent: Agent, item_id: uuid.UUID) -> EvidenceItem:
    return get_object_or_404(list_evidence(standing, agent), pk=item_id)


def list_fact_checks(standing: Standing, agent: Agent | None = None) -> QuerySet[FactCheck]:
    """Return the fact checks that wait for this very person, the most urgent first."""
    checks = FactCheck.objects.filter(
        revision__client=standing.client, revision__review__agent__in=list_agents(standing)
    )
    if agent is not None:
        checks = checks.filter(revision__review__agent=agent)
    open_now = checks.filter(closed_at=None, until__gte=timezone.localdate(), people=standing.user)
    return open_now.select_related("revision__review__agent").order_by("until", "pk")


def get_fact_check(standing: Standing, agent: Agent, number: int) -> FactCheck:
    """Return the review's open fact check: to internal people, and to those named until its last day."""
    _require_sane(number)
    checks = FactCheck.objects.filter(revision__client=standing.client, closed_at=None)
    checks = checks.select_related("revision__review__agent", "revision__client", "snapshot")
    check = get_object_or_404(checks, revision__review__agent=agent, revision__review__number=number)
    if standing.is_internal or is_open_to(check, standing.user):
        return check
    raise Http404
