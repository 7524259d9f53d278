"""What a report says, before it is set: reasons, numbers of items and steps, unknowns, changes."""

from datetime import date

import pytest
from msgspec.structs import replace

from scorecards.reports.context import ReportContext
from scorecards.reports.reasons import choose_reasons, cut_at_word, split_reasons
from scorecards.reports.unknowns import list_unknowns

pytestmark = pytest.mark.django_db  # for the snapshots alone


def with_reasons(snapshot, reasons):
    return replace(snapshot, recommendation=replace(snapshot.recommendation, reasons=reasons))


def with_score(snapshot, dimension, **fields):
    scores = [replace(s, **fields) if s.dimension == dimension else s for s in snapshot.scores]
    return replace(snapshot, scores=scores)


def sentences(snapshot):
    return [(unknown.about, unknown.sentence) for unknown in list_unknowns(snapshot)]


def test_reasons_are_the_items_of_the_list():
    assert split_reasons("We say no:\n\n1. First *thing*,\n   more of it\n2. Second\n- Third") == [
        "First thing, more of it",
        "Second",
        "Third",
    ]


def test_reasons_without_a_list_are_paragraphs():
    assert split_reasons("One line\nand more.\n\nAnother `one`.") == ["One line and more.", "Another one."]


def test_reasons_are_plain_text():
    assert split_reasons("- <b>bold</b> & [link](https://example.org)") == ["<b>bold</b> & link"]


def test_there_are_three_reasons_even_when_one_was_written(autumn):
    reasons = choose_reasons(with_reasons(autumn, "Guardrails do not hold."))
    assert [reason.text for reason in reasons] == [
        "Guardrails do not hold.",
        "Failure handling and incidents stands at level 1, below the bar of 3.",
        "Regression detection stands at level 2, below the bar of 3.",
    ]


def test_a_fourth_reason_and_a_long_one_are_left_to_the_full_text(autumn):
    reasons = choose_reasons(with_reasons(autumn, "- " + "word " * 100 + "\n- b\n- c\n- d"))
    assert [reason.is_cut for reason in reasons] == [True, False, False]
    assert len(reasons[0].text) <= 180


def test_text_is_cut_after_a_whole_word():
    assert cut_at_word("one two three", 9) == "one two…"
    assert cut_at_word("x" * 20, 5) == "xxxx…"
    assert cut_at_word("short", 5) == "short"


def test_evidence_and_steps_are_numbered_once(autumn):
    report = ReportContext(autumn, "0" * 64)
    assert [numbered.number for numbered in report.evidence] == list(range(1, len(autumn.evidence) + 1))
    of_dimensions = [n.number for page in report.dimensions for n in page.steps]
    assert sorted(of_dimensions) == [numbered.number for numbered in report.steps]


def test_dimension_says_level_change_and_what_is_lacking(autumn):
    pages = {page.dimension.id: page for page in ReportContext(autumn, "").dimensions}
    assert pages["guardrails"].standing_words == "Level 2 of 5, below the bar of 3"
    assert pages["guardrails"].change_words == "1 → 2: the agent changed"
    assert pages["human_control"].basis_words == "asserted, not on evidence"
    assert [line.mark.lacking for line in pages["human_control"].lacking] != []
    assert pages["recovery"].is_unchanged


def test_the_three_steps_of_the_executive_page_are_the_most_urgent_open_ones(autumn):
    report = ReportContext(autumn, "")
    assert [n.step.text for n in report.important_steps] == [step.text for step in autumn.open_steps[:3]]
    assert [n.is_overdue for n in report.important_steps] == [
        step.due < date(2026, 10, 30) for step in autumn.open_steps[:3]
    ]


def test_first_review_has_no_earlier_levels(spring, autumn):
    assert ReportContext(spring, "").profile_reviews == ["Review 1"]
    assert ReportContext(autumn, "").profile_reviews == ["Review 1", "Review 2"]


def test_unknowns_name_what_runs_and_scores_do_not_show(autumn):
    found = sentences(autumn)
    assert ("nightly-1", "6 of 193 evaluations are UNKNOWN: nothing was decided.") in found
    assert ("nightly-1", "2 attempts missing: planned, and never recorded.") in found
    asserted = "Level 3 is asserted: its evidence does not reach what it claims."
    assert ("Human oversight and control", asserted) in found
    assert ("Runs", "Every run is scripted: none of them says what happens in live traffic.") in found


def test_not_assessed_and_not_applicable_are_unknowns(autumn):
    changed = with_score(autumn, "recovery", standing="not_assessed", level=None, basis="", reason="No access.")
    changed = with_score(changed, "governance", standing="not_applicable", level=None, basis="", reason="One tool.")
    found = sentences(changed)
    assert ("Failure handling and incidents", "Not assessed. No access.") in found
    said = "Not applicable. One tool. One person says so; no second person confirmed it."
    assert ("Data, identity and change governance", said) in found


def test_without_runs_the_report_says_so(autumn):
    assert sentences(replace(autumn, runs=[]))[-1] == (
        "Runs",
        "This review rests on no evaluation run that may be shown.",
    )


def test_only_what_is_published_has_no_watermark(autumn):
    assert ReportContext(autumn, "").watermark == ""
    assert ReportContext(replace(autumn, kind="fact_check"), "").watermark == "Fact check"
    draft = replace(autumn, revision=replace(autumn.revision, published_at=None))
    assert ReportContext(draft, "").watermark == "Draft"
