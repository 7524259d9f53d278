"""Runs one import job: artifact and options in, a visible run or a list of errors out."""

import logging
import uuid
from dataclasses import asdict
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files.storage import storages
from django.db import transaction
from django.utils import timezone

from evals.answers import describe_import_result
from evals.discarding import discard_run
from evals.errors import ImportRefused, Problem
from evals.ingest import RunWriter
from evals.merging import Joined
from evals.models import Artifact, Import, ImportState, Intake, Phase, Run
from evals.parsers import FORMATS, Limits, open_records
from evals.parsers.reading import storable
from evals.storing import MIB
from reliability.audit import record_change
from reliability.interruptions import NO_ROOM, has_no_room, may_pass
from reliability.leases import Lease, LeaseLost, claim, list_worn_out

logger = logging.getLogger(__name__)
FAILED = "We failed while importing this artifact. Nothing of it was stored; the upload can be sent again."


AT_THE_START = {"phase": Phase.READING, "bytes_read": 0, "rows_read": 0, "rows_stored": 0}


def run_import(import_id: uuid.UUID) -> None:
    """Do the job if it is to be had. Bears running twice: only the holder of the lease writes."""
    lease = claim(Import, import_id, started_at=timezone.now(), **AT_THE_START)
    if lease is None:
        return
    job = Import.objects.select_related("client", "agent", "artifact", "token", "user").get(pk=import_id)
    _discard_leftovers(job)
    try:
        _import_or_refuse(job, lease)
    except LeaseLost:
        logger.warning("import %s: the lease was lost to another worker", job.pk)
    except Exception as error:
        logger.exception("import %s was interrupted", job.pk)
        if has_no_room(error):
            _fail(job, NO_ROOM, status=507, code="no_room", lease=lease.id)
        elif not may_pass(error):  # else it is tried again once the lease has run out
            _fail(job, FAILED, lease=lease.id)


def _import_or_refuse(job: Import, lease: Lease) -> None:
    try:
        _import_artifact(job, lease)
    except ImportRefused as refusal:
        _refuse(job, lease, refusal)
    _drop_temporary_artifact(job)


def _import_artifact(job: Import, lease: Lease) -> None:
    artifact = job.artifact
    if artifact is None:
        raise ImportRefused(400, "artifact_gone", "The uploaded artifact is no longer there. Upload it again.")
    with storages["default"].open(artifact.path) as stored:
        file = cast(BinaryIO, stored.file)

        def note(rows_read: int, rows_stored: int) -> None:
            lease.renew(rows_read=rows_read, rows_stored=rows_stored, bytes_read=file.tell())

        wanted = str(job.options.get("format") or "") or None
        name, records = open_records(file, format=wanted, limits=import_limits())
        Artifact.objects.filter(pk=artifact.pk).update(format=name)
        writer = RunWriter(job, artifact, on_batch=note)
        try:
            writer.write(records, format=name, parser_version=FORMATS[name].version)
            lease.renew(phase=Phase.COUNTING, rows_read=writer.rows_read, bytes_read=artifact.size)
            _finish(job, lease, writer)
        except (ImportRefused, LeaseLost):
            writer.discard()
            raise


def import_limits() -> Limits:
    return Limits(
        max_unpacked_bytes=settings.MAX_UNPACKED_MB * MIB,
        max_document_bytes=settings.MAX_DOCUMENT_MB * MIB,
        max_line_bytes=settings.MAX_LINE_MB * MIB,
        max_zip_members=settings.MAX_ZIP_MEMBERS,
        max_depth=settings.MAX_NESTING,
        max_text=settings.MAX_TEXT,
        max_rows=settings.MAX_ROWS,
    )


def _finish(job: Import, lease: Lease, writer: RunWriter) -> None:
    with transaction.atomic():
        lease.renew()  # locks the row: from here on nobody else can take the job
        writer.count()
        if job.dry_run:
            result = _rehearse(writer)
            _discard_leftovers(job)
            _end_well(job, result)
            return
        joined = writer.publish()
        stored = writer.rows_stored if joined.is_new else 0
        _end_well(job, _describe(joined), run=joined.run, rows_stored=stored)
        if joined.is_new:
            sha256 = writer.artifact.sha256
            record_change(job.client, "run.imported", joined.run, by=job.token or job.user, sha256=sha256)


def _rehearse(writer: RunWriter) -> dict[str, Any]:
    """Publish, note the result, and take it back: what would refuse the upload refuses its dry run."""
    with transaction.atomic():
        result = _describe(writer.publish(), is_stored=False)
        transaction.set_rollback(True)
    return result


def _describe(joined: Joined, *, is_stored: bool = True) -> dict[str, Any]:
    return {**describe_import_result(joined.run, is_stored=is_stored), "is_new": joined.is_new}


def _end_well(job: Import, result: dict[str, Any], *, run: Run | None = None, rows_stored: int = 0) -> None:
    Import.objects.filter(pk=job.pk).update(
        state=ImportState.DONE,
        phase=Phase.FINISHED,
        result=result,
        rows_stored=rows_stored,
        run=run,
        finished_at=timezone.now(),
    )


def _refuse(job: Import, lease: Lease, refusal: ImportRefused) -> None:
    with transaction.atomic():
        lease.renew()
        Import.objects.filter(pk=job.pk).update(
            state=ImportState.REFUSED,
            phase=Phase.FINISHED,
            status=refusal.status,
            code=refusal.code,
            detail=storable(refusal.detail),
            errors=[_describe_problem(problem) for problem in refusal.problems],
            rows_stored=0,
            finished_at=timezone.now(),
        )


def _describe_problem(problem: Problem) -> dict[str, object]:
    """A message may quote the artifact, and so hold what no database stores."""
    said = {name: value for name, value in asdict(problem).items() if value not in ("", None)}
    return {name: storable(value) if isinstance(value, str) else value for name, value in said.items()}


def _fail(job: Import, detail: str, *, status: int = 500, code: str = "import_failed", **held: Any) -> None:
    """End the job if it is still `held` so: whoever took it over meanwhile is left alone."""
    failed = Import.objects.filter(pk=job.pk, state=ImportState.RUNNING, **held).update(
        state=ImportState.FAILED,
        phase=Phase.FINISHED,
        status=status,
        code=code,
        detail=detail,
        rows_stored=0,
        finished_at=timezone.now(),
    )
    if failed:
        _discard_leftovers(job)
        _drop_temporary_artifact(job)


def _discard_leftovers(job: Import) -> None:
    """Remove the hidden run that the job points at. Only for who holds the lease, or has just ended the job: it may be
    the run that another worker is writing."""
    for run in Run.with_hidden.filter(imports=job, intake=Intake.HIDDEN):
        with transaction.atomic():
            discard_run(run)


def _drop_temporary_artifact(job: Import) -> None:
    """A dry run keeps nothing: its artifact goes, and the file that it alone holds."""
    if not job.dry_run or job.artifact is None:
        return
    path = job.artifact.path
    job.artifact.delete()
    storages["default"].delete(path)


def fail_worn_out() -> None:
    """End jobs whose workers died again and again, with a reason a person can read."""
    for job in list_worn_out(Import):
        detail = (
            f"Importing this artifact was interrupted {job.tries} times: the worker stopped, or lost the database. "
        )
        detail += "Nothing of it was stored; the upload can be sent again."
        _fail(job, detail, lease_until__lt=timezone.now())
