"""Taking an upload: the artifact is stored and a job is made, or the earlier answer to the same request is found."""

import hashlib
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files.storage import storages
from django.db import IntegrityError, transaction

from evals.models import Agent, Artifact, Import, ImportState
from evals.options import ImportOptions
from evals.storing import Received, keep_file
from reliability.access import Standing
from reliability.errors import AppError, Conflict
from reliability.models import Token, User
from reliability.waiting import WaitingRoom

CREATION_TRIES = 2
ALIKE = ("client_id", "sha256", "size", "path", "file_name", "commit", "ci_url")  # of artifacts of one request
OPEN_OR_DONE = [ImportState.QUEUED, ImportState.RUNNING, ImportState.DONE]


class Overtaken(AppError):
    status = 503
    code = "overtaken"


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
        return _join_earlier(standing, earlier)
    path = keep_file(received, agent.client_id, temporary=dry_run)
    create = partial(_create, standing, agent, received, options, path=path, key=key, request=request)
    if dry_run:
        return Submitted(_create_dry_run(create, path), is_new=True)
    for _ in range(CREATION_TRIES):
        try:
            with transaction.atomic():
                return Submitted(create(), is_new=True)
        except IntegrityError:  # another process made it a moment ago; if it was refused since, its key is free again
            if earlier := _find_earlier(agent, key, request):
                return _join_earlier(standing, earlier)
    raise Overtaken("The same upload began and ended elsewhere at this moment. Nothing was imported; send it again.")


def _create_dry_run(create: Callable[..., Import], path: str) -> Import:
    try:
        with transaction.atomic():
            return create(dry_run=True)
    except BaseException:
        storages["default"].delete(path)  # nobody else knows of it
        raise


def _join_earlier(standing: Standing, earlier: Import) -> Submitted:
    """Note who sent the same bytes, too: an artifact of theirs, without a job of its own, lets them follow the job."""
    sender = _sender(standing)
    is_known = any(value and getattr(earlier, f"{name}_id") == value.pk for name, value in sender.items())
    first = earlier.artifact
    if first and not is_known:
        same = {name: getattr(first, name) for name in ALIKE}
        if not Artifact.objects.filter(**same, **sender, imports=None).exists():
            Artifact.objects.create(**same, **sender, format=first.format)
    return Submitted(earlier, is_new=False)


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _find_earlier(agent: Agent, key: str, request: str) -> Import | None:
    taken = Import.objects.filter(agent=agent, key=key, dry_run=False, state__in=OPEN_OR_DONE)
    earlier = taken.select_related("artifact").first()
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
    dry_run: bool = False,
) -> Import:
    sender = _sender(standing)
    artifact = Artifact.objects.create(
        client_id=agent.client_id,
        sha256=received.sha256,
        size=received.size,
        file_name=received.file_name,
        path=path,
        commit=options.commit,
        ci_url=options.ci_url,
        **sender,
    )
    return Import.objects.create(
        client_id=agent.client_id,
        agent=agent,
        artifact=artifact,
        key=key,
        request_sha256=request,
        options=options.stored(),
        dry_run=dry_run,
        bytes_total=received.size,
        **sender,
    )


def _sender(standing: Standing) -> dict[str, Any]:
    return {
        "token": standing.by if isinstance(standing.by, Token) else None,
        "user": standing.by if isinstance(standing.by, User) else None,
    }


def _read_job(import_id: uuid.UUID) -> Import:
    return Import.objects.select_related("run", "agent", "client", "artifact").get(pk=import_id)


# Imports may hold half of the process's threads.
waiting_room = WaitingRoom(
    fetch=_read_job, is_finished=lambda job: job.is_finished, seats=lambda: settings.WEB_THREADS // 2
)
