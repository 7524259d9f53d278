"""HTML to PDF; the only module that knows WeasyPrint. Nothing but our own fonts and style sheet is ever fetched."""

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weasyprint import CSS, HTML
from weasyprint.text.fonts import FontConfiguration
from weasyprint.urls import URLFetcher, URLFetcherResponse

from scorecards.reports.fonts import FAMILIES, FOLDER, Face, choose_faces, part_spaces

STYLE_SHEET = FOLDER.parent / "css" / "report.css"
PAPERS = {"a4": "A4", "letter": "letter"}
VARIANT = "pdf/ua-1"  # tagged, so that it can be read aloud
PAGE_STEP = re.compile(r"Step 5 .* Page (\d+)")


@dataclass(frozen=True, slots=True)
class Pdf:
    body: bytes
    pages: int


class Refused(ValueError):
    """Something in the HTML asked for a file or a host."""


class OurFilesOnly(URLFetcher):  # type: ignore[misc]  # untyped
    """Opens files of our font folder, by their real path; refuses everything else, whatever the scheme."""

    def fetch(self, url: str, headers: object = None) -> URLFetcherResponse:
        parts = urlsplit(url)
        path = Path(unquote(parts.path)) if parts.scheme == "file" and not parts.netloc else None
        if path is None or not path.resolve().is_relative_to(FOLDER):
            raise Refused("a report fetches nothing but its own fonts")
        return URLFetcherResponse(url, path.read_bytes())


def render_pdf(html: str, *, paper: str, identifier: str, on_progress: Callable[[str], None] | None = None) -> Pdf:
    """Lay out and write a document. The same HTML, paper and identifier give the same bytes.

    `on_progress` hears in words what is being done, at least once a page; what it raises ends the work.
    """
    faces = choose_faces(html)
    fonts, sheets = _prepare(faces, paper)
    html = part_spaces(html) if FAMILIES["CJK"] in faces else html
    with _listening(on_progress):
        document = HTML(string=html, url_fetcher=OurFilesOnly(), base_url=None).render(
            font_config=fonts, stylesheets=list(sheets), pdf_variant=VARIANT
        )
        body = document.write_pdf(pdf_variant=VARIANT, pdf_identifier=identifier.encode())
    return Pdf(body=body, pages=len(document.pages))


@lru_cache(maxsize=4)
def _prepare(faces: tuple[Face, ...], paper: str) -> tuple[FontConfiguration, tuple[CSS, ...]]:
    """Load fonts and style sheet once for a process: unpacking a font takes longer than setting a page."""
    fonts = _load_fonts(faces)
    size = f"@page {{ size: {PAPERS[paper]} }}"
    sheets = (CSS(string=STYLE_SHEET.read_text(), font_config=fonts), CSS(string=size, font_config=fonts))
    return fonts, sheets


@lru_cache(maxsize=2)
def _load_fonts(faces: tuple[Face, ...]) -> FontConfiguration:
    fonts = FontConfiguration()
    CSS(string="\n".join(face.rule for face in faces), font_config=fonts, url_fetcher=OurFilesOnly())
    return fonts


@contextmanager
def _listening(on_progress: Callable[[str], None] | None) -> Iterator[None]:
    """Pass WeasyPrint's own log of its steps on, for this thread alone."""
    if on_progress is None:
        yield
        return
    logger = logging.getLogger("weasyprint.progress")
    handler = _Progress(on_progress)
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Progress(logging.Handler):
    def __init__(self, on_progress: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._on_progress, self._thread = on_progress, threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if threading.get_ident() != self._thread:
            return
        step = record.getMessage()
        if found := PAGE_STEP.match(step):
            self._on_progress(f"Setting page {found[1]}")
        elif step.startswith("Step 6"):
            self._on_progress("Writing the file")
