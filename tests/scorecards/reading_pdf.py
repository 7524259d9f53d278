"""Renders snapshots in tests, whole or cut down, and reads the PDF back."""

import io
import re
import subprocess

import pypdf
from msgspec.structs import replace

from scorecards.reports.html import render_html
from scorecards.reports.pdf import Pdf, render_pdf
from scorecards.snapshot_reading import Snapshot

SHA = "ab" * 32


def render(snapshot: Snapshot, paper: str = "a4", sha256: str = SHA) -> Pdf:
    return render_pdf(render_html(snapshot, sha256=sha256), paper=paper, identifier=sha256)


def pages_of(made: Pdf) -> list[str]:
    """Return the text of each page with runs of white space as one space."""
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(made.body)).pages]


def pdftotext(made: Pdf, *options: str) -> str:
    """Return the text as poppler reads it: it knows the code maps of CJK fonts, and where each word stands."""
    read = subprocess.run(["pdftotext", *options, "-", "-"], input=made.body, capture_output=True, check=True)
    return read.stdout.decode()


def squeezed(text: str) -> str:
    """Without white space: a line may end anywhere."""
    return re.sub(r"\s+", "", text)


def short(snapshot: Snapshot) -> Snapshot:
    """One dimension, one run, one item: enough where it is not about the whole."""
    wanted = {snapshot.evidence[0].run} if snapshot.evidence else set()
    scores = [score for score in snapshot.scores if score.dimension == "eval_coverage"]
    runs = [replace(run, classes=run.classes[:1]) for run in snapshot.runs if run.id in wanted]
    rubric = replace(snapshot.rubric, dimensions=[d for d in snapshot.rubric.dimensions if d.id == "eval_coverage"])
    return replace(
        snapshot, rubric=rubric, scores=scores, runs=runs, evidence=snapshot.evidence[:1], steps=snapshot.steps[:1]
    )


def thin(snapshot: Snapshot) -> Snapshot:
    """All dimensions, and nothing under them."""
    dimensions = [replace(dimension, practices=[]) for dimension in snapshot.rubric.dimensions]
    rubric = replace(snapshot.rubric, dimensions=dimensions)
    return replace(snapshot, rubric=rubric, runs=[], evidence=[])
