"""Levels from review to review, and the chart's geometry."""

from datetime import date

import pytest
from msgspec.structs import replace

from reliability.marks.histories import LevelPoint, level_history
from scorecards.level_history import trace_history


def point(month: int, level: int | None, **more) -> LevelPoint:
    return LevelPoint(date(2026, month, 1), f"review {month}", level, **more)


def test_points_stand_in_time_at_their_levels():
    drawn = level_history([point(3, 5), point(1, 0), point(2, 3)])
    assert [dot.y for dot in drawn.dots] == [drawn.bottom, drawn.bar_y, drawn.top]
    assert [dot.x for dot in drawn.dots] == sorted(dot.x for dot in drawn.dots)
    assert len(drawn.lines) == 1


def test_gap_and_other_wording_break_the_line():
    drawn = level_history([point(1, 1), point(2, 2), point(3, None), point(4, 3), point(5, 3, comparable=False)])
    assert len(drawn.lines) == 1
    assert len(drawn.dots) == 4
    assert len(drawn.breaks) == 1
    assert drawn.sentence.endswith("now at or above the bar of 3; not comparable with before: review 5.")


def test_single_and_missing_levels_are_drawn():
    assert level_history([point(1, 2)]).lines == ()
    assert level_history([point(1, None)]).sentence == "Never assessed."


def test_asserted_levels_are_hollow():
    assert [dot.hollow for dot in level_history([point(1, 3, basis="asserted"), point(2, 3)]).dots] == [True, False]


@pytest.mark.django_db
def test_history_follows_each_dimension(spring, autumn):
    history = trace_history([autumn, spring])
    guardrails = next(d for d in history.dimensions if d.title == "Guardrails")
    assert [p.level for p in guardrails.points] == [1, 2]
    assert [p.at for p in guardrails.points] == [date(2026, 4, 24), date(2026, 10, 30)]
    assert history.rubric_changes == ()


@pytest.mark.django_db
def test_rubric_changes_are_marked(spring, autumn):
    dimensions = [replace(d, states=["x", "y", "z"]) if d.id == "recovery" else d for d in autumn.rubric.dimensions]
    rubric = replace(autumn.rubric, version="1.1.0", sha256="f" * 64, dimensions=dimensions)
    history = trace_history([spring, replace(autumn, rubric=rubric)])
    assert [(c.number, c.after) for c in history.rubric_changes] == [(2, "agent-reliability-default@1.1.0")]
    comparable = {d.title: d.points[1].comparable for d in history.dimensions}
    assert comparable["Failure handling and incidents"] is False
    assert comparable["Guardrails"] is True
