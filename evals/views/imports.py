"""Uploading by hand, following an import, getting an artifact back."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.files.storage import storages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from evals import access
from evals.changing import note_download
from evals.forms import UploadForm
from evals.models import Agent, Import, ImportState
from evals.parsers import FORMATS
from evals.storing import receive_file
from evals.submitting import Submitted, submit_artifact
from evals.tasks import enqueue_import
from reliability.access import Standing, enter_client, require_upload
from reliability.errors import AppError
from reliability.htmx import render_page
from reliability.uploads import TidyFileUploadHandler


@csrf_exempt  # checked by the view below, once the upload handler is set: the check itself reads the form
@login_required
def upload(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    request.upload_handlers = [TidyFileUploadHandler(request)]
    return _upload(request, client, agent)


@csrf_protect
def _upload(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    require_upload(standing)
    sent = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = UploadForm(*sent, is_internal=standing.is_internal, initial=_said_before(request, standing, subject))
    if request.method == "POST" and form.is_valid():
        try:
            submitted = submit_artifact(standing, subject, receive_file(form.upload), form.options())
        except AppError as error:
            form.add_error("file", error.detail)
        else:
            return _go_on(request, standing, submitted)
    context = {"standing": standing, "agent": subject, "form": form, "formats": FORMATS.values()}
    return render_page(request, "evals/upload.html", "", context, status=422 if form.is_bound else 200)


def _said_before(request: HttpRequest, standing: Standing, agent: Agent) -> dict[str, Any] | None:
    """Return what was said beside an earlier upload, which the address names: after a refusal nobody types it again."""
    try:
        earlier = uuid.UUID(request.GET.get("again", ""))
    except ValueError:
        return None
    return dict(access.get_import(standing, earlier, agent).options)


def _go_on(request: HttpRequest, standing: Standing, submitted: Submitted) -> HttpResponse:
    """To the import; a repeated upload leads to what the first one made, as far as this person may see it."""
    job = submitted.job
    if submitted.is_new:
        enqueue_import(job.pk)
        return redirect(job)
    messages.info(request, "This file was uploaded before with the same details, so nothing was imported again.")
    if job.run and access.list_runs(standing).filter(pk=job.run.pk).exists():
        return redirect(job.run)
    if job.run and job.state == ImportState.DONE:
        return redirect("run-list", client=standing.client.slug, agent=job.agent.slug)
    return redirect(job)


@login_required
def import_status(request: HttpRequest, client: str, agent: str, import_id: uuid.UUID) -> HttpResponse:
    """The job's page; its status part polls itself until the job is finished."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    job = access.get_import(standing, import_id, subject)
    if job.state == ImportState.DONE and job.run and not request.GET.get("stay"):
        return _go_to_run(request, job)
    return render_page(
        request, "evals/import.html", "import-status", {"standing": standing, "agent": subject, "job": job}
    )


def _go_to_run(request: HttpRequest, job: Import) -> HttpResponse:
    if job.run is None:
        raise ValueError("a finished import has its run")
    if request.headers.get("HX-Request"):
        response = HttpResponse()
        response["HX-Redirect"] = job.run.get_absolute_url()
        return response
    return redirect(job.run)


@login_required
def artifact_download(
    request: HttpRequest, client: str, agent: str, run_id: uuid.UUID, artifact_id: uuid.UUID
) -> FileResponse:
    """The artifact byte for byte; each download of a client's data is noted."""
    standing = enter_client(request.user, client)
    run = access.get_run(standing, run_id, access.get_agent(standing, agent))
    artifact = get_object_or_404(run.artifacts, pk=artifact_id)
    if not standing.may_upload:
        raise PermissionDenied
    note_download(artifact, by=standing.user)
    file = storages["default"].open(artifact.path)
    name = artifact.file_name or f"{artifact.sha256[:12]}.{artifact.format or 'bin'}"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
