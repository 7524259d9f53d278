"""A client's own pages: settings, members, tokens, audit log."""

import uuid
from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from reliability import people
from reliability.access import Standing, enter_client, require_administrator, require_internal
from reliability.errors import AppError
from reliability.forms import AssignForm, ClientForm, InviteMemberForm, MemberForm, TokenForm
from reliability.htmx import render_page
from reliability.models import (
    Assignment,
    AuditChain,
    AuditEntry,
    Client,
    Invitation,
    Membership,
    Role,
    Scope,
    Token,
    User,
)

AUDIT_PAGE = 100


def _enter_internal(request: HttpRequest, client: str) -> Standing:
    standing = enter_client(request.user, client)
    require_internal(standing)
    return standing


@login_required
def client_create(request: HttpRequest) -> HttpResponse:
    user = require_administrator(request.user)
    form = ClientForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = people.create_client(form.save(commit=False), by=user)
        messages.success(request, f"{made} was created. Add its first agent.")
        return redirect("agent-create", client=made.slug)
    return render_page(
        request, "reliability/client_form.html", "", {"form": form}, status=422 if form.is_bound else 200
    )


@login_required
def client_change(request: HttpRequest, client: str) -> HttpResponse:
    standing = _enter_internal(request, client)
    subject = Client.objects.get(pk=standing.client.pk)  # the form fills it, also with what it then refuses
    form = ClientForm(request.POST or None, instance=subject)
    if request.method == "POST" and form.is_valid():
        people.change_client(form.save(commit=False), by=standing.user)
        messages.success(request, "The client was changed.")
        return redirect("client-change", client=subject.slug)
    context = {"standing": standing, "form": form}
    return render_page(request, "reliability/client_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
def member_list(request: HttpRequest, client: str) -> HttpResponse:
    """Members, consultants and open invitations on one page; a new invitation's address is shown once."""
    standing = _enter_internal(request, client)
    form = InviteMemberForm(request.POST or None)
    invitation = None
    if request.method == "POST" and form.is_valid():
        try:
            role = Role(form.cleaned_data["role"])
            invitation = people.invite(form.cleaned_data["email"], by=standing.user, client=standing.client, role=role)
            form = InviteMemberForm()
        except AppError as error:
            form.add_error("email", error.detail)
    context = {
        "standing": standing,
        "members": standing.client.memberships.select_related("user"),
        "assignments": standing.client.assignments.select_related("user"),
        "invitations": Invitation.objects.pending().filter(client=standing.client).select_related("invited_by"),
        "form": form,
        "assign_form": AssignForm(client=standing.client),
        "new_invitation": invitation,
    }
    return render_page(request, "reliability/member_list.html", "", context, status=422 if form.is_bound else 200)


@login_required
def member_change(request: HttpRequest, client: str, member_id: int) -> HttpResponse:
    standing = _enter_internal(request, client)
    member = get_object_or_404(
        Membership.objects.select_related("user", "client"), pk=member_id, client=standing.client
    )
    form = MemberForm(request.POST or None, initial={"role": member.role})
    if request.method == "POST" and "remove" in request.POST:
        people.remove_member(member, by=standing.user)
        messages.success(request, f"{member.user} is no longer a member. What they wrote stays.")
        return redirect("member-list", client=client)
    if request.method == "POST" and form.is_valid():
        people.set_role(member, Role(form.cleaned_data["role"]), by=standing.user)
        messages.success(request, f"{member.user} is now a {member.get_role_display().lower()}.")
        return redirect("member-list", client=client)
    context = {"standing": standing, "member": member, "form": form}
    return render_page(request, "reliability/member_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def consultant_assign(request: HttpRequest, client: str) -> HttpResponse:
    standing = _enter_internal(request, client)
    form = AssignForm(request.POST, client=standing.client)
    if form.is_valid():
        people.assign_consultant(standing.client, form.cleaned_data["consultant"], by=standing.user)
        messages.success(request, f"{form.cleaned_data['consultant']} now works for {standing.client}.")
    else:
        messages.error(request, "Choose a consultant who is not assigned yet.")
    return redirect("member-list", client=client)


@login_required
@require_POST
def consultant_unassign(request: HttpRequest, client: str, assignment_id: int) -> HttpResponse:
    standing = _enter_internal(request, client)
    assignments = Assignment.objects.select_related("user", "client")
    assignment = get_object_or_404(assignments, pk=assignment_id, client=standing.client)
    people.unassign_consultant(assignment, by=standing.user)
    messages.success(request, f"{assignment.user} no longer works for {standing.client}.")
    if assignment.user == standing.user and not standing.user.is_administrator:
        return redirect("home")
    return redirect("member-list", client=client)


@login_required
@require_POST
def invitation_revoke(request: HttpRequest, client: str, invitation_id: uuid.UUID) -> HttpResponse:
    standing = _enter_internal(request, client)
    invitation = get_object_or_404(Invitation, pk=invitation_id, client=standing.client)
    people.revoke_invitation(invitation, by=standing.user)
    messages.success(request, f"The invitation of {invitation.email} was withdrawn.")
    return redirect("member-list", client=client)


@login_required
def token_list(request: HttpRequest, client: str) -> HttpResponse:
    """The client's tokens; a new one's text is in the answer that made it, and nowhere else."""
    standing = _enter_internal(request, client)
    form = TokenForm(request.POST or None, client=standing.client)
    new_token = None
    if request.method == "POST" and form.is_valid():
        new_token = people.issue_token(
            standing.client,
            name=form.cleaned_data["name"],
            scopes=[Scope(scope) for scope in form.cleaned_data["scopes"]],
            agent=form.cleaned_data["agent"],
            days=form.cleaned_data["days"],
            by=standing.user,
        )
        form = TokenForm(client=standing.client)
    context = {
        "standing": standing,
        "tokens": Token.objects.filter(client=standing.client).select_related("agent", "created_by"),
        "form": form,
        "new_token": new_token,
    }
    response = render_page(request, "reliability/token_list.html", "", context, status=422 if form.is_bound else 200)
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def token_revoke(request: HttpRequest, client: str, token_id: uuid.UUID) -> HttpResponse:
    standing = _enter_internal(request, client)
    token = get_object_or_404(Token.objects.select_related("client"), pk=token_id, client=standing.client)
    people.revoke_token(token, by=standing.user)
    messages.success(request, f"{token.name} was revoked; jobs that use it get 401 from now on.")
    return redirect("token-list", client=client)


def _user_ids(entries: Iterable[AuditEntry]) -> set[int]:
    """The log keeps ids, so that a name is no part of the chain; the page says who they are today."""
    words = (entry.actor.partition(" ") for entry in entries)
    return {int(key) for kind, _, key in words if kind == "user" and key.isdecimal()}


@login_required
def audit_list(request: HttpRequest, client: str) -> HttpResponse:
    standing = _enter_internal(request, client)
    chain = AuditChain.objects.filter(client=standing.client).first()
    entries = AuditEntry.objects.filter(chain=chain).order_by("-number")
    pages = Paginator(entries, AUDIT_PAGE)
    number = request.GET.get("page", "1")
    if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= pages.num_pages:
        raise Http404
    page = pages.page(int(number))
    names = {f"user {user.pk}": str(user) for user in User.objects.filter(pk__in=_user_ids(page.object_list))}
    rows = [(entry, names.get(entry.actor, entry.actor)) for entry in page.object_list]
    context = {"standing": standing, "chain": chain, "page": page, "rows": rows}
    return render_page(request, "reliability/audit_list.html", "", context)
