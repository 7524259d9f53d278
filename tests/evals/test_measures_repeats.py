from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures.outcomes import ScenarioOutcome
from evals.measures.repeats import (
    CleanScenarios,
    ScenarioRepeats,
    measure_clean,
    measure_pass_power,
    pass_power,
)


def test_pass_rate_and_flakiness_of_a_scenario():
    scenario = ScenarioRepeats("refund", passed=3, failed=1, unknown=2)

    assert scenario.pass_rate == Fraction(3, 4)
    assert scenario.is_flaky
    assert not scenario.is_clean


def test_a_scenario_without_determinate_attempts_has_no_rate():
    scenario = ScenarioRepeats("refund", unknown=1, error=2)

    assert scenario.pass_rate is None
    assert scenario.outcome is ScenarioOutcome.UNKNOWN


def test_nine_in_ten_per_attempt_is_43_percent_for_eight_in_a_row():
    """With many attempts C(c,8)/C(n,8) approaches 0.9^8 = 0.430."""
    assert float(pass_power(90_000, 100_000, 8)) == pytest.approx(0.9**8, abs=1e-4)
    assert round(0.9**8, 2) == 0.43


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_pass_power_counts_the_draws_without_a_fail(case):
    passed, n, k = case
    draws = list(combinations([True] * passed + [False] * (n - passed), k))

    assert pass_power(passed, n, k) == Fraction(sum(map(all, draws)), len(draws))


@pytest.mark.parametrize(("passed", "n", "k"), [(1, 2, 3), (1, 2, 0), (3, 2, 1)])
def test_pass_power_refuses_what_is_not_defined(passed, n, k):
    with pytest.raises(ValueError, match="not defined"):
        pass_power(passed, n, k)


def test_pass_power_averages_scenarios_with_enough_attempts_and_counts_the_others():
    scenarios = [
        ScenarioRepeats("always", passed=3),
        ScenarioRepeats("sometimes", passed=2, failed=1),
        ScenarioRepeats("once", passed=1, error=2),
    ]

    power = measure_pass_power(scenarios, k=2)

    assert power.value == (1 + Fraction(1, 3)) / 2
    assert (power.scenarios, power.too_few) == (2, 1)


def test_pass_power_of_too_few_attempts_has_no_value():
    power = measure_pass_power([ScenarioRepeats("once", passed=1)], k=8)

    assert power.value is None
    assert power.too_few == 1


def test_only_scenarios_that_passed_every_time_are_clean():
    scenarios = [
        ScenarioRepeats("clean", passed=2),
        ScenarioRepeats("crashed once", passed=2, error=1),
        ScenarioRepeats("unknown once", passed=2, unknown=1),
        ScenarioRepeats("never ran"),
        ScenarioRepeats("flaky", passed=2, failed=1),
    ]

    assert measure_clean(scenarios) == CleanScenarios(clean=1, failing=1, undecided=3)


def test_thirty_clean_scenarios_bound_the_failing_share():
    claim = measure_clean([ScenarioRepeats(str(number), passed=1) for number in range(30)])

    assert float(claim.bound.value) == pytest.approx(0.095, abs=5e-4)
    assert measure_clean([]).bound is None


@given(st.permutations([(3, 0), (2, 1), (0, 4), (1, 0)]))
def test_order_of_scenarios_changes_nothing(order):
    scenarios = [ScenarioRepeats(str(place), passed=c, failed=f) for place, (c, f) in enumerate(order)]

    assert measure_pass_power(scenarios, k=2).value == (1 + Fraction(1, 3) + 0) / 3
