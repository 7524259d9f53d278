"""Runs and the scenarios they exercised."""

import uuid
from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evals.class_mapping import ClassOrigin
from evals.fields import CodeField, code_of
from evals.models.agents import Agent
from evals.models.counted import CountedModel
from evals.models.imports import Artifact
from evals.records import Expectation, Mode, Origin, Session, SourceKind
from reliability.models import Client

if TYPE_CHECKING:
    from reliability.access import Standing


class RunKind(models.TextChoices):
    CI = "ci", "From artifacts"
    LIVE = "live", "Live stream of a day"


class MadeBy(models.TextChoices):
    CLIENT = "client", "Client"
    CONSULTANCY = "consultancy", "Consultancy"
    THIRD_PARTY = "third_party", "Third party"


class Visibility(models.TextChoices):
    CLIENT = "client", "Client sees it"
    INTERNAL = "internal", "Internal"


class Intake(models.TextChoices):
    HIDDEN = "hidden", "Being written"
    OPEN = "open", "More parts may come"
    CLOSED = "closed", "Closed"


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, standing: "Standing") -> "RunQuerySet":
        runs = self.filter(client=standing.client)
        return runs if standing.is_internal else runs.filter(visibility=Visibility.CLIENT)


class RunManager(models.Manager["Run"]):
    """Returns no run that is still being written."""

    def get_queryset(self) -> RunQuerySet:
        return RunQuerySet(self.model, using=self._db).exclude(intake=Intake.HIDDEN)

    def visible_to(self, standing: "Standing") -> RunQuerySet:
        return self.get_queryset().visible_to(standing)


class Run(CountedModel):
    """One evaluation session of an agent. Only `evals.ingest` writes runs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="runs")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="runs")
    artifacts = models.ManyToManyField(Artifact, through="RunArtifact", related_name="runs")
    kind = models.CharField(max_length=4, choices=RunKind.choices, default=RunKind.CI)
    made_by = models.CharField(max_length=12, choices=MadeBy.choices, default=MadeBy.CLIENT)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.CLIENT)
    released_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    intake = models.CharField(max_length=6, choices=Intake.choices, default=Intake.HIDDEN)

    label = models.CharField(max_length=200, blank=True)  # the uploader's own id: a label, not unique
    suite = models.CharField(max_length=200, blank=True)
    suite_version = models.CharField(max_length=200, blank=True)
    agent_version = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200, blank=True)
    environment = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=200, blank=True)
    branch = models.CharField(max_length=200, blank=True)
    ci_url = models.CharField(max_length=2000, blank=True)
    mode = CodeField(Mode, default=Mode.SCRIPTED)
    origin = CodeField(Origin, default=Origin.OBSERVED)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    at = models.DateTimeField()  # its start, else (assumed) its upload: what lists are ordered by
    at_assumed = models.BooleanField(default=False)
    session = CodeField(Session, default=Session.COMPLETE)
    session_reason = models.TextField(blank=True)
    invalidated = models.BooleanField(default=False)
    planned = models.PositiveBigIntegerField(null=True)  # attempts
    shards_expected = models.PositiveIntegerField(null=True)  # of an open run, where its parts say so
    producer_name = models.CharField(max_length=200, blank=True)
    producer_version = models.CharField(max_length=200, blank=True)
    reported_totals = models.JSONField(default=dict)  # the tool's own, in its words
    notes = models.JSONField(default=list)  # sentences: what was cut, assumed, or lost by the tool
    extras = models.JSONField(default=dict)
    format = models.CharField(max_length=40, blank=True)
    parser_version = models.CharField(max_length=20, blank=True)
    taxonomy_version = models.CharField(max_length=100, blank=True)  # its id and version, "default@1"
    mapping_version = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    # Totals, written once when the run becomes visible: over evaluations in the columns of CountedModel,
    differing = models.PositiveBigIntegerField(default=0)  # where our outcome is not the tool's
    # over attempts here,
    attempts_passed = models.PositiveBigIntegerField(default=0)
    attempts_failed = models.PositiveBigIntegerField(default=0)
    attempts_unknown = models.PositiveBigIntegerField(default=0)
    attempts_error = models.PositiveBigIntegerField(default=0)
    # and over attempts of adversarial scenarios with guarded tools:
    containment_proven = models.PositiveBigIntegerField(default=0)
    containment_unproven = models.PositiveBigIntegerField(default=0)
    containment_breached = models.PositiveBigIntegerField(default=0)

    objects: ClassVar[RunManager] = RunManager()
    with_hidden: ClassVar[models.Manager["Run"]] = models.Manager()

    class Meta:
        ordering = ["-at", "-id"]
        base_manager_name = "with_hidden"
        constraints = [
            # The uploader's own id is the merge key of an open run, and otherwise a label.
            models.UniqueConstraint(
                fields=["agent", "label"], condition=models.Q(intake="open"), name="open_run_unique"
            )
        ]
        indexes = [
            models.Index(fields=["agent", "-at", "-id"], name="run_agent_at_idx"),
            models.Index(fields=["client", "-at", "-id"], name="run_client_at_idx"),
        ]

    def __str__(self) -> str:
        return self.label or f"run {str(self.id)[:8]}"

    @property
    def known_by(self) -> str:
        """What tells it from its neighbours in a list, as far as it is known: "nightly · 2.4.1 · main 77d04ae"."""
        source = f"{self.branch} {self.commit[:10]}".strip()
        return " · ".join(known for known in (self.suite, self.agent_version, source) if known)

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.client.slug, self.agent.slug, self.id])

    @property
    def attempts_recorded(self) -> int:
        return self.attempts_passed + self.attempts_failed + self.attempts_unknown + self.attempts_error

    @property
    def is_aggregate(self) -> bool:
        """Whether the artifact brought counts alone: no attempts, and yet not nothing."""
        return not self.attempts_recorded and self.counts.total > 0

    @property
    def attempts_missing(self) -> int:
        return max((self.planned or 0) - self.attempts_recorded, 0)


class RunArtifact(models.Model):
    """Which artifacts a run came from; a shard has its index."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT)
    shard = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "shard"], name="run_shard_unique")]

    def __str__(self) -> str:
        return f"{self.run_id} part {self.shard}"


class Scenario(models.Model):
    """A named case of an agent, the same across runs. What it was in one run stands in RunScenario."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="scenarios")
    suite = models.CharField(max_length=200, blank=True)  # '' = unknown; comparison then ignores it
    key = models.CharField(max_length=500)
    class_id = models.CharField(max_length=200, blank=True)  # as a person gave it; '' = artifact and mapping decide

    class Meta:
        ordering = ["suite", "key"]
        constraints = [models.UniqueConstraint(fields=["agent", "suite", "key"], name="scenario_unique")]

    def __str__(self) -> str:
        return self.key


class RunScenario(models.Model):
    """A scenario as one run described it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scenarios")
    # Joined when the run becomes visible: a refused artifact leaves no scenario behind.
    scenario = models.ForeignKey(Scenario, null=True, on_delete=models.PROTECT, related_name="appearances")
    key = models.CharField(max_length=500)
    title = models.TextField(blank=True)
    class_id = models.CharField(max_length=200, default="unclassified")
    class_told = models.CharField(max_length=200, blank=True)  # the artifact's own word; '' if it has none
    class_by = CodeField(ClassOrigin, default=ClassOrigin.NONE)
    adversarial = models.BooleanField(default=False)
    twin_of = models.CharField(max_length=500, blank=True)
    guards = models.JSONField(default=list)
    controls = models.JSONField(default=list)
    expects = CodeField(Expectation, null=True)
    source_kind = CodeField(SourceKind, default=SourceKind.DESIGNED)
    source_reference = models.TextField(blank=True)
    source_date = models.DateField(null=True)
    extras = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="run_scenario_unique")]
        indexes = [  # the few that a sweep looks for
            models.Index(
                fields=["scenario"],
                condition=models.Q(class_by=code_of(ClassOrigin.PERSON)),
                name="run_scenario_by_person",
            )
        ]

    def __str__(self) -> str:
        return self.title or self.key
