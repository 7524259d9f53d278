"""A revision frozen as bytes: canonical JSON of `snapshot_reading.Snapshot`, with its SHA-256.

Two are stored on publishing: *full*, and *client*, which holds only what a client may see. Whatever is hidden from
the client is left out before anything is counted, so that no number tells of it.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings

from evals.canonical import canonical_json
from evals.models import Visibility
from reliability.models.audit import GENESIS, AuditChain
from scorecards import snapshot_reading as parts
from scorecards.assessing import Scorecard, list_pinned_runs, load_scorecard
from scorecards.models import Recommendation, Remark, Revision, Snapshot, SnapshotKind, StepInRevision
from scorecards.snapshot_results import describe_run
from scorecards.snapshot_scores import describe_evidence, describe_scores, describe_steps


@dataclass(frozen=True, slots=True)
class Built:
    kind: SnapshotKind
    body: bytes
    sha256: str


def build_snapshot(revision: Revision, kind: SnapshotKind, *, with_levels: bool = True) -> Built:
    """Return the revision as bytes. Only a fact check may leave the levels out."""
    scorecard = load_scorecard(revision)
    for_client = kind != SnapshotKind.FULL
    described = _describe(scorecard, kind, for_client=for_client, with_levels=with_levels)
    body = canonical_json(msgspec.to_builtins(described))
    return Built(kind, body, hashlib.sha256(body).hexdigest())


def store_snapshot(revision: Revision, built: Built) -> Snapshot:
    return Snapshot.objects.create(
        revision=revision, kind=built.kind, schema=parts.SCHEMA, body=built.body, sha256=built.sha256
    )


def _describe(scorecard: Scorecard, kind: SnapshotKind, *, for_client: bool, with_levels: bool) -> parts.Snapshot:
    revision = scorecard.revision
    runs = [r for r in list_pinned_runs(revision) if not for_client or r.visibility == Visibility.CLIENT]
    evidence = describe_evidence(scorecard, for_client=for_client)
    seen = {item.id for item in evidence}
    return parts.Snapshot(
        schema=parts.SCHEMA,
        kind=kind.value,  # type: ignore[arg-type]  # one of the three words
        consultancy=settings.CONSULTANCY_NAME,
        levels_shown=with_levels,
        **_identify(revision),
        rubric=_rubric(scorecard),
        **_texts(revision),
        recommendation=_recommendation(revision, shown=with_levels),
        scores=describe_scores(scorecard, seen, for_client=for_client, with_levels=with_levels),
        verdict=_verdict(scorecard) if with_levels else None,
        overall=_overall(scorecard) if with_levels else None,
        evidence=evidence,
        steps=describe_steps(_list_steps(revision, for_client=for_client), seen, with_levels=with_levels),
        runs=[describe_run(run) for run in runs],
        remarks=[] if for_client else _remarks(revision),
        audit=_audit(revision),
    )


def _identify(revision: Revision) -> dict[str, Any]:
    review, client = revision.review, revision.client
    agent, engagement = review.agent, review.engagement
    same = {name: getattr(agent, name) for name in ("slug", "name", "purpose", "risk_tier", "owner", "repository")}
    return {
        "client": parts.ClientPart(slug=client.slug, name=client.name),
        "agent": parts.AgentPart(id=str(agent.pk), **same),
        "engagement": parts.EngagementPart(id=str(engagement.pk), name=engagement.name),
        "review": parts.ReviewPart(
            id=str(review.pk),
            number=review.number,
            as_of=review.as_of,
            previous=review.previous.number if review.previous else None,
        ),
        "revision": parts.RevisionPart(
            id=str(revision.pk),
            number=revision.number,
            state=revision.state,
            published_at=_utc(revision.published_at),
            published_by=str(revision.published_by or ""),
            supersedes=revision.number - 1 or None,
            supersedes_because=revision.supersedes_because,
            what_changed=revision.what_changed,
        ),
    }


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


def _rubric(scorecard: Scorecard) -> parts.RubricPart:
    rubric = scorecard.rubric
    return parts.RubricPart(
        id=rubric.id,
        version=rubric.version,
        sha256=rubric.sha256,
        title=rubric.title,
        bar=scorecard.result.bar.bar,
        level_words=list(rubric.level_words),
        dimensions=[
            parts.DimensionText(
                id=dimension.id,
                title=dimension.title,
                weight=dimension.weight,
                question=dimension.question,
                states=list(dimension.states),
                practices=[
                    parts.PracticeText(id=p.id, level=p.level, text=p.text, shows=p.shows.value)
                    for p in dimension.practices
                ],
            )
            for dimension in rubric.dimensions
        ],
    )


def _texts(revision: Revision) -> dict[str, Any]:
    def take(part: type[parts.Part]) -> dict[str, Any]:
        return {name: getattr(revision, name) for name in part.__struct_fields__}

    return {
        "subject": parts.SubjectPart(**take(parts.SubjectPart)),
        "lists": parts.ListsPart(
            main_flows=list(revision.main_flows),
            tools=[parts.ToolPart(name=tool["name"], reversible=tool["reversible"]) for tool in revision.tools],
            top_risks=list(revision.top_risks),
        ),
        "texts": parts.TextsPart(**take(parts.TextsPart)),
    }


def _recommendation(revision: Revision, *, shown: bool) -> parts.RecommendationPart:
    value = revision.recommendation if shown else ""
    return parts.RecommendationPart(
        value=value,
        words=str(Recommendation(value).label) if value else "",
        reasons=revision.recommendation_reasons if shown else "",
        override_reason=revision.override_reason if shown else "",
        override_by=str(revision.override_by or "") if shown else "",
    )


def _verdict(scorecard: Scorecard) -> parts.VerdictPart:
    bar = scorecard.result.bar
    return parts.VerdictPart(
        outcome=bar.outcome.value,
        words=bar.words,
        bar=bar.bar,
        failing=[dimension.id for dimension in bar.failing],
        asserted=[dimension.id for dimension in bar.asserted],
        undecided=[dimension.id for dimension in bar.undecided],
    )


def _overall(scorecard: Scorecard) -> parts.OverallPart:
    overall = scorecard.result.overall
    ends = [parts.RatioPart(numerator=end.numerator, denominator=end.denominator) for end in overall.value_range or ()]
    return parts.OverallPart(
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        percentage=overall.percentage,
        basis=overall.basis,
        at_the_bar=overall.at_the_bar,
    )


def _list_steps(revision: Revision, *, for_client: bool) -> list[StepInRevision]:
    steps = revision.steps.select_related("step").prefetch_related("step__evidence")
    if for_client:
        steps = steps.filter(step__visibility=Visibility.CLIENT)
    return sorted(steps, key=lambda s: (not s.is_condition, s.step.priority, s.step.due is None, s.step.due or 0, s.pk))


def _remarks(revision: Revision) -> list[parts.RemarkPart]:
    remarks = Remark.objects.filter(revision=revision).select_related("by", "answered_by")
    return [
        parts.RemarkPart(
            internal=remark.internal,
            dimension=remark.dimension_id,
            practice=remark.practice_id,
            text=remark.text,
            by=str(remark.by or ""),
            at=remark.at.astimezone(UTC),
            state=remark.state,
            answer=remark.answer,
            answered_by=str(remark.answered_by or ""),
        )
        for remark in remarks
    ]


def _audit(revision: Revision) -> parts.AuditPart:
    chain = AuditChain.objects.filter(name=str(revision.client_id)).first()
    return parts.AuditPart(count=chain.count if chain else 0, head=chain.head if chain else GENESIS)
