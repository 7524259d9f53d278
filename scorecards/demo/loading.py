"""Loads the demo once, through the same write functions as any other client's data."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from allauth.account.models import EmailAddress
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from evals.importing import run_import
from evals.models import Agent, Import, ImportState, MadeBy, RiskTier, Run
from evals.options import ImportOptions
from evals.storing import receive_chunks
from evals.submitting import submit_artifact
from reliability.access import Standing, enter_with_token
from reliability.audit import record_change
from reliability.models import Client, Membership, Role, Scope, Token, User
from reliability.people import assign_consultant, create_client, issue_token
from scorecards import evidence, steps
from scorecards.demo.governance import VERSIONS, governance_document
from scorecards.demo.seed_cases import healthcare_documents, shopping_document
from scorecards.demo.story import Proof, Score, Step, Stories, Story, read_stories
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
    Stance,
    StepState,
)
from scorecards.publishing import publish_revision
from scorecards.reviewing import (
    HeadPart,
    ScoreFields,
    pin_runs,
    save_dimension,
    save_head,
    start_review,
    submit_for_review,
)

SLUG = "demo"
ARTIFACTS = Path(__file__).with_name("artifacts")
AGENTS = (
    (
        "support-agent",
        "Support agent",
        RiskTier.HIGH,
        "Ines Duarte",
        "Answers customers of a web shop and makes small refunds.",
    ),
    (
        "healthcare-agent",
        "Healthcare agent",
        RiskTier.CRITICAL,
        "Lena Okafor",
        "Books and moves appointments of practices.",
    ),
    ("shopping-agent", "Shopping agent", RiskTier.MEDIUM, "Jonas Weber", "Recommends products within a budget."),
)
ENGAGEMENTS = {
    "summer": ("Reliability Snapshot, summer 2026", date(2026, 7, 6), date(2026, 8, 28)),
    "autumn": ("Reliability Snapshot, autumn 2026", date(2026, 9, 28), date(2026, 12, 11)),
}
PEOPLE = {
    "consultant": ("mira@demo.example", "Mira Holt"),
    "viewer": ("viewer@demo.example", "Priya Nair"),
    "contributor": ("contributor@demo.example", "Tomas Lind"),
}

type Say = Callable[[str], None]


@dataclass
class Loading:
    """What has been made so far."""

    client: Client
    consultant: User
    token: Token
    passwords: dict[str, str]
    secret: str
    agents: dict[str, Agent] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    engagements: dict[str, Engagement] = field(default_factory=dict)
    steps: dict[str, NextStep] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def is_loaded() -> bool:
    return Client.objects.filter(slug=SLUG).exists()


@transaction.atomic
def load_demo(say: Say) -> str:
    """Load everything or nothing; return the accounts as lines to print."""
    stories = read_stories()
    loading = _make_people()
    loading.files = stories.files
    _make_agents(loading)
    say("Importing runs …")
    _import_runs(loading)
    say("Writing reviews …")
    _write_reviews(loading, stories)
    return _accounts(loading)


def _make_people() -> Loading:
    users, passwords = {}, {}
    for role, (email, name) in PEOPLE.items():
        passwords[role] = secrets.token_urlsafe(9)
        users[role] = User.objects.create_user(email, passwords[role], name=name, is_consultant=role == "consultant")
        EmailAddress.objects.create(user=users[role], email=email, verified=True, primary=True)
    consultant = users["consultant"]
    client = create_client(Client(slug=SLUG, name="Harbour & Pine (demo)", time_zone="Europe/Berlin"), by=consultant)
    assign_consultant(client, consultant, by=consultant)
    for role in (Role.VIEWER, Role.CONTRIBUTOR):
        member = Membership.objects.create(client=client, user=users[role.value], role=role)
        record_change(client, "member.added", member.user, by=consultant, role=role.value)
    made = issue_token(client, name="CI of the demo", scopes=[Scope.RUNS_WRITE, Scope.READ], by=consultant)
    return Loading(client, consultant, made.token, passwords, made.secret)


def _make_agents(loading: Loading) -> None:
    for slug, name, tier, owner, purpose in AGENTS:
        agent = Agent.objects.create(
            client=loading.client, slug=slug, name=name, risk_tier=tier, owner=owner, purpose=purpose
        )
        record_change(loading.client, "agent.created", agent, by=loading.consultant, slug=slug, name=name)
        loading.agents[slug] = agent
    for key, (name, starts_on, ends_on) in ENGAGEMENTS.items():
        engagement = Engagement.objects.create(
            client=loading.client,
            name=name,
            starts_on=starts_on,
            ends_on=ends_on,
            lead=loading.consultant,
            purpose="May these agents be let loose on customers, and under which conditions?",
        )
        engagement.agents.set(loading.agents.values())
        engagement.people.set([loading.consultant])
        record_change(loading.client, "engagement.created", engagement, by=loading.consultant, name=name)
        loading.engagements[key] = engagement


def _import_runs(loading: Loading) -> None:
    for version in VERSIONS:
        _import(loading, "support-agent", f"governance-{version.agent}", _encode(governance_document(version)))
    promptfoo = (ARTIFACTS / "promptfoo.json").read_bytes()
    _import(loading, "support-agent", "promptfoo", promptfoo, ImportOptions(environment="nightly"))
    pytest = (ARTIFACTS / "pytest.xml").read_bytes()
    _import(loading, "support-agent", "pytest", pytest, ImportOptions(commit="0f3c2b7d", branch="main"))
    for number, document in enumerate(healthcare_documents(), 1):
        _import(loading, "healthcare-agent", f"healthcare-{number}", _encode(document))
    _import(loading, "shopping-agent", "shopping", _encode(shopping_document()))


def _encode(document: dict[str, Any]) -> bytes:
    return json.dumps(document, indent=1).encode()


def _import(loading: Loading, agent: str, name: str, body: bytes, options: ImportOptions | None = None) -> None:
    standing: Standing = enter_with_token(loading.token)
    suffix = "xml" if name == "pytest" else "json"
    received = receive_chunks(iter([body]), file_name=f"{name}.{suffix}")
    job = submit_artifact(standing, loading.agents[agent], received, options or ImportOptions()).job
    run_import(job.pk)
    job = Import.objects.select_related("run").get(pk=job.pk)
    if job.state != ImportState.DONE or job.run is None:
        raise RuntimeError(f"the demo's run {name} was not imported: {job.detail}")
    loading.runs[name] = job.run


def _write_reviews(loading: Loading, stories: Stories) -> None:
    for story in stories.stories:
        revision = start_review(
            loading.engagements[story.engagement], loading.agents[story.agent], as_of=story.as_of, by=loading.consultant
        )
        _write_head(loading, story, revision)
        for score in revision.scores.select_related("revision").order_by("pk"):
            if told := story.scores.get(score.dimension_id):
                _write_score(loading, story, score, told)
        for key, state in story.step_states.items():
            steps.set_step_state(loading.steps[key], StepState(state), by=loading.consultant)
        if story.published_on:
            submit_for_review(revision, by=loading.consultant)
            publish_revision(revision, by=loading.consultant, at=story.published_on)


def _write_head(loading: Loading, story: Story, revision: Revision) -> None:
    for part in HeadPart:
        save_head(
            revision, part, story.head, expected_version=getattr(revision, part.version_field), by=loading.consultant
        )
        revision.refresh_from_db()
    pin_runs(revision, [loading.runs[name] for name in story.runs], by=loading.consultant)


def _write_score(loading: Loading, story: Story, score: DimensionScore, told: Score) -> None:
    marks = dict.fromkeys(told.met, (PracticeState.MET, "")) | dict.fromkeys(told.not_met, (PracticeState.NOT_MET, ""))
    fields = ScoreFields(
        standing=ScoreStanding.ASSESSED,
        level=told.level,
        rationale=told.rationale,
        confidence=told.confidence,
        cause=told.cause,
        reconfirmed=True,
        marks=marks,
    )
    save_dimension(score, fields, expected_version=score.version, by=loading.consultant)
    for link in score.links.select_related("item"):  # carried from the last review: it spoke of an older version
        evidence.detach_evidence(score, link.item, by=loading.consultant)
    items = [_add_proof(loading, story, score, proof) for proof in told.proofs]
    for step in told.steps:
        _add_step(loading, story, score, step, items)


def _add_proof(loading: Loading, story: Story, score: DimensionScore, proof: Proof) -> EvidenceItem:
    fields = evidence.EvidenceFields(
        claim=proof.claim,
        shows=Shows.OPERATION if proof.operation else Shows.DESIGN,
        operated_from=proof.operation[0] if proof.operation else None,
        operated_to=proof.operation[1] if proof.operation else None,
        made_by=MadeBy.CONSULTANCY,
    )
    attachment = evidence.Attachment(
        practices=proof.practices or ("",), stance=Stance.CONTRADICTS if proof.contradicts else Stance.SUPPORTS
    )
    source = _source_of(loading, story, proof)
    item = evidence.add_evidence(score, fields, source, attachment, by=loading.consultant)
    if proof.verified:
        verification = evidence.Verification(on=story.as_of, how=proof.verified, rerun=proof.rerun)
        evidence.verify_evidence(item, verification, by=loading.consultant)
    return item


def _source_of(loading: Loading, story: Story, proof: Proof) -> evidence.Source:
    kind, _, name = proof.source.partition(":")
    if kind == "run":
        return evidence.Source(SourceType.RUN, run=loading.runs[name])
    if kind == "class":
        run, _, class_id = name.partition("/")
        return evidence.Source(SourceType.CLASS_RESULT, run=loading.runs[run], class_id=class_id)
    if kind == "file":
        upload = SimpleUploadedFile(name, loading.files[name].encode())
        return evidence.Source(SourceType.FILE, upload=upload)
    if kind == "link":
        return evidence.Source(SourceType.LINK, url=name)
    return evidence.Source(SourceType.INTERVIEW, interviewee=name, interviewed_on=story.as_of)


def _add_step(loading: Loading, story: Story, score: DimensionScore, told: Step, items: list[EvidenceItem]) -> None:
    fields = {
        "text": told.text,
        "seen": told.seen,
        "matters": told.matters,
        "severity": told.severity,
        "practices": list(told.practices),
        "owner": told.owner,
        "due": told.due,
        "priority": told.priority,
        "effort": told.effort,
    }
    appearance = steps.create_step(
        score.revision,
        score.dimension_id,
        fields,
        evidence=items,
        is_condition=told.is_condition,
        by=loading.consultant,
    )
    opened = datetime.combine(story.as_of, time(12), tzinfo=UTC)
    NextStep.objects.filter(pk=appearance.step_id).update(created_at=opened)
    loading.steps[told.key] = appearance.step


def _accounts(loading: Loading) -> str:
    lines = [f"{role:<12} {PEOPLE[role][0]:<26} {password}" for role, password in loading.passwords.items()]
    return "\n".join([*lines, f"{'token':<12} {loading.secret}"])
