"""Canonical JSON: the number examples are those of RFC 8785, appendix B."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.canonical import canonical_json, canonical_sha256

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1424953923781206.2, "1424953923781206.2"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (1e30, "1e+30"),
        (100, "100"),
        (2**60, "1152921504606846976"),
    ],
)
def test_numbers_print_as_in_javascript(number, text):
    assert canonical_json(number).decode() == text


def test_members_are_sorted_by_utf_16():
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    order = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(value))) == order


def test_texts_escape_only_what_must_be():
    assert canonical_json('\u20ac$\x0f\nA\'B"\\\\"/').decode() == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'


def test_order_of_members_and_kind_of_number_do_not_matter():
    assert canonical_sha256({"a": 1, "b": [True, None]}) == canonical_sha256({"b": [True, None], "a": 1.0})
    assert canonical_sha256({"a": 1}) != canonical_sha256({"a": "1"})


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_non_finite_numbers_have_no_form(number):
    with pytest.raises(ValueError, match="canonical"):
        canonical_json(number)


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_it_stays_the_same_value(value):
    assert json.loads(canonical_json(value), parse_int=float) == value  # as JavaScript reads it
