"""Pieces of work for a client."""

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evals.models import Agent
from reliability.models import Client


class Engagement(models.Model):
    """A piece of work: dates, lead, people, agents in scope. Reviews belong to one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="engagements")
    name = models.CharField(max_length=200)
    purpose = models.TextField(blank=True, help_text="The question that the client wants answered.")
    starts_on = models.DateField()
    ends_on = models.DateField(null=True, blank=True)
    lead = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    agents = models.ManyToManyField(Agent, related_name="engagements")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-starts_on", "name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(ends_on=None) | models.Q(ends_on__gte=models.F("starts_on")),
                name="engagement_ends_after_start",
                violation_error_message="The engagement ends before it starts.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("engagement", args=[self.client.slug, self.pk])
