"""Reviews, their revisions, and the scores of a revision."""

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evals.models import Agent, Run
from reliability.models import Client
from scorecards.models.engagements import Engagement


class RubricVersion(models.Model):
    """One immutable version of a rubric as its YAML; `client` is null for what ships or is the consultancy's own."""

    client = models.ForeignKey(Client, null=True, blank=True, on_delete=models.CASCADE, related_name="rubrics")
    rubric_id = models.CharField(max_length=100)
    version = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    source = models.TextField()  # the YAML, byte for byte
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rubric_id", "version"], condition=models.Q(client=None), name="rubric_shared_unique"
            ),
            models.UniqueConstraint(
                fields=["client", "rubric_id", "version"],
                condition=models.Q(client__isnull=False),
                name="rubric_client_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rubric_id}@{self.version}"


class Review(models.Model):
    """One scorecard of one agent at a date. What it says stands in its revisions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="reviews")
    engagement = models.ForeignKey(Engagement, on_delete=models.PROTECT, related_name="reviews")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="reviews")
    number = models.PositiveIntegerField()  # of the agent, from 1
    as_of = models.DateField()
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="review_number_unique")]

    def __str__(self) -> str:
        return f"Review {self.number} of {self.agent}"

    def get_absolute_url(self) -> str:
        return reverse("review", args=[self.client.slug, self.agent.slug, self.number])


class RevisionState(models.TextChoices):
    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    FACT_CHECK = "fact_check", "Fact check"
    PUBLISHED = "published", "Published"


class Recommendation(models.TextChoices):
    READY = "ready", "Ready"
    WITH_CONDITIONS = "with_conditions", "Ready with conditions"
    NOT_READY = "not_ready", "Not ready"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence", "Not enough evidence"


class Revision(models.Model):
    """One state of a review's text and scores. Published = frozen; a newer published one supersedes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="revisions")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()  # of the review, from 1
    state = models.CharField(max_length=10, choices=RevisionState.choices, default=RevisionState.DRAFT)
    rubric = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(default=1)  # counts saves of subject, lists and method
    answer_version = models.PositiveIntegerField(default=1)  # counts saves of summary and recommendation

    # subject
    agent_versions = models.TextField(blank=True)
    model = models.TextField(blank=True)
    environment = models.TextField(blank=True)
    intended_use = models.TextField(blank=True)
    permitted_users = models.TextField(blank=True)
    void_if = models.TextField(blank=True)  # what would void the answer
    # lists, agreed with the client
    main_flows = models.JSONField(default=list)  # texts
    tools = models.JSONField(default=list)  # {"name": …, "reversible": true, false, or null while nobody said}
    top_risks = models.JSONField(default=list)  # texts
    # text, Markdown
    summary = models.TextField(blank=True)
    limitations = models.TextField(blank=True)
    method = models.TextField(blank=True)
    period_from = models.DateField(null=True, blank=True)
    period_to = models.DateField(null=True, blank=True)
    participants = models.TextField(blank=True)
    recommendation = models.CharField(max_length=20, choices=Recommendation.choices, blank=True)
    recommendation_reasons = models.TextField(blank=True)
    recommended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    # "ready" against the bar or a breached security scenario: a second person's written reason
    override_reason = models.TextField(blank=True)
    override_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    runs = models.ManyToManyField(Run, blank=True, related_name="revisions")  # that it rests on

    supersedes_because = models.TextField(blank=True)
    what_changed = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = models.DateTimeField(null=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-review__number", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["review", "number"], name="revision_number_unique"),
            models.UniqueConstraint(
                fields=["review"],
                condition=~models.Q(state="published"),
                name="revision_one_open",  # one working copy at a time
            ),
        ]

    def __str__(self) -> str:
        return f"{self.review}, revision {self.number}"

    @property
    def is_published(self) -> bool:
        return self.state == RevisionState.PUBLISHED


class ScoreStanding(models.TextChoices):
    NOT_ASSESSED = "not_assessed", "Not assessed"
    ASSESSED = "assessed", "Assessed"
    NOT_APPLICABLE = "not_applicable", "Not applicable"


class Confidence(models.TextChoices):
    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


class Cause(models.TextChoices):
    """Why a level differs from the last published one. Only the first is called better or worse."""

    AGENT_CHANGED = "agent_changed", "The agent changed"
    KNOW_MORE = "know_more", "We know more"
    EVIDENCE_EXPIRED = "evidence_expired", "Evidence expired"
    CORRECTED = "corrected", "Corrected"
    RUBRIC_CHANGED = "rubric_changed", "The rubric changed"


class DimensionScore(models.Model):
    """One dimension of a revision. `version` counts its saves, so that two people cannot overwrite each other."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="scores")
    dimension_id = models.CharField(max_length=60)
    standing = models.CharField(max_length=14, choices=ScoreStanding.choices, default=ScoreStanding.NOT_ASSESSED)
    level = models.PositiveSmallIntegerField(null=True, blank=True)
    rationale = models.TextField(blank=True)  # Markdown
    confidence = models.CharField(max_length=6, choices=Confidence.choices, blank=True)
    cause = models.CharField(max_length=20, choices=Cause.choices, blank=True)
    reason = models.TextField(blank=True)  # why not assessed or not applicable
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    previous_level = models.PositiveSmallIntegerField(null=True)  # of the last published review
    superseded_level = models.PositiveSmallIntegerField(null=True)  # of the revision that this one replaces
    to_reconfirm = models.BooleanField(default=False)  # carried over, not yet looked at
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["revision", "dimension_id"], name="score_dimension_unique"),
            models.CheckConstraint(
                condition=models.Q(level=None) | models.Q(level__lte=5), name="score_level_at_most_five"
            ),
            models.CheckConstraint(
                condition=models.Q(standing="assessed", level__isnull=False)
                | (~models.Q(standing="assessed") & models.Q(level=None)),
                name="score_level_iff_assessed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension_id} of {self.revision_id}"

    @property
    def needs_cause(self) -> bool:
        """The level differs from one that was published, so a reader will ask why."""
        published = {self.previous_level, self.superseded_level} - {None}
        return self.level is not None and bool(published - {self.level})


class PracticeState(models.TextChoices):
    MET = "met", "Met"
    NOT_MET = "not_met", "Not met"
    NOT_SEEN = "not_seen", "Not seen"
    NOT_APPLICABLE = "not_applicable", "Not applicable"


class PracticeMark(models.Model):
    """A practice of a score; one without a mark is not seen."""

    score = models.ForeignKey(DimensionScore, on_delete=models.CASCADE, related_name="marks")
    practice_id = models.CharField(max_length=80)
    state = models.CharField(max_length=14, choices=PracticeState.choices, default=PracticeState.NOT_SEEN)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["score", "practice_id"], name="mark_practice_unique")]

    def __str__(self) -> str:
        return f"{self.practice_id}: {self.state}"
