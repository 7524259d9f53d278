"""Changes to clients, people, invitations and tokens; each leaves an audit entry."""

import logging
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from reliability.audit import Actor, record_change
from reliability.auth import hash_secret
from reliability.errors import AppError, Conflict
from reliability.models import Assignment, Client, Invitation, Membership, Role, Scope, Token, User

if TYPE_CHECKING:
    from evals.models import Agent

logger = logging.getLogger(__name__)
TOKEN_PREFIX = "rs_"  # noqa: S105 (how tokens begin, so that scanners find leaked ones)


class LastAdministrator(AppError):
    status = 409
    code = "last_administrator"


class NewToken(NamedTuple):
    """The token's row, and its text: the only time that it is known."""

    token: Token
    secret: str


class NewInvitation(NamedTuple):
    """The invitation's row, and the address that accepts it: the only time that it is known."""

    invitation: Invitation
    url: str


@transaction.atomic
def create_client(client: Client, *, by: User) -> Client:
    client.save(force_insert=True)
    record_change(client, "client.created", client, by=by, slug=client.slug, name=client.name)
    return client


@transaction.atomic
def change_client(client: Client, *, by: User) -> None:
    client.save()
    record_change(
        client,
        "client.changed",
        client,
        by=by,
        slug=client.slug,
        name=client.name,
        time_zone=client.time_zone,
        second_person_publishes=client.second_person_publishes,
    )


@transaction.atomic
def set_role(membership: Membership, role: Role, *, by: User) -> None:
    membership.role = role
    membership.save(update_fields=["role"])
    record_change(membership.client, "member.changed", membership.user, by=by, role=role.value)


@transaction.atomic
def remove_member(membership: Membership, *, by: User) -> None:
    """End a membership; what the person wrote stays."""
    client, user = membership.client, membership.user
    membership.delete()
    record_change(client, "member.removed", user, by=by)


@transaction.atomic
def assign_consultant(client: Client, user: User, *, by: User) -> Assignment:
    assignment, made = Assignment.objects.get_or_create(client=client, user=user)
    if made:
        record_change(client, "consultant.assigned", user, by=by)
    return assignment


@transaction.atomic
def unassign_consultant(assignment: Assignment, *, by: User) -> None:
    client, user = assignment.client, assignment.user
    assignment.delete()
    record_change(client, "consultant.unassigned", user, by=by)


@transaction.atomic
def change_user(user: User, *, is_active: bool, is_consultant: bool, is_administrator: bool, by: User) -> None:
    """Change what a person of the consultancy is. Raises `LastAdministrator` when nobody would be left."""
    if user.is_administrator and not (is_administrator and is_active):
        others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if not others.exists():
            raise LastAdministrator("This is the last administrator. Make another one first.")
    user.is_active, user.is_consultant, user.is_superuser = is_active, is_consultant, is_administrator
    user.save(update_fields=["is_active", "is_consultant", "is_superuser"])
    record_change(
        None,
        "user.changed",
        user,
        by=by,
        is_active=is_active,
        is_consultant=is_consultant,
        is_administrator=is_administrator,
    )


@transaction.atomic
def invite(
    email: str, *, by: User, client: Client | None = None, role: Role | None = None, as_administrator: bool = False
) -> NewInvitation:
    """Invite a person to a client, or (no client) into the consultancy. An earlier open invitation is replaced."""
    email = email.strip().lower()
    if client and Membership.objects.filter(client=client, user__email=email).exists():
        raise Conflict(f"{email} is already a member of {client}.", code="already_member")
    secret = secrets.token_urlsafe(32)
    Invitation.objects.pending().filter(client=client, email=email).update(revoked_at=timezone.now())
    invitation = Invitation.objects.create(
        client=client,
        email=email,
        role=role or "",
        as_administrator=as_administrator,
        secret_sha256=hash_secret(secret),
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    )
    url = settings.PUBLIC_URL.rstrip("/") + reverse("invitation-accept", args=[secret])
    record_change(client, "invitation.made", invitation, by=by, role=role or "", as_administrator=as_administrator)
    transaction.on_commit(lambda: send_invitation(invitation, url))
    return NewInvitation(invitation, url)


def send_invitation(invitation: Invitation, url: str) -> None:
    """Send the address by mail. A mail server that fails is logged: the page shows the address as well."""
    context = {"invitation": invitation, "url": url, "consultancy": settings.CONSULTANCY_NAME}
    text = render_to_string("reliability/invitation_email.txt", context)
    subject = f"Invitation to {settings.CONSULTANCY_NAME}"
    try:
        send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [invitation.email])
    except OSError:  # smtplib's errors are kinds of it
        logger.exception("the invitation %s could not be mailed", invitation.pk)


def find_invitation(secret: str) -> Invitation | None:
    """Return the invitation that may still be accepted with this secret."""
    return Invitation.objects.pending().select_related("client").filter(secret_sha256=hash_secret(secret)).first()


@transaction.atomic
def accept_invitation(invitation: Invitation, *, name: str, password: str | None) -> User:
    """Make (or find) the invited person's account and give it what was promised. Raises `Conflict` when used up."""
    used = Invitation.objects.pending().filter(pk=invitation.pk).update(accepted_at=timezone.now())
    if not used:
        raise Conflict("This invitation was used, withdrawn, or has expired.", code="invitation_over")
    user = User.objects.filter(email__iexact=invitation.email).first()
    if user is None:
        user = User.objects.create_user(invitation.email, password, name=name)
    EmailAddress.objects.get_or_create(user=user, email=invitation.email, defaults={"verified": True, "primary": True})
    if invitation.client:
        Membership.objects.update_or_create(
            client=invitation.client, user=user, defaults={"role": invitation.role or Role.VIEWER}
        )
    else:
        user.is_consultant = True
        user.is_superuser = user.is_superuser or invitation.as_administrator
        user.save(update_fields=["is_consultant", "is_superuser"])
    record_change(invitation.client, "invitation.accepted", invitation, by=user)
    return user


@transaction.atomic
def revoke_invitation(invitation: Invitation, *, by: User) -> None:
    Invitation.objects.pending().filter(pk=invitation.pk).update(revoked_at=timezone.now())
    record_change(invitation.client, "invitation.revoked", invitation, by=by)


@transaction.atomic
def issue_token(
    client: Client,
    *,
    name: str,
    scopes: Iterable[Scope],
    agent: "Agent | None" = None,
    days: int | None = None,
    by: Actor = None,
) -> NewToken:
    """Make a token; it expires after `days` (TOKEN_DAYS unless said)."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        client=client,
        agent=agent,
        name=name,
        scopes=sorted({scope.value for scope in scopes}),
        hint=secret[: len(TOKEN_PREFIX) + 5],
        sha256=hash_secret(secret),
        created_by=by if isinstance(by, User) else None,
        expires_at=timezone.now() + timedelta(days=days or settings.TOKEN_DAYS),
    )
    record_change(client, "token.issued", token, by=by, scopes=token.scopes, agent=agent.slug if agent else "")
    return NewToken(token, secret)


@transaction.atomic
def revoke_token(token: Token, *, by: User) -> None:
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    record_change(token.client, "token.revoked", token, by=by)
