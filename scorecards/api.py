"""Published reviews over the API: the stored client snapshot, as it is."""

import uuid

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Router

from evals.answers import absolute
from evals.openapi import answer
from reliability.access import enter_api
from reliability.models import Scope
from scorecards.access import get_published_snapshot, get_review_by_id, list_published
from scorecards.schemas import ReviewOut, RevisionOut
from scorecards.snapshot_reading import Snapshot

router = Router(tags=["reviews"])


@router.get("/reviews/{uuid:review_id}", summary="A published review", openapi_extra=answer(ReviewOut, Snapshot))
def get_review(request: HttpRequest, review_id: uuid.UUID) -> HttpResponse:
    """The latest published revision. `sha256` is of the bytes of `snapshot` exactly as they stand in this answer."""
    standing = enter_api(request, Scope.READ)
    review = get_review_by_id(standing, review_id)
    published = list(list_published(review))
    latest = get_object_or_404(list_published(review)[:1])
    stored = get_published_snapshot(standing, latest)
    described = ReviewOut(
        id=str(review.pk),
        agent=review.agent.slug,
        number=review.number,
        as_of=review.as_of,
        revision=latest.number,
        published_at=latest.published_at,
        revisions=[RevisionOut(number=one.number, published_at=one.published_at) for one in published],
        url=absolute(review.get_absolute_url()),
        sha256=stored.sha256,
        snapshot=msgspec.Raw(bytes(stored.body)),
    )
    return HttpResponse(msgspec.json.encode(described) + b"\n", content_type="application/json")
