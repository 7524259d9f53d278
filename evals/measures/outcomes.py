"""From evaluations to an attempt's outcome, and from attempts to a scenario's (DESIGN 2.2)."""

from collections.abc import Collection
from enum import StrEnum

from ..records import Outcome


class ScenarioOutcome(StrEnum):
    """Result of one scenario and variant in a run, over its determinate attempts."""

    PASS = "pass"  # noqa: S105 - an outcome, no password
    FAIL = "fail"
    FLAKY = "flaky"
    UNKNOWN = "unknown"


def attempt_outcome(evaluations: Collection[Outcome], *, crashed: bool = False) -> Outcome:
    """Return what the evaluations of one attempt amount to. Without any evaluation it is UNKNOWN, never PASS."""
    if crashed or (Outcome.ERROR in evaluations and set(evaluations) == {Outcome.ERROR}):
        return Outcome.ERROR
    if Outcome.FAIL in evaluations:
        return Outcome.FAIL
    if not evaluations or Outcome.UNKNOWN in evaluations or Outcome.ERROR in evaluations:
        return Outcome.UNKNOWN
    return Outcome.PASS


def scenario_outcome(*, passed: int, failed: int) -> ScenarioOutcome:
    """Return the outcome of a scenario with so many attempts passed and failed; UNKNOWN and ERROR decide nothing."""
    if passed and failed:
        return ScenarioOutcome.FLAKY
    if passed:
        return ScenarioOutcome.PASS
    return ScenarioOutcome.FAIL if failed else ScenarioOutcome.UNKNOWN
