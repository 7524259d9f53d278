from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures.budget import ErrorBudget, UnknownPolicy, format_budget, measure_budget
from evals.measures.counts import Counts, RateKind

HEALTHCARE = Counts(passed=1, fail_unclassified=1, unknown=1)
NINETY = Fraction(90, 100)


@pytest.mark.parametrize(
    ("policy", "rate", "remaining"),
    [
        (UnknownPolicy.EXCLUDE, Fraction(1, 2), Fraction(-4)),
        (UnknownPolicy.TREAT_AS_BAD, Fraction(1, 3), Fraction(-17, 3)),
        (UnknownPolicy.TREAT_AS_GOOD, Fraction(2, 3), Fraction(-7, 3)),
    ],
)
def test_healthcare_agent_breaches_90_percent(policy, rate, remaining):
    budget = measure_budget(HEALTHCARE, target=NINETY, unknown=policy)

    assert (budget.rate, budget.remaining) == (rate, remaining)
    assert budget.is_met is False


def test_healthcare_agent_before_its_failure():
    budget = measure_budget(Counts(passed=1), target=NINETY)

    assert (budget.rate, budget.remaining, budget.is_met) == (1, 1, True)


def test_the_boundary_is_met_with_nothing_left():
    budget = measure_budget(Counts(passed=9, fail_unclassified=1), target=NINETY)

    assert budget.is_met is True
    assert budget.remaining == 0


def test_a_target_of_100_percent_is_intact_or_broken():
    intact = measure_budget(Counts(passed=5), target=Fraction(1))
    broken = measure_budget(Counts(passed=5, fail_unclassified=1), target=Fraction(1))

    assert (intact.is_met, intact.remaining) == (True, 1)
    assert (broken.is_met, broken.remaining) == (False, None)


def test_nothing_considered_says_nothing():
    budget = measure_budget(Counts(unknown=4, error=2), target=NINETY)

    assert (budget.rate, budget.is_met, budget.consumed, budget.remaining) == (None, None, None, None)
    assert format_budget(budget) == "no results to consider"


def test_delivered_spends_less_than_raw():
    counts = Counts(passed=1030, fail_user_visible=5, fail_host_corrected=29, fail_guarded=5, fail_unclassified=2)

    raw = measure_budget(counts, target=Fraction(99, 100))
    delivered = measure_budget(counts, target=Fraction(99, 100), kind=RateKind.DELIVERED)

    assert (raw.bad, delivered.bad) == (41, 12)
    assert raw.consumed == Fraction(4100, 1071)


@pytest.mark.parametrize("target", [Fraction(0), Fraction(-1, 2), Fraction(101, 100)])
def test_a_target_that_is_no_share_is_refused(target):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        ErrorBudget(target=target, good=1, bad=0)


@pytest.mark.parametrize(
    ("counts", "policy", "words"),
    [
        (HEALTHCARE, UnknownPolicy.EXCLUDE, "1 failure, 0.2 allowed: 5 times the allowance"),
        (HEALTHCARE, UnknownPolicy.TREAT_AS_GOOD, "1 failure, 0.3 allowed: 3.3 times the allowance"),
        (
            HEALTHCARE,
            UnknownPolicy.TREAT_AS_BAD,
            "2 bad results (1 of them UNKNOWN), 0.3 allowed: 6.7 times the allowance",
        ),
        (Counts(passed=9, fail_unclassified=1), UnknownPolicy.EXCLUDE, "1 failure, 1 allowed"),
        (Counts(passed=30), UnknownPolicy.EXCLUDE, "0 failures, 3 allowed"),
    ],
)
def test_a_budget_in_words(counts, policy, words):
    assert format_budget(measure_budget(counts, target=NINETY, unknown=policy)) == words


def test_a_full_target_in_words():
    budget = measure_budget(Counts(passed=4, fail_unclassified=1), target=Fraction(1))

    assert format_budget(budget) == "1 failure, none allowed"


@given(st.integers(0, 500), st.integers(0, 500), st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_met_means_that_the_budget_is_not_overspent(good, bad, target):
    budget = ErrorBudget(target=target, good=good, bad=bad)

    if good + bad:
        assert budget.is_met == (budget.remaining >= 0)
        assert budget.is_met == (budget.bad <= budget.allowed)
