"""The first pages: the portfolio of the consultancy, a client's home, an agent with its last review."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from evals import access
from evals.overview import agent_overview
from reliability.access import enter_client
from reliability.htmx import render_page
from reliability.models import Client, User
from scorecards import portfolio
from scorecards.access import list_fact_checks


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Internal people see all their clients' agents, worst first; a client member goes to the own client."""
    user = request.user
    if not isinstance(user, User):
        raise TypeError("login_required lets users in only")
    clients = list(Client.objects.visible_to(user))
    if not user.is_internal and len(clients) == 1:
        return redirect(clients[0])
    chosen = request.GET.get("client", "")
    shown = [client for client in clients if chosen in ("", client.slug)]
    context = {
        "clients": clients,
        "chosen": chosen,
        "standings": portfolio.list_agent_standings(shown, for_client=not user.is_internal),
    }
    return render_page(request, "scorecards/portfolio.html", "portfolio", context)


@login_required
def client(request: HttpRequest, client: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    for_client = not standing.is_internal
    context = {
        "standing": standing,
        "standings": portfolio.list_agent_standings([standing.client], for_client=for_client),
        "steps": portfolio.list_open_steps(standing.client, for_client=for_client),
        "waiting_checks": list_fact_checks(standing),
        "publications": portfolio.list_publications(standing.client),
    }
    return render_page(request, "scorecards/client.html", "", context)


@login_required
def agent(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """The agent's runs as `evals` shows them, under what its last published review says."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    reviewed = portfolio.get_agent_standing(subject, for_client=not standing.is_internal)
    context = {
        "standing": standing,
        "agent": subject,
        "overview": agent_overview(standing, subject),
        "public_url": settings.PUBLIC_URL.rstrip("/"),
        "reviewed": reviewed,
        "waiting_checks": list_fact_checks(standing, subject),
    }
    return render_page(request, "scorecards/agent.html", "", context)
