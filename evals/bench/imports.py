"""Imports, timed: from a stored file to committed rows and class results, and through the door as a whole."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from backports.zstd import zipfile as zip_files
from django.core.files.storage import storages
from django.test import Client as Browser

from evals.bench.bare import measure_bare_rows
from evals.bench.inputs import inspect_archive, ndjson, promptfoo_document
from evals.bench.lines import Line, measure_seconds
from evals.importing import run_import
from evals.models import Agent, Import, ImportState
from evals.options import ImportOptions
from evals.storing import receive_chunks
from evals.submitting import submit_artifact
from reliability.access import Standing

WHOLE_DOCUMENTS = 5_000


def submit(standing: Standing, agent: Agent, chunks: Iterable[bytes], name: str) -> Import:
    """Return a job whose artifact is stored and which nobody has begun."""
    return submit_artifact(standing, agent, receive_chunks(iter(chunks)), ImportOptions(commit=f"bench {name}")).job


def measure_import(job: Import) -> tuple[float, Import]:
    """Return seconds from the stored file to committed rows and class results, and the finished job."""
    seconds = measure_seconds(lambda: run_import(job.pk))
    return seconds, finished(job)


def finished(job: Import) -> Import:
    job = Import.objects.select_related("run").get(pk=job.pk)
    if job.state != ImportState.DONE:
        raise RuntimeError(f"{job.state}: {job.detail}")
    return job


def bench_lines(standing: Standing, agent: Agent, number: int, most: float) -> Line:
    seconds, job = measure_import(submit(standing, agent, ndjson(number), f"{number} lines"))
    return Line(f"import of {number:,} evaluations, NDJSON, file to rows", seconds, measure_bare_rows(job), most)


def bench_upload(agent: Agent, secret: str, number: int) -> Line:
    """Through the API: upload, hashing, import and answer."""
    body = b"".join(ndjson(number))
    browser = Browser(headers={"Authorization": f"Bearer {secret}"})
    answers: list[Any] = []

    def upload() -> None:
        address = f"/api/v1/agents/{agent.slug}/runs?wait=25&commit=upload"
        answers.append(browser.post(address, data=body, content_type="application/octet-stream"))

    seconds = measure_seconds(upload)
    job = finished(Import.objects.get(pk=answers[0].json()["id"]))
    return Line(f"upload of {number:,} evaluations through the API", seconds, measure_bare_rows(job), 2.0)


def bench_whole_documents(standing: Standing, agent: Agent) -> Iterable[Line]:
    """Formats that are read whole, against decoding them with the standard library and COPYing their rows."""
    yield _whole(standing, agent, "promptfoo", promptfoo_document(WHOLE_DOCUMENTS), _decode_json)
    yield _whole(standing, agent, "Inspect .eval", inspect_archive(WHOLE_DOCUMENTS), _decode_archive)


def _whole(standing: Standing, agent: Agent, name: str, content: bytes, decode: Callable[[Path], object]) -> Line:
    job = submit(standing, agent, [content], name)
    path = Path(storages["default"].path(job.artifact.path if job.artifact else ""))
    seconds, job = measure_import(job)
    decoding = measure_seconds(lambda: decode(path))
    named = f"{name}, {WHOLE_DOCUMENTS:,} rows, {len(content) / 1e6:.0f} MB"
    return Line(named, seconds, decoding + measure_bare_rows(job), 3.0)


def _decode_json(path: Path) -> object:
    return json.loads(path.read_bytes())


def _decode_archive(path: Path) -> object:
    with zip_files.ZipFile(path) as archive:
        return [json.loads(archive.read(name)) for name in archive.namelist()]
