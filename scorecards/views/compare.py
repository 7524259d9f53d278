"""Pages that look back: two to four reviews side by side, and an agent's history."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse

from evals.access import get_agent
from reliability.access import enter_client
from reliability.htmx import render_page
from scorecards.comparing import MOST, compare_snapshots
from scorecards.comparing_runs import list_run_changes
from scorecards.history import list_history
from scorecards.level_history import trace_history
from scorecards.snapshot_reading import Snapshot


@login_required
def review_compare(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    """`r` names two to four reviews by number. Fewer: the page lets one choose; more: the latest four are taken."""
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    published = [row.snapshot for row in list_history(standing, subject) if row.snapshot]
    wanted = {word.lstrip("0") for word in request.GET.getlist("r")[:50]}
    chosen = [snapshot for snapshot in published if str(snapshot.review.number) in wanted]
    context: dict[str, Any] = {
        "standing": standing,
        "agent": subject,
        "published": published,
        "chosen": [snapshot.review.number for snapshot in chosen[:MOST]],
        "most": MOST,
        "is_cut": len(chosen) > MOST,
    }
    if len(chosen) >= 2:
        found = compare_snapshots(chosen[:MOST], published)
        runs = list_run_changes(standing, found.reviews)
        context |= {"found": found, "gaps": list(zip(found.gaps, runs, strict=True))}
    return render_page(request, "scorecards/review_compare.html", "", context)


@login_required
def review_history(request: HttpRequest, client: str, agent: str) -> HttpResponse:
    standing = enter_client(request.user, client)
    subject = get_agent(standing, agent)
    published: list[Snapshot] = [row.snapshot for row in list_history(standing, subject) if row.snapshot]
    context = {"standing": standing, "agent": subject, "history": trace_history(published)}
    return render_page(request, "scorecards/history.html", "", context)
