"""Words that come from elsewhere."""

import pytest

from reliability.templatetags.display import sentence_case


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Two-Factor Authentication", "Two-factor authentication"),
        ("  Email Addresses\n", "Email addresses"),
        ("Re-send Verification", "Re-send verification"),
        ("Set up TOTP with GitHub", "Set up TOTP with GitHub"),
        ("Remember Me", "Remember me"),
        ("", ""),
    ],
)
def test_sentence_case_lowers_title_case_only(text, shown):
    assert sentence_case(text) == shown
