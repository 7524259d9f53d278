from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures import display
from evals.measures.counts import AttemptCounts, Counts
from evals.measures.intervals import exact_upper_bound, wilson_interval


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (None, "no determinate results"),
        (Fraction(0), "0%"),
        (Fraction(1), "100%"),
        (Fraction(1, 2), "50%"),
        (Fraction(1, 3), "33.3%"),
        (Fraction(2, 3), "66.7%"),
        (Fraction(1, 8), "12.5%"),
        (Fraction(125, 10_000), "1.3%"),  # half goes up, not to the even neighbour
        (Fraction(9994, 10_000), "99.9%"),
        (Fraction(9995, 10_000), ">99.9%"),
        (Fraction(999_999, 1_000_000), ">99.9%"),
        (Fraction(5, 10_000), "0.1%"),
        (Fraction(4, 10_000), "<0.1%"),
        (Fraction(1, 1_000_000), "<0.1%"),
    ],
)
def test_format_rate(rate, text):
    assert display.format_rate(rate) == text


@given(st.integers(min_value=0, max_value=10**7), st.integers(min_value=0, max_value=10**7))
def test_all_and_nothing_are_said_only_when_true(passed, failed):
    text = display.format_rate(Counts(passed=passed, fail_unclassified=failed).reliability)

    assert (text == "100%") == (failed == 0 and passed > 0)
    assert (text == "0%") == (passed == 0 and failed > 0)
    assert not text.endswith(".0%")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(-4), "−400%"),
        (Fraction(-17, 3), "−566.7%"),
        (Fraction(-7, 3), "−233.3%"),
        (Fraction(0), "0%"),
        (Fraction(1), "100%"),
        (Fraction(1234), "123,400%"),
        (Fraction(-1, 10_000), "−<0.1%"),
    ],
)
def test_format_percent(value, text):
    assert display.format_percent(value) == text


@pytest.mark.parametrize(
    ("value_range", "text"),
    [
        (None, "no determinate results"),
        ((Fraction(1, 10), Fraction(1)), "10%–100%"),
        ((Fraction(1, 4), Fraction(1, 2)), "25%–50%"),
        ((Fraction(1, 2), Fraction(1, 2)), "50%"),
    ],
)
def test_format_range(value_range, text):
    assert display.format_range(value_range) == text


def test_an_interval_names_its_level_and_method():
    assert display.format_interval(wilson_interval(9, 10)) == "95% interval 59.6%–98.2% (Wilson, two-sided)"
    assert display.format_interval(wilson_interval(0, 0)) == "no determinate results"


def test_an_upper_bound_names_what_it_rests_on():
    assert display.format_upper_bound(exact_upper_bound(0, 30)) == "0 of 30: at most 9.5% (95%, exact, one-sided)"
    assert display.format_upper_bound(None) == "no determinate results"


def test_counts_are_said_in_full():
    counts = Counts(passed=12, fail_user_visible=3, fail_guarded=1, unknown=4, error=16)

    assert display.format_counts(counts) == "12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR"
    assert display.format_counts(Counts(passed=1030)) == "1,030 PASS, 0 FAIL, 0 UNKNOWN, 0 ERROR"
    assert display.format_counts(AttemptCounts(passed=1, error=9)) == "1 PASS, 0 FAIL, 0 UNKNOWN, 9 ERROR"


def test_findings_name_only_what_occurred():
    counts = Counts(fail_user_visible=5, fail_host_corrected=29, fail_unclassified=2)

    assert display.format_findings(counts) == "5 user-visible, 29 host-corrected, 2 unclassified"
    assert display.format_findings(Counts(passed=3)) == "no failures"


@pytest.mark.parametrize(
    ("planned", "text"),
    [
        (10, "10%: 1 of 10 planned attempts ended without ERROR"),
        (None, "10%: 1 of 10 recorded attempts ended without ERROR (the number planned is unknown)"),
        (4, "10%: 1 of 10 recorded attempts ended without ERROR (more than planned)"),
        (20, "5%: 1 of 20 planned attempts ended without ERROR"),
    ],
)
def test_execution_rate_says_its_basis(planned, text):
    assert display.format_execution(AttemptCounts(passed=1, error=9, planned=planned).execution) == text


def test_missing_attempts_are_counted_in_words():
    assert display.format_missing(AttemptCounts(passed=1, planned=2)) == "1 attempt missing"
    assert display.format_missing(AttemptCounts(passed=1, planned=4)) == "3 attempts missing"
    assert display.format_missing(AttemptCounts(passed=4, planned=4)) == ""
    assert display.format_execution(AttemptCounts().execution) == "no attempts"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (None, "cannot be compared"),
        (Fraction(0), "no change"),
        (Fraction(1, 8), "+12.5 points"),
        (Fraction(-3, 100), "−3 points"),
        (Fraction(1, 100), "+1 point"),
        (Fraction(-1, 10_000), "−<0.1 points"),
    ],
)
def test_format_points(change, text):
    assert display.format_points(change) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(1, 5), "0.2"), (Fraction(5), "5"), (Fraction(1, 50), "<0.1"), (Fraction(-4), "−4"), (Fraction(0), "0")],
)
def test_format_number(value, text):
    assert display.format_number(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (Fraction(1), "p = 1"),
        (Fraction(1, 32), "p = 0.031"),
        (Fraction(1, 2), "p = 0.5"),
        (Fraction(1, 4096), "p < 0.001"),
    ],
)
def test_format_p_value(p, text):
    assert display.format_p_value(p) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, "not recorded"),
        (Decimal(0), "$0.00"),
        (Decimal("0.0031"), "$0.0031"),
        (Decimal("0.5"), "$0.50"),
        (Decimal("0.00001"), "<$0.0001"),
        (Decimal("0.99999"), "$1.00"),
        (Decimal("12.345"), "$12.35"),
        (Decimal("1234.5"), "$1,234.50"),
        (Decimal("-0.25"), "−$0.25"),
    ],
)
def test_format_money(usd, text):
    assert display.format_money(usd) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "not recorded"),
        (0, "0 ms"),
        (0.4, "<1 ms"),
        (812, "812 ms"),
        (999.6, "1 s"),
        (1804, "1.8 s"),
        (59_960, "1 min"),
        (125_000, "2 min 5 s"),
    ],
)
def test_format_milliseconds(milliseconds, text):
    assert display.format_milliseconds(milliseconds) == text
