"""A revision's scores as they stand in the database, held against its rubric by the pure rules of `scoring`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evals.models import Run
from scorecards import scoring
from scorecards.models import DimensionScore, EvidenceLink, Revision, ScoreStanding, Stance
from scorecards.rubric import Rubric, Shows
from scorecards.rubrics_store import rubric_of

ASSESSMENTS = {
    ScoreStanding.ASSESSED: scoring.Assessment.SCORED,
    ScoreStanding.NOT_ASSESSED: scoring.Assessment.NOT_ASSESSED,
    ScoreStanding.NOT_APPLICABLE: scoring.Assessment.NOT_APPLICABLE,
}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All that a revision says about its dimensions. `seen_by_client` is the same held against what a client sees."""

    revision: Revision
    rubric: Rubric
    scores: dict[str, DimensionScore]
    result: scoring.ReviewResult
    seen_by_client: scoring.ReviewResult

    def result_of(self, dimension_id: str) -> scoring.DimensionResult:
        return next(found for found in self.result.dimensions if found.dimension.id == dimension_id)

    def client_result_of(self, dimension_id: str) -> scoring.DimensionResult:
        return next(found for found in self.seen_by_client.dimensions if found.dimension.id == dimension_id)

    @property
    def links(self) -> Iterator[EvidenceLink]:
        return (link for score in self.scores.values() for link in score.links.all())


def load_scorecard(revision: Revision) -> Scorecard:
    """Return the revision's scores with marks and evidence. Three queries; `revision.rubric` should be loaded."""
    rubric = rubric_of(revision.rubric)
    found = DimensionScore.objects.filter(revision=revision).prefetch_related(
        "marks", "links__item__run", "links__item__verified_by"
    )
    scores = {score.dimension_id: score for score in found.select_related("changed_by", "confirmed_by")}
    tier = revision.review.agent.risk_tier
    return Scorecard(
        revision=revision,
        rubric=rubric,
        scores=scores,
        result=scoring.assess_review(rubric, map(plain_score, scores.values()), tier=tier),
        seen_by_client=scoring.assess_review(rubric, map(_score_for_client, scores.values()), tier=tier),
    )


def plain_score(score: DimensionScore) -> scoring.DimensionScore:
    return _plain(score, score.links.all())


def _score_for_client(score: DimensionScore) -> scoring.DimensionScore:
    return _plain(score, (link for link in score.links.all() if link.item.is_client_visible))


def _plain(score: DimensionScore, links: Iterable[EvidenceLink]) -> scoring.DimensionScore:
    return scoring.DimensionScore(
        dimension_id=score.dimension_id,
        level=score.level,
        assessment=ASSESSMENTS[ScoreStanding(score.standing)],
        practices={mark.practice_id: scoring.PracticeState(mark.state) for mark in score.marks.all()},
        evidence=tuple(
            scoring.EvidenceLink(
                practice_id=link.practice_id,
                grade=scoring.Grade(link.item.grade),
                shows=Shows(link.item.shows),
                supports=link.stance == Stance.SUPPORTS,
            )
            for link in links
        ),
    )


def list_pinned_runs(revision: Revision) -> list[Run]:
    """Return the runs that the revision rests on, newest first: those named, and those of attached evidence."""
    named = Run.objects.filter(revisions=revision)
    attached = Run.objects.filter(evidence_items__links__score__revision=revision)
    return list(
        Run.objects.filter(pk__in=named.values("pk").union(attached.values("pk"))).select_related("agent", "client")
    )
