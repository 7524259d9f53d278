"""The bulk rows of a run: attempts, steps, evaluations; and the class results counted from them.

Rows are written by COPY in batches under a hidden run, so their foreign keys have no constraint in the database:
checking each of a million rows against three tables costs more than storing it, and only `evals.ingest` writes them.
"""

from django.db import models

from evals.fields import CodeField, DollarField
from evals.models.agents import Definition, ReasonCode
from evals.models.counted import CountedModel
from evals.models.runs import Run, RunScenario
from evals.records import AttemptStatus, Containment, Decision, Fault, Finding, Outcome, StepKind


class Attempt(models.Model):
    """One execution of a scenario by one variant. `number` counts from 1 in the run's own order."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", db_constraint=False, db_index=False)
    number = models.PositiveIntegerField()
    scenario = models.ForeignKey(
        RunScenario, null=True, on_delete=models.CASCADE, related_name="attempts", db_constraint=False, db_index=False
    )
    variant = models.CharField(max_length=200, blank=True)
    ordinal = models.PositiveIntegerField(default=1)
    status = CodeField(AttemptStatus, default=AttemptStatus.COMPLETED)
    outcome = CodeField(Outcome)
    containment = CodeField(Containment, null=True)
    started_at = models.DateTimeField(null=True)
    latency_ms = models.FloatField(null=True)
    cost_usd = DollarField(null=True)
    tokens_input = models.PositiveBigIntegerField(null=True)
    tokens_output = models.PositiveBigIntegerField(null=True)
    trace_id = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="attempt_number_unique")]
        indexes = [models.Index(fields=["run", "outcome", "number"], name="attempt_outcome_idx")]

    def __str__(self) -> str:
        return f"attempt {self.number}"


class AttemptDetail(models.Model):
    """The long parts of an attempt, only where it has any."""

    attempt = models.OneToOneField(
        Attempt, primary_key=True, on_delete=models.CASCADE, related_name="detail", db_constraint=False
    )
    input = models.TextField(blank=True)
    output = models.TextField(blank=True)
    error = models.TextField(blank=True)
    place = models.CharField(max_length=300, blank=True)  # JSON pointer or line in the artifact
    side_effects = models.JSONField(default=list)
    extras = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"detail of {self.attempt_id}"


class Step(models.Model):
    """A tool or model call of an attempt, in order from 1."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="steps", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField()
    kind = CodeField(StepKind)
    tool = models.CharField(max_length=200, blank=True)
    decision = CodeField(Decision, default=Decision.ALLOWED)
    approved = models.BooleanField(default=False)
    reason_code = models.CharField(max_length=200, blank=True)
    arguments_sha256 = models.CharField(max_length=64, blank=True)
    arguments = models.JSONField(null=True)
    result = models.JSONField(null=True)
    started_at = models.DateTimeField(null=True)
    latency_ms = models.FloatField(null=True)
    cost_usd = DollarField(null=True)
    extras = models.JSONField(default=dict)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["attempt", "number"], name="step_number_unique")]

    def __str__(self) -> str:
        return f"{self.kind} {self.tool}".strip()


class Evaluation(models.Model):
    """One judgement. `categories` is the resolved set as bits (see `evals.codes`)."""

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="evaluations", db_constraint=False, db_index=False
    )
    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="evaluations", db_constraint=False, db_index=False
    )
    position = models.PositiveSmallIntegerField()  # in the attempt, from 1
    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    outcome = CodeField(Outcome)
    finding = CodeField(Finding, null=True)
    fault = CodeField(Fault, default=Fault.UNKNOWN)
    reported_outcome = CodeField(Outcome, null=True)
    categories = models.PositiveSmallIntegerField(default=0)
    categories_from_artifact = models.BooleanField(default=False)
    reason_code = models.ForeignKey(
        ReasonCode, null=True, on_delete=models.PROTECT, db_constraint=False, db_index=False
    )
    score = models.FloatField(null=True)
    observed_at = models.DateTimeField()
    observed_assumed = models.BooleanField(default=False)

    class Meta:
        ordering = ["attempt", "position"]
        constraints = [models.UniqueConstraint(fields=["attempt", "position"], name="evaluation_position_unique")]
        indexes = [models.Index(fields=["run", "outcome"], name="evaluation_outcome_idx")]

    def __str__(self) -> str:
        return f"{self.outcome} of attempt {self.attempt_id}"


class EvaluationDetail(models.Model):
    """Reason, evidence and parts of a judgement, only where there are any."""

    evaluation = models.OneToOneField(
        Evaluation, primary_key=True, on_delete=models.CASCADE, related_name="detail", db_constraint=False
    )
    reason = models.TextField(blank=True)
    evidence = models.JSONField(null=True)
    components = models.JSONField(default=list)
    extras = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"detail of {self.evaluation_id}"


class ClassResult(CountedModel):
    """Evaluations of a run counted per class, category set, adversarial, definition and variant.

    `aggregate`: the artifact brought the counts and no evaluations; they are never counted again.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="class_results")
    class_id = models.CharField(max_length=200)
    categories = models.PositiveSmallIntegerField(default=0)
    adversarial = models.BooleanField(default=False)
    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    variant = models.CharField(max_length=200, blank=True)
    aggregate = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "class_id", "categories", "adversarial", "definition", "variant", "aggregate"],
                name="class_result_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.class_id} of run {self.run_id}"
