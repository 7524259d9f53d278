"""The append-only log of changes: one hash chain for each client and one for the site."""

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone

from reliability.models.people import Client

SITE = "site"
GENESIS = "0" * 64


class AuditChain(models.Model):
    """Where a chain stands. Its row is locked while an entry is added, so numbers have no gaps."""

    name = models.CharField(max_length=40, unique=True)  # the client's id, or "site"
    client = models.OneToOneField(Client, null=True, on_delete=models.SET_NULL, related_name="audit_chain")
    count = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64, default=GENESIS)

    def __str__(self) -> str:
        return f"{self.name}: {self.count}:{self.head[:12]}"


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    def delete(self) -> NoReturn:
        raise TypeError("audit entries are never deleted; erasure empties payload and salt")

    def update(self, **values: Any) -> int:
        if set(values) - {"payload", "salt"}:
            raise TypeError("audit entries are never changed; erasure empties payload and salt")
        return super().update(**values)


class AuditEntry(models.Model):
    """One change. The hash covers a salted digest of the payload, so that erasure can drop the payload itself."""

    chain = models.ForeignKey(AuditChain, on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=300)  # "user 7", "token …", "system": an id, no personal data
    action = models.CharField(max_length=60)  # "run.imported"
    subject = models.CharField(max_length=120)  # "run 0190…"
    payload = models.JSONField(null=True)
    salt = models.CharField(max_length=32, blank=True)
    payload_digest = models.CharField(max_length=64)
    previous = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["chain", "number"]
        constraints = [models.UniqueConstraint(fields=["chain", "number"], name="audit_number_unique")]

    def __str__(self) -> str:
        return f"{self.number} {self.action} {self.subject}"
