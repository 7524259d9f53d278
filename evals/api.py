"""Runs over the API: upload, follow the import, read results."""

import uuid
from pathlib import Path
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from ninja import Router

from evals import access, queries, scenario_results
from evals.answers import absolute, describe_agent, describe_classes, describe_import, describe_run
from evals.class_table import list_class_groups
from evals.models import Agent, Import, ImportState
from evals.openapi import answer, import_body, parameters
from evals.receiving import NotFinished, read_dry_run, read_must_end, read_options, read_wait, receive_body
from evals.schemas import AgentOut, ClassOut, ComparisonOut, ImportOut, PageOut, RunOut
from evals.submitting import submit_artifact, waiting_room
from evals.summaries import log_lines, summarise
from evals.tasks import enqueue_import
from evals.taxonomies_store import taxonomy_of
from reliability.access import Standing, enter_api
from reliability.errors import AppError
from reliability.models import Scope
from reliability.problems import prefers_text, problem_response, text_response

router = Router(tags=["runs"])
RUN_SCHEMA = Path(__file__).parent / "parsers" / "run-v1.schema.json"


def _enter_reader(request: HttpRequest) -> Standing:
    """Reading runs takes `read`, or `runs:write` for the runs the token made."""
    return enter_api(request, Scope.READ, Scope.RUNS_WRITE)


def _get_agent(standing: Standing, name: str) -> Agent:
    try:
        return access.get_agent(standing, name)
    except Http404:
        detail = f"No agent “{name[:80]}” for this token: its client has none of this name, or the token is another's."
        raise AppError(detail, status=404, code="not_found") from None


def _answer(request: HttpRequest, content: ImportOut, *, status: int = 200, is_new: bool = True) -> HttpResponse:
    """Answer about an import: as JSON, or in lines for a log that asks for `text/plain`."""
    if not prefers_text(request):
        return _json(content, status=status)
    return text_response(log_lines(content, is_new=is_new), status=status)


def _json(content: Any, *, status: int = 200) -> HttpResponse:
    """Encode indented: people read these answers in CI logs."""
    body = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    return HttpResponse(body, status=status, content_type="application/json")


@router.post("/agents/{agent}/runs", summary="Upload an artifact", openapi_extra=import_body())
def upload_run(request: HttpRequest, agent: str) -> HttpResponse:
    """The body is the artifact itself, or multipart with the field `file`.

    201 with the run; 200 when the same upload was made before; 202 with a job when it takes longer than `wait`, or
    503 if `answer=final` asks for the end: the same request again joins the import."""
    standing = enter_api(request, Scope.RUNS_WRITE)
    subject = _get_agent(standing, agent)
    options, wait, must_end = read_options(request.GET), read_wait(request.GET), read_must_end(request.GET)
    dry_run, key = read_dry_run(request.GET), request.headers.get("Idempotency-Key", "")
    received = receive_body(request)
    try:
        submitted = submit_artifact(standing, subject, received, options, explicit_key=key, dry_run=dry_run)
    finally:
        received.discard()
    if submitted.is_new:
        enqueue_import(submitted.job.pk)
    job = waiting_room.wait_for(submitted.job.pk, wait)
    if must_end and not job.is_finished:
        raise NotFinished(summarise(job) + " Send the same request again: it joins this import.")
    return _answer_import(request, job, is_new=submitted.is_new)


def _answer_import(request: HttpRequest, job: Import, *, is_new: bool) -> HttpResponse:
    place = reverse("api-1:get_import", args=[job.pk])
    if job.state in (ImportState.REFUSED, ImportState.FAILED):
        return problem_response(
            job.status, detail=job.detail, code=job.code, errors=job.errors, **{"import": absolute(place)}
        )
    if not job.is_finished:
        response = _answer(request, describe_import(job), status=202)
        response["Location"] = place
        response["Retry-After"] = "2"
        return response
    if job.dry_run or not is_new or job.changed_nothing or job.run is None:
        return _answer(request, describe_import(job), is_new=is_new)
    response = _answer(request, describe_import(job), status=201)
    response["Location"] = reverse("api-1:get_run", args=[job.run.pk])
    return response


@router.get("/imports/{uuid:import_id}", summary="Follow an import", openapi_extra=answer(ImportOut))
def get_import(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    standing = enter_api(request, Scope.RUNS_WRITE)
    return _answer(request, describe_import(access.get_import(standing, import_id)))


@router.get("/agents", summary="Agents", openapi_extra=answer(PageOut, AgentOut))
def list_agents(request: HttpRequest) -> HttpResponse:
    standing = enter_api(request, Scope.READ)
    return _json(PageOut(items=[describe_agent(agent) for agent in access.list_agents(standing)], next=None))


@router.get("/agents/{agent}", summary="One agent", openapi_extra=answer(AgentOut))
def get_agent(request: HttpRequest, agent: str) -> HttpResponse:
    standing = enter_api(request, Scope.READ)
    return _json(describe_agent(_get_agent(standing, agent)))


@router.get(
    "/agents/{agent}/runs",
    summary="Runs of an agent, newest first",
    openapi_extra=answer(PageOut, RunOut) | parameters(*queries.RUN_FILTERS, "after", "limit"),
)
def list_runs(request: HttpRequest, agent: str) -> HttpResponse:
    """Filters as on the page; `next` is the address of the following page."""
    standing = _enter_reader(request)
    subject: Agent = _get_agent(standing, agent)
    chosen = queries.RunFilter.from_query(request.GET)
    page = queries.list_run_page(
        access.list_runs(standing).filter(agent=subject), chosen, most=queries.read_limit(request.GET)
    )
    following = None
    if page.next_cursor:
        following = absolute(request.path) + "?" + chosen.query_string(after=page.next_cursor)
    return _json(PageOut(items=[describe_run(run) for run in page.runs], next=following))


@router.get(
    "/runs/compare", summary="Two runs side by side", openapi_extra=answer(ComparisonOut) | parameters("a", "b")
)
def compare_runs(request: HttpRequest, a: uuid.UUID, b: uuid.UUID) -> HttpResponse:
    standing = _enter_reader(request)
    before, after = access.get_run(standing, a), access.get_run(standing, b)
    return _json(scenario_results.describe_comparison(before, after))


@router.get("/runs/{uuid:run_id}", summary="One run", openapi_extra=answer(RunOut))
def get_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    return _json(describe_run(access.get_run(_enter_reader(request), run_id)))


@router.get(
    "/runs/{uuid:run_id}/classes",
    summary="Per-class results",
    openapi_extra=answer(PageOut, ClassOut) | parameters("category", "variant"),
)
def list_classes(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = access.get_run(_enter_reader(request), run_id)
    groups = list_class_groups(run, taxonomy_of(run.client_id), queries.read_class_filter(request.GET))
    return _json(PageOut(items=describe_classes(groups), next=None))


@router.get("/runs/{uuid:run_id}/scenarios", summary="Scenarios with their outcome", openapi_extra=parameters("after"))
def list_scenarios(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = access.get_run(_enter_reader(request), run_id)
    items, cursor = scenario_results.list_scenario_page(run, request.GET.get("after", "").replace("\0", ""))
    following = f"{absolute(request.path)}?{urlencode({'after': cursor})}" if cursor else None
    return _json(PageOut(items=items, next=following))


@router.get("/schemas/run-v1.json", summary="JSON Schema of run/v1", auth=None)
def get_run_schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(RUN_SCHEMA.read_bytes(), content_type="application/schema+json")
