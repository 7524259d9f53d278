"""Geometry of the five marks (LOOK): numbers in, coordinates and one plain sentence out; page and PDF draw the same."""

from .budgets import BudgetBar, budget_bar
from .levels import LevelScale, level_scale
from .profiles import Profile, ProfileRow, Score, profile
from .results import HasCounts, ResultBar, result_bar
from .trends import Trend, TrendEvent, TrendPoint, trend

__all__ = [
    "BudgetBar",
    "HasCounts",
    "LevelScale",
    "Profile",
    "ProfileRow",
    "ResultBar",
    "Score",
    "Trend",
    "TrendEvent",
    "TrendPoint",
    "budget_bar",
    "level_scale",
    "profile",
    "result_bar",
    "trend",
]
