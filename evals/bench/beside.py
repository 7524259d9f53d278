"""What an import costs others: the memory of its worker, and how long pages take meanwhile. Each import runs in a
process of its own, as a worker's does."""

import os
import subprocess
import sys
import time

from django.db import connection
from django.test import Client as Browser

from evals.bench.imports import submit
from evals.bench.inputs import ndjson, promptfoo_document
from evals.bench.lines import Line, measure_median
from evals.models import Agent, Import, Run
from reliability.access import Standing
from reliability.models import User

MIB = 1024 * 1024


def bench_memory(standing: Standing, agent: Agent, most: int) -> list[Line]:
    """Peaks of a fresh worker: 10k lines against 150 MiB, `most` against 10k + 16, a document against its size."""
    small = peak_of(submit(standing, agent, ndjson(10_000), "memory 10k"))
    large = peak_of(submit(standing, agent, ndjson(most), "memory large"))
    document = promptfoo_document(5_000)
    whole = peak_of(submit(standing, agent, [document], "memory document"))
    return [
        Line("peak of a worker, 10,000 evaluations, against 150 MiB", small, 150, 1.0, "MiB"),
        Line(f"peak of a worker, {most:,}, against 10,000 + 16 MiB", large, small + 16, 1.0, "MiB"),
        Line("peak, promptfoo, against 60 MiB + 5 × its size", whole, 60 + 5 * len(document) / MIB, 1.0, "MiB"),
    ]


def peak_of(job: Import) -> float:
    """Return the peak memory of a process that does nothing but this import, in MiB."""
    done = _start(job)
    said, _ = done.communicate()
    return float(said.split()[-1])


def _start(job: Import) -> "subprocess.Popen[str]":
    database = connection.settings_dict
    place = f"{database['HOST'] or '127.0.0.1'}:{database['PORT'] or 5432}/{database['NAME']}"
    user = database["USER"] + (f":{database['PASSWORD']}" if database["PASSWORD"] else "")
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "manage.py", "bench", "--import", str(job.pk)],
        env=os.environ | {"DATABASE_URL": f"postgres://{user}@{place}"},
        stdout=subprocess.PIPE,
        text=True,
    )


def bench_page_meanwhile(standing: Standing, agent: Agent, run: Run, reader: User, number: int) -> Line:
    """Median of a run's page while a large import runs, against its idle median."""
    browser = Browser()
    browser.force_login(reader)

    def read() -> None:
        if browser.get(run.get_absolute_url()).status_code != 200:
            raise RuntimeError("the run's page can't be read")

    idle = measure_median(read, times=50, clock=time.perf_counter)
    worker = _start(submit(standing, agent, ndjson(number), "meanwhile"))
    time.sleep(3)  # until it has begun
    busy = measure_median(read, times=50, clock=time.perf_counter)
    if worker.poll() is not None:
        raise RuntimeError("the import ended before the page was measured: take a larger one")
    worker.communicate()
    return Line(f"run page while {number:,} evaluations are imported", busy, idle, 2.0)
