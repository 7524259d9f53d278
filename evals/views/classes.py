"""The classes of an agent's scenarios: the rules that give them, and what a person says of one."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from evals import access, classifying
from evals.class_mapping import EMPTY, parse_mapping
from evals.class_preview import preview_classes
from evals.classifiers import classifier_of, latest_mapping, mapping_of
from evals.contexts import attempt_page
from evals.models import Agent
from evals.strict_yaml import DocumentRefused
from evals.tasks import enqueue_reclassifying
from evals.taxonomies_store import taxonomy_of
from reliability.access import Standing, enter_client, require_internal
from reliability.errors import AppError, Conflict
from reliability.htmx import render_page

SHOWN_VERSIONS = 50


@login_required
def class_mapping(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """Show the rules; try other ones, or make them hold."""
    standing = enter_client(request.user, client)
    subject = access.get_agent(standing, agent)
    if request.method != "POST":
        return _render(request, standing, subject)
    require_internal(standing)
    source = request.POST.get("source", "")
    try:
        if "save" in request.POST:
            seen = request.POST.get("instead_of", "")
            instead_of = int(seen) if seen.isascii() and seen.isdigit() else None
            made = classifying.save_mapping(subject, source, by=standing.user, instead_of=instead_of)
            enqueue_reclassifying(subject.pk)
            messages.success(request, f"Version {made.number} of the rules holds; the runs are being counted anew.")
            return redirect("class-mapping", client=client, agent=agent)
        mapping = parse_mapping(source.replace("\r\n", "\n").encode(), taxonomy_of(standing.client.pk))
    except DocumentRefused as refused:
        return _render(request, standing, subject, source=source, problems=refused.problems, status=422)
    except Conflict as conflict:
        return _render(request, standing, subject, source=source, conflict=conflict.detail, status=409)
    preview = preview_classes([subject], lambda agent, suite: classifier_of(agent, suite, mapping=mapping))
    return _render(request, standing, subject, source=source, preview=preview)


def _render(
    request: HttpRequest, standing: Standing, agent: Agent, status: int = 200, **context: object
) -> HttpResponse:
    stored = latest_mapping(agent)
    taxonomy = taxonomy_of(standing.client.pk)
    around = {
        "standing": standing,
        "agent": agent,
        "stored": stored,
        "source": stored.source if stored else EMPTY.decode(),
        "versions": agent.class_mappings.select_related("by")[:SHOWN_VERSIONS],
        "taxonomy": taxonomy,
        "passed_over": mapping_of(agent).rules_without(taxonomy),
        # Of those that are seen from here: an internal run never reaches a client, not by a count either.
        "behind": classifying.list_runs_behind(agent).filter(pk__in=access.list_runs(standing).values("pk")).count(),
    }
    return render_page(request, "evals/classes.html", "mapping", around | context, status=status)


@login_required
@require_POST
def scenario_class(request: HttpRequest, client: str, agent: str, run_id: uuid.UUID, number: int) -> HttpResponse:
    """Give the scenario of an attempt another class, in all runs of the agent."""
    standing = enter_client(request.user, client)
    owner = access.get_agent(standing, agent)
    run = access.get_run(standing, run_id, owner)
    if number > 2**31 - 1:
        raise Http404
    attempt = access.get_attempt(run, number)
    require_internal(standing)
    if attempt.scenario is None or attempt.scenario.scenario is None:
        raise Http404
    class_id, reason = request.POST.get("class_id", ""), request.POST.get("reason", "")
    try:
        classifying.choose_class(attempt.scenario.scenario, class_id, by=standing.user, reason=reason)
    except AppError as refused:
        context = {
            "standing": standing,
            "agent": owner,
            "run": run,
            "page": attempt_page(run, attempt),
            "taxonomy": taxonomy_of(standing.client.pk),
            "class_error": refused.detail,
            "class_reason": reason,
        }
        return render_page(request, "evals/attempt.html", "", context, status=422)
    enqueue_reclassifying(run.agent_id)
    messages.success(request, "The class was changed; the runs with this scenario are being counted anew.")
    return redirect("attempt", client=client, agent=agent, run_id=run_id, number=number)
