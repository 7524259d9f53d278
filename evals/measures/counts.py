"""Counts of evaluations or attempts, and the rates and ranges that follow from them (DESIGN 4). Exact throughout."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from ..records import Finding, Outcome


class RateKind(StrEnum):
    """Raw: every FAIL is bad. Delivered: a FAIL that the host corrected counts as good."""

    RAW = "raw"
    DELIVERED = "delivered"


class ExecutionBasis(StrEnum):
    """What an execution rate is out of."""

    PLANNED = "planned"
    RECORDED = "recorded"  # the plan is unknown
    RECORDED_OVER_PLAN = "recorded_over_plan"  # more attempts came than were planned


@dataclass(frozen=True, slots=True)
class Counts:
    """Evaluations by outcome, FAIL by its finding. ERROR is no observation, but it is never dropped."""

    passed: int = 0
    fail_user_visible: int = 0
    fail_host_corrected: int = 0
    fail_guarded: int = 0
    fail_unclassified: int = 0
    unknown: int = 0
    error: int = 0

    def __post_init__(self) -> None:
        fails = (self.fail_user_visible, self.fail_host_corrected, self.fail_guarded, self.fail_unclassified)
        if min(self.passed, *fails, self.unknown, self.error) < 0:
            raise ValueError(f"counts cannot be negative: {self}")

    @classmethod
    def of(cls, outcome: Outcome, finding: Finding | None = None) -> Self:
        """Count one evaluation. A FAIL without a finding is unclassified."""
        match outcome:
            case Outcome.PASS:
                return cls(passed=1)
            case Outcome.UNKNOWN:
                return cls(unknown=1)
            case Outcome.ERROR:
                return cls(error=1)
            case Outcome.FAIL:
                return cls._of_fail(finding or Finding.UNCLASSIFIED)

    @classmethod
    def _of_fail(cls, finding: Finding) -> Self:
        match finding:
            case Finding.USER_VISIBLE:
                return cls(fail_user_visible=1)
            case Finding.HOST_CORRECTED:
                return cls(fail_host_corrected=1)
            case Finding.GUARDED_OR_DISCLOSED:
                return cls(fail_guarded=1)
            case Finding.UNCLASSIFIED:
                return cls(fail_unclassified=1)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed,
            self.fail_user_visible + other.fail_user_visible,
            self.fail_host_corrected + other.fail_host_corrected,
            self.fail_guarded + other.fail_guarded,
            self.fail_unclassified + other.fail_unclassified,
            self.unknown + other.unknown,
            self.error + other.error,
        )

    @property
    def failed(self) -> int:
        return self.fail_user_visible + self.fail_host_corrected + self.fail_guarded + self.fail_unclassified

    @property
    def failed_by_finding(self) -> dict[Finding, int]:
        return {
            Finding.USER_VISIBLE: self.fail_user_visible,
            Finding.HOST_CORRECTED: self.fail_host_corrected,
            Finding.GUARDED_OR_DISCLOSED: self.fail_guarded,
            Finding.UNCLASSIFIED: self.fail_unclassified,
        }

    @property
    def determinate(self) -> int:
        return self.passed + self.failed

    @property
    def total(self) -> int:
        return self.determinate + self.unknown + self.error

    @property
    def reliability(self) -> Fraction | None:
        """Return pass / (pass + fail); None while nothing is determinate, which is neither 0% nor 100%."""
        return self.rate(RateKind.RAW)

    @property
    def delivered(self) -> Fraction | None:
        """Return the share of determinate results that reached the user well: PASS or host-corrected."""
        return self.rate(RateKind.DELIVERED)

    def bad(self, kind: RateKind) -> int:
        return self.failed - (self.fail_host_corrected if kind is RateKind.DELIVERED else 0)

    def good(self, kind: RateKind) -> int:
        return self.determinate - self.bad(kind)

    def rate(self, kind: RateKind) -> Fraction | None:
        return Fraction(self.good(kind), self.determinate) if self.determinate else None

    @property
    def value_range(self) -> tuple[Fraction, Fraction] | None:
        """Return pass/N to (N - fail)/N: where the rate could lie had every evaluation been determinate."""
        return outcome_range(passed=self.passed, failed=self.failed, expected=self.total)


def sum_counts(counts: Iterable[Counts]) -> Counts:
    return sum(counts, start=Counts())


def outcome_range(*, passed: int, failed: int, expected: int) -> tuple[Fraction, Fraction] | None:
    """Return the lowest and highest possible pass rate of `expected` results; None when none is expected."""
    if expected == 0:
        return None
    return Fraction(passed, expected), Fraction(expected - failed, expected)


@dataclass(frozen=True, slots=True)
class ExecutionRate:
    """Attempts that `ended` without ERROR, out of `expected` ones; `rate` is None when none is expected."""

    ended: int
    expected: int
    basis: ExecutionBasis

    @property
    def rate(self) -> Fraction | None:
        return Fraction(self.ended, self.expected) if self.expected else None


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """Attempts of one run by outcome, beside the number planned (None = the artifact does not say)."""

    passed: int = 0
    failed: int = 0
    unknown: int = 0
    error: int = 0
    planned: int | None = None

    def __post_init__(self) -> None:
        if min(self.passed, self.failed, self.unknown, self.error, self.planned or 0) < 0:
            raise ValueError(f"counts cannot be negative: {self}")

    @property
    def recorded(self) -> int:
        return self.passed + self.failed + self.unknown + self.error

    @property
    def expected(self) -> int:
        """Return N = max(planned, recorded)."""
        return max(self.planned or 0, self.recorded)

    @property
    def missing(self) -> int:
        return self.expected - self.recorded

    @property
    def value_range(self) -> tuple[Fraction, Fraction] | None:
        """Return the run's range over attempts: unlike a class's, it is widened by missing attempts."""
        return outcome_range(passed=self.passed, failed=self.failed, expected=self.expected)

    @property
    def execution(self) -> ExecutionRate:
        if self.planned is None:
            basis = ExecutionBasis.RECORDED
        elif self.planned >= self.recorded:
            basis = ExecutionBasis.PLANNED
        else:
            basis = ExecutionBasis.RECORDED_OVER_PLAN
        return ExecutionRate(ended=self.recorded - self.error, expected=self.expected, basis=basis)
