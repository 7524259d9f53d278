from fractions import Fraction

import pytest

from evals.measures.budget import ErrorBudget
from evals.measures.burn import DAY, HOUR, BurnAlert, default_alerts, spent_share, usable_alerts

MONTH = 30 * DAY


@pytest.mark.parametrize(
    ("window_hours", "thresholds"),
    [
        (30 * DAY, ["14.4", "6", "2"]),
        (28 * DAY, ["13.44", "5.6", "28/15"]),
        (31 * DAY - 1, ["14.86", "743/120", "743/360"]),  # a calendar month in which clocks go forward
        (7 * DAY, ["2.8", "1.75"]),
        (DAY, ["6"]),
        (6 * HOUR, ["6"]),
    ],
)
def test_default_thresholds_by_length_of_the_window(window_hours, thresholds):
    assert [alert.threshold for alert in default_alerts(window_hours)] == [Fraction(text) for text in thresholds]


def test_the_short_window_is_a_twelfth():
    assert [alert.short_hours * 60 for alert in default_alerts(MONTH)] == [5, 30, 360]


def test_a_rate_of_14_4_for_an_hour_spends_2_percent_of_a_month():
    rate = Fraction("14.4")

    assert spent_share(rate, hours=HOUR, window_hours=MONTH) == Fraction(2, 100)
    assert float(spent_share(rate, hours=HOUR, window_hours=7 * DAY)) == pytest.approx(0.086, abs=5e-4)


def test_a_threshold_that_the_budget_outlasts_is_refused():
    alert = BurnAlert(Fraction(10, 100), long_hours=3 * DAY, window_hours=MONTH)

    assert alert.threshold == 1
    assert alert.why_refused(Fraction(99, 100)).startswith("a threshold of 1 would alert while the budget lasts")


def test_a_threshold_that_can_never_fire_is_refused():
    fastest = default_alerts(MONTH)[0]

    assert fastest.why_refused(Fraction(90, 100)) == (
        "a threshold of 14.4 can never fire: at 90% the rate is at most 10"
    )
    assert fastest.why_refused(Fraction(99, 100)) == ""
    assert [alert.threshold for alert in usable_alerts(MONTH, target=Fraction(90, 100))] == [6, 2]


@pytest.mark.parametrize(
    ("long", "short", "fires"),
    [
        ((85, 15), (5, 5), True),
        ((85, 15), (10, 0), False),  # the trouble has ended
        ((94, 6), (5, 5), False),  # at the threshold is not above it
        ((85, 15), (0, 0), False),
        ((0, 0), (0, 0), False),
    ],
)
def test_an_alert_fires_above_its_threshold_in_both_windows(long, short, fires):
    alert = BurnAlert(Fraction(5, 100), long_hours=6 * HOUR, window_hours=MONTH)
    of_long, of_short = (ErrorBudget(target=Fraction(99, 100), good=good, bad=bad) for good, bad in (long, short))

    assert alert.fires(long=of_long, short=of_short) is fires


def test_at_a_target_of_100_percent_any_bad_result_alerts():
    alert = default_alerts(MONTH)[0]
    intact, broken = (ErrorBudget(target=Fraction(1), good=1000, bad=bad) for bad in (0, 1))

    assert not alert.fires(long=intact, short=intact)
    assert alert.fires(long=broken, short=intact)
