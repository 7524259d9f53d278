from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.measures.intervals import (
    LEVEL,
    Method,
    cases_needed,
    exact_lower_bound,
    exact_upper_bound,
    wilson_interval,
    wilson_upper_bound,
)

samples = st.integers(min_value=1, max_value=400).flatmap(
    lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n))
)


def at_most(events: int, n: int, rate: Fraction) -> Fraction:
    """Return the binomial tail by its definition, as a check from outside."""
    return sum((comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(events + 1)), start=Fraction(0))


def test_zero_of_thirty():
    exact, wilson = exact_upper_bound(0, 30), wilson_upper_bound(0, 30)

    assert float(exact.value) == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-11)
    assert float(exact.value) == pytest.approx(0.095, abs=5e-4)
    assert float(wilson.value) == pytest.approx(0.114, abs=5e-4)


def test_a_bound_carries_its_method_level_and_counts():
    bound = exact_upper_bound(0, 30)

    assert (bound.method, bound.level) == (Method.EXACT_ONE_SIDED, Fraction(95, 100))
    assert (bound.events, bound.n) == (0, 30)
    assert wilson_upper_bound(0, 30).method is Method.WILSON_TWO_SIDED


def test_cases_needed_for_one_percent():
    assert cases_needed(Fraction(1, 100)) == 299
    assert cases_needed(Fraction(1, 100), Method.WILSON_TWO_SIDED) == 381


@pytest.mark.parametrize(
    ("method", "bound"),
    [
        (Method.EXACT_ONE_SIDED, exact_upper_bound),
        (Method.WILSON_TWO_SIDED, wilson_upper_bound),
    ],
)
@pytest.mark.parametrize("threshold", [Fraction(1, 1000), Fraction(1, 100), Fraction(5, 100), Fraction(1, 3)])
def test_cases_needed_is_the_least_that_shows_it(method, bound, threshold):
    n = cases_needed(threshold, method)

    assert bound(0, n).value <= threshold
    assert bound(0, n - 1).value > threshold


@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_cases_needed_refuses_a_threshold_that_nothing_can_show(threshold):
    with pytest.raises(ValueError, match="between 0 and 1"):
        cases_needed(threshold)


def test_wilson_of_nine_in_ten():
    """Worked by hand: (18 + 3.8415 ∓ 1.96·√(3.8415 + 3.6)) / 27.683."""
    interval = wilson_interval(9, 10)

    assert float(interval.low) == pytest.approx(0.59585, abs=1e-5)
    assert float(interval.high) == pytest.approx(0.98212, abs=1e-5)
    assert interval.level == LEVEL


def test_wilson_ends_are_exact_when_nothing_or_everything_passed():
    assert wilson_interval(0, 7).low == 0
    assert wilson_interval(7, 7).high == 1


@pytest.mark.parametrize(("events", "n", "bound"), [(1, 30, 0.14859), (2, 20, 0.28262), (5, 100, 0.10225)])
def test_exact_bound_with_failures(events, n, bound):
    assert float(exact_upper_bound(events, n).value) == pytest.approx(bound, abs=1e-5)


def test_nothing_observed_has_no_interval():
    assert wilson_interval(0, 0) is None
    assert wilson_upper_bound(0, 0) is None
    assert exact_upper_bound(0, 0) is None
    assert exact_lower_bound(0, 0) is None


def test_more_events_than_cases_are_refused():
    with pytest.raises(ValueError, match="3 of 2"):
        wilson_interval(3, 2)
    with pytest.raises(ValueError, match="-1 of 2"):
        exact_upper_bound(-1, 2)


def test_lower_bound_of_passes_mirrors_the_upper_bound_of_failures():
    assert exact_lower_bound(30, 30) == 1 - exact_upper_bound(0, 30).value
    assert exact_lower_bound(0, 30) == 0


@settings(max_examples=40, deadline=None)  # the check from outside works in huge fractions
@given(samples)
def test_the_exact_bound_satisfies_its_definition(sample):
    events, n = sample
    bound = exact_upper_bound(events, n).value

    if events == n:
        assert bound == 1
    else:
        near = Fraction(1, 10**9)
        assert at_most(events, n, bound + near) < Fraction(5, 100) < at_most(events, n, bound - near)


@given(samples)
def test_the_rate_lies_in_its_interval(sample):
    successes, n = sample
    interval = wilson_interval(successes, n)

    assert 0 <= interval.low <= Fraction(successes, n) <= interval.high <= 1


@given(samples)
def test_intervals_are_symmetric(sample):
    successes, n = sample

    mirrored = wilson_interval(n - successes, n)
    assert abs(wilson_interval(successes, n).low - (1 - mirrored.high)) < Fraction(1, 10**10)


@given(samples)
def test_the_same_share_of_more_cases_is_narrower(sample):
    successes, n = sample
    once, tenfold = wilson_interval(successes, n), wilson_interval(10 * successes, 10 * n)

    assert tenfold.high - tenfold.low < once.high - once.low
