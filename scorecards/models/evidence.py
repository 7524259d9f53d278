"""What scores stand on."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from evals.models import Agent, MadeBy, Run, Visibility
from reliability.models import Client
from scorecards.models.reviews import DimensionScore


class SourceType(models.TextChoices):
    RUN = "run", "Run"
    CLASS_RESULT = "class_result", "Class result"
    ATTEMPT = "attempt", "Attempt"
    LINK = "link", "Link"
    FILE = "file", "File"
    INTERVIEW = "interview", "Interview"


class Grade(models.TextChoices):
    DECLARED = "declared", "Declared"  # somebody says so
    OBSERVED = "observed", "Observed"  # we hold the file, link or run
    VERIFIED = "verified", "Verified"  # a named consultant checked or reproduced it


class Shows(models.TextChoices):
    DESIGN = "design", "Design"  # it is written
    OPERATION = "operation", "Operation"  # it happened, from-to


class EvidenceItem(models.Model):
    """A claim with its source; belongs to the agent and may serve several reviews."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="evidence_items")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="evidence_items")
    claim = models.TextField()
    source = models.CharField(max_length=12, choices=SourceType.choices)
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="evidence_items")
    class_id = models.CharField(max_length=200, blank=True)  # of a class result of the run
    attempt_number = models.PositiveIntegerField(null=True, blank=True)  # in the run
    url = models.URLField(max_length=2000, blank=True)
    file_path = models.CharField(max_length=300, blank=True)  # in the storage
    file_name = models.CharField(max_length=255, blank=True)
    file_size = models.PositiveBigIntegerField(default=0)  # bytes
    interviewee = models.CharField(max_length=200, blank=True)  # name and role
    interviewed_on = models.DateField(null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)  # of the file, or of the run's artifact
    made_by = models.CharField(max_length=12, choices=MadeBy.choices, default=MadeBy.CLIENT)
    grade = models.CharField(max_length=8, choices=Grade.choices, default=Grade.DECLARED)
    verified_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    verified_on = models.DateField(null=True, blank=True)
    verified_how = models.TextField(blank=True)
    rerun_scenarios = models.PositiveIntegerField(null=True, blank=True)  # k of n were run again, m agreed
    rerun_of = models.PositiveIntegerField(null=True, blank=True)
    rerun_agreed = models.PositiveIntegerField(null=True, blank=True)
    shows = models.CharField(max_length=9, choices=Shows.choices, default=Shows.DESIGN)
    operated_from = models.DateField(null=True, blank=True)
    operated_to = models.DateField(null=True, blank=True)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.CLIENT)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return self.claim[:80]

    @property
    def is_client_visible(self) -> bool:
        """An item never says more than its run may."""
        return self.visibility == Visibility.CLIENT and (self.run is None or self.run.visibility == Visibility.CLIENT)


class Stance(models.TextChoices):
    SUPPORTS = "supports", "Supports"
    CONTRADICTS = "contradicts", "Contradicts"


class EvidenceLink(models.Model):
    """Attaches an item to a dimension's score (practice_id '') or to one of its practices."""

    item = models.ForeignKey(EvidenceItem, on_delete=models.CASCADE, related_name="links")
    score = models.ForeignKey(DimensionScore, on_delete=models.CASCADE, related_name="links")
    practice_id = models.CharField(max_length=80, blank=True)
    stance = models.CharField(max_length=11, choices=Stance.choices, default=Stance.SUPPORTS)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "score", "practice_id"], name="evidence_link_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} {self.stance} {self.practice_id or self.score_id}"
