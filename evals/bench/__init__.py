"""Speed and memory as ratios in one run. The targets are those of the design; nothing is asserted here."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from django.core.files.storage import storages
from django.db import connection
from django.test import Client as Browser

from evals.bench.beside import bench_memory, bench_page_meanwhile
from evals.bench.imports import bench_lines, bench_upload, bench_whole_documents, measure_import, submit
from evals.bench.inputs import ndjson
from evals.bench.lines import Line, measure_median
from evals.models import Agent
from reliability.access import enter_with_token
from reliability.models import Client, Scope, Token, User
from reliability.people import issue_token


def run_bench(numbers: list[int], say: Callable[[str], object]) -> bool:
    """Measure and print each line; return whether every target was met."""
    lines = []
    try:
        for line in _measured(numbers):
            lines.append(line)
            say(str(line))
    finally:
        for client in Client.objects.all():
            shutil.rmtree(storages["default"].path(str(client.pk)), ignore_errors=True)
    say(f"peak memory of this process: {peak_memory():.0f} MiB")
    return all(line.is_met for line in lines)


def _measured(numbers: list[int]) -> Iterator[Line]:
    agent, token, secret = make_ground("bench")
    standing = enter_with_token(token)
    _, warm = measure_import(submit(standing, agent, ndjson(100), "warm"))
    is_postgres = connection.vendor == "postgresql"
    for number in numbers:
        most = (2.0 if number <= 10_000 else 1.5) if is_postgres else 3.0
        yield bench_lines(standing, agent, number, most)
    yield bench_upload(agent, secret, 100_000)
    yield from bench_whole_documents(standing, agent)
    browser = Browser(headers={"Authorization": f"Bearer {secret}"})
    floor = measure_median(lambda: browser.get("/healthz"))
    listed = measure_median(lambda: browser.get(f"/api/v1/agents/{agent.slug}/runs?limit=200"))
    yield Line("API: list of runs, against the floor", listed, floor, None)
    if is_postgres and warm.run:  # a second process needs a database that is not this one's own file
        reader = User.objects.create_superuser("reader@example.org", "a long pass phrase")
        other, other_token, _ = make_ground("bench-other")
        yield from bench_memory(standing, agent, max(numbers))
        yield bench_page_meanwhile(enter_with_token(other_token), other, warm.run, reader, max(*numbers, 1_000_000))


def make_ground(slug: str) -> tuple[Agent, Token, str]:
    """Return an agent of a client of the bench's own, and a token with its secret."""
    client = Client.objects.create(slug=slug, name=slug)
    agent = Agent.objects.create(client=client, slug=f"{slug}-agent", name=slug)
    made = issue_token(client, name="bench", scopes=[Scope.RUNS_WRITE, Scope.READ])
    return agent, made.token, made.secret


def peak_memory() -> float:
    """Peak of this process in MiB; not by getrusage, which hands the parent's peak on to a child."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
