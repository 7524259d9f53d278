"""Invitations, roles, tokens: what the domain allows and what it leaves in the log."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from evals.models import Agent
from reliability import people
from reliability.errors import Conflict
from reliability.models import AuditEntry, Client, Invitation, Membership, Role, Scope, Token, User
from tests.conftest import Api


def _secret(url: str) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1]


def test_invitation_makes_a_member_once(client_org: Client, alice: User) -> None:
    made = people.invite("New@Example.org", by=alice, client=client_org, role=Role.SPONSOR)
    invitation = people.find_invitation(_secret(made.url))
    assert invitation is not None

    user = people.accept_invitation(invitation, name="New", password="a long password")

    assert (user.email, user.check_password("a long password")) == ("new@example.org", True)
    assert Membership.objects.get(user=user).role == Role.SPONSOR
    assert people.find_invitation(_secret(made.url)) is None
    with pytest.raises(Conflict):
        people.accept_invitation(invitation, name="Again", password="another password")


def test_invitation_secret_is_not_stored(client_org: Client, alice: User) -> None:
    made = people.invite("new@example.org", by=alice, client=client_org, role=Role.VIEWER)

    assert _secret(made.url) not in str(Invitation.objects.values())
    assert _secret(made.url) not in str(AuditEntry.objects.values())


@pytest.mark.django_db(transaction=True)
def test_invitation_is_mailed(client_org: Client, alice: User) -> None:
    made = people.invite("new@example.org", by=alice, client=client_org, role=Role.VIEWER)

    assert [message.to for message in mail.outbox] == [["new@example.org"]]
    assert made.url in mail.outbox[0].body
    assert "as viewer of Acme" in mail.outbox[0].body


def test_new_invitation_replaces_the_open_one(client_org: Client, alice: User) -> None:
    first = people.invite("new@example.org", by=alice, client=client_org, role=Role.VIEWER)
    people.invite("new@example.org", by=alice, client=client_org, role=Role.CONTRIBUTOR)

    assert people.find_invitation(_secret(first.url)) is None
    assert Invitation.objects.pending().count() == 1


def test_expired_invitation_is_over(client_org: Client, alice: User) -> None:
    made = people.invite("new@example.org", by=alice, client=client_org, role=Role.VIEWER)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert people.find_invitation(_secret(made.url)) is None


def test_member_cannot_be_invited_again(client_org: Client, alice: User, bob: User) -> None:
    with pytest.raises(Conflict, match="already a member"):
        people.invite("BOB@example.org", by=alice, client=client_org, role=Role.VIEWER)


def test_last_administrator_stays(erin: User) -> None:
    with pytest.raises(people.LastAdministrator):
        people.change_user(erin, is_active=True, is_consultant=True, is_administrator=False, by=erin)
    erin.refresh_from_db()
    assert erin.is_administrator


def test_changes_leave_entries(client_org: Client, alice: User, bob: User) -> None:
    people.set_role(Membership.objects.get(user=bob), Role.CONTRIBUTOR, by=alice)
    people.issue_token(client_org, name="ci", scopes=[Scope.READ], by=alice)

    entries = AuditEntry.objects.filter(chain__client=client_org).order_by("number")
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("member.changed", f"user {alice.pk}"),
        ("token.issued", f"user {alice.pk}"),
    ]


def test_token_command_prints_the_token_and_nothing_else(agent: Agent, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("token", "acme", "--agent", "support-agent", "--scope", "runs:write", "--scope", "read")

    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert Api().get("/agents/support-agent", printed.strip()).json()["slug"] == "support-agent"
    token = Token.objects.get()
    assert (token.agent, token.scopes) == (agent, ["read", "runs:write"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nobody", "--scope", "read"], "no client"), (["acme", "--agent", "x", "--scope", "read"], "no agent")],
)
def test_token_command_names_what_is_missing(client_org: Client, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("token", *arguments)


def test_revoked_and_expired_tokens_are_401(client_org: Client, agent: Agent, alice: User) -> None:
    revoked = people.issue_token(client_org, name="a", scopes=[Scope.READ], by=alice)
    expired = people.issue_token(client_org, name="b", scopes=[Scope.READ], by=alice)
    people.revoke_token(revoked.token, by=alice)
    Token.objects.filter(pk=expired.token.pk).update(expires_at=timezone.now())

    for made in (revoked, expired):
        answer = Api().get("/agents", made.secret)
        assert (answer.status_code, answer["WWW-Authenticate"][:6]) == (401, "Bearer")


def test_last_use_is_noted_to_the_minute(agent: Agent, read_token: str) -> None:
    Api().get("/agents", read_token)

    used = Token.objects.get(name="reader").last_used_at
    assert used is not None
    assert (used.second, used.microsecond) == (0, 0)
