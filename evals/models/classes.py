"""The rules by which an agent's scenarios get their classes, with every version that there was."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evals.models.agents import Agent


class ClassMapping(models.Model):
    """One version of an agent's mapping rules (class-mapping/v1). The latest holds; none = no rules."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="class_mappings")
    number = models.PositiveIntegerField()
    source = models.TextField()
    sha256 = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="class_mapping_unique")]

    def __str__(self) -> str:
        return f"mapping {self.number} of {self.agent_id}"
