"""The classes of an agent's scenarios: the rules that give them, and what a person says of one."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from evals import access, classifying
from evals.class_mapping import EMPTY, parse_mapping
from evals.classifiers import latest_mapping
from evals.models import Agent
from evals.strict_yaml import DocumentRefused
from evals.tasks import enqueue_reclassifying
from evals.taxonomy import UNCLASSIFIED, shipped_taxonomy
from reliability.access import Standing, enter_client, require_internal
from reliability.htmx import render_page

SHOWN_CHANGES = 200
SHOWN_VERSIONS = 50


@login_required
def class_mapping(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """Show the rules; try other ones, or make them hold."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    stored = latest_mapping(subject.pk)
    source = stored.source if stored else EMPTY.decode()
    context = {
        "standing": standing,
        "agent": subject,
        "stored": stored,
        "source": source,
        **_surroundings(standing, subject),
    }
    if request.method != "POST":
        return render_page(request, "evals/classes.html", "mapping", context)
    require_internal(standing)
    context["source"] = source = request.POST.get("source", "")
    try:
        if "save" in request.POST:
            made = classifying.save_mapping(subject, source, by=standing.user)
            enqueue_reclassifying(subject.pk)
            messages.success(request, f"Version {made.number} of the rules holds; the runs are being counted anew.")
            return redirect("class-mapping", client=client, agent=agent)
        mapping = parse_mapping(source.encode(), shipped_taxonomy())
    except DocumentRefused as refused:
        context["problems"] = refused.problems
        return render_page(request, "evals/classes.html", "mapping", context, status=422)
    changes = classifying.preview_mapping(subject, mapping)
    context |= {"changes": changes[:SHOWN_CHANGES], "change_count": len(changes), "is_preview": True}
    return render_page(request, "evals/classes.html", "mapping", context)


def _surroundings(standing: Standing, agent: Agent) -> dict[str, object]:
    return {
        "versions": agent.class_mappings.select_related("by")[:SHOWN_VERSIONS],
        "taxonomy": shipped_taxonomy(),
        # Of those that are seen from here: an internal run never reaches a client, not by a count either.
        "behind": classifying.list_runs_behind(agent).filter(pk__in=access.list_runs(standing).values("pk")).count(),
    }


@login_required
@require_POST
def scenario_class(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID, number: int) -> HttpResponse:
    """Give the scenario of an attempt another class, in all runs of the agent."""
    standing = enter_client(request.user, client)
    run = access.get_run(standing, run_id, access.get_agent(standing, agent))
    if number > 2**31 - 1:
        raise Http404
    attempt = access.get_attempt(run, number)
    require_internal(standing)
    if attempt.scenario is None or attempt.scenario.scenario is None:
        raise Http404
    chosen = request.POST.get("class_id", "")
    known = {failure.id for failure in shipped_taxonomy().classes} | {UNCLASSIFIED, ""}
    if chosen not in known:
        messages.error(request, "Choose one of the classes.")
    else:
        classifying.choose_class(attempt.scenario.scenario, chosen, by=standing.user)
        enqueue_reclassifying(run.agent_id)
        messages.success(request, "The class was changed; the runs with this scenario are being counted anew.")
    return redirect("attempt", client=client, agent=agent, run_id=run_id, number=number)
