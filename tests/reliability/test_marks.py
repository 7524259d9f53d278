"""The marks say what their numbers say: geometry to scale, one plain sentence, the same bytes every time."""

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import pytest
from django.template import Context, Template, TemplateSyntaxError

from evals.measures.display import format_rate
from reliability.marks import (
    ProfileRow,
    Score,
    TrendEvent,
    TrendPoint,
    budget_bar,
    level_scale,
    profile,
    result_bar,
    trend,
)
from reliability.marks.drawing import dots, hatch
from reliability.marks.wording import decimal, percent


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    unknown: int = 0
    error: int = 0


def drawn(source, **context):
    return Template("{% load marks %}" + source).render(Context(context))


# --- result bar


def test_result_bar_orders_parts_and_draws_them_to_scale():
    bar = result_bar(Counts(passed=50, failed=20, unknown=20, error=10), width=103)
    assert [part.outcome for part in bar.parts] == ["PASS", "UNKNOWN", "ERROR", "FAIL"]
    assert [part.width for part in bar.parts] == [50, 20, 10, 20]
    assert [part.x for part in bar.parts] == [0, 51, 72, 83]


def test_result_bar_keeps_three_pixels_for_one_failure_in_a_million():
    bar = result_bar(Counts(passed=999_999, failed=1), width=240)
    assert [part.width for part in bar.parts] == [236, 3]
    assert bar.parts[-1].x + bar.parts[-1].width == 240


def test_result_bar_gives_least_widths_to_several_small_parts():
    bar = result_bar(Counts(passed=100_000, failed=1, unknown=1, error=1), width=100)
    assert sum(part.width for part in bar.parts) + 3 == pytest.approx(100)
    assert [part.width for part in bar.parts] == [88, 3, 3, 3]


def test_result_bar_leaves_out_what_did_not_occur():
    bar = result_bar(Counts(passed=30))
    assert [(part.outcome, part.width) for part in bar.parts] == [("PASS", 240)]
    assert bar.words == "30 PASS, 0 FAIL"


def test_result_bar_sets_the_interval_on_a_scale_of_the_whole_bar():
    bar = result_bar(Counts(passed=1, failed=1), interval=(Fraction(1, 4), Fraction(3, 4)), width=200)
    assert (bar.whisker.low, bar.whisker.rate, bar.whisker.high) == (50, 100, 150)


def test_result_bar_keeps_whisker_ends_inside():
    bar = result_bar(Counts(passed=30), interval=(0.0, 1.0), width=200)
    assert (bar.whisker.low, bar.whisker.rate, bar.whisker.high) == (0.5, 198, 199.5)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (Counts(), "No results yet, so nothing can be said about reliability."),
        (
            Counts(unknown=12),
            "0 PASS, 0 FAIL, 12 UNKNOWN, of 12: no determinate results, so nothing can be said about reliability.",
        ),
        (Counts(passed=1, error=9), "1 PASS, 0 FAIL, 9 ERROR, of 10: 100% of 1 determinate results passed."),
        (
            Counts(passed=1030, failed=41, unknown=16),
            "1,030 PASS, 41 FAIL, 16 UNKNOWN, of 1,087: 96.2% of 1,071 determinate results passed.",
        ),
    ],
)
def test_result_bar_sentence(counts, sentence):
    assert result_bar(counts).sentence == sentence


def test_result_bar_sentence_names_the_interval():
    bar = result_bar(Counts(passed=10), interval=(Fraction(722, 1000), Fraction(1)))
    assert bar.sentence.endswith("100% of 10 determinate results passed, 95% interval 72.2% to 100%.")


def test_result_bar_without_results_says_so_in_words():
    assert result_bar(Counts()).words == "no results yet"


# --- level scale


def test_level_scale_spaces_six_positions_evenly_with_the_bar_at_three():
    scale = level_scale(4, width=114)
    assert scale.steps == ((0, 7), (1, 27), (2, 47), (3, 67), (4, 87), (5, 107))
    assert (scale.bar_x, scale.x) == (67, 87)


@pytest.mark.parametrize(
    ("level", "basis", "previous", "words", "sentence"),
    [
        (4, "evidence", 3, "3 → 4", "Level 4 of 5, above the bar of 3, on evidence; it was 3."),
        (3, "asserted", 3, "3, asserted", "Level 3 of 5, at the bar of 3, asserted only; unchanged from 3."),
        (0, "evidence", None, "0", "Level 0 of 5, below the bar of 3, on evidence."),
        (None, "not_assessed", 2, "not assessed", "Not assessed; it was 2."),
        (None, "not_applicable", None, "not applicable", "Not applicable."),
        (None, "evidence", None, "not assessed", "Not assessed."),
    ],
)
def test_level_scale_says_how_a_level_stands(level, basis, previous, words, sentence):
    scale = level_scale(level, basis=basis, previous=previous)
    assert (scale.words, scale.sentence) == (words, sentence)


def test_level_scale_refuses_an_unknown_basis():
    with pytest.raises(ValueError, match="'guessed' is none of evidence"):
        level_scale(3, basis="guessed")


# --- trend


def points(*values):
    return [TrendPoint(date(2026, 1, 1 + i), value, volume=10) for i, value in enumerate(values)]


def test_trend_breaks_line_where_there_was_no_evidence():
    drawing = trend(points(0.9, 0.8, None, 0.7, 0.9))
    assert len(drawing.lines) == 2
    assert len(drawing.dots) == 4
    assert drawing.sentence == "From 90% on 1 Jan 2026 to 90% on 5 Jan 2026; 1 without evidence."


def test_trend_puts_higher_shares_higher_and_later_days_further_right():
    low, high = trend(points(0.5, 1.0)).dots
    assert low.x < high.x
    assert low.y > high.y


def test_trend_sizes_points_by_area():
    drawing = trend([TrendPoint(date(2026, 1, 1), 0.9, volume=25), TrendPoint(date(2026, 1, 2), 0.9, volume=100)])
    assert [dot.radius for dot in drawing.dots] == [3.5, 5]


def test_trend_draws_the_band_only_where_intervals_are_known():
    drawing = trend([TrendPoint(date(2026, 1, 1), 0.9, 0.8, 0.95), TrendPoint(date(2026, 1, 2), None)])
    assert len(drawing.bands) == 1
    assert drawing.bands[0].endswith("Z")


def test_trend_floor_shows_every_interval_and_the_target():
    drawing = trend([TrendPoint(date(2026, 1, 1), 0.95, 0.86, 0.99)], target=Fraction(7, 10))
    assert [label.text for label in drawing.grid] == ["70%", "85%", "100%"]
    assert drawing.target.text == "target 70%"


def test_trend_staggers_labels_of_close_events():
    events = [TrendEvent(date(2026, 1, 2), "version 2"), TrendEvent(date(2026, 1, 3), "model b")]
    labels = trend([*points(0.9), TrendPoint(date(2026, 12, 1), 0.9)], events=events).events
    assert [label.y for label in labels] == [14, 28]


def test_trend_turns_labels_at_the_right_edge():
    events = [TrendEvent(date(2026, 1, 3), "definition of grounded")]
    assert [label.anchor for label in trend(points(0.9, 0.9, 0.9), events=events).events] == ["end"]


def test_trend_without_evidence_says_so():
    assert trend([]).sentence == "No evidence in this period, so there is no trend."
    assert trend(points(None, None)).sentence == "No evidence in this period, so there is no trend."


# --- budget


def test_budget_bar_runs_past_zero_on_the_same_scale():
    bar = budget_bar(1, Fraction(1, 5), width=200)
    assert (bar.allowance, bar.used, bar.over) == (40, 40, 160)
    assert (bar.breached, bar.remaining) == (True, "−400%")
    assert bar.sentence == "1 failure, 0.2 allowed: 5 times the allowance, −400% remaining."


def test_budget_bar_within_the_allowance():
    bar = budget_bar(3, Fraction(10), width=200)
    assert (bar.allowance, bar.used, bar.over, bar.breached) == (200, 60, 0, False)
    assert bar.sentence == "3 failures, 10 allowed: 30% of the allowance used, 70% remaining."


def test_budget_bar_just_used_up_is_not_breached():
    bar = budget_bar(1, Fraction(1))
    assert (bar.breached, bar.remaining, bar.over) == (False, "0%", 0)


@pytest.mark.parametrize(
    ("bad", "breached", "sentence"),
    [(0, False, "No failures, none allowed: intact."), (2, True, "2 failures, none allowed: breached.")],
)
def test_budget_bar_of_a_target_of_100_percent(bad, breached, sentence):
    bar = budget_bar(bad, 0)
    assert (bar.breached, bar.sentence) == (breached, sentence)


# --- profile

ROWS = (
    ProfileRow("Guardrails", (Score(2), Score(3))),
    ProfileRow("Recovery", (Score(1), Score(1, "asserted"))),
    ProfileRow("Governance", (Score(3), Score(None, "not_assessed"))),
    ProfileRow("Cost", (Score(None, "not_applicable"), Score(None, "not_applicable"))),
)


def test_profile_names_what_stands_below_the_bar():
    assert profile(ROWS, reviews=("Jan", "Nov")).sentence == (
        "1 of 3 dimensions reach the bar of 3; below it: Recovery; not assessed: Governance; compared with Jan."
    )


def test_profile_draws_the_newest_last_and_tells_reviews_apart_by_shape():
    line = profile(ROWS, reviews=("Jan", "Nov")).lines[0]
    assert [(mark.shape, mark.faded, mark.title) for mark in line.marks] == [
        ("diamond", True, "Jan: level 2"),
        ("disc", False, "Nov: level 3"),
    ]
    assert line.joined == (line.marks[0].x, line.marks[1].x)


def test_profile_sets_marks_on_one_level_one_above_the_other():
    marks = profile(ROWS).lines[1].marks
    assert marks[0].x == marks[1].x
    assert abs(marks[0].y - marks[1].y) == 9
    assert [mark.hollow for mark in marks] == [False, True]


def test_profile_words():
    assert [line.words for line in profile(ROWS).lines] == ["2 → 3", "1, asserted", "not assessed", "not applicable"]


def test_narrow_profile_sets_names_over_their_rows_and_no_line_through_them():
    drawing = profile(ROWS, width=340)
    assert [line.y - line.name_y for line in drawing.lines] == [20.0] * 4
    assert drawing.steps[5][1] > drawing.steps[0][1] + 150
    assert drawing.bar.count("M") == len(ROWS)
    assert all(line.y == line.name_y for line in profile(ROWS).lines)


def test_profile_refuses_a_fifth_review():
    with pytest.raises(ValueError, match="at most 4 reviews"):
        profile([ProfileRow("Guardrails", (Score(1),) * 5)])


# --- textures and numbers


def test_hatch_stays_inside_its_rectangle():
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", hatch(20, 30))]
    xs, ys = numbers[::2], numbers[1::2]
    assert (min(xs), max(xs)) == (20, 50)
    assert min(ys) >= 0
    assert max(ys) <= 10
    assert hatch(0, 0) == ""


def test_dots_mark_even_the_smallest_part():
    assert dots(10, 3).startswith("M11.7 1.6h.01")
    assert dots(0, 0) == ""


@pytest.mark.parametrize(
    "share", [Fraction(0), Fraction(1, 10_000), Fraction(1, 3), Fraction(9_999, 10_000), Fraction(1)]
)
def test_percent_writes_as_the_measures_do(share):
    assert percent(share) == format_rate(share)


def test_decimal_never_writes_a_false_zero():
    assert [decimal(number) for number in (Fraction(1, 5), Fraction(2), Fraction(1, 100), 0)] == [
        "0.2",
        "2",
        "<0.1",
        "0",
    ]


# --- tags

MARKS = {
    "counts": Counts(passed=41, failed=1, unknown=16, error=3),
    "points": points(0.9, None, 0.8),
    "rows": ROWS,
    "reviews": ("Jan", "Nov"),
    "allowed": Fraction(1, 5),
}
TAGS = (
    "{% result_bar counts %}",
    '{% level_scale 3 "asserted" 2 %}',
    "{% trend points %}",
    "{% budget_bar 1 allowed %}",
    "{% profile rows reviews %}",
)


@pytest.mark.parametrize("tag", TAGS)
def test_every_mark_has_a_text_alternative_and_nothing_that_the_content_policy_refuses(tag):
    markup = drawn(tag, **MARKS)
    assert re.search(r'<svg [^>]*role="img"[^>]*><title>[^<]+\.</title>', markup)
    assert not re.search(r"style=|<style|<script|\bid=|url\(", markup)


@pytest.mark.parametrize("tag", TAGS)
def test_every_shape_has_a_literal_colour_for_the_pdf(tag):
    shapes = re.findall(r"<(?:path|rect|circle|text)\b[^>]*>", drawn(tag, **MARKS))
    assert shapes
    assert [shape for shape in shapes if not re.search(r'(fill|stroke)="#[0-9a-f]{6}"', shape)] == []


@pytest.mark.parametrize("tag", TAGS)
def test_same_numbers_draw_the_same_bytes(tag):
    assert drawn(tag, **MARKS) == drawn(tag, **MARKS)


def test_result_bar_shows_counts_in_words_beside_it():
    markup = drawn("{% result_bar counts %}", **MARKS)
    assert '<span class="mark-words" aria-hidden="true">41 PASS, 1 FAIL, 16 UNKNOWN, 3 ERROR</span>' in markup
    assert "mark-words" not in drawn("{% result_bar counts words=False %}", **MARKS)


@pytest.mark.parametrize(
    ("name", "sign"),
    [("PASS", '<circle class="m-pass"'), ("fail", "ms-fail"), ("UNKNOWN", "stroke-dasharray"), ("ERROR", "m-error")],
)
def test_outcome_is_glyph_and_word(name, sign):
    markup = drawn("{% outcome name %}", name=name)
    assert sign in markup
    assert f"<span>{name.upper()}</span>" in markup
    assert 'aria-hidden="true"' in markup


def test_outcome_without_word_names_itself():
    assert "<title>PASS</title>" in drawn('{% outcome "PASS" word=False %}')


def test_outcome_escapes_its_label():
    assert "<b>" not in drawn("{% outcome 'PASS' label=label %}", label="<b>all</b>")


def test_outcome_refuses_other_words():
    with pytest.raises(TemplateSyntaxError, match="'MAYBE' is none of"):
        drawn('{% outcome "MAYBE" %}')


def test_containment_of_an_attempt_without_one_is_empty():
    assert drawn("{% containment none %}", none=None) == ""
    assert "<span>Proven</span>" in drawn('{% containment "proven" %}')
