"""Where classes come from: an agent's rules and a client's own taxonomies, with every version that there was."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evals.models.agents import Agent
from reliability.models import Client


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


class TaxonomyVersion(models.Model):
    """One immutable version of a taxonomy as its YAML; `client` is null for one that shipped."""

    client = models.ForeignKey(Client, null=True, blank=True, on_delete=models.CASCADE, related_name="taxonomies")
    taxonomy_id = models.CharField(max_length=60)
    version = models.CharField(max_length=20)
    title = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    source = models.TextField()  # the YAML, line ends as LF
    based_on = models.ForeignKey("self", null=True, on_delete=models.RESTRICT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["taxonomy_id", "version"], condition=models.Q(client=None), name="taxonomy_shared_unique"
            ),
            models.UniqueConstraint(
                fields=["client", "taxonomy_id", "version"],
                condition=models.Q(client__isnull=False),
                name="taxonomy_client_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.taxonomy_id}@{self.version}"


class TaxonomyChoice(models.Model):
    """Which of its own taxonomies a client uses; without a row, the one that ships. The audit log says by whom."""

    client = models.OneToOneField(Client, primary_key=True, on_delete=models.CASCADE, related_name="taxonomy_choice")
    version = models.ForeignKey(TaxonomyVersion, on_delete=models.RESTRICT, related_name="+")

    def __str__(self) -> str:
        return f"{self.version} for {self.client_id}"
