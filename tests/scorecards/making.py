"""Makes reviews, runs and evidence for tests, through the write functions that the pages use."""

from datetime import date, timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from evals.models import (
    Agent,
    Artifact,
    Attempt,
    ClassResult,
    Definition,
    Evaluation,
    Indicator,
    Intake,
    MadeBy,
    Run,
    RunArtifact,
    RunScenario,
    Visibility,
)
from evals.records import Containment, Origin, Outcome
from reliability.models import User
from scorecards import evidence, reviewing, steps
from scorecards.models import (
    DimensionScore,
    Engagement,
    EvidenceItem,
    NextStep,
    PracticeState,
    Revision,
    ScoreStanding,
    Shows,
    SourceType,
)
from scorecards.publishing import publish_revision
from scorecards.reviewing import HeadPart, ScoreFields
from scorecards.rubrics_store import rubric_of

SUBJECT: dict[str, Any] = {
    "agent_versions": "2.4.0",
    "model": "large-model-2026-09",
    "environment": "staging, EU",
    "intended_use": "Answers questions about orders.",
    "permitted_users": "Signed-in customers",
    "void_if": "A tool that writes is added.",
    "main_flows": ["Where is my order", "Refund"],
    "tools": [{"name": "orders.read", "reversible": True}, {"name": "refunds.pay", "reversible": False}],
    "top_risks": ["Pays a refund to the wrong person"],
    "limitations": "No live traffic was looked at.",
    "method": "Runs, interviews, one exercise.",
    "participants": "Alice, Bob",
    "period_from": date(2026, 10, 1),
    "period_to": date(2026, 10, 30),
}
ANSWER = {
    "summary": "It holds on the main flows.",
    "recommendation": "not_ready",
    "recommendation_reasons": "Guardrails are below the bar.",
}


def engagement_for(agent: Agent, by: User) -> Engagement:
    engagement = Engagement.objects.create(
        client=agent.client, name="Autumn review", starts_on=date(2026, 10, 1), lead=by
    )
    engagement.agents.add(agent)
    return engagement


def draft_for(agent: Agent, by: User, engagement: Engagement | None = None) -> Revision:
    return reviewing.start_review(engagement or engagement_for(agent, by), agent, as_of=date(2026, 10, 30), by=by)


def score_of(revision: Revision, dimension_id: str = "guardrails") -> DimensionScore:
    return DimensionScore.objects.get(revision=revision, dimension_id=dimension_id)


def assess(score: DimensionScore, level: int, by: User, **more: Any) -> DimensionScore:
    fields = {"rationale": "Seen in the run.", "confidence": "medium", "reconfirmed": True} | more
    return reviewing.save_dimension(
        score,
        ScoreFields(standing=ScoreStanding.ASSESSED, level=level, **fields),
        expected_version=score_of(score.revision, score.dimension_id).version,
        by=by,
    )


def fill(revision: Revision, by: User, *, level: int = 2, **answer: Any) -> Revision:
    """Write all texts and score every dimension at `level`, with a cause where one is needed."""
    reviewing.save_head(revision, HeadPart.SUBJECT, SUBJECT, expected_version=revision.version, by=by)
    now = Revision.objects.get(pk=revision.pk)
    reviewing.save_head(now, HeadPart.ANSWER, ANSWER | answer, expected_version=now.answer_version, by=by)
    for score in DimensionScore.objects.filter(revision=revision):
        assess(score, level, by, cause="know_more")
    return Revision.objects.get(pk=revision.pk)


def publish(revision: Revision, by: User) -> Revision:
    reviewing.submit_for_review(revision, by=by)
    return publish_revision(revision, by=by)


def published_review(agent: Agent, by: User, *, level: int = 2, engagement: Engagement | None = None) -> Revision:
    return publish(fill(draft_for(agent, by, engagement), by, level=level), by)


def meet_all(score: DimensionScore, level: int) -> dict[str, tuple[PracticeState, str]]:
    dimension = rubric_of(score.revision.rubric).find(score.dimension_id)
    return {practice.id: (PracticeState.MET, "") for practice in dimension.practices_up_to(level)}


def link_item(score: DimensionScore, by: User, claim: str = "The page lists the rules.", **more: Any) -> EvidenceItem:
    attachment = more.pop("attachment", evidence.Attachment())
    return evidence.add_evidence(
        score,
        evidence.EvidenceFields(claim=claim, **more),
        evidence.Source(SourceType.LINK, url="https://example.org/rules"),
        attachment,
        by=by,
    )


def file_item(score: DimensionScore, by: User, content: bytes = b"minutes", **more: Any) -> EvidenceItem:
    return evidence.add_evidence(
        score,
        evidence.EvidenceFields(claim="The minutes say so.", **more),
        evidence.Source(SourceType.FILE, upload=SimpleUploadedFile("minutes.txt", content)),
        evidence.Attachment(),
        by=by,
    )


def run_item(score: DimensionScore, run: Run, by: User, claim: str = "The run shows it.", **more: Any) -> EvidenceItem:
    return evidence.add_evidence(
        score,
        evidence.EvidenceFields(claim=claim, shows=Shows.OPERATION, **more),
        evidence.Source(SourceType.RUN, run=run),
        evidence.Attachment(),
        by=by,
    )


def step_for(revision: Revision, by: User, text: str = "Deny by default.", **more: Any) -> NextStep:
    is_condition = more.pop("is_condition", False)
    fields = {"text": text, "owner": "Bob", "due": date(2027, 1, 15)} | more
    return steps.create_step(revision, "guardrails", fields, is_condition=is_condition, by=by).step


def make_run(
    agent: Agent,
    *,
    by_hand: bool = False,
    made_by: MadeBy = MadeBy.CLIENT,
    origin: Origin = Origin.OBSERVED,
    visibility: Visibility = Visibility.CLIENT,
    label: str = "nightly",
    breached: bool = False,
    token: Any = None,
) -> Run:
    """One attempt with one evaluation; `breached` makes it a breached security scenario."""
    run = Run.with_hidden.create(
        client=agent.client,
        agent=agent,
        label=label,
        suite="refunds",
        made_by=made_by,
        origin=origin,
        visibility=visibility,
        intake=Intake.CLOSED,
        at=timezone.now() - timedelta(days=3),
        passed=0 if breached else 1,
        fail_unclassified=1 if breached else 0,
        attempts_passed=0 if breached else 1,
        attempts_failed=1 if breached else 0,
        containment_breached=1 if breached else 0,
    )
    artifact = Artifact.objects.create(
        client=agent.client, sha256="a" * 64, size=10, path="x", file_name="run.json", token=None if by_hand else token
    )
    RunArtifact.objects.create(run=run, artifact=artifact)
    scenario = RunScenario.objects.create(run=run, key="refund-1", title="Refund to a stranger", class_id="goal_hijack")
    indicator, _ = Indicator.objects.get_or_create(
        client=agent.client, name="containment" if breached else "refund_denied"
    )
    definition, _ = Definition.objects.get_or_create(client=agent.client, indicator=indicator, digest=indicator.name)
    outcome = Outcome.FAIL if breached else Outcome.PASS
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        scenario=scenario,
        outcome=outcome,
        containment=Containment.BREACHED if breached else None,
    )
    Evaluation.objects.create(
        run=run,
        attempt=attempt,
        position=1,
        definition=definition,
        outcome=outcome,
        categories=1,
        observed_at=timezone.now(),
    )
    ClassResult.objects.create(
        run=run,
        class_id="goal_hijack",
        categories=1,
        definition=definition,
        passed=run.passed,
        fail_unclassified=run.fail_unclassified,
    )
    return run
