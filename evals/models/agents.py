"""The things under review, and what they are measured by."""

import uuid

from django.db import models
from django.urls import reverse
from django.utils import timezone

from reliability.models import Client
from reliability.models.people import validate_slug


class RiskTier(models.TextChoices):
    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"
    CRITICAL = "critical", "Critical"


class Agent(models.Model):
    """An AI agent of a client."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="agents")
    slug = models.CharField(max_length=50, validators=[validate_slug])
    name = models.CharField(max_length=200)
    purpose = models.TextField(blank=True, help_text="What it is asked to do, in a sentence or two.")
    risk_tier = models.CharField(max_length=10, choices=RiskTier.choices, default=RiskTier.MEDIUM)
    owner = models.CharField(max_length=200, blank=True, help_text="Who answers for it at the client.")
    repository = models.URLField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["client", "slug"],
                name="agent_slug_unique",
                violation_error_message="This client already has an agent with this slug.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("agent", args=[self.client.slug, self.slug])


class Indicator(models.Model):
    """A named behaviour. `kind` is '' while nobody has said which it is."""

    class Kind(models.TextChoices):
        EXECUTION = "execution", "Execution"
        BEHAVIOUR = "behaviour", "Behaviour"
        OUTCOME = "outcome", "Outcome"

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="indicators")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind.choices, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="indicator_unique")]

    def __str__(self) -> str:
        return self.name


class Definition(models.Model):
    """How an indicator was judged: the key of comparability. Results of two definitions are never added."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="definitions")
    indicator = models.ForeignKey(Indicator, on_delete=models.CASCADE, related_name="definitions")
    digest = models.CharField(max_length=64)
    manual = models.BooleanField(default=False)  # the artifact names no evaluator; its fields are ''
    evaluator_name = models.CharField(max_length=200, blank=True)
    evaluator_version = models.CharField(max_length=200, blank=True)
    configuration_sha256 = models.CharField(max_length=64, blank=True)
    deterministic = models.BooleanField(default=True)
    # Its version names the case's own assertions, so each case has its own definition by design; the results of a run
    # are then read per class, as with any test suite, and the line says over how many.
    per_case = models.BooleanField(default=False)

    class Meta:
        ordering = ["indicator__name", "evaluator_name", "evaluator_version", "id"]
        constraints = [models.UniqueConstraint(fields=["client", "digest"], name="definition_unique")]

    def __str__(self) -> str:
        return f"{self.indicator} by {self.evaluator}"

    @property
    def evaluator(self) -> str:
        if self.manual:
            return "manual assertion"
        if self.per_case:  # the version is the case's own, and several cases stand on one line
            return self.evaluator_name
        return f"{self.evaluator_name} {self.evaluator_version}".strip()


class ReasonCode(models.Model):
    """A machine-readable reason, kept once so that rows hold a number."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="+")
    code = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "code"], name="reason_code_unique")]

    def __str__(self) -> str:
        return self.code
