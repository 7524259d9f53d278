"""The consultancy's own people, invitations into it, and help."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from reliability import people
from reliability.access import require_administrator
from reliability.errors import AppError
from reliability.forms import AcceptForm, InviteColleagueForm, PersonForm
from reliability.htmx import render_page
from reliability.models import Invitation, User


@login_required
def people_list(request: HttpRequest) -> HttpResponse:
    administrator = require_administrator(request.user)
    form = InviteColleagueForm(request.POST or None)
    invitation = None
    if request.method == "POST" and form.is_valid():
        invitation = people.invite(
            form.cleaned_data["email"], by=administrator, as_administrator=form.cleaned_data["as_administrator"]
        )
        form = InviteColleagueForm()
    context = {
        "people": User.objects.filter(is_consultant=True)
        .union(User.objects.filter(is_superuser=True))
        .order_by("email"),
        "invitations": Invitation.objects.pending().filter(client=None).select_related("invited_by"),
        "form": form,
        "new_invitation": invitation,
    }
    return render_page(request, "reliability/people.html", "", context, status=422 if form.is_bound else 200)


@login_required
def person_change(request: HttpRequest, user_id: int) -> HttpResponse:
    administrator = require_administrator(request.user)
    person = get_object_or_404(User, pk=user_id)
    initial = {
        "is_consultant": person.is_consultant,
        "is_administrator": person.is_administrator,
        "is_active": person.is_active,
    }
    form = PersonForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            people.change_user(person, **form.cleaned_data, by=administrator)
        except AppError as error:
            form.add_error(None, error.detail)
        else:
            messages.success(request, f"{person} was changed.")
            return redirect("people")
    context = {"person": person, "form": form}
    return render_page(request, "reliability/person_form.html", "", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def colleague_invitation_revoke(request: HttpRequest, invitation_id: uuid.UUID) -> HttpResponse:
    administrator = require_administrator(request.user)
    invitation = get_object_or_404(Invitation, pk=invitation_id, client=None)
    people.revoke_invitation(invitation, by=administrator)
    messages.success(request, f"The invitation of {invitation.email} was withdrawn.")
    return redirect("people")


def invitation_accept(request: HttpRequest, secret: str) -> HttpResponse:
    """A stranger sets a name and a password; somebody with an account signs in and confirms."""
    invitation = people.find_invitation(secret)
    if invitation is None:
        return render_page(request, "reliability/invitation_over.html", "", {}, status=404)
    existing = User.objects.filter(email__iexact=invitation.email).first()
    if existing and request.user != existing:
        return render_page(request, "reliability/invitation_sign_in.html", "", {"invitation": invitation})
    form = AcceptForm(request.POST or None, email=invitation.email)
    if request.method == "POST" and (existing or form.is_valid()):
        try:
            user = people.accept_invitation(
                invitation,
                name="" if existing else form.cleaned_data["name"],
                password=None if existing else form.cleaned_data["password"],
            )
        except AppError as error:
            messages.error(request, error.detail)
            return redirect("home")
        if not existing:
            login(request, user, backend="allauth.account.auth_backends.AuthenticationBackend")
        messages.success(request, "Welcome.")
        return redirect(invitation.client or "home")
    context = {"invitation": invitation, "form": form, "existing": existing}
    status = 422 if form.is_bound and not existing else 200
    return render_page(request, "reliability/invitation_accept.html", "", context, status=status)


@login_required
def site_help(request: HttpRequest) -> HttpResponse:
    return render_page(request, "reliability/help.html", "", {"public_url": settings.PUBLIC_URL.rstrip("/")})
