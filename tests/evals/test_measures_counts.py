from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures.counts import AttemptCounts, Counts, ExecutionBasis, RateKind, sum_counts
from evals.records import Finding, Outcome

amounts = st.integers(min_value=0, max_value=10_000)
counts_of_any_kind = st.builds(Counts, amounts, amounts, amounts, amounts, amounts, amounts, amounts)


def test_two_correct_four_wrong_two_unknown():
    counts = Counts(passed=2, fail_unclassified=4, unknown=2)

    assert (counts.passed, counts.failed, counts.unknown) == (2, 4, 2)
    assert counts.value_range == (Fraction(25, 100), Fraction(50, 100))
    assert counts.reliability == Fraction(1, 3)


def test_reliability_is_none_without_determinate_results():
    counts = Counts(unknown=3, error=2)

    assert counts.reliability is None
    assert counts.delivered is None
    assert counts.value_range == (0, 1)


def test_no_evaluations_have_no_range():
    assert Counts().value_range is None


def test_one_pass_and_nine_crashed_attempts():
    attempts = AttemptCounts(passed=1, error=9, planned=10)

    assert Counts(passed=1, error=9).reliability == 1
    assert attempts.value_range == (Fraction(1, 10), 1)
    assert attempts.execution.rate == Fraction(1, 10)


def test_missing_attempts_widen_the_range_and_lower_the_execution_rate():
    attempts = AttemptCounts(passed=6, failed=1, unknown=1, planned=10)

    assert attempts.missing == 2
    assert attempts.value_range == (Fraction(6, 10), Fraction(9, 10))
    assert attempts.execution.rate == Fraction(8, 10)


@pytest.mark.parametrize(
    ("planned", "expected", "basis"),
    [
        (None, 4, ExecutionBasis.RECORDED),
        (4, 4, ExecutionBasis.PLANNED),
        (5, 5, ExecutionBasis.PLANNED),
        (3, 4, ExecutionBasis.RECORDED_OVER_PLAN),
        (0, 4, ExecutionBasis.RECORDED_OVER_PLAN),
    ],
)
def test_execution_rate_says_what_it_is_out_of(planned, expected, basis):
    execution = AttemptCounts(passed=3, error=1, planned=planned).execution

    assert (execution.ended, execution.expected, execution.basis) == (3, expected, basis)


def test_an_empty_run_has_no_execution_rate():
    attempts = AttemptCounts()

    assert attempts.execution.rate is None
    assert attempts.value_range is None


def test_shopping_agent_delivers_more_than_the_agent_achieves_alone():
    counts = Counts(
        passed=1030,
        fail_user_visible=5,
        fail_host_corrected=29,
        fail_guarded=5,
        fail_unclassified=2,
        unknown=16,
    )

    assert counts.total == 1087
    assert counts.failed == 41
    assert counts.reliability == Fraction(1030, 1071)
    assert counts.delivered == Fraction(1059, 1071)


@pytest.mark.parametrize("finding", [Finding.USER_VISIBLE, Finding.GUARDED_OR_DISCLOSED, Finding.UNCLASSIFIED])
def test_only_host_corrected_failures_are_delivered(finding):
    assert Counts.of(Outcome.FAIL, finding).delivered == 0
    assert Counts.of(Outcome.FAIL, Finding.HOST_CORRECTED).delivered == 1
    assert Counts.of(Outcome.FAIL, Finding.HOST_CORRECTED).reliability == 0


def test_a_fail_without_finding_is_unclassified():
    assert Counts.of(Outcome.FAIL) == Counts(fail_unclassified=1)


@pytest.mark.parametrize("outcome", Outcome)
def test_each_outcome_is_counted_once(outcome):
    assert Counts.of(outcome).total == 1


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="cannot be negative"):
        Counts(passed=-1)
    with pytest.raises(ValueError, match="cannot be negative"):
        Counts(fail_guarded=-1, fail_unclassified=2)
    with pytest.raises(ValueError, match="cannot be negative"):
        AttemptCounts(planned=-1)


@given(counts_of_any_kind, st.sampled_from(Finding), st.sampled_from(RateKind))
def test_another_fail_never_raises_a_raw_rate(counts, finding, kind):
    worse = counts + Counts.of(Outcome.FAIL, finding)

    if kind is RateKind.RAW or finding is not Finding.HOST_CORRECTED:
        assert worse.rate(kind) <= (1 if counts.rate(kind) is None else counts.rate(kind))


@given(counts_of_any_kind, st.sampled_from([Outcome.UNKNOWN, Outcome.ERROR]))
def test_no_observation_leaves_the_rate_and_widens_the_range(counts, outcome):
    more = counts + Counts.of(outcome)

    assert more.reliability == counts.reliability
    low, high = counts.value_range or (1, 0)
    assert more.value_range[0] <= low
    assert more.value_range[1] >= high


@given(counts_of_any_kind)
def test_the_rate_lies_in_its_range(counts):
    if counts.reliability is not None:
        low, high = counts.value_range
        assert low <= counts.reliability <= high


@given(counts_of_any_kind)
def test_delivered_is_never_below_raw(counts):
    if counts.reliability is not None:
        assert counts.delivered >= counts.reliability


@given(st.lists(counts_of_any_kind, max_size=6), st.randoms(use_true_random=False))
def test_order_changes_nothing(parts, random):
    shuffled = list(parts)
    random.shuffle(shuffled)

    assert sum_counts(shuffled) == sum_counts(parts)
    assert sum_counts(parts).total == sum(part.total for part in parts)
