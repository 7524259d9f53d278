from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures.outcomes import ScenarioOutcome, attempt_outcome, scenario_outcome
from evals.records import Outcome

PASS, FAIL, UNKNOWN, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR


@pytest.mark.parametrize(
    ("evaluations", "outcome"),
    [
        ([], UNKNOWN),
        ([PASS], PASS),
        ([PASS, PASS], PASS),
        ([PASS, UNKNOWN], UNKNOWN),
        ([PASS, ERROR], UNKNOWN),
        ([UNKNOWN, ERROR], UNKNOWN),
        ([ERROR, ERROR], ERROR),
        ([PASS, ERROR, FAIL], FAIL),
        ([UNKNOWN, FAIL], FAIL),
    ],
)
def test_attempt_outcome(evaluations, outcome):
    assert {attempt_outcome(order) for order in permutations(evaluations)} == {outcome}


@given(st.lists(st.sampled_from(Outcome)))
def test_a_crashed_attempt_is_an_error_whatever_was_judged(evaluations):
    assert attempt_outcome(evaluations, crashed=True) is ERROR


@given(st.lists(st.sampled_from(Outcome)))
def test_pass_means_that_everything_passed(evaluations):
    assert (attempt_outcome(evaluations) is PASS) == (bool(evaluations) and set(evaluations) == {PASS})


@pytest.mark.parametrize(
    ("passed", "failed", "outcome"),
    [
        (3, 0, ScenarioOutcome.PASS),
        (0, 1, ScenarioOutcome.FAIL),
        (2, 1, ScenarioOutcome.FLAKY),
        (0, 0, ScenarioOutcome.UNKNOWN),
    ],
)
def test_scenario_outcome(passed, failed, outcome):
    assert scenario_outcome(passed=passed, failed=failed) is outcome
