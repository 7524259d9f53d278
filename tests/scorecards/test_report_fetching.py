"""Nothing in anybody's text makes the renderer fetch a file or a host, and nothing breaks."""

import io
import socket
from typing import Any

import msgspec
import pypdf
import pytest

from scorecards.reports.fonts import FOLDER
from scorecards.reports.pdf import OurFilesOnly, Refused, render_pdf
from scorecards.snapshot_reading import Snapshot
from tests.scorecards.reading_pdf import pages_of, pdftotext, render, short

pytestmark = pytest.mark.django_db  # for the snapshots alone
HOSTILE = (
    '<img src="file:///etc/passwd"> ![x](http://127.0.0.1:9/x.png) [file](file:///etc/passwd) '
    '<style>@import url("http://127.0.0.1:9/a.css"); body { background: url(file:///etc/hostname) }</style>'
    '<link rel="stylesheet" href="http://127.0.0.1:9/b.css"><link rel="attachment" href="file:///etc/passwd">'
    '<svg><image href="file:///etc/passwd"/><use href="http://127.0.0.1:9/c.svg#x"/></svg>'
    '<object data="file:///etc/passwd"></object><iframe src="http://127.0.0.1:9/"></iframe></table></section>'
    "{% include 'x' %}{{ settings.SECRET_KEY }}\u202e\x0b\ufffe"
)
FREE_TEXTS = frozenset(
    [
        "name",
        "purpose",
        "owner",
        "repository",
        "risk_tier",
        "supersedes_because",
        "what_changed",
        "agent_versions",
        "model",
        "environment",
        "intended_use",
        "permitted_users",
        "void_if",
        "summary",
        "limitations",
        "method",
        "participants",
        "reasons",
        "override_reason",
        "override_by",
        "words",
        "rationale",
        "reason",
        "lacking",
        "scored_by",
        "confirmed_by",
        "claim",
        "source_words",
        "by",
        "how",
        "class_id",
        "scenario",
        "url",
        "file_name",
        "interviewee",
        "text",
        "seen",
        "matters",
        "cause",
        "severity",
        "accepted_by",
        "title",
        "suite",
        "suite_version",
        "agent_version",
        "commit",
        "branch",
        "session_reason",
        "format",
        "parser_version",
        "taxonomy_version",
        "indicator",
        "evaluator",
        "question",
        "published_by",
    ]
)


@pytest.fixture
def nothing_fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what is asked for beside our fonts; opening a socket fails the test."""
    asked: list[str] = []
    opened = OurFilesOnly.fetch

    def fetch(self: Any, url: str, headers: object = None) -> Any:
        if not url.startswith(FOLDER.as_uri()):
            asked.append(url)
        return opened(self, url, headers)

    def connect(*arguments: Any) -> None:
        raise AssertionError(f"a connection was opened: {arguments[1:]}")

    monkeypatch.setattr(OurFilesOnly, "fetch", fetch)
    monkeypatch.setattr(socket.socket, "connect", connect)
    return asked


def poisoned(snapshot: Snapshot) -> Snapshot:
    """Put the hostile text into every text that somebody may write."""

    def walk(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: walk(entry, key) for key, entry in value.items()}
        if isinstance(value, list):
            return [walk(entry, name) for entry in value]
        free = name in FREE_TEXTS | {"main_flows", "top_risks", "notes", "consultancy", "states", "level_words"}
        return HOSTILE if isinstance(value, str) and value and free else value

    return msgspec.convert(walk(msgspec.to_builtins(snapshot)), Snapshot)


def test_hostile_texts_fetch_nothing_and_break_nothing(autumn, nothing_fetched):
    text = pdftotext(render(short(poisoned(autumn))))
    assert nothing_fetched == []
    assert "root:x:" not in text
    assert "Appendix D. Revisions" in text
    assert "{{ settings.SECRET_KEY }}" in " ".join(text.split())


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="file:///etc/passwd" alt="x">',
        '<img src="http://127.0.0.1:9/x.png" alt="x">',
        '<img src="data:image/png;base64,AAAA" alt="x">',
        '<link rel="stylesheet" href="file:///etc/passwd">',
        '<style>@import url("http://127.0.0.1:9/a.css")</style>',
        '<style>p { background: url("file:///etc/passwd") }</style><p>x</p>',
        '<style>@font-face { font-family: F; src: url("file:///etc/passwd") } p { font-family: F }</style><p>x</p>',
        '<link rel="attachment" href="file:///etc/passwd">',
        '<a rel="attachment" href="file:///etc/passwd">x</a>',
        '<svg width="9" height="9"><image href="file:///etc/passwd" width="9" height="9"/></svg>',
        '<svg width="9" height="9"><use href="http://127.0.0.1:9/c.svg#x"/></svg>',
        '<object data="file:///etc/passwd">x</object><embed src="http://127.0.0.1:9/">',
    ],
)
def test_markup_that_asks_for_a_file_or_a_host_gets_nothing(markup, monkeypatch):
    """Even if such markup came through, the fetcher refuses it; the document is made without."""

    def connect(*arguments: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", connect)
    html = f'<html lang="en"><title>t</title><p>before</p>{markup}<p>after</p></html>'
    made = render_pdf(html, paper="a4", identifier="x")
    assert "before" in pages_of(made)[0]
    assert "after" in pages_of(made)[0]
    assert pypdf.PdfReader(io.BytesIO(made.body)).attachments == {}


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "file://example.org/x",
        f"{FOLDER.as_uri()}/../../pyproject.toml",
        f"{FOLDER.as_uri()}/%2e%2e/css/report.css",
        "http://example.org/",
        "https://example.org/",
        "ftp://example.org/",
        "data:text/plain,x",
        "gopher://x",
        "//example.org/x",
        "report.css",
    ],
)
def test_fetcher_refuses(url):
    with pytest.raises(Refused):
        OurFilesOnly().fetch(url)


def test_fetcher_opens_our_fonts():
    assert OurFilesOnly().fetch(f"{FOLDER.as_uri()}/IBMPlexSans-Regular.woff2").status == 200
