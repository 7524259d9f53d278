"""The classes that a client's results are counted by: the shipped taxonomy, or one of the client's own."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from evals import taxonomies_store as store
from evals.class_preview import count_uses, preview_classes
from evals.classifiers import classifier_of, mapping_of
from evals.models import Agent, TaxonomyVersion
from evals.strict_yaml import DocumentRefused
from evals.tasks import enqueue_reclassifying_client
from evals.taxonomy import SHIPPED, Taxonomy, shipped_taxonomy
from evals.taxonomy_changes import list_class_changes
from reliability.access import Standing, enter_client, require_internal
from reliability.errors import Conflict
from reliability.htmx import render_page

SHOWN_VERSIONS = 50


@login_required
def taxonomy(request: HttpRequest, client: str) -> HttpResponse:
    """Show the taxonomy; try another one, or make it hold for all agents of the client."""
    standing = enter_client(request.user, client)
    if request.method != "POST":
        return _render(request, standing)
    require_internal(standing)
    source = SHIPPED.read_text("utf-8") if "shipped" in request.POST else request.POST.get("source", "")
    try:
        if "save" in request.POST:
            seen = request.POST.get("instead_of", "")
            made = store.save_taxonomy(standing.client, source, by=standing.user, instead_of=seen)
            enqueue_reclassifying_client(standing.client.pk)
            messages.success(request, f"{made.name} holds for all agents; their runs are being counted anew.")
            return redirect("taxonomy", client=client)
        tried = store.parse_for(standing.client, source)
    except DocumentRefused as refused:
        return _render(request, standing, source=source, problems=refused.problems, status=422)
    except Conflict as conflict:
        return _render(request, standing, source=source, conflict=conflict.detail, status=409)
    return _render(request, standing, source=source, preview=_preview(standing, tried))


def _preview(standing: Standing, tried: Taxonomy) -> dict[str, object]:
    agents = list(Agent.objects.filter(client=standing.client).select_related("client"))
    passed_over = [(agent, mapping_of(agent).rules_without(tried)) for agent in agents]
    changes = list_class_changes(store.taxonomy_of(standing.client.pk), tried)
    uses = count_uses(agents, [change.class_id for change in changes])
    return {
        "classes": preview_classes(agents, lambda agent, suite: classifier_of(agent, suite, taxonomy=tried)),
        "tried": tried,
        "changes": [(change, uses.get(change.class_id)) for change in changes],
        "passed_over": [(agent, rules) for agent, rules in passed_over if rules],
    }


def _render(request: HttpRequest, standing: Standing, status: int = 200, **context: object) -> HttpResponse:
    held = store.chosen_version(standing.client)
    around = {
        "standing": standing,
        "taxonomy": store.taxonomy_of(standing.client.pk),
        "held": held,
        "shipped": shipped_taxonomy(),
        "source": store.draft_of(standing.client) if standing.is_internal else "",
        "versions": TaxonomyVersion.objects.filter(client=standing.client).select_related("by", "based_on")[
            :SHOWN_VERSIONS
        ],
    }
    return render_page(request, "evals/taxonomy.html", "editor", around | context, status=status)
