"""Keys for machines: one client, optionally one agent, a few scopes."""

import uuid
from datetime import timedelta

from django.db import models
from django.utils import timezone

from reliability.models.people import Client, User

LAST_USE_GRAIN = timedelta(minutes=1)


class Scope(models.TextChoices):
    RUNS_WRITE = "runs:write", "Upload runs, and read the imports and runs it made"
    EVIDENCE_WRITE = "evidence:write", "Send live evidence"
    READ = "read", "Read what a viewer sees"


class TokenQuerySet(models.QuerySet["Token"]):
    def usable(self) -> "TokenQuerySet":
        return self.filter(revoked_at=None, expires_at__gt=timezone.now())


class Token(models.Model):
    """Only the SHA-256 of the token is kept: it is random and long, so a slow hash adds nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="tokens")
    agent = models.ForeignKey("evals.Agent", null=True, blank=True, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    scopes = models.JSONField(default=list)
    hint = models.CharField(max_length=12, editable=False)  # its first characters, to tell tokens apart
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()

    def has_scope(self, scope: Scope) -> bool:
        return scope.value in self.scopes
