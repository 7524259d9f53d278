"""The report read back: what it holds, that it is the same bytes each time, and that it stays readable."""

import io
import re
from datetime import UTC, datetime

import pypdf
import pytest
from msgspec.structs import replace

from scorecards.reports.fonts import PLEX, choose_faces
from scorecards.reports.html import render_html
from scorecards.reports.pdf import Pdf, render_pdf
from scorecards.snapshot_reading import Snapshot, read_snapshot
from tests.scorecards.reading_pdf import SHA, pages_of, pdftotext, render, short, squeezed, thin

pytestmark = pytest.mark.django_db  # for the snapshots alone


@pytest.fixture(scope="module")
def made(autumn: Snapshot, autumn_sha256: str) -> Pdf:
    return render(autumn, sha256=autumn_sha256)


@pytest.fixture(scope="module")
def pages(made: Pdf) -> list[str]:
    return pages_of(made)


def test_cover_names_client_agent_date_answer_and_house_only(pages):
    assert pages[0] == (
        "Acme Mail Order Support agent Reliability review 2 30 Oct 2026 Recommendation Not ready Reliability Snapshot"
    )


def test_executive_page_stands_alone(pages, autumn):
    page = pages[1]
    assert "Not ready" in page
    assert autumn.verdict.words in page
    assert "Two injected instructions reached the e-mail tool" in page
    assert "Deny e-mails to addresses" in page
    assert autumn.overall.percentage not in page


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_executive_page_stays_one_page_with_the_longest_texts(autumn, paper):
    steps = [replace(step, text="Write " * 200, owner="Somebody " * 60) for step in autumn.steps]
    reasons = "\n".join("- " + "because of this " * 60 for _ in range(4))
    verdict = replace(autumn.verdict, words="not met: " + ", ".join(d.title for d in autumn.rubric.dimensions))
    answer = replace(autumn.recommendation, reasons=reasons, override_reason="On balance " * 90, override_by="Erin")
    shown = thin(replace(autumn, steps=steps, recommendation=answer, verdict=verdict))
    text = pages_of(render(shown, paper))
    assert "Not ready" in text[1]
    assert "Contents" in text[2]


def test_contents_name_the_pages(made, pages):
    outline = [entry for entry in pypdf.PdfReader(io.BytesIO(made.body)).outline if not isinstance(entry, list)]
    reader = pypdf.PdfReader(io.BytesIO(made.body))
    places = {entry.title: reader.get_destination_page_number(entry) + 1 for entry in outline}
    for title in ("Guardrails", "Results of the runs", "Appendix C. Sources"):
        assert re.search(rf"{title}[ .]+{places[title]}\b", pages[2]), title


def test_each_dimension_says_everything(pages, autumn):
    text = squeezed(" ".join(pages))
    for score in autumn.scores:
        assert squeezed(autumn.title_of(score.dimension)) in text
        for practice in autumn.dimension(score.dimension).practices:
            assert squeezed(practice.text) in text
    assert squeezed("asserted, not on evidence") in text
    assert squeezed("Lacking:") in text


def test_numbers_are_those_of_page_and_api(pages, autumn):
    """Page and API print the snapshot's own measures; so does the report, line by line."""
    text = squeezed(" ".join(pages))
    for run in autumn.runs:
        for words in (run.measure.counts_words, run.attempts.range_words, run.attempts.execution_words):
            assert squeezed(words) in text
        # A run of several measurements has no rate, not even in the sentence of its bar.
        assert (squeezed(run.measure.interval_words) in text) is run.has_rate
        for line in run.classes:
            counts = line.measure.counts
            numbers = f"{counts.passed}{counts.failed}{counts.unknown}{counts.error}"
            rate = "none" if line.measure.reliability is None else line.measure.reliability_words
            assert numbers + squeezed(rate) in text, line.title


def test_sources_are_named_with_their_hashes(pages, autumn, autumn_sha256):
    text = squeezed(" ".join(pages))
    assert autumn_sha256 in text
    assert autumn.rubric.sha256 in text
    assert f"{autumn.audit.count}:{autumn.audit.head}" in text
    for run in autumn.runs:
        assert run.id in text
        assert all(artifact.sha256 in text for artifact in run.artifacts)


def test_every_page_but_the_cover_has_its_head_and_foot(pages, autumn_sha256):
    for number, page in enumerate(pages[1:], start=2):
        assert "Acme Mail Order · Support agent · Review 2, revision 1" in page
        assert f"Page {number} of {len(pages)}" in page
        assert f"Snapshot {autumn_sha256[:12]}" in page


def test_file_is_tagged_titled_and_dated_from_the_publication(made, autumn):
    reader = pypdf.PdfReader(io.BytesIO(made.body))
    assert reader.root_object["/MarkInfo"]["/Marked"]
    assert reader.root_object["/Lang"] == "en"
    assert reader.metadata is not None
    assert reader.metadata.title == "Support agent: reliability review 2 for Acme Mail Order"
    assert reader.metadata.creation_date == autumn.revision.published_at.replace(microsecond=0)


def test_same_snapshot_gives_the_same_bytes(made, autumn, autumn_sha256):
    assert render(autumn, sha256=autumn_sha256).body == made.body


def test_renderer_has_nothing_to_complain_about(autumn, caplog):
    render(autumn)
    assert [record.getMessage() for record in caplog.records if record.name == "weasyprint"] == []


def test_papers_have_their_sizes(made, autumn):
    def size(one: Pdf) -> tuple[int, int]:
        box = pypdf.PdfReader(io.BytesIO(one.body)).pages[0].mediabox
        return round(box.width), round(box.height)

    assert size(made) == (595, 842)
    assert size(render(short(autumn), "letter")) == (612, 792)


def test_other_scripts_are_drawn_without_a_missing_glyph(autumn, caplog):
    words = "Łódź Привет Việt Ελλάδα مرحبا שלום नमस्ते สวัสดี 你好 こんにちは 안녕 ∀x∈ℝ ● ◌ ▲ ✕ ✓"
    texts = replace(autumn.texts, summary=words, method=f"**{words}**", limitations=f"`{words}`")
    shown = render(short(replace(autumn, texts=texts)))
    text = pdftotext(shown)
    assert "Łódź Привет Việt Ελλάδα" in text
    assert "你好 こんにちは" in text
    assert [r.getMessage() for r in caplog.records if "notdef" in r.getMessage()] == []


def test_faces_are_loaded_only_for_what_is_written():
    assert choose_faces("Ganz gewöhnlich – “so”.") == PLEX
    assert [face.family for face in choose_faces("שלום")][-1] == "Noto Sans Hebrew"


def test_fact_checks_and_drafts_are_watermarked(autumn):
    published_at = None
    draft = replace(autumn, revision=replace(autumn.revision, published_at=published_at))
    for snapshot, word in ((replace(autumn, kind="fact_check"), "Fact check, not"), (draft, "Draft, not")):
        assert all(word in page for page in pages_of(render(short(snapshot))))


def test_fact_check_without_levels_tells_none(autumn):
    scores = [replace(s, level=None, previous_level=None, basis="", cause="", cause_words="") for s in autumn.scores]
    answer = replace(autumn.recommendation, value="", words="", reasons="", override_reason="")
    shown = replace(
        autumn, kind="fact_check", levels_shown=False, verdict=None, overall=None, scores=scores, recommendation=answer
    )
    text = " ".join(pages_of(render(thin(shown))))
    assert "Level 2 of 5" not in text
    assert "stands at level" not in text


def test_term_of_two_lines_keeps_apart_from_the_heading_after_it(autumn):
    """The term floats: beside one line of text its second line would stand at the heading."""
    made = render(short(replace(autumn, subject=replace(autumn.subject, void_if="None."))))
    page = next(page for page in pdftotext(made, "-bbox").split("<page ") if ">Main<" in page)
    ends = [float(end) for end in re.findall(r'yMax="([\d.]+)">answer<', page)]
    start = float(re.findall(r'yMin="([\d.]+)" xMax="[\d.]+" yMax="[\d.]+">Main<', page)[0])
    assert start - max(ends) > 10


@pytest.mark.parametrize("how", ["Read the log.", "Read the log"])
def test_what_verified_an_item_ends_before_what_was_run_again(autumn, how):
    item = next(item for item in autumn.evidence if item.verification)
    checked = replace(item.verification, how=how, rerun=13, rerun_of=13, agreed=12)
    items = [replace(one, verification=checked) if one is item else one for one in autumn.evidence]
    text = " ".join(pages_of(render(replace(autumn, evidence=items, runs=[], steps=[]))))
    assert "Read the log. 13 of 13 scenarios re-run, 12 agreed." in text


def test_long_words_stay_on_the_page(autumn):
    """Text beyond the right edge would lie outside the media box."""
    word = "x" * 3000
    texts = replace(autumn.texts, summary=word, limitations=f"| a | b |\n|---|---|\n| {word} | {word} |")
    item = replace(autumn.evidence[0], url="https://example.org/" + "a" * 1500, source="link", claim=word)
    shown = replace(autumn, texts=texts, evidence=[item, *autumn.evidence[1:]])
    made = render(short(shown))
    places = re.findall(r'xMax="([\d.]+)"', pdftotext(made, "-bbox"))
    assert max(map(float, places)) < 595
    assert squeezed(" ".join(pages_of(made))).count("x" * 40) > 100


def test_huge_texts_are_set(autumn):
    texts = replace(autumn.texts, summary="A paragraph that goes on. " * 60, method="Word " * 12_000)
    assert render(short(replace(autumn, texts=texts))).pages > 30


def test_progress_is_told_page_by_page(autumn):
    told: list[str] = []
    render_pdf(render_html(short(autumn), sha256=SHA), paper="a4", identifier=SHA, on_progress=told.append)
    assert "Setting page 1" in told
    assert told[-1] == "Writing the file"


def test_what_progress_raises_ends_the_work(autumn):
    class Stop(Exception):
        pass

    def stop(phase: str) -> None:
        raise Stop

    with pytest.raises(Stop):
        render_pdf(render_html(short(autumn), sha256=SHA), paper="a4", identifier=SHA, on_progress=stop)


def test_days_are_those_of_utc(autumn, settings):
    settings.TIME_ZONE = "Pacific/Auckland"
    late = datetime(2026, 10, 30, 23, 30, tzinfo=UTC)
    html = render_html(replace(autumn, revision=replace(autumn.revision, published_at=late)), sha256=SHA)
    assert "published 30 Oct 2026" in html


def test_report_is_made_from_bytes_alone(snapshot_bodies, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert render(read_snapshot(snapshot_bodies[0])).pages > 10
