"""A run, its attempts, and two runs side by side."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from evals import access, queries
from evals.attempts import AttemptFilter, list_attempt_page, list_classes, list_variants
from evals.changing import change_run
from evals.contexts import attempt_page, compare_page, run_page
from evals.forms import RunForm
from evals.models import Agent, Run
from evals.records import Category, Containment, Outcome
from evals.taxonomies_store import taxonomy_of
from reliability.access import Standing, enter_client, require_internal
from reliability.htmx import render_page


def _get_run(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> tuple[Standing, Run]:
    standing = enter_client(request.user, client)
    owner = access.get_agent(standing, agent)
    found = access.get_run(standing, run_id, owner)
    found.agent = owner  # with its client loaded
    return standing, found


@login_required
def run(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    chosen = queries.read_class_filter(request.GET)
    taxonomy = taxonomy_of(standing.client.pk)
    context = {
        "standing": standing,
        "agent": subject.agent,
        "run": subject,
        "run_page": run_page(standing, subject, chosen, taxonomy),
        "taxonomy": taxonomy,
        "categories": list(Category),
    }
    response = render_page(request, "evals/run.html", "classes", context)
    named = {"category": chosen.category or "", "variant": chosen.variant or "", "class": chosen.class_id}
    query = urlencode({name: value for name, value in named.items() if value})
    response["HX-Push-Url"] = f"{request.path}?{query}" if query else request.path
    return response


@login_required
def run_change(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    require_internal(standing)
    form = RunForm(request.POST if request.method == "POST" else None, instance=subject)
    if request.method == "POST" and form.is_valid():
        _, stored = _get_run(request, client, agent, run_id)  # the form has written into its own copy
        change_run(stored, **form.cleaned_data, by=standing.user)
        messages.success(request, "The run was changed.")
        return redirect(stored)
    context = {"standing": standing, "agent": subject.agent, "run": subject, "form": form}
    return render_page(request, "evals/run_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
def attempt_list(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    chosen = AttemptFilter.from_query(request.GET)
    page = list_attempt_page(subject, chosen)
    context = {
        "standing": standing,
        "agent": subject.agent,
        "run": subject,
        "page": page,
        "filter": chosen,
        "outcomes": list(Outcome),
        "containments": list(Containment),
        "classes": list_classes(subject),
        "taxonomy": taxonomy_of(standing.client.pk),
        "variants": list_variants(subject),
        "following": chosen.query_string(after=page.next_cursor) if page.next_cursor else "",
    }
    response = render_page(request, "evals/attempt_list.html", "attempts", context)
    query = chosen.query_string(after=chosen.after)
    response["HX-Push-Url"] = f"{request.path}?{query}" if query else request.path
    return response


@login_required
def attempt(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID, number: int) -> HttpResponse:
    standing, subject = _get_run(request, client, agent, run_id)
    if number > 2**31 - 1:
        raise Http404
    found = access.get_attempt(subject, number)
    context = {
        "standing": standing,
        "agent": subject.agent,
        "run": subject,
        "page": attempt_page(subject, found),
        "taxonomy": taxonomy_of(standing.client.pk),
    }
    return render_page(request, "evals/attempt.html", "", context)


@login_required
def run_compare(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """Two runs of the agent: `a` (earlier) and `b`; what is missing is chosen on the page."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    if "pick" in request.GET:
        return redirect(_address_of_picked(standing, subject, request.GET.getlist("pick")))
    page = compare_page(
        standing,
        subject,
        a=request.GET.get("a", ""),
        b=request.GET.get("b", ""),
        whole=request.GET.get("whole", ""),
    )
    context = {
        "standing": standing,
        "agent": subject,
        "page": page,
        "picked": request.GET.get("picked", ""),
        "taxonomy": taxonomy_of(standing.client.pk),
    }
    return render_page(request, "evals/run_compare.html", "", context)


def _address_of_picked(standing: Standing, agent: Agent, picked: list[str]) -> str:
    """Two runs ticked in a list: the earlier one is A. With another number the page says so and offers a choice."""
    try:
        ids = [uuid.UUID(name) for name in picked[:10]]
    except ValueError:
        raise Http404 from None
    address = reverse("run-compare", args=[standing.client.slug, agent.slug])
    runs = list(access.list_runs(standing).filter(agent=agent, pk__in=ids).order_by("at", "id"))
    if len(runs) == 2:
        return f"{address}?{urlencode({'a': str(runs[0].pk), 'b': str(runs[1].pk)})}"
    known = {"b": str(runs[-1].pk)} if runs else {}
    return f"{address}?{urlencode({**known, 'picked': str(len(picked))})}"
