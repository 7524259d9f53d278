from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures.comparability import DefinitionFacts, RunFacts
from evals.measures.comparison import (
    Bucket,
    ScenarioResult,
    Verdict,
    choose_bucket,
    compare_runs,
    mcnemar_exact,
)
from evals.measures.outcomes import ScenarioOutcome
from evals.records import Mode, Origin, Session

PASS, FAIL, FLAKY, UNKNOWN = ScenarioOutcome
FACTS = RunFacts(suite="governance", mode=Mode.SCRIPTED, origin=Origin.OBSERVED)


def results(*outcomes, variant="", prefix="case"):
    return [ScenarioResult(f"{prefix}-{place:03}", outcome, variant) for place, outcome in enumerate(outcomes)]


def compare(a, b, facts_a=FACTS, facts_b=FACTS):
    return compare_runs(a, b, facts_a=facts_a, facts_b=facts_b)


@pytest.mark.parametrize(
    ("a", "b", "bucket"),
    [
        (FAIL, PASS, Bucket.FIXED),
        (PASS, FAIL, Bucket.NEWLY_FAILING),
        (FAIL, FAIL, Bucket.STILL_FAILING),
        (PASS, PASS, Bucket.STILL_PASSING),
        (FLAKY, FLAKY, Bucket.FLAKY),
        (FLAKY, PASS, Bucket.FLAKY),
        (PASS, FLAKY, Bucket.FLAKY),
        (UNKNOWN, FLAKY, Bucket.FLAKY),
        (PASS, UNKNOWN, Bucket.BECAME_UNKNOWN),
        (FAIL, UNKNOWN, Bucket.BECAME_UNKNOWN),
        (FLAKY, UNKNOWN, Bucket.BECAME_UNKNOWN),
        (UNKNOWN, UNKNOWN, Bucket.STILL_UNKNOWN),
        (UNKNOWN, PASS, Bucket.BECAME_KNOWN),
        (UNKNOWN, FAIL, Bucket.BECAME_KNOWN),
        (UNKNOWN, None, Bucket.ONLY_IN_A),
        (None, FLAKY, Bucket.ONLY_IN_B),
    ],
)
def test_choose_bucket(a, b, bucket):
    assert choose_bucket(a, b) is bucket


def test_a_scenario_in_neither_run_has_no_bucket():
    with pytest.raises(ValueError, match="at least one run"):
        choose_bucket(None, None)


def test_every_scenario_is_in_exactly_one_bucket():
    sides = [side for side in product([*ScenarioOutcome, None], repeat=2) if side != (None, None)]
    a = [ScenarioResult(str(place), of_a) for place, (of_a, _) in enumerate(sides) if of_a]
    b = [ScenarioResult(str(place), of_b) for place, (_, of_b) in enumerate(sides) if of_b]

    comparison = compare(a, b)

    assert sum(comparison.counts.values()) == len(sides) == len(comparison.scenarios)
    assert set(comparison.counts) == set(Bucket)
    assert len(comparison.in_bucket(Bucket.ONLY_IN_B)) == 4


def test_flaky_and_unknown_scenarios_leave_the_test_and_are_counted():
    comparison = compare(results(PASS, FAIL, FLAKY, UNKNOWN), results(PASS, PASS, PASS, PASS, PASS))

    assert (comparison.pairs, comparison.dropped) == (2, 2)
    assert comparison.counts[Bucket.ONLY_IN_B] == 1


@pytest.mark.parametrize(
    ("outcome", "errors", "shown"),
    [
        (UNKNOWN, 0, "unknown"),
        (UNKNOWN, 1, "error"),
        (PASS, 1, "pass"),
        (FAIL, 2, "fail"),
        (FLAKY, 1, "flaky"),
    ],
)
def test_error_is_shown_only_where_nothing_decided(outcome, errors, shown):
    assert ScenarioResult("case", outcome, errors=errors).shown == shown


def test_error_and_unknown_share_a_bucket_and_stay_apart_in_it():
    crashed, undecided = ScenarioResult("x", UNKNOWN, errors=3), ScenarioResult("y", UNKNOWN)

    comparison = compare([crashed, undecided], [ScenarioResult("x", UNKNOWN), undecided])

    assert comparison.split(Bucket.STILL_UNKNOWN) == ({"error": 1, "unknown": 1}, {"unknown": 2})


def test_one_variant_on_each_side_pairs_whatever_its_name():
    comparison = compare(results(PASS, variant="model-a"), results(FAIL, variant="model-b"))

    (scenario,) = comparison.scenarios
    assert scenario.bucket is Bucket.NEWLY_FAILING
    assert (scenario.a.variant, scenario.b.variant) == ("model-a", "model-b")


def test_several_variants_pair_by_name():
    a = results(PASS, variant="small") + results(FAIL, variant="large")
    b = results(PASS, variant="large")

    comparison = compare(a, b)

    assert comparison.counts[Bucket.FIXED] == 1
    assert comparison.in_bucket(Bucket.ONLY_IN_A)[0].latest.variant == "small"


def test_the_same_scenario_twice_in_one_run_is_refused():
    with pytest.raises(ValueError, match="occurs twice"):
        compare(results(PASS) + results(FAIL), [])


def test_two_named_suites_share_no_scenario():
    comparison = compare(results(PASS), results(FAIL), FACTS, RunFacts(suite="smoke"))

    assert comparison.counts[Bucket.ONLY_IN_A] == comparison.counts[Bucket.ONLY_IN_B] == 1
    assert comparison.verdict is Verdict.NOT_COMPARABLE
    assert comparison.differences[0].sentence == "The suite differs: governance in A, smoke in B."


def test_an_unknown_suite_is_ignored():
    comparison = compare(results(PASS), results(FAIL), FACTS, RunFacts(suite=""))

    assert comparison.is_comparable
    assert comparison.counts[Bucket.NEWLY_FAILING] == 1


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (RunFacts(mode=Mode.LIVE), "mode"),
        (RunFacts(origin=Origin.SYNTHETIC), "origin"),
        (RunFacts(is_invalidated=True), "invalidated"),
    ],
)
def test_a_hard_difference_forbids_a_verdict_and_keeps_the_buckets(facts, name):
    comparison = compare(results(*[FAIL] * 9), results(*[PASS] * 9), FACTS, facts)

    assert [difference.name for difference in comparison.differences if difference.hard] == [name]
    assert comparison.verdict is Verdict.NOT_COMPARABLE
    assert comparison.counts[Bucket.FIXED] == 9


def test_notes_stand_beside_a_verdict():
    facts = RunFacts(suite="governance", model="other", session=Session.ABORTED, missing_attempts=1)

    comparison = compare(results(*[FAIL] * 9), results(*[PASS] * 9), RunFacts(model="one"), facts)

    assert comparison.verdict is Verdict.BETTER
    assert [difference.sentence for difference in comparison.differences] == [
        "The model differs: one in A, other in B.",
        "Run B is not complete: its session is aborted.",
        "Run B has 1 attempt missing.",
    ]


def facts_with(*definitions):
    return RunFacts(definitions=frozenset(DefinitionFacts(*definition) for definition in definitions))


def test_an_indicator_measured_otherwise_is_a_hard_difference():
    a, b = facts_with(("grounded", "d1", "judge 1")), facts_with(("grounded", "d2", "judge 2"))

    comparison = compare(results(PASS), results(PASS), a, b)

    assert not comparison.is_comparable
    assert (
        comparison.differences[0].sentence == "grounded is measured by other definitions: judge 1 in A, judge 2 in B."
    )


def test_definitions_of_one_name_are_told_apart_by_their_digests():
    a = facts_with(("Contains", "1a2b3c4d5e6f7a8b", "Contains"))
    b = facts_with(("Contains", "9f8e7d6c5b4a3928", "Contains"))

    assert compare(results(PASS), results(PASS), a, b).differences[0].sentence == (
        "Contains is measured by other definitions: Contains (definition 1a2b3c4d5e6f) in A, "
        "Contains (definition 9f8e7d6c5b4a) in B. Where evaluator and version are the same, "
        "the configuration (or being deterministic) differs."
    )


def test_a_definition_more_of_the_same_indicator_is_a_note():
    a, b = facts_with(("row", "d1")), facts_with(("row", "d1"), ("row", "d2"))

    comparison = compare(results(PASS), results(PASS), a, b)

    assert comparison.is_comparable
    assert comparison.differences[0].sentence.startswith("row is measured partly by other definitions")


def test_an_indicator_on_one_side_is_a_note():
    a, b = facts_with(("row", "d1")), facts_with(("row", "d1"), ("denied(pay)", "d2"))

    assert [d.sentence for d in compare([], [], a, b).differences] == ["Only run B measures denied(pay)."]


def test_a_scenario_judged_otherwise_leaves_the_test():
    a = [ScenarioResult("x", PASS, definitions=frozenset({"d1"})), *results(FAIL)]
    b = [ScenarioResult("x", FAIL, definitions=frozenset({"d2"})), *results(PASS)]

    comparison = compare(a, b)

    assert (comparison.pairs, comparison.dropped) == (1, 1)
    assert comparison.counts[Bucket.NEWLY_FAILING] == 1
    assert comparison.differences[0].sentence == "1 of 2 shared scenarios judged by other definitions in B than in A."
    assert comparison.is_comparable


@pytest.mark.parametrize(
    ("fixed", "newly_failing", "p"),
    [
        (0, 0, Fraction(1)),
        (1, 0, Fraction(1)),
        (5, 0, Fraction(1, 16)),
        (6, 0, Fraction(1, 32)),
        (1, 7, Fraction(9, 128)),  # 2·(1 + 8)/256
        (1, 8, Fraction(5, 128)),  # 2·(1 + 9)/512
        (4, 4, Fraction(1)),
    ],
)
def test_mcnemar_by_hand(fixed, newly_failing, p):
    assert mcnemar_exact(fixed, newly_failing) == p


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_symmetric_and_matches_its_definition(fixed, newly_failing):
    changes = fixed + newly_failing
    tail = sum(comb(changes, k) for k in range(min(fixed, newly_failing) + 1))

    assert mcnemar_exact(fixed, newly_failing) == mcnemar_exact(newly_failing, fixed)
    assert mcnemar_exact(fixed, newly_failing) == min(1, Fraction(2 * tail, 2**changes))


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([], [], Verdict.NOTHING_SHARED),
        ([UNKNOWN], [PASS], Verdict.NOTHING_SHARED),
        ([PASS] * 40, [PASS] * 40, Verdict.TOO_FEW_CHANGES),
        ([FAIL] * 5, [PASS] * 5, Verdict.TOO_FEW_CHANGES),
        ([FAIL] * 6, [PASS] * 6, Verdict.BETTER),
        ([PASS] * 6, [FAIL] * 6, Verdict.WORSE),
        ([PASS] * 3 + [FAIL] * 4, [FAIL] * 3 + [PASS] * 4, Verdict.NO_DIFFERENCE_SHOWN),
    ],
)
def test_verdict(a, b, verdict):
    assert compare(results(*a), results(*b)).verdict is verdict


@given(st.lists(st.sampled_from(ScenarioOutcome), max_size=12), st.randoms(use_true_random=False))
def test_order_of_scenarios_changes_nothing(outcomes, random):
    a, b = results(*outcomes), results(*reversed(outcomes))
    shuffled = list(a)
    random.shuffle(shuffled)

    assert compare(shuffled, b) == compare(a, b)
