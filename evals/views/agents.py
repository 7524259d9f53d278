"""An agent's runs and settings. Its overview stands in `scorecards`, which knows its reviews too."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from evals import access, queries
from evals.changing import change_agent, create_agent
from evals.forms import AgentForm
from evals.models import Agent
from evals.records import Mode, Origin, Session
from evals.run_rows import list_run_rows
from reliability.access import enter_client, require_internal
from reliability.htmx import render_page

RESULT_WORDS = {
    "failing": "with failures",
    "unknown": "with unknowns",
    "errors": "with errors",
    "breached": "with a breach",
}


@login_required
def run_list(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    runs = access.list_runs(standing).filter(agent=subject)
    chosen = queries.RunFilter.from_query(request.GET)
    page = queries.list_run_page(runs, chosen)
    context = {
        "standing": standing,
        "agent": subject,
        "rows": list_run_rows(page.runs),
        "filter": chosen,
        "choices": queries.list_filter_choices(runs),
        "modes": list(Mode),
        "origins": list(Origin),
        "sessions": list(Session),
        "results": RESULT_WORDS,
        "older": chosen.query_string(after=page.next_cursor) if page.next_cursor else "",
        "public_url": settings.PUBLIC_URL.rstrip("/"),
    }
    response = render_page(request, "evals/run_list.html", "runs", context)
    response["HX-Push-Url"] = _address(request, chosen.query_string(after=chosen.after))
    return response


def _address(request: HttpRequest, query: str) -> str:
    """The page's address without the controls that were left empty."""
    return f"{request.path}?{query}" if query else request.path


@login_required
def agent_create(request: HttpRequest, client: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    require_internal(standing)
    form = AgentForm(request.POST if request.method == "POST" else None, instance=Agent(client=standing.client))
    if request.method == "POST" and form.is_valid():
        made = create_agent(form.save(commit=False), by=standing.user)
        messages.success(request, f"{made} was created. Upload its first run here.")
        return redirect("upload", client=client, agent=made.slug)
    status = 422 if form.is_bound else 200
    return render_page(request, "evals/agent_form.html", "", {"standing": standing, "form": form}, status=status)


@login_required
def agent_change(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    require_internal(standing)
    stored = access.get_agent(standing, agent)  # what the frame shows while the form holds what was typed
    form = AgentForm(request.POST if request.method == "POST" else None, instance=subject)
    if request.method == "POST" and form.is_valid():
        change_agent(form.save(commit=False), by=standing.user)
        messages.success(request, "The agent was changed.")
        return redirect(subject)
    context = {"standing": standing, "form": form, "agent": stored}
    return render_page(request, "evals/agent_form.html", "", context, status=422 if form.is_bound else 200)
