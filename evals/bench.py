"""Speed as ratios in one run: the import against bare rows, answers against the smallest one.

The targets are those of the design; nothing is asserted here.
"""

import io
import json
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.test import Client as Browser

from evals.importing import run_import
from evals.models import Agent, Attempt, AttemptDetail, Evaluation, EvaluationDetail, Import, ImportState, RunScenario
from evals.options import ImportOptions
from evals.storing import receive_chunks
from evals.submitting import submit_artifact
from reliability.access import Standing, enter_with_token
from reliability.models import Client, Scope, Token
from reliability.people import issue_token

BULK = (RunScenario, Attempt, AttemptDetail, Evaluation, EvaluationDetail)
SCENARIOS = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One measured ratio. `most` is the target, None where there is none."""

    name: str
    seconds: float
    baseline: float
    most: float | None

    @property
    def ratio(self) -> float:
        return self.seconds / self.baseline

    def __str__(self) -> str:
        verdict = (
            "" if self.most is None else f"  (at most {self.most:g}{'' if self.ratio <= self.most else ', MISSED'})"
        )
        return f"{self.name:<44} {self.seconds:8.3f} s / {self.baseline:8.3f} s = {self.ratio:6.2f}{verdict}"


def ndjson(attempts: int) -> Iterator[bytes]:
    """A run/v1 of so many attempts, one evaluation each; one in ten fails with a reason."""
    yield (
        json.dumps({"schema": "run/v1", "run": {"id": "bench", "suite": "bench", "planned": attempts}}).encode() + b"\n"
    )
    for number in range(SCENARIOS):
        yield json.dumps({"scenario": {"key": f"scenario {number}", "class": "task_not_done"}}).encode() + b"\n"
    for number in range(attempts):
        evaluation = {"indicator": "task_success", "outcome": "PASS", "observed_at": "2026-11-02T09:14:06Z"}
        if number % 10 == 0:
            evaluation |= {"outcome": "FAIL", "reason_code": "goal_missed", "reason": "the goal was missed"}
        attempt = {
            "scenario": f"scenario {number % SCENARIOS}",
            "ordinal": number // SCENARIOS + 1,
            "started_at": "2026-11-02T09:14:05Z",
            "latency_ms": 812,
            "cost_usd": 0.0031,
            "evaluations": [evaluation],
        }
        yield json.dumps({"attempt": attempt}).encode() + b"\n"
    yield json.dumps({"end": {"attempts": attempts}}).encode() + b"\n"


def measure_import(standing: Standing, agent: Agent, attempts: int) -> tuple[float, Import]:
    """Return seconds from the stored file to committed rows and class results."""
    received = receive_chunks(ndjson(attempts))
    job = submit_artifact(standing, agent, received, ImportOptions(commit=f"bench {attempts}")).job
    started = time.perf_counter()
    run_import(job.pk)
    seconds = time.perf_counter() - started
    job = Import.objects.select_related("run").get(pk=job.pk)
    if job.state != ImportState.DONE:
        raise RuntimeError(job.detail)
    return seconds, job


def measure_bare_rows(job: Import) -> float:
    """Return seconds that the same rows take bare, into tables with the same indexes."""
    return _bare_copy(job) if connection.vendor == "postgresql" else _bare_executemany(job)


def _rows_of(model: Any, job: Import) -> str:
    """SQL that selects the run's rows of the table."""
    table = model._meta.db_table
    conditions = {
        AttemptDetail: "attempt_id IN (SELECT id FROM evals_attempt WHERE run_id = %s)",
        EvaluationDetail: "evaluation_id IN (SELECT id FROM evals_evaluation WHERE run_id = %s)",
    }
    return f"SELECT * FROM {table} WHERE {conditions.get(model, 'run_id = %s')}"  # noqa: S608 (own names)


def _bare_copy(job: Import) -> float:
    total = 0.0
    with transaction.atomic(), connection.cursor() as cursor:
        for model in BULK:
            table, copy = model._meta.db_table, f"bench_{model._meta.db_table}"
            cursor.execute(f"CREATE TABLE {copy} (LIKE {table} INCLUDING ALL)")
            rows = io.BytesIO()
            with cursor.copy(f"COPY ({_rows_of(model, job)}) TO STDOUT", [job.run_id]) as reader:
                for piece in reader:
                    rows.write(piece)
            started = time.perf_counter()
            with cursor.copy(f"COPY {copy} FROM STDIN") as writer:
                rows.seek(0)
                while piece := rows.read(1 << 20):
                    writer.write(piece)
            total += time.perf_counter() - started
        transaction.set_rollback(True)
    return total


def _bare_executemany(job: Import) -> float:
    total = 0.0
    run_id = str(job.run_id).replace("-", "")
    with transaction.atomic(), connection.cursor() as cursor:
        for model in BULK:
            table, copy = model._meta.db_table, f"bench_{model._meta.db_table}"
            statements = cursor.execute(
                "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL", [table]
            ).fetchall()
            for (statement,) in statements:
                renamed = statement.replace(f'"{table}"', f'"{copy}"')
                cursor.execute(renamed.replace('INDEX "', 'INDEX "bench_').replace("%", "%%"))
            rows = cursor.execute(_rows_of(model, job), [run_id]).fetchall()
            if not rows:
                continue
            marks = ", ".join(["%s"] * len(rows[0]))
            started = time.perf_counter()
            cursor.executemany(f"INSERT INTO {copy} VALUES ({marks})", rows)  # noqa: S608 (own names)
            total += time.perf_counter() - started
        transaction.set_rollback(True)
    return total


def measure_median(call: Callable[[], object], *, times: int = 30) -> float:
    """Return the median CPU seconds of a call, after a few to warm up."""
    for _ in range(5):
        call()
    seconds = []
    for _ in range(times):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def peak_memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_answers(agent: Agent, secret: str) -> list[Line]:
    """Measure the API's list of runs against the smallest response through the same middleware."""
    browser = Browser(headers={"Authorization": f"Bearer {secret}"})
    floor = measure_median(lambda: browser.get("/healthz"))
    listed = measure_median(lambda: browser.get(f"/api/v1/agents/{agent.slug}/runs?limit=200"))
    return [Line("API: list of runs, against the floor", listed, floor, None)]


def make_ground() -> tuple[Client, Agent, Token, str]:
    """Return a client of the bench's own; the caller removes it."""
    client = Client.objects.create(slug="bench", name="Bench")
    agent = Agent.objects.create(client=client, slug="bench-agent", name="Bench agent")
    made = issue_token(client, name="bench", scopes=[Scope.RUNS_WRITE, Scope.READ])
    return client, agent, made.token, made.secret


def run_bench(attempts: list[int], say: Callable[[str], object]) -> bool:
    """Measure and print each line; return whether every target was met."""
    _, agent, token, secret = make_ground()
    standing = enter_with_token(token)
    measure_import(standing, agent, 100)  # warm
    most = {10_000: 2.0} if connection.vendor == "postgresql" else {}
    lines = []
    for number in attempts:
        seconds, job = measure_import(standing, agent, number)
        target = most.get(number, 1.5) if connection.vendor == "postgresql" else 3.0
        lines.append(Line(f"import of {number:,} attempts, file to rows", seconds, measure_bare_rows(job), target))
        say(str(lines[-1]))
    for line in measure_answers(agent, secret):
        lines.append(line)
        say(str(line))
    say(f"peak memory of this process: {peak_memory_mb():.0f} MiB")
    return all(line.most is None or line.ratio <= line.most for line in lines)
