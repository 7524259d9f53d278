"""Uploaded bytes, and the jobs that make runs of them."""

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evals.models.agents import Agent
from evals.parsers.values import is_http_url
from reliability.models import Client, Token


class Artifact(models.Model):
    """One upload's bytes after undoing transfer coding and multipart. Equal bytes of a client share one file."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="artifacts")
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.PositiveBigIntegerField()  # bytes
    format = models.CharField(max_length=40, blank=True)  # as detected or as told; '' until read
    file_name = models.CharField(max_length=255, blank=True)  # as the uploader called it; shown, never a path
    path = models.CharField(max_length=300)  # in the artifact storage
    token = models.ForeignKey(Token, null=True, on_delete=models.SET_NULL, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    commit = models.CharField(max_length=200, blank=True)
    ci_url = models.CharField(max_length=2000, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.file_name or 'artifact'} {self.sha256[:12]}"

    @property
    def by_hand(self) -> bool:
        return self.token_id is None


class ImportState(models.TextChoices):
    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Importing"
    DONE = "done", "Imported"
    REFUSED = "refused", "Refused"  # the artifact is at fault
    FAILED = "failed", "Failed"  # we are


class Phase(models.TextChoices):
    WAITING = "waiting", "Waiting for a worker"
    READING = "reading", "Reading and storing rows"
    COUNTING = "counting", "Counting class results"
    FINISHED = "finished", "Finished"


class Import(models.Model):
    """One job: an artifact and its options become a run, or a list of errors. The row is the truth about it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="imports")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="imports")
    artifact = models.ForeignKey(Artifact, null=True, on_delete=models.SET_NULL, related_name="imports")
    run = models.ForeignKey("evals.Run", null=True, on_delete=models.SET_NULL, related_name="imports")
    token = models.ForeignKey(Token, null=True, on_delete=models.SET_NULL, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    key = models.CharField(max_length=64)  # SHA-256: the explicit Idempotency-Key, or body and query
    request_sha256 = models.CharField(max_length=64)  # body and query, to tell a reused key from a repeat
    options = models.JSONField(default=dict)  # the normalised query, who it is made by, who may see it
    dry_run = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.QUEUED)
    phase = models.CharField(max_length=10, choices=Phase.choices, default=Phase.WAITING)
    bytes_total = models.PositiveBigIntegerField(default=0)
    bytes_read = models.PositiveBigIntegerField(default=0)
    rows_read = models.PositiveBigIntegerField(default=0)  # attempts and evaluations
    rows_stored = models.PositiveBigIntegerField(default=0)
    status = models.PositiveSmallIntegerField(default=0)  # HTTP status of a refusal
    code = models.CharField(max_length=60, blank=True)
    detail = models.TextField(blank=True)
    errors = models.JSONField(default=list)
    result = models.JSONField(null=True)  # what was or (dry run) would be stored
    tries = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True)  # of the worker that holds it
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "id"]
        constraints = [
            # A refused or failed import frees its key; a dry run never takes one.
            models.UniqueConstraint(
                fields=["agent", "key"],
                condition=models.Q(dry_run=False, state__in=["queued", "running", "done"]),
                name="import_key_unique",
            )
        ]
        indexes = [
            models.Index(
                fields=["lease_until"], condition=models.Q(state__in=["queued", "running"]), name="import_open_idx"
            )
        ]

    def __str__(self) -> str:
        return f"import {self.id}"

    def get_absolute_url(self) -> str:
        return reverse("import", args=[self.client.slug, self.agent.slug, self.id])

    @property
    def title(self) -> str:
        """What the upload is called: its file's name, where it has one."""
        named = self.artifact.file_name if self.artifact else ""
        return named or ("API upload" if self.token_id else "File without a name")

    @property
    def known_by(self) -> str:
        """What was said beside the bytes, as far as it was: "nightly · 2.4.1 · main 77d04ae"."""
        source = f"{self._said('branch')} {self._said('commit')[:10]}".strip()
        return " · ".join(known for known in (self._said("suite"), self._said("agent_version"), source) if known)

    @property
    def ci_url(self) -> str:
        """The CI job that sent it, if its address may be a link."""
        said = self._said("ci_url")
        return said if is_http_url(said) else ""

    def _said(self, name: str) -> str:
        return str(self.options.get(name) or "")

    @property
    def is_finished(self) -> bool:
        return self.state in (ImportState.DONE, ImportState.REFUSED, ImportState.FAILED)

    @property
    def changed_nothing(self) -> bool:
        """Whether its run held the very same part before."""
        return self.result is not None and not self.result.get("is_new", True)

    @property
    def progress(self) -> float | None:
        """Share of the bytes read, 0 to 1; None before the size is known."""
        if not self.bytes_total:
            return None
        return min(self.bytes_read / self.bytes_total, 1.0)
