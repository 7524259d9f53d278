"""An agent's reviews, newest first, as their published snapshots say them."""

from dataclasses import dataclass

from evals.models import Agent
from reliability.access import Standing
from scorecards.access import list_reviews
from scorecards.models import Review, Revision, RevisionState, Snapshot, SnapshotKind
from scorecards.snapshot_reading import Snapshot as Read
from scorecards.snapshot_reading import read_snapshot


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A review with its latest published snapshot; `draft` only for internal people."""

    review: Review
    snapshot: Read | None
    revisions: int  # published
    draft: Revision | None


def list_history(standing: Standing, agent: Agent) -> list[HistoryRow]:
    """Three queries, whatever the number of reviews."""
    reviews = list(list_reviews(standing).filter(agent=agent))
    published: dict[object, list[Snapshot]] = {}
    snapshots = Snapshot.objects.filter(revision__review__in=reviews, kind=SnapshotKind.CLIENT)
    for stored in snapshots.select_related("revision").order_by("-revision__number"):
        published.setdefault(stored.revision.review_id, []).append(stored)
    drafts = {}
    if standing.is_internal:
        open_ones = Revision.objects.filter(review__in=reviews).exclude(state=RevisionState.PUBLISHED)
        drafts = {draft.review_id: draft for draft in open_ones}
    return [
        HistoryRow(
            review=review,
            snapshot=read_snapshot(published[review.pk][0].body) if review.pk in published else None,
            revisions=len(published.get(review.pk, [])),
            draft=drafts.get(review.pk),
        )
        for review in reviews
    ]
