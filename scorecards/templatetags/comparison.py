"""Tags of the pages that look back: levels over time, changes in words."""

from collections.abc import Sequence

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from reliability.marks.histories import LevelPoint
from reliability.marks.histories import level_history as draw

register = template.Library()


@register.simple_tag
def level_history(points: Sequence[LevelPoint], *, width: int = 260, height: int = 104) -> SafeString:
    """Levels of one dimension from review to review."""
    return render_to_string("marks/level_history.html", {"h": draw(points, width=width, height=height)})
