"""Taking an upload: the artifact is stored and a job is made, or the earlier answer to the same request is found."""

import hashlib
import json
import uuid
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction

from evals.models import Agent, Artifact, Import, ImportState
from evals.options import ImportOptions
from evals.storing import Received, keep_file
from reliability.access import Standing
from reliability.errors import Conflict
from reliability.models import Token, User
from reliability.waiting import WaitingRoom

OPEN_OR_DONE = [ImportState.QUEUED, ImportState.RUNNING, ImportState.DONE]


@dataclass(frozen=True, slots=True)
class Submitted:
    """`is_new` is False when the same request was made before: the job is the earlier one."""

    job: Import
    is_new: bool


def submit_artifact(
    standing: Standing,
    agent: Agent,
    received: Received,
    options: ImportOptions,
    *,
    explicit_key: str = "",
    dry_run: bool = False,
) -> Submitted:
    """Store the artifact and its job. Raises `Conflict` when the explicit key was used for another request.

    The same bytes with the same query are the same request; the same bytes for another commit are another run.
    """
    request = _digest([received.sha256, options.normalised()])
    key = _digest(["explicit", explicit_key]) if explicit_key else request
    if not dry_run and (earlier := _find_earlier(agent, key, request)):
        received.discard()
        return Submitted(earlier, is_new=False)
    path = keep_file(received, agent.client_id, temporary=dry_run)
    try:
        with transaction.atomic():
            job = _create(standing, agent, received, options, path=path, key=key, request=request, dry_run=dry_run)
    except IntegrityError:
        earlier = _find_earlier(agent, key, request)  # another process made it a moment ago
        if earlier is None:
            raise
        return Submitted(earlier, is_new=False)
    return Submitted(job, is_new=True)


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _find_earlier(agent: Agent, key: str, request: str) -> Import | None:
    earlier = Import.objects.filter(agent=agent, key=key, dry_run=False, state__in=OPEN_OR_DONE).first()
    if earlier and earlier.request_sha256 != request:
        raise Conflict(
            "This Idempotency-Key was used for another upload: body or query differ.", code="idempotency_key_reused"
        )
    return earlier


def _create(
    standing: Standing,
    agent: Agent,
    received: Received,
    options: ImportOptions,
    *,
    path: str,
    key: str,
    request: str,
    dry_run: bool,
) -> Import:
    token = standing.by if isinstance(standing.by, Token) else None
    user = standing.by if isinstance(standing.by, User) else None
    artifact = Artifact.objects.create(
        client_id=agent.client_id,
        sha256=received.sha256,
        size=received.size,
        file_name=received.file_name,
        path=path,
        token=token,
        user=user,
        commit=options.commit,
        ci_url=options.ci_url,
    )
    return Import.objects.create(
        client_id=agent.client_id,
        agent=agent,
        artifact=artifact,
        token=token,
        user=user,
        key=key,
        request_sha256=request,
        options=options.stored(),
        dry_run=dry_run,
        bytes_total=received.size,
    )


def _read_job(import_id: uuid.UUID) -> Import:
    return Import.objects.select_related("run", "agent", "client", "artifact").get(pk=import_id)


# Imports may hold half of the process's threads.
waiting_room = WaitingRoom(
    fetch=_read_job, is_finished=lambda job: job.is_finished, seats=lambda: settings.WEB_THREADS // 2
)
