"""Fetching what somebody may see of agents, imports and runs; everything else is 404."""

import uuid

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from evals.models import Agent, Artifact, Attempt, Import, Run
from evals.models.runs import RunQuerySet
from reliability.access import Standing
from reliability.models import Scope, Token, User


def list_agents(standing: Standing) -> QuerySet[Agent]:
    agents = Agent.objects.filter(client=standing.client).select_related("client")
    if isinstance(standing.by, Token) and standing.by.agent_id:
        agents = agents.filter(pk=standing.by.agent_id)
    return agents


def get_agent(standing: Standing, name: str) -> Agent:
    """Return the agent by its slug or UUID; a slug may look like a UUID, so it comes first."""
    agents = list_agents(standing)
    if "\0" in name:  # PostgreSQL refuses to compare with it
        raise Http404
    if found := agents.filter(slug=name).first():
        return found
    try:
        return get_object_or_404(agents, pk=uuid.UUID(name))
    except ValueError:
        raise Http404 from None


def list_runs(standing: Standing) -> RunQuerySet:
    """Return the client's runs that are visible from here; an upload-only token sees those it made."""
    runs = Run.objects.visible_to(standing).select_related("agent", "client")
    if isinstance(standing.by, Token):
        if standing.by.agent_id:
            runs = runs.filter(agent=standing.by.agent_id)
        if not standing.by.has_scope(Scope.READ):
            runs = runs.filter(imports__in=_list_sent(standing.by)).distinct()
    return runs


def get_run(standing: Standing, run_id: uuid.UUID, agent: Agent | None = None) -> Run:
    runs = list_runs(standing)
    return get_object_or_404(runs.filter(agent=agent) if agent else runs, pk=run_id)


def get_attempt(run: Run, number: int) -> Attempt:
    """`run` came from `get_run`, so whoever sees it sees its attempts."""
    attempts = Attempt.objects.filter(run=run).select_related("scenario__scenario", "detail")
    return get_object_or_404(attempts, number=number)


def get_import(standing: Standing, import_id: uuid.UUID, agent: Agent | None = None) -> Import:
    """Uploaders follow what they sent, also if somebody else sent it before; the consultancy all of its client's."""
    jobs = Import.objects.filter(client=standing.client).select_related(
        "client", "agent", "run", "artifact", "token", "user"
    )
    if agent:
        jobs = jobs.filter(agent=agent)
    if isinstance(standing.by, Token):
        if standing.by.agent_id:
            jobs = jobs.filter(agent=standing.by.agent_id)
        return get_object_or_404(jobs.filter(pk__in=_list_sent(standing.by)), pk=import_id)
    if not standing.may_upload:
        raise Http404
    if not standing.is_internal:
        jobs = jobs.filter(pk__in=_list_sent(standing.user))
    return get_object_or_404(jobs, pk=import_id)


def _list_sent(by: User | Token) -> QuerySet[Import]:
    """Return the imports that this sender began, and those of others that answered its upload of the same bytes."""
    sender = "token" if isinstance(by, Token) else "user"
    again = Artifact.objects.filter(
        **{sender: by},
        imports=None,
        client=OuterRef("client"),
        sha256=OuterRef("artifact__sha256"),
        commit=OuterRef("artifact__commit"),
        ci_url=OuterRef("artifact__ci_url"),
    )
    return Import.objects.filter(Q(**{sender: by}) | Exists(again))
