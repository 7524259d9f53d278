"""Next steps: one identity for life, linked to each revision with its state then."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from evals.models import Agent, Visibility
from reliability.models import Client
from scorecards.models.evidence import EvidenceItem
from scorecards.models.reviews import Revision


class StepState(models.TextChoices):
    OPEN = "open", "Open"
    DONE_UNTESTED = "done_untested", "Done, untested"
    VERIFIED_DONE = "verified_done", "Verified done"
    CAME_BACK = "came_back", "Came back"
    ACCEPTED = "accepted", "Accepted by the client"


class Severity(models.TextChoices):
    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"
    CRITICAL = "critical", "Critical"


class Priority(models.IntegerChoices):
    NOW = 1, "Now"
    NEXT = 2, "Next"
    LATER = 3, "Later"


class Effort(models.TextChoices):
    S = "S", "Small: days"
    M = "M", "Medium: weeks"
    L = "L", "Large: months"


class NextStep(models.Model):
    """Something to do, with its because."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="next_steps")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="next_steps")
    dimension_id = models.CharField(max_length=60, blank=True)
    text = models.TextField()
    # because
    seen = models.TextField(blank=True)  # what was seen
    matters = models.TextField(blank=True)  # why it matters
    cause = models.TextField(blank=True)
    severity = models.CharField(max_length=8, choices=Severity.choices, blank=True)
    practices = models.JSONField(default=list)  # ids
    template_id = models.CharField(max_length=60, blank=True)  # of the rubric, when it began as one
    evidence = models.ManyToManyField(EvidenceItem, blank=True, related_name="next_steps")
    # plan
    owner = models.CharField(max_length=200, blank=True)
    due = models.DateField(null=True, blank=True)
    priority = models.PositiveSmallIntegerField(choices=Priority.choices, default=Priority.NEXT)
    effort = models.CharField(max_length=1, choices=Effort.choices, blank=True)
    state = models.CharField(max_length=13, choices=StepState.choices, default=StepState.OPEN)
    accepted_by = models.CharField(max_length=200, blank=True)  # of the client
    accepted_until = models.DateField(null=True, blank=True)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.CLIENT)
    version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["priority", "due", "created_at"]

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def is_overdue(self) -> bool:
        return self.is_open and self.due is not None and self.due < timezone.localdate()

    @property
    def is_open(self) -> bool:
        return self.state in (StepState.OPEN, StepState.DONE_UNTESTED, StepState.CAME_BACK)


class StepInRevision(models.Model):
    """A step as one revision lists it; state, owner and due date are frozen when the revision is published."""

    step = models.ForeignKey(NextStep, on_delete=models.CASCADE, related_name="appearances")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="steps")
    is_condition = models.BooleanField(default=False)  # of "ready with conditions"
    state = models.CharField(max_length=13, choices=StepState.choices, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    due = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["step", "revision"], name="step_in_revision_unique")]

    def __str__(self) -> str:
        return f"{self.step_id} in {self.revision_id}"
