"""Write functions of evidence: items come in with a first grade, are verified, and are attached to scores."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from evals.models import Artifact, Attempt, ClassResult, MadeBy, Run, Visibility
from evals.records import Origin
from evals.storing import MIB, clean_name, store_once
from reliability.audit import record_change
from reliability.errors import AppError
from reliability.models import User
from scorecards.models import DimensionScore, EvidenceItem, EvidenceLink, Grade, Shows, SourceType, Stance
from scorecards.reviewing import lock_draft
from scorecards.rubrics_store import rubric_of

FROM_RUN = (SourceType.RUN, SourceType.CLASS_RESULT, SourceType.ATTEMPT)


class FileTooLarge(AppError):
    status = 413
    code = "too_large"


@dataclass(frozen=True, slots=True)
class EvidenceFields:
    """What a person says about an item, whatever its source."""

    claim: str
    shows: Shows = Shows.DESIGN
    operated_from: date | None = None
    operated_to: date | None = None
    visibility: Visibility = Visibility.CLIENT
    made_by: MadeBy = MadeBy.CLIENT


@dataclass(frozen=True, slots=True)
class Source:
    """Where an item comes from: a run (or a class or attempt of it), a link, a file, or an interview."""

    type: SourceType
    run: Run | None = None
    class_id: str = ""
    attempt_number: int | None = None
    url: str = ""
    upload: "UploadedFile[bytes] | None" = None
    interviewee: str = ""
    interviewed_on: date | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """How an item bears on a score: '' among the practices means the dimension as a whole."""

    practices: tuple[str, ...] = ("",)
    stance: Stance = Stance.SUPPORTS


@dataclass(frozen=True, slots=True)
class Verification:
    """A named person checked it. Re-running k of n scenarios with m agreeing verifies a run."""

    on: date
    how: str
    rerun: tuple[int, int, int] | None = None  # k, n, m


def first_grade(source: SourceType, *, made_by: MadeBy, run: Run | None) -> Grade:
    """Return the grade an item has before anybody checked it.

    What a client made and sent by hand is declared, whoever uploads it, and so are synthetic runs and what people say.
    """
    if source == SourceType.INTERVIEW:
        return Grade.DECLARED
    if source in FROM_RUN:
        return Grade.OBSERVED if run and not _is_declared(run) else Grade.DECLARED
    return Grade.DECLARED if made_by == MadeBy.CLIENT else Grade.OBSERVED


def _is_declared(run: Run) -> bool:
    if run.origin is Origin.SYNTHETIC:
        return True
    return run.made_by == MadeBy.CLIENT and run.artifacts.filter(token=None).exists()


@transaction.atomic
def add_evidence(
    score: DimensionScore, fields: EvidenceFields, source: Source, attachment: Attachment, *, by: User
) -> EvidenceItem:
    """Store an item and attach it. Raises `AppError` naming what the source lacks."""
    revision = lock_draft(score.revision)
    _check_source(source, score)
    item = EvidenceItem(
        client=revision.client,
        agent=revision.review.agent,
        source=source.type,
        run=source.run,
        class_id=source.class_id,
        attempt_number=source.attempt_number,
        url=source.url,
        interviewee=source.interviewee,
        interviewed_on=source.interviewed_on,
        created_by=by,
    )
    _fill(item, fields)
    item.made_by = MadeBy(source.run.made_by) if source.run else fields.made_by
    item.grade = first_grade(source.type, made_by=MadeBy(item.made_by), run=source.run)
    if source.run:
        item.sha256 = Artifact.objects.filter(runs=source.run).values_list("sha256", flat=True).first() or ""
    if source.upload:
        _keep(source.upload, item)
    item.save(force_insert=True)
    _attach(item, score, attachment)
    record_change(
        revision.client, "evidence.added", item, by=by, source=item.source, grade=item.grade, sha256=item.sha256
    )
    return item


def _fill(item: EvidenceItem, fields: EvidenceFields) -> None:
    if not fields.claim.strip():
        raise AppError("Say what the evidence shows.", code="claim_missing")
    if fields.operated_from and fields.operated_to and fields.operated_from > fields.operated_to:
        raise AppError("The period ends before it starts.", code="period_invalid")
    item.claim, item.shows, item.visibility = fields.claim.strip(), fields.shows, fields.visibility
    operates = fields.shows == Shows.OPERATION
    item.operated_from = fields.operated_from if operates else None
    item.operated_to = fields.operated_to if operates else None


def _check_source(source: Source, score: DimensionScore) -> None:
    run = source.run
    if source.type in FROM_RUN and (run is None or run.agent_id != score.revision.review.agent_id):
        raise AppError("Choose a run of this agent.", code="run_missing")
    if source.type == SourceType.CLASS_RESULT and not (
        ClassResult.objects.filter(run=run, class_id=source.class_id).exists()
    ):
        raise AppError("The run has no results of this class.", code="class_missing")
    if (
        source.type == SourceType.ATTEMPT
        and not Attempt.objects.filter(run=run, number=source.attempt_number or 0).exists()
    ):
        raise AppError("The run has no such attempt.", code="attempt_missing")
    if source.type == SourceType.LINK and not source.url.startswith(("https://", "http://")):
        raise AppError("Give the address of the page, beginning with https://", code="url_missing")
    if source.type == SourceType.FILE and not (source.upload and source.upload.size):
        raise AppError("Choose a file that is not empty.", code="file_missing")
    if source.type == SourceType.INTERVIEW and not (source.interviewee.strip() and source.interviewed_on):
        raise AppError("Say who was interviewed, and when.", code="interview_incomplete")


def _keep(upload: "UploadedFile[bytes]", item: EvidenceItem) -> None:
    """Stream the file to the storage, named by its hash. Raises `FileTooLarge` beyond MAX_EVIDENCE_MB."""
    limit = settings.MAX_EVIDENCE_MB * MIB
    digest, size = hashlib.sha256(), 0
    for chunk in upload.chunks():
        size += len(chunk)
        if size > limit:
            raise FileTooLarge(f"The file is larger than {settings.MAX_EVIDENCE_MB} MiB (MAX_EVIDENCE_MB).")
        digest.update(chunk)
    sha256 = digest.hexdigest()
    path = f"{item.client_id}/evidence/{sha256[:2]}/{sha256}"
    upload.seek(0)
    store_once(path, upload, size)
    item.file_path, item.file_size, item.sha256 = path, size, sha256
    item.file_name = clean_name(upload.name or "file")


@transaction.atomic
def attach_evidence(score: DimensionScore, item: EvidenceItem, attachment: Attachment, *, by: User) -> None:
    """Attach an item of the agent to a score, replacing how it was attached before."""
    revision = lock_draft(score.revision)
    if item.agent_id != revision.review.agent_id:
        raise AppError("This evidence belongs to another agent.", code="other_agent")
    _attach(item, score, attachment)
    record_change(
        revision.client, "evidence.attached", item, by=by, dimension=score.dimension_id, **_described(attachment)
    )


def _described(attachment: Attachment) -> dict[str, object]:
    return {"practices": list(attachment.practices), "stance": attachment.stance.value}


def _attach(item: EvidenceItem, score: DimensionScore, attachment: Attachment) -> None:
    dimension = rubric_of(score.revision.rubric).find(score.dimension_id)
    known = {practice.id for practice in dimension.practices} if dimension else set()
    chosen = [practice for practice in dict.fromkeys(attachment.practices) if practice] or [""]
    if unknown := set(chosen) - known - {""}:
        raise AppError(f"The rubric has no practice {', '.join(sorted(unknown))}.", code="practice_unknown")
    EvidenceLink.objects.filter(item=item, score=score).delete()
    EvidenceLink.objects.bulk_create(
        EvidenceLink(item=item, score=score, practice_id=practice, stance=attachment.stance) for practice in chosen
    )


@transaction.atomic
def change_evidence(
    score: DimensionScore, item: EvidenceItem, fields: EvidenceFields, attachment: Attachment, *, by: User
) -> None:
    """Change what an item says and how it is attached here. A changed claim needs to be verified again."""
    revision = lock_draft(score.revision)
    now = EvidenceItem.objects.select_for_update().get(pk=item.pk)
    before = now.claim
    _fill(now, fields)
    if now.source not in FROM_RUN:
        now.made_by = fields.made_by
    if now.grade != Grade.VERIFIED or now.claim != before:
        _take_back_verification(now)
    now.save()
    _attach(now, score, attachment)
    record_change(revision.client, "evidence.changed", now, by=by, grade=now.grade, visibility=now.visibility)


@transaction.atomic
def verify_evidence(item: EvidenceItem, verification: Verification, *, by: User) -> None:
    """A named consultant checked or reproduced it. Raises `AppError` when the method or the counts make no sense."""
    now = EvidenceItem.objects.select_for_update().get(pk=item.pk)
    if not verification.how.strip():
        raise AppError("Say how it was checked.", code="method_missing")
    if verification.rerun:
        again, total, agreed = verification.rerun
        if not 0 < again <= total or not 0 <= agreed <= again:
            raise AppError("Re-run k of n scenarios, with at most k agreeing.", code="rerun_invalid")
        now.rerun_scenarios, now.rerun_of, now.rerun_agreed = again, total, agreed
    now.grade, now.verified_by, now.verified_on = Grade.VERIFIED, by, verification.on
    now.verified_how = verification.how.strip()
    now.save()
    record_change(now.client, "evidence.verified", now, by=by, on=verification.on, rerun=verification.rerun)


@transaction.atomic
def withdraw_verification(item: EvidenceItem, *, by: User) -> None:
    now = EvidenceItem.objects.select_for_update().get(pk=item.pk)
    _take_back_verification(now)
    now.save()
    record_change(now.client, "evidence.unverified", now, by=by, grade=now.grade)


def _take_back_verification(item: EvidenceItem) -> None:
    item.grade = first_grade(SourceType(item.source), made_by=MadeBy(item.made_by), run=item.run)
    item.verified_by, item.verified_on, item.verified_how = None, None, ""
    item.rerun_scenarios = item.rerun_of = item.rerun_agreed = None


@transaction.atomic
def detach_evidence(score: DimensionScore, item: EvidenceItem, *, by: User) -> None:
    """Take an item off a score. One that nothing refers to any more goes, with its file."""
    revision = lock_draft(score.revision)
    EvidenceLink.objects.filter(item=item, score=score).delete()
    record = {"dimension": score.dimension_id, "claim": item.claim[:200]}
    if not item.links.exists() and not item.next_steps.exists() and not item.remarks.exists():
        _delete_unused_file(item)
        item.delete()
    record_change(revision.client, "evidence.detached", f"evidence item {item.pk}", by=by, **record)


def _delete_unused_file(item: EvidenceItem) -> None:
    others: Iterable[EvidenceItem] = EvidenceItem.objects.filter(file_path=item.file_path).exclude(pk=item.pk)
    if item.file_path and not others:
        path = item.file_path
        transaction.on_commit(lambda: storages["default"].delete(path))
