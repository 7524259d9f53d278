"""Columns that hold evaluations by outcome, FAIL by its finding."""

from django.db import models

from evals.measures.counts import Counts


class CountedModel(models.Model):
    """The seven numbers of `Counts`, one column each."""

    passed = models.PositiveBigIntegerField(default=0)
    fail_user_visible = models.PositiveBigIntegerField(default=0)
    fail_host_corrected = models.PositiveBigIntegerField(default=0)
    fail_guarded = models.PositiveBigIntegerField(default=0)
    fail_unclassified = models.PositiveBigIntegerField(default=0)
    unknown = models.PositiveBigIntegerField(default=0)
    error = models.PositiveBigIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def counts(self) -> Counts:
        return Counts(
            self.passed,
            self.fail_user_visible,
            self.fail_host_corrected,
            self.fail_guarded,
            self.fail_unclassified,
            self.unknown,
            self.error,
        )
