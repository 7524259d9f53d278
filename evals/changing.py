"""Changes to agents and to who sees a run; each leaves an audit entry."""

from django.db import transaction
from django.utils import timezone

from evals.models import Agent, Artifact, Run, Visibility
from reliability.audit import record_change
from reliability.models import User


@transaction.atomic
def create_agent(agent: Agent, *, by: User) -> Agent:
    agent.save(force_insert=True)
    record_change(agent.client, "agent.created", agent, by=by, slug=agent.slug, name=agent.name)
    return agent


@transaction.atomic
def change_agent(agent: Agent, *, by: User) -> None:
    agent.save()
    record_change(
        agent.client,
        "agent.changed",
        agent,
        by=by,
        slug=agent.slug,
        name=agent.name,
        risk_tier=agent.risk_tier,
        owner=agent.owner,
        repository=agent.repository,
    )


@transaction.atomic
def change_run(run: Run, *, made_by: str, visibility: str, by: User) -> None:
    """Say who made a run and who sees it; showing an internal run to the client is its release."""
    released = run.visibility == Visibility.INTERNAL and visibility == Visibility.CLIENT
    run.made_by, run.visibility = made_by, visibility
    if released:
        run.released_at, run.released_by = timezone.now(), by
    run.save(update_fields=["made_by", "visibility", "released_at", "released_by"])
    record_change(run.client, "run.changed", run, by=by, made_by=made_by, visibility=visibility)


@transaction.atomic
def note_download(artifact: Artifact, *, by: User) -> None:
    record_change(artifact.client, "artifact.downloaded", artifact, by=by, sha256=artifact.sha256)
