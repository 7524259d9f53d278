"""Thin tasks: ids in, one call each."""

import uuid

from celery import shared_task
from django.db import transaction

from evals import classifying, importing, merging
from evals.models import Agent, Import
from reliability.leases import list_stalled


@shared_task
def import_artifact(*, import_id: str) -> None:
    importing.run_import(uuid.UUID(import_id))


@shared_task
def sweep_imports() -> None:
    """Put jobs that nobody works on back into the queue, and end those whose workers keep dying."""
    for import_id in list_stalled(Import):
        import_artifact.delay(import_id=str(import_id))
    importing.fail_worn_out()


@shared_task
def close_forgotten_runs() -> None:
    merging.close_forgotten_runs()


@shared_task
def reclassify_runs(*, agent_id: str) -> None:
    classifying.reclassify_runs(uuid.UUID(agent_id))


@shared_task
def sweep_classes() -> None:
    """Count anew what a lost task left behind."""
    for agent_id in classifying.list_agents_behind():
        reclassify_runs.delay(agent_id=str(agent_id))


def enqueue_reclassifying(agent_id: uuid.UUID) -> None:
    """Hand the counting to a worker once the new rule or word is committed."""
    transaction.on_commit(lambda: reclassify_runs.delay(agent_id=str(agent_id)), robust=True)


def enqueue_reclassifying_client(client_id: uuid.UUID) -> None:
    """The same for all agents of a client."""
    for agent_id in Agent.objects.filter(client=client_id).values_list("pk", flat=True):
        enqueue_reclassifying(agent_id)


def enqueue_import(import_id: uuid.UUID) -> None:
    """Hand the job to a worker once the transaction that made it is committed."""
    transaction.on_commit(lambda: import_artifact.delay(import_id=str(import_id)), robust=True)
