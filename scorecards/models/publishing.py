"""What leaves the desk: snapshots, fact checks with their remarks, report files."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from reliability.models import Client
from scorecards.models.evidence import EvidenceItem
from scorecards.models.reviews import Revision
from scorecards.models.steps import NextStep


class SnapshotKind(models.TextChoices):
    FULL = "full", "Full"
    CLIENT = "client", "Client"
    FACT_CHECK = "fact_check", "Fact check"


class Snapshot(models.Model):
    """Bytes that are never rebuilt, with their hash."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="snapshots")
    kind = models.CharField(max_length=10, choices=SnapshotKind.choices)
    schema = models.CharField(max_length=20)  # "snapshot/v1"
    body = models.BinaryField()  # JSON, UTF-8
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "kind"],
                condition=models.Q(kind__in=["full", "client"]),
                name="snapshot_published_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256[:12]}"


class FactCheck(models.Model):
    """A client snapshot of a draft, open to named client members until a date."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="fact_checks")
    snapshot = models.OneToOneField(Snapshot, on_delete=models.PROTECT, related_name="fact_check")
    with_levels = models.BooleanField(default=False)
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="fact_checks")
    until = models.DateField()
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    opened_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-opened_at"]

    def __str__(self) -> str:
        return f"fact check of {self.revision_id} until {self.until}"


class RemarkState(models.TextChoices):
    OPEN = "open", "Open"
    ACCEPTED = "accepted", "Accepted"
    DECLINED = "declined", "Declined"


class Remark(models.Model):
    """Something somebody says about a revision; all are kept, and publishing refuses open ones."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="remarks")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="remarks")
    fact_check = models.ForeignKey(FactCheck, null=True, on_delete=models.SET_NULL, related_name="remarks")
    internal = models.BooleanField(default=True)
    dimension_id = models.CharField(max_length=60, blank=True)
    practice_id = models.CharField(max_length=80, blank=True)
    item = models.ForeignKey(EvidenceItem, null=True, on_delete=models.CASCADE, related_name="remarks")
    step = models.ForeignKey(NextStep, null=True, on_delete=models.CASCADE, related_name="remarks")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)
    state = models.CharField(max_length=8, choices=RemarkState.choices, default=RemarkState.OPEN)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.text[:80]


class ReportState(models.TextChoices):
    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Rendering"
    DONE = "done", "Ready"
    FAILED = "failed", "Failed"


class Report(models.Model):
    """A PDF of a client snapshot, made by a task; the row is the truth about it."""

    class Paper(models.TextChoices):
        A4 = "a4", "A4"
        LETTER = "letter", "Letter"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="reports")
    paper = models.CharField(max_length=6, choices=Paper.choices, default=Paper.A4)
    state = models.CharField(max_length=7, choices=ReportState.choices, default=ReportState.QUEUED)
    phase = models.CharField(max_length=60, blank=True)  # in words
    detail = models.TextField(blank=True)  # why it failed
    path = models.CharField(max_length=300, blank=True)  # in the storage
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)  # bytes
    pages = models.PositiveIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot", "paper"], name="report_paper_unique")]

    def __str__(self) -> str:
        return f"report {self.paper} of {self.snapshot_id}"
