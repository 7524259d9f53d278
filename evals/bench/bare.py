"""The baseline of an import: the same rows, bare, into tables with the same indexes."""

import io
import time
from typing import Any

from django.db import connection, transaction

from evals.models import Attempt, AttemptDetail, Evaluation, EvaluationDetail, Import, RunScenario, Step

BULK = (RunScenario, Attempt, AttemptDetail, Step, Evaluation, EvaluationDetail)
CONDITIONS = {
    AttemptDetail: "attempt_id IN (SELECT id FROM evals_attempt WHERE run_id = %s)",
    Step: "attempt_id IN (SELECT id FROM evals_attempt WHERE run_id = %s)",
    EvaluationDetail: "evaluation_id IN (SELECT id FROM evals_evaluation WHERE run_id = %s)",
}


def measure_bare_rows(job: Import) -> float:
    """Return seconds that the rows of the job's run take: COPY on PostgreSQL, executemany on SQLite."""
    return _copy_bare(job) if connection.vendor == "postgresql" else _insert_bare(job)


def _rows_of(model: Any, job: Import) -> str:
    """Return SQL that selects the run's rows of the table."""
    table = model._meta.db_table
    return f"SELECT * FROM {table} WHERE {CONDITIONS.get(model, 'run_id = %s')}"  # noqa: S608 (own names)


def _copy_bare(job: Import) -> float:
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


def _insert_bare(job: Import) -> float:
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
