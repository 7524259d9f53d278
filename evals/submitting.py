"""Taking an upload: the artifact is stored and a job is made, or the earlier answer to the same request is found."""

import hashlib
import json
import time
import uuid
from dataclasses import dataclass
from threading import Lock

from django.conf import settings
from django.db import IntegrityError, transaction

from evals.models import Agent, Artifact, Import, ImportState
from evals.options import ImportOptions
from evals.storing import Received, keep_file
from reliability.access import Standing
from reliability.errors import Conflict
from reliability.models import Token, User

OPEN_OR_DONE = [ImportState.QUEUED, ImportState.RUNNING, ImportState.DONE]
POLL_SECONDS = 0.05


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


class WaitingRoom:
    """Counts the threads of this process that wait for imports, so that half of them stay free for pages."""

    def __init__(self) -> None:
        self._waiting = 0
        self._lock = Lock()

    def wait_for(self, import_id: uuid.UUID, seconds: float) -> Import:
        """Return the job when it is finished, after `seconds`, or at once when the room is full."""
        if not self._enter():
            return Import.objects.get(pk=import_id)
        try:
            return self._poll(import_id, time.monotonic() + seconds)
        finally:
            with self._lock:
                self._waiting -= 1

    def _enter(self) -> bool:
        with self._lock:
            if self._waiting >= settings.WEB_THREADS // 2:
                return False
            self._waiting += 1
            return True

    def _poll(self, import_id: uuid.UUID, deadline: float) -> Import:
        pause = POLL_SECONDS
        while True:
            job = Import.objects.select_related("run", "agent", "client", "artifact").get(pk=import_id)
            if job.is_finished or time.monotonic() >= deadline:
                return job
            time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
            pause = min(pause * 1.5, 0.5)


waiting_room = WaitingRoom()
