"""Runs one import job: artifact and options in, a visible run or a list of errors out."""

import logging
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.storage import storages
from django.db import transaction
from django.utils import timezone

from evals.answers import describe_import_result
from evals.errors import ImportRefused, Problem
from evals.ingest import RunWriter, discard_run
from evals.jobs import Lease, LeaseLost, claim_import, list_worn_out
from evals.models import Artifact, Import, ImportState, Intake, Phase, Run
from evals.parsers import FORMATS, Limits, open_records
from evals.records import Record
from evals.storing import MIB
from reliability.audit import record_change

logger = logging.getLogger(__name__)


def run_import(import_id: uuid.UUID) -> None:
    """Do the job if it is to be had. Bears running twice: only the holder of the lease writes."""
    lease = claim_import(import_id)
    if lease is None:
        return
    job = Import.objects.select_related("client", "agent", "artifact", "token", "user").get(pk=import_id)
    _discard_leftovers(job)
    try:
        _import_artifact(job, lease)
    except ImportRefused as refusal:
        _refuse(job, lease, refusal)
    except LeaseLost:
        logger.warning("import %s: the lease was lost to another worker", job.pk)
        _discard_leftovers(job)
    except Exception:
        logger.exception("import %s failed", job.pk)
        _fail(job, "We failed while importing this artifact. Nothing of it was stored; the upload can be sent again.")


def _import_artifact(job: Import, lease: Lease) -> None:
    artifact = job.artifact
    if artifact is None:
        raise ImportRefused(400, "artifact_gone", "The uploaded artifact is no longer there. Upload it again.")
    with storages["default"].open(artifact.path) as stored:
        file = cast(BinaryIO, stored.file)

        def note(rows_read: int, rows_stored: int) -> None:
            lease.renew(rows_read=rows_read, rows_stored=rows_stored, bytes_read=file.tell())

        writer = RunWriter(job, artifact, on_batch=note)
        wanted = str(job.options.get("format") or "") or None
        name, records = open_records(file, format=wanted, limits=import_limits())
        Artifact.objects.filter(pk=artifact.pk).update(format=name)
        writer.write(_kept_alive(records, lease), format=name, parser_version=FORMATS[name].version)
    lease.renew(phase=Phase.COUNTING, rows_read=writer.rows_read, bytes_read=artifact.size)
    _finish(job, lease, writer)


def import_limits() -> Limits:
    return Limits(
        max_unpacked_bytes=settings.MAX_UNPACKED_MB * MIB,
        max_document_bytes=settings.MAX_DOCUMENT_MB * MIB,
        max_rows=settings.MAX_ROWS,
    )


def _kept_alive(records: Iterator[Record], lease: Lease) -> Iterator[Record]:
    """Renew the lease while a parser is busy with what yields no rows for long, such as decoding a whole document."""
    renewed = timezone.now()
    for record in records:
        if timezone.now() - renewed > timedelta(seconds=settings.JOB_LEASE_SECONDS / 4):
            lease.renew()
            renewed = timezone.now()
        yield record


def _finish(job: Import, lease: Lease, writer: RunWriter) -> None:
    with transaction.atomic():
        lease.renew()  # locks the row: from here on nobody else can take the job
        run = writer.count()
        job.result = describe_import_result(run, is_stored=not job.dry_run)
        if job.dry_run:
            discard_run(run)
        else:
            writer.publish()
        done = Import.objects.filter(pk=job.pk)
        done.update(
            state=ImportState.DONE,
            phase=Phase.FINISHED,
            result=job.result,
            rows_stored=0 if job.dry_run else writer.rows_stored,
            run=None if job.dry_run else run,
            finished_at=timezone.now(),
        )
        if not job.dry_run:
            record_change(job.client, "run.imported", run, by=job.token or job.user, sha256=writer.artifact.sha256)
    if job.dry_run:
        _drop_temporary_artifact(writer.artifact)


def _refuse(job: Import, lease: Lease, refusal: ImportRefused) -> None:
    with transaction.atomic():
        lease.renew()
        Import.objects.filter(pk=job.pk).update(
            state=ImportState.REFUSED,
            phase=Phase.FINISHED,
            status=refusal.status,
            code=refusal.code,
            detail=refusal.detail,
            errors=[_describe_problem(problem) for problem in refusal.problems],
            rows_stored=0,
            finished_at=timezone.now(),
        )
    _discard_leftovers(job)
    if job.dry_run and job.artifact:
        _drop_temporary_artifact(job.artifact)


def _describe_problem(problem: Problem) -> dict[str, object]:
    return {name: value for name, value in asdict(problem).items() if value not in ("", None)}


def _fail(job: Import, detail: str) -> None:
    Import.objects.filter(pk=job.pk, state=ImportState.RUNNING).update(
        state=ImportState.FAILED,
        phase=Phase.FINISHED,
        status=500,
        code="import_failed",
        detail=detail,
        rows_stored=0,
        finished_at=timezone.now(),
    )
    _discard_leftovers(job)


def _discard_leftovers(job: Import) -> None:
    """Remove the hidden run that an earlier or failed try of this job left."""
    for run in Run.with_hidden.filter(imports=job, intake=Intake.HIDDEN):
        with transaction.atomic():
            discard_run(run)


def _drop_temporary_artifact(artifact: Artifact) -> None:
    """A dry run keeps nothing: its artifact goes, and the file too unless another upload of the client holds it."""
    path, client_id = artifact.path, artifact.client_id
    artifact.delete()
    if not Artifact.objects.filter(client=client_id, path=path).exists():
        storages["default"].delete(path)


def fail_worn_out() -> None:
    """End jobs whose workers died again and again, with a reason a person can read."""
    for job in list_worn_out():
        _fail(job, f"The worker stopped {job.tries} times while importing this artifact. Nothing of it was stored.")
