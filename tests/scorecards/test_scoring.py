from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecards.level_changes import Cause, Direction, ScoredReview, compare_reviews
from scorecards.rubric import Dimension, Practice, Rubric, RubricStatus, Shows, shipped_rubric
from scorecards.scoring import (
    Assessment,
    BarOutcome,
    DimensionScore,
    EvidenceLink,
    Grade,
    PracticeState,
    Standing,
    assess_dimension,
    assess_review,
)

MET, NOT_MET, NOT_SEEN, NOT_APPLICABLE = PracticeState
DESIGN, OPERATION = Shows

DIMENSION = Dimension(
    id="guards",
    title="Guards",
    weight=60,
    question="Is it guarded?",
    states=("No", "One", "Some"),
    practices=(
        Practice("rules", 3, "There are rules.", DESIGN),
        Practice("tried", 3, "They were tried.", OPERATION),
        Practice("owned", 4, "They have an owner.", DESIGN),
        Practice("proven", 4, "They held.", OPERATION),
        Practice("attacked", 5, "Outsiders attacked.", OPERATION),
    ),
)
OTHER = replace(DIMENSION, id="costs", title="Costs", weight=40, practices=(Practice("capped", 3, "Capped.", DESIGN),))
RUBRIC = Rubric(
    id="ours",
    version="1.0.0",
    status=RubricStatus.DRAFT,
    title="Ours",
    bar=3,
    bar_by_tier={"high": 4},
    dimensions=(DIMENSION, OTHER),
    sha256="",
)
LEVEL_THREE = {"rules": MET, "tried": MET}
LEVEL_FOUR = LEVEL_THREE | {"owned": MET, "proven": MET}
OBSERVED_THREE = (
    EvidenceLink("rules", Grade.OBSERVED, DESIGN),
    EvidenceLink("tried", Grade.OBSERVED, OPERATION),
)
VERIFIED_FOUR = (
    *OBSERVED_THREE,
    EvidenceLink("owned", Grade.VERIFIED, DESIGN),
    EvidenceLink("proven", Grade.VERIFIED, OPERATION),
)


def guards(level, practices=None, evidence=()):
    return DimensionScore("guards", level, practices=practices or {}, evidence=evidence)


def costs(level=3, *, evidence=True):
    links = (EvidenceLink("capped", Grade.OBSERVED, DESIGN),) if evidence else ()
    return DimensionScore("costs", level, practices={"capped": MET}, evidence=links)


def without_level(dimension_id, assessment):
    return DimensionScore(dimension_id, assessment=assessment)


def ids(practices):
    return [practice.id for practice in practices]


# Does the level hold?


@pytest.mark.parametrize(
    ("practices", "allowed"),
    [
        ({}, 2),
        ({"rules": MET}, 2),
        ({"rules": MET, "tried": NOT_MET}, 2),
        ({"rules": MET, "tried": NOT_SEEN}, 2),
        (LEVEL_THREE, 3),
        ({"rules": MET, "tried": NOT_APPLICABLE}, 3),
        ({"rules": NOT_APPLICABLE, "tried": NOT_APPLICABLE}, 2),
        ({"owned": MET, "proven": MET}, 2),
        (LEVEL_FOUR, 4),
        (LEVEL_THREE | {"owned": NOT_APPLICABLE, "proven": NOT_APPLICABLE}, 3),
        (LEVEL_FOUR | {"attacked": MET}, 5),
        (LEVEL_FOUR | {"attacked": NOT_APPLICABLE}, 4),
        (LEVEL_THREE | {"attacked": MET}, 3),
    ],
)
def test_practices_are_cumulative_from_level_three(practices, allowed):
    assert assess_dimension(DIMENSION, guards(3, practices)).allowed_level == allowed


def test_the_practices_that_contradict_the_level_are_named():
    result = assess_dimension(DIMENSION, guards(4, {"rules": MET, "tried": NOT_MET, "owned": MET}))

    assert not result.holds
    assert ids(result.contradicting) == ["tried", "proven"]


def test_a_practice_above_the_level_does_not_contradict_it():
    result = assess_dimension(DIMENSION, guards(3, LEVEL_THREE | {"owned": NOT_MET}))

    assert result.holds
    assert result.contradicting == ()


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_state_holds_without_practices_and_carries_no_standing(level):
    result = assess_dimension(DIMENSION, guards(level))

    assert result.holds
    assert result.standing is None
    assert result.lacking == ()


def test_practices_may_bear_more_than_the_level_that_was_set():
    result = assess_dimension(DIMENSION, guards(2, LEVEL_THREE))

    assert (result.score.level, result.allowed_level) == (2, 3)


# On evidence, or asserted?


def test_level_three_stands_on_observed_evidence():
    result = assess_dimension(DIMENSION, guards(3, LEVEL_THREE, OBSERVED_THREE))

    assert result.standing is Standing.ON_EVIDENCE


def test_level_four_stands_on_verified_evidence():
    result = assess_dimension(DIMENSION, guards(4, LEVEL_FOUR, VERIFIED_FOUR))

    assert result.standing is Standing.ON_EVIDENCE


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (None, "no evidence supports it"),
        (EvidenceLink("tried", Grade.DECLARED, OPERATION), "its best evidence is declared; observed is needed"),
        (EvidenceLink("tried", Grade.VERIFIED, DESIGN), "its evidence shows the design, not that it happened"),
        (EvidenceLink("tried", Grade.VERIFIED, OPERATION, supports=False), "no evidence supports it"),
    ],
)
def test_a_level_is_asserted_and_says_which_practice_lacks_what(link, reason):
    evidence = (OBSERVED_THREE[0], *([link] if link else []))

    result = assess_dimension(DIMENSION, guards(3, LEVEL_THREE, evidence))

    assert result.standing is Standing.ASSERTED
    assert [(lacking.practice.id, lacking.reason) for lacking in result.lacking] == [("tried", reason)]


def test_observed_is_not_enough_at_level_four():
    evidence = (*VERIFIED_FOUR[:3], EvidenceLink("proven", Grade.OBSERVED, OPERATION))

    (lacking,) = assess_dimension(DIMENSION, guards(4, LEVEL_FOUR, evidence)).lacking

    assert lacking.reason == "its best evidence is observed; verified is needed"


def test_grade_and_operation_come_from_one_item():
    evidence = (
        *VERIFIED_FOUR[:3],
        EvidenceLink("proven", Grade.VERIFIED, DESIGN),
        EvidenceLink("proven", Grade.OBSERVED, OPERATION),
    )

    assert assess_dimension(DIMENSION, guards(4, LEVEL_FOUR, evidence)).standing is Standing.ASSERTED


def test_a_practice_above_the_level_needs_no_evidence():
    result = assess_dimension(DIMENSION, guards(3, LEVEL_FOUR, OBSERVED_THREE))

    assert result.standing is Standing.ON_EVIDENCE


def test_a_level_whose_practices_were_not_seen_is_asserted():
    result = assess_dimension(DIMENSION, guards(3))

    assert result.standing is Standing.ASSERTED
    assert result.lacking == ()
    assert ids(result.contradicting) == ["rules", "tried"]


def test_evidence_against_a_met_practice_is_told():
    against = EvidenceLink("rules", Grade.OBSERVED, DESIGN, supports=False)

    result = assess_dimension(DIMENSION, guards(3, LEVEL_THREE, (*OBSERVED_THREE, against)))

    assert ids(result.disputed) == ["rules"]
    assert result.standing is Standing.ON_EVIDENCE


def test_evidence_for_the_dimension_as_a_whole_names_no_practice():
    whole = EvidenceLink("", Grade.VERIFIED, OPERATION)

    assert assess_dimension(DIMENSION, guards(3, LEVEL_THREE, (whole,))).standing is Standing.ASSERTED


def test_an_unknown_practice_or_dimension_is_refused():
    with pytest.raises(ValueError, match="guards has no practice ghost"):
        assess_dimension(DIMENSION, guards(3, {"ghost": MET}))
    with pytest.raises(ValueError, match="has no dimension ghosts"):
        assess_review(RUBRIC, [DimensionScore("ghosts", 3)])


def test_a_level_belongs_to_a_scored_dimension_only():
    with pytest.raises(ValueError, match="a level belongs to a scored dimension"):
        DimensionScore("guards")
    with pytest.raises(ValueError, match="a level belongs to a scored dimension"):
        DimensionScore("guards", 3, Assessment.NOT_APPLICABLE)
    with pytest.raises(ValueError, match="6 is no level"):
        DimensionScore("guards", 6)


# The bar


def test_met_on_evidence():
    bar = assess_review(RUBRIC, [guards(3, LEVEL_THREE, OBSERVED_THREE), costs()]).bar

    assert (bar.outcome, bar.words) == (BarOutcome.MET, "met")


def test_met_on_assertion_only_names_the_dimensions():
    bar = assess_review(RUBRIC, [guards(3, LEVEL_THREE, OBSERVED_THREE), costs(evidence=False)]).bar

    assert (bar.outcome, bar.words) == (BarOutcome.MET_ON_ASSERTION, "met on assertion only: Costs")


def test_not_met_names_the_failing_dimensions_even_while_others_are_open():
    bar = assess_review(RUBRIC, [guards(2)]).bar

    assert (bar.outcome, bar.words) == (BarOutcome.NOT_MET, "not met: Guards")
    assert [dimension.id for dimension in bar.undecided] == ["costs"]


def test_a_dimension_without_a_score_leaves_the_verdict_undecided():
    bar = assess_review(RUBRIC, [guards(4, LEVEL_FOUR, VERIFIED_FOUR)]).bar

    assert (bar.outcome, bar.words) == (BarOutcome.UNDECIDED, "undecided: Costs")


def test_a_dimension_that_is_not_applicable_does_not_count():
    scores = [guards(3, LEVEL_THREE, OBSERVED_THREE), without_level("costs", Assessment.NOT_APPLICABLE)]

    assert assess_review(RUBRIC, scores).bar.outcome is BarOutcome.MET


def test_a_review_in_which_nothing_applies_is_undecided():
    scores = [without_level(name, Assessment.NOT_APPLICABLE) for name in ("guards", "costs")]

    result = assess_review(RUBRIC, scores)

    assert result.bar.outcome is BarOutcome.UNDECIDED
    assert (result.overall.exact, result.overall.percentage) == (None, "no applicable dimension")


def test_verdict_on_every_applicable_dimension_names_none():
    rubric = shipped_rubric()
    scores = [DimensionScore(dimension.id, 2) for dimension in rubric.dimensions]
    assert assess_review(rubric, scores).bar.words == "not met: all 8 dimensions"
    assert assess_review(rubric, []).bar.words == "undecided: all 8 dimensions"

    one_out = [*scores[:-1], without_level(scores[-1].dimension_id, Assessment.NOT_APPLICABLE)]
    assert assess_review(rubric, one_out).bar.words == "not met: all 7 applicable dimensions"


def test_a_higher_tier_has_a_higher_bar():
    scores = [guards(3, LEVEL_THREE, OBSERVED_THREE), costs()]

    result = assess_review(RUBRIC, scores, tier="high")

    assert result.bar.words == "not met: Guards, Costs"
    assert result.overall.at_the_bar == "80% = every dimension exactly at the bar"


# The overall


def test_every_dimension_at_the_bar_is_60_percent():
    scores = [DimensionScore(dimension.id, 3) for dimension in shipped_rubric().dimensions]

    overall = assess_review(shipped_rubric(), scores).overall

    assert (overall.exact, overall.percentage) == (Fraction(3, 5), "60%")
    assert overall.at_the_bar == "60% = every dimension exactly at the bar"
    assert overall.basis == "over 8 of 8 dimensions, weight 100 of 100"


def test_weights_by_hand():
    """(60·4 + 40·1) / (5·100)."""
    assert assess_review(RUBRIC, [guards(4), costs(1)]).overall.exact == Fraction(280, 500)


def test_not_applicable_leaves_both_sums_and_is_said():
    scores = [DimensionScore(dimension.id, 3) for dimension in shipped_rubric().dimensions[:-1]]
    scores.append(without_level("governance", Assessment.NOT_APPLICABLE))

    overall = assess_review(shipped_rubric(), scores).overall

    assert overall.exact == Fraction(3, 5)
    assert overall.basis == "over 7 of 8 dimensions, weight 90 of 100"


def test_not_assessed_gives_a_range():
    """Missing as 0: 60·4/500; missing as 5: (60·4 + 40·5)/500."""
    overall = assess_review(RUBRIC, [guards(4)]).overall

    assert overall.value_range == (Fraction(240, 500), Fraction(440, 500))
    assert (overall.exact, overall.percentage) == (None, "48%–88%")


@given(st.lists(st.none() | st.integers(0, 5), min_size=8, max_size=8), st.integers(0, 7))
def test_assessing_one_more_dimension_narrows_the_range(levels, place):
    dimensions = shipped_rubric().dimensions
    scored = [DimensionScore(d.id, level) for d, level in zip(dimensions, levels, strict=True) if level is not None]
    fewer = [score for score in scored if score.dimension_id != dimensions[place].id]

    low, high = assess_review(shipped_rubric(), scored).overall.value_range
    wide_low, wide_high = assess_review(shipped_rubric(), fewer).overall.value_range

    assert 0 <= wide_low <= low <= high <= wide_high <= 1


@given(st.permutations([guards(4, LEVEL_FOUR, VERIFIED_FOUR), costs(2)]))
def test_order_of_scores_changes_nothing(scores):
    result = assess_review(RUBRIC, scores)

    assert [row.dimension.id for row in result.dimensions] == ["guards", "costs"]
    assert result.overall.exact == Fraction(320, 500)


# Two reviews


def changes(before, after, *, causes=None, rubric_after=RUBRIC):
    compared = compare_reviews(
        ScoredReview(RUBRIC, tuple(before)), ScoredReview(rubric_after, tuple(after)), causes=causes
    )
    return {change.dimension.id: change for change in compared}


@pytest.mark.parametrize(
    ("levels", "cause", "direction", "words"),
    [
        ((2, 3), Cause.AGENT_CHANGED, Direction.BETTER, "2 → 3, better: the agent changed"),
        ((3, 1), Cause.AGENT_CHANGED, Direction.WORSE, "3 → 1, worse: the agent changed"),
        ((2, 3), Cause.KNOW_MORE, Direction.DIFFERS, "2 → 3, we know more"),
        ((3, 2), Cause.EVIDENCE_EXPIRED, Direction.DIFFERS, "3 → 2, evidence expired"),
        ((3, 2), None, Direction.DIFFERS, "3 → 2, no cause given"),
        ((3, 3), None, Direction.UNCHANGED, "3, unchanged"),
    ],
)
def test_only_a_changed_agent_is_better_or_worse(levels, cause, direction, words):
    causes = {"guards": cause} if cause else None

    change = changes([guards(levels[0])], [guards(levels[1])], causes=causes)["guards"]

    assert (change.direction, change.words) == (direction, words)
    assert change.change == levels[1] - levels[0]


def test_practices_gained_are_told_even_where_the_level_stands():
    change = changes([guards(3, LEVEL_THREE)], [guards(3, {"rules": MET, "owned": MET})])["guards"]

    assert change.direction is Direction.UNCHANGED
    assert (ids(change.gained), ids(change.lost)) == (["owned"], ["tried"])


def test_other_wording_cannot_be_compared_and_both_texts_are_at_hand():
    reworded = replace(DIMENSION.practices[0], text="There are rules for each tool.")
    dimension = replace(DIMENSION, practices=(reworded, *DIMENSION.practices[1:]))
    rubric = replace(RUBRIC, version="1.1.0", dimensions=(dimension, OTHER))

    change = changes(
        [guards(3, {"rules": MET})],
        [guards(4, LEVEL_FOUR)],
        causes={"guards": Cause.AGENT_CHANGED},
        rubric_after=rubric,
    )["guards"]

    assert change.direction is Direction.NOT_COMPARABLE
    assert change.change is None
    assert change.words == "not comparable: its states or practices are worded differently"
    assert (change.before.practices[0].text, change.after.practices[0].text) == (
        "There are rules.",
        "There are rules for each tool.",
    )
    assert ids(change.gained) == ["tried", "owned", "proven"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([], [guards(3)], "not comparable: not assessed in the earlier review"),
        (
            [guards(3)],
            [without_level("guards", Assessment.NOT_APPLICABLE)],
            "not comparable: not applicable in the later review",
        ),
    ],
)
def test_a_dimension_without_a_level_cannot_be_compared(before, after, words):
    assert changes(before, after)["guards"].words == words


def test_dimensions_of_one_rubric_only_are_listed_too():
    rubric = replace(RUBRIC, version="2.0.0", dimensions=(DIMENSION, replace(OTHER, id="spend")))

    compared = changes([guards(3), costs(2)], [guards(3)], rubric_after=rubric)

    assert list(compared) == ["guards", "spend", "costs"]
    assert compared["spend"].words == "not comparable: the earlier rubric, ours@1.0.0, does not have it"
    assert compared["costs"].words == "not comparable: the later rubric does not have it"
    assert compared["costs"].level_before == 2
