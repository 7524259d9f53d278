"""How words from elsewhere are shown."""

import re

from django import template
from django.template.defaultfilters import stringfilter

register = template.Library()

TITLE_WORD = re.compile(r"(?<!^)\b[A-Z](?=[a-z]+\b)")


@register.filter(is_safe=True)
@stringfilter
def sentence_case(text: str) -> str:
    """Return "Two-Factor Authentication" as "Two-factor authentication"; TOTP and GitHub stay as they are."""
    return TITLE_WORD.sub(lambda initial: initial[0].lower(), " ".join(text.split()))
