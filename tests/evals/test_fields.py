"""Codes of closed sets of words: what stands in the table."""

from enum import StrEnum

import pytest

from evals.codes import mask_of, set_of, words_of
from evals.fields import CodeField, code_of
from evals.records import AttemptStatus, Category, Containment, Decision, Expectation, Outcome


def test_equal_words_of_different_enums_keep_their_own_codes() -> None:
    denied = [AttemptStatus.DENIED, Decision.DENIED, Expectation.DENIED, AttemptStatus.DENIED]

    assert [code_of(member) for member in denied] == [2, 2, 2, 2]
    paused = [AttemptStatus.PAUSED, Decision.PAUSED, Expectation.PAUSED]
    assert [code_of(member) for member in paused] == [3, 3, 3]
    completed = [AttemptStatus.COMPLETED, Expectation.COMPLETED, AttemptStatus.ESCALATED, Expectation.ESCALATED]
    assert [code_of(member) for member in completed] == [1, 1, 4, 4]


class First(StrEnum):
    A = "a"
    B = "b"


class Second(StrEnum):
    B = "b"
    A = "a"


def test_codes_follow_the_enum_and_not_the_word() -> None:
    assert [code_of(First.A), code_of(Second.A), code_of(First.B), code_of(Second.B)] == [1, 2, 2, 1]


def test_containment_codes_grow_from_proven_to_breached() -> None:
    assert code_of(Containment.PROVEN) < code_of(Containment.UNPROVEN) < code_of(Containment.BREACHED)


def test_field_turns_words_into_codes_and_back() -> None:
    field = CodeField(Outcome, null=True)

    assert [field.get_prep_value(value) for value in (Outcome.FAIL, "FAIL", 2, None)] == [2, 2, 2, None]
    assert [field.to_python(value) for value in (2, "FAIL", None)] == [Outcome.FAIL, Outcome.FAIL, None]
    with pytest.raises(ValueError, match="MAYBE"):
        field.get_prep_value("MAYBE")


def test_category_sets_survive_as_bits() -> None:
    for mask in range(16):
        assert mask_of(set_of(mask)) == mask
    assert words_of(mask_of(frozenset([Category.COST, Category.SECURITY]))) == "security, cost"
    assert words_of(0) == "no category"
