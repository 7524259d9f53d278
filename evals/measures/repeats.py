"""What repeated attempts of a scenario show: pass rate, flakiness, pass^k and clean scenarios (DESIGN 4, Repeats)."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from .intervals import UpperBound, exact_upper_bound
from .outcomes import ScenarioOutcome, scenario_outcome


@dataclass(frozen=True, slots=True)
class ScenarioRepeats:
    """Attempts of one scenario and variant in one run, by outcome."""

    key: str
    variant: str = ""
    passed: int = 0
    failed: int = 0
    unknown: int = 0
    error: int = 0

    @property
    def determinate(self) -> int:
        return self.passed + self.failed

    @property
    def pass_rate(self) -> Fraction | None:
        return Fraction(self.passed, self.determinate) if self.determinate else None

    @property
    def outcome(self) -> ScenarioOutcome:
        return scenario_outcome(passed=self.passed, failed=self.failed)

    @property
    def is_flaky(self) -> bool:
        return self.outcome is ScenarioOutcome.FLAKY

    @property
    def is_clean(self) -> bool:
        """Say whether every attempt PASSed; one UNKNOWN or ERROR is enough to claim nothing."""
        return self.passed > 0 and self.failed == self.unknown == self.error == 0


@dataclass(frozen=True, slots=True)
class PassPower:
    """pass^k averaged over the `scenarios` with at least k determinate attempts; `too_few` had fewer."""

    k: int
    value: Fraction | None
    scenarios: int
    too_few: int


@dataclass(frozen=True, slots=True)
class CleanScenarios:
    """Scenarios behind a claim of zero failures. `undecided` ones neither failed nor passed every time."""

    clean: int
    failing: int
    undecided: int

    @property
    def bound(self) -> UpperBound | None:
        """Return the exact upper bound of the share of failing scenarios; the undecided ones stand beside it."""
        return exact_upper_bound(self.failing, self.clean + self.failing)


def pass_power(passed: int, determinate: int, k: int) -> Fraction:
    """Return the chance that k attempts drawn without replacement all passed: C(c, k) / C(n, k).

    The unbiased estimate of pass^k in S. Yao et al., "τ-bench" (2024), section 3.
    """
    if not 1 <= k <= determinate or not 0 <= passed <= determinate:
        raise ValueError(f"pass^{k} of {passed} in {determinate} attempts is not defined")
    return Fraction(comb(passed, k), comb(determinate, k))


def measure_pass_power(scenarios: Iterable[ScenarioRepeats], *, k: int) -> PassPower:
    if k < 1:
        raise ValueError(f"k is at least 1, not {k}")
    total, enough, too_few = Fraction(0), 0, 0
    for scenario in scenarios:
        if scenario.determinate >= k:
            total += pass_power(scenario.passed, scenario.determinate, k)
            enough += 1
        else:
            too_few += 1
    return PassPower(k=k, value=total / enough if enough else None, scenarios=enough, too_few=too_few)


def measure_clean(scenarios: Iterable[ScenarioRepeats]) -> CleanScenarios:
    clean = failing = undecided = 0
    for scenario in scenarios:
        if scenario.failed:
            failing += 1
        elif scenario.is_clean:
            clean += 1
        else:
            undecided += 1
    return CleanScenarios(clean=clean, failing=failing, undecided=undecided)
