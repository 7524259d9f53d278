"""A run, its attempts, and two runs side by side."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from evals import access, queries
from evals.attempts import AttemptFilter, list_attempt_page
from evals.changing import change_run
from evals.contexts import attempt_page, compare_page, run_page
from evals.forms import RunForm
from evals.models import Run
from reliability.access import Standing, enter_client, require_internal
from reliability.htmx import render_page


def _get_run(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> tuple[Standing, Run]:
    standing = enter_client(request.user, client)
    return standing, access.get_run(standing, run_id, access.get_agent(standing, agent))


@login_required
def run(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    context = {"run_page": run_page(standing, subject, queries.read_class_filter(request.GET))}
    return render_page(request, "evals/run.html", "classes", context)


@login_required
def run_change(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    require_internal(standing)
    form = RunForm(request.POST or None, instance=subject)
    if request.method == "POST" and form.is_valid():
        change_run(subject, **form.cleaned_data, by=standing.user)
        messages.success(request, "The run was changed.")
        return redirect(subject)
    context = {"standing": standing, "run": subject, "form": form}
    return render_page(request, "evals/run_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
def attempt_list(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    chosen = AttemptFilter.from_query(request.GET)
    page = list_attempt_page(subject, chosen)
    context = {"standing": standing, "run": subject, "page": page, "filter": chosen}
    return render_page(request, "evals/attempt_list.html", "attempts", context)


@login_required
def attempt(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID, number: int) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    context = {"attempt_page": attempt_page(standing, subject, access.get_attempt(subject, number))}
    return render_page(request, "evals/attempt.html", "", context)


@login_required
def run_compare(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """Two runs of the agent: `a` (earlier) and `b`; what is missing is chosen on the page."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    page = compare_page(standing, subject, a=request.GET.get("a", ""), b=request.GET.get("b", ""))
    return render_page(request, "evals/run_compare.html", "comparison", {"compare_page": page})
