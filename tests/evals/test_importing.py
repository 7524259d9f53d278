"""Two workers at one job, a database that goes away, bytes half kept: what is left when an import goes wrong."""

import errno
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import kombu.exceptions
import psycopg
import pytest
from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from evals import importing, tasks
from evals.models import Agent, Attempt, Definition, Evaluation, Import, ImportState, Indicator, ReasonCode, Run
from evals.options import ImportOptions
from evals.records import AggregateRecord, EndRecord, Record
from evals.storing import keep_file, receive_chunks
from evals.submitting import submit_artifact
from reliability import leases
from reliability.access import Rank, Standing
from reliability.interruptions import NO_ROOM
from reliability.models import User
from tests.run_documents import attempt, document, import_bytes

BODY = json.dumps(document("r1", attempt("a"), attempt("b"))).encode()


@pytest.fixture
def job(agent: Agent, alice: User) -> Import:
    standing = Standing(agent.client, Rank.CONSULTANT, alice)
    return submit_artifact(standing, agent, receive_chunks(iter([BODY])), ImportOptions()).job


def _let_the_lease_run_out(job: Import) -> None:
    Import.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def _interrupt(monkeypatch: pytest.MonkeyPatch, happening: Callable[[], None], *, after: type[Record]) -> None:
    """Let something happen once, behind the first record of a kind."""
    open_records, pending = importing.open_records, [happening]

    def interrupted(records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            yield record
            if pending and isinstance(record, after):
                pending.pop()()

    def opened(*arguments: object, **named: object) -> tuple[str, Iterator[Record]]:
        name, records = open_records(*arguments, **named)  # type: ignore[arg-type]
        return name, interrupted(records)

    monkeypatch.setattr(importing, "open_records", opened)


@pytest.mark.parametrize("after", [kind for kind in Record.__value__.__args__ if kind is not AggregateRecord])
def test_a_worker_that_lost_its_lease_leaves_the_run_of_the_other_alone(
    job: Import, monkeypatch: pytest.MonkeyPatch, after: type[Record]
) -> None:
    def another_worker_takes_over() -> None:
        _let_the_lease_run_out(job)
        importing.run_import(job.pk)

    _interrupt(monkeypatch, another_worker_takes_over, after=after)

    importing.run_import(job.pk)

    job.refresh_from_db()
    assert (job.state, job.tries) == (ImportState.DONE, 2)
    assert job.run == Run.with_hidden.get()
    assert Attempt.objects.filter(run=job.run).count() == Attempt.objects.count() == 2


def test_a_stale_worker_does_not_end_a_job_that_another_one_works_on(
    job: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_worker_claims_and_this_one_stumbles() -> None:
        _let_the_lease_run_out(job)
        assert leases.claim(Import, job.pk)
        raise RuntimeError("stumbled")

    _interrupt(monkeypatch, another_worker_claims_and_this_one_stumbles, after=Record.__value__.__args__[0])

    importing.run_import(job.pk)

    job.refresh_from_db()
    assert job.state == ImportState.RUNNING


def test_a_job_is_tried_again_after_the_database_went_away(job: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose_the_database() -> None:
        raise OperationalError from psycopg.OperationalError("server closed the connection unexpectedly")

    _interrupt(monkeypatch, lose_the_database, after=Record.__value__.__args__[0])
    importing.run_import(job.pk)
    _let_the_lease_run_out(job)

    assert leases.list_stalled(Import) == [job.pk]
    importing.run_import(job.pk)

    job.refresh_from_db()
    assert job.state == ImportState.DONE
    assert Run.with_hidden.count() == 1


def _full_sqlite() -> sqlite3.Error:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    return full


@pytest.mark.parametrize("cause", [_full_sqlite(), psycopg.errors.DiskFull(), OSError(errno.EDQUOT, "Quota exceeded")])
def test_a_full_disk_ends_the_job_with_that_reason(
    job: Import, monkeypatch: pytest.MonkeyPatch, cause: Exception
) -> None:
    def run_out_of_room() -> None:
        raise OperationalError from cause

    _interrupt(monkeypatch, run_out_of_room, after=EndRecord)

    importing.run_import(job.pk)

    job.refresh_from_db()
    assert (job.state, job.status, job.code, job.tries) == (ImportState.FAILED, 507, "no_room", 1)
    assert job.detail == NO_ROOM
    assert (Run.with_hidden.count(), Attempt.objects.count()) == (0, 0)


def test_what_the_rows_themselves_brought_about_is_not_tried_again(
    job: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT abs(-9223372036854775807 - 1)")

    _interrupt(monkeypatch, overflow, after=EndRecord)

    importing.run_import(job.pk)

    job.refresh_from_db()
    assert (job.state, job.code, job.tries) == (ImportState.FAILED, "import_failed", 1)
    assert Run.with_hidden.count() == 0


@pytest.mark.parametrize("body", [b'{"\\u0000": 1}', b"<a\x00b></a>"])
def test_a_refusal_that_quotes_a_nul_is_stored(agent: Agent, alice: User, body: bytes) -> None:
    job = import_bytes(agent, body, alice)

    assert (job.state, job.status) == (ImportState.REFUSED, 415)
    assert "\0" not in job.detail + json.dumps(job.errors)


def test_more_evaluations_than_an_attempt_can_number_are_refused(agent: Agent, alice: User) -> None:
    crowded = {"scenario": "a", "evaluations": [{"indicator": "task_success", "outcome": "PASS"}] * 32_001}

    job = import_bytes(agent, json.dumps(document("r1", crowded)).encode(), alice)

    assert (job.status, job.code) == (413, "too_large")


def test_bytes_that_were_half_kept_are_kept_anew(agent: Agent) -> None:
    path = Path(settings.MEDIA_ROOT) / keep_file(receive_chunks(iter([BODY])), agent.client_id)
    path.write_bytes(BODY[:10])  # the disk was full

    keep_file(receive_chunks(iter([BODY])), agent.client_id)

    assert path.read_bytes() == BODY
    assert [kept for kept in path.parent.iterdir() if kept != path] == []


def test_a_dry_run_takes_no_bytes_from_an_upload_of_the_same(
    agent: Agent, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upload comes in between the dry run's answer and its clearing up."""
    standing = Standing(agent.client, Rank.CONSULTANT, alice)
    trial = submit_artifact(standing, agent, receive_chunks(iter([BODY])), ImportOptions(), dry_run=True).job
    kept = keep_file(receive_chunks(iter([BODY])), agent.client_id)

    importing.run_import(trial.pk)

    left = [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]
    assert left == [Path(settings.MEDIA_ROOT) / kept]


def test_a_full_disk_leaves_no_half_of_the_bytes(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(storage: FileSystemStorage, name: str, content: File[bytes]) -> str:
        Path(storage.path(name)).parent.mkdir(parents=True, exist_ok=True)
        Path(storage.path(name)).write_bytes(content.read()[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileSystemStorage, "save", save)

    with pytest.raises(OSError, match="No space"):
        keep_file(receive_chunks(iter([BODY])), agent.client_id)

    assert [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()] == []


def test_many_new_words_are_learnt_together(
    agent: Agent, alice: User, django_assert_max_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    """One query for each of them let the lease of a large import run out."""
    made = [
        {"scenario": f"s{n}", "evaluations": [{"indicator": f"i{n}", "outcome": "FAIL", "reason_code": f"r{n}"}]}
        for n in range(400)
    ]

    with django_assert_max_num_queries(90):
        first = import_bytes(agent, json.dumps(document("r1", *made)).encode(), alice)
    again = import_bytes(agent, json.dumps(document("r2", *made)).encode(), alice)

    assert (first.state, again.state) == (ImportState.DONE, ImportState.DONE)
    assert (Definition.objects.count(), Indicator.objects.count(), ReasonCode.objects.count()) == (400, 400, 400)
    evaluation = Evaluation.objects.select_related("definition__indicator", "reason_code").get(
        run=again.run, definition__indicator__name="i7"
    )
    assert (evaluation.reason_code and evaluation.reason_code.code) == "r7"


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_fails_no_upload(job: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job is stored, and the sweep finds it later."""

    def refuse_connection(**_: str) -> None:
        raise kombu.exceptions.OperationalError("connection refused")

    monkeypatch.undo()  # the real on_commit
    monkeypatch.setattr(tasks.import_artifact, "delay", refuse_connection)

    tasks.enqueue_import(job.pk)

    Import.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert leases.list_stalled(Import) == [job.pk]
