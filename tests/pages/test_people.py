"""Pages of clients, people, invitations and tokens."""

import re
from collections.abc import Callable

import pytest
from django.test import Client as Browser

from evals.models import Agent
from reliability.models import Assignment, Client, Invitation, Membership, Role, Token, User
from tests.conftest import PASSWORD, Api

type SignIn = Callable[[User | None], Browser]
NEW = {"name": "New Person", "password": "a long password", "again": "a long password"}


def test_empty_installation_leads_to_the_first_client(erin: User, sign_in: SignIn) -> None:
    browser = sign_in(erin)

    assert "Create the first client" in browser.get("/").content.decode()
    made = browser.post("/-/clients/new/", {"name": "Acme", "slug": "acme", "time_zone": "Europe/Berlin"})

    assert made["Location"] == "/acme/-/agents/new/"
    agent = browser.post(made["Location"], {"name": "Bot", "slug": "bot", "risk_tier": "high"})
    assert agent["Location"] == "/acme/bot/upload/"


@pytest.mark.parametrize("slug", ["api", "static", "Acme", "a b", "-", "ünï", "a--b"])
def test_client_slug_is_checked(erin: User, sign_in: SignIn, slug: str) -> None:
    answer = sign_in(erin).post("/-/clients/new/", {"name": "Acme", "slug": slug, "time_zone": "UTC"})

    assert answer.status_code == 422
    assert Client.objects.count() == 0


def test_agent_slug_is_unique_in_its_client(alice: User, agent: Agent, other_agent: Agent, sign_in: SignIn) -> None:
    fields = {"name": "Again", "slug": agent.slug, "risk_tier": "low"}
    answer = sign_in(alice).post("/acme/-/agents/new/", fields)

    assert answer.status_code == 422
    assert "already has an agent with this slug" in answer.content.decode()
    assert sign_in(alice).post("/acme/-/agents/new/", fields | {"slug": other_agent.slug}).status_code == 302


def test_invited_person_sets_up_an_account_and_lands_at_the_client(alice: User, sign_in: SignIn) -> None:
    page = sign_in(alice).post("/acme/-/members/", {"email": "new@example.org", "role": "sponsor"}).content.decode()
    url = re.search(r'id="invitation-url">http://[^/]+(/-/invitations/[^<]+)<', page)
    assert url
    stranger = Browser()

    assert "new@example.org" in stranger.get(url[1]).content.decode()
    done = stranger.post(url[1], NEW)

    assert done["Location"] == "/acme/"
    assert stranger.get("/acme/").status_code == 200
    assert Membership.objects.get(user__email="new@example.org").role == Role.SPONSOR
    assert stranger.get(url[1]).status_code == 404


@pytest.mark.parametrize("change", [{"password": "short", "again": "short"}, {"again": "another one"}, {"name": ""}])
def test_weak_or_unequal_password_is_422(alice: User, sign_in: SignIn, change: dict[str, str]) -> None:
    page = sign_in(alice).post("/acme/-/members/", {"email": "new@example.org", "role": "viewer"}).content.decode()
    path = "/-/invitations/" + re.search(r"/-/invitations/([\w-]+)/", page)[1] + "/"  # type: ignore[index]

    answer = Browser().post(path, NEW | change)

    assert answer.status_code == 422
    assert not User.objects.filter(email="new@example.org").exists()


def test_somebody_with_an_account_signs_in_to_accept(alice: User, charlie: User, sign_in: SignIn) -> None:
    page = sign_in(alice).post("/acme/-/members/", {"email": charlie.email, "role": "viewer"}).content.decode()
    path = "/-/invitations/" + re.search(r"/-/invitations/([\w-]+)/", page)[1] + "/"  # type: ignore[index]

    assert "Sign in" in Browser().get(path).content.decode()
    Browser().post(path, NEW)  # does not take the account over
    assert not Membership.objects.filter(client__slug="acme", user=charlie).exists()
    assert sign_in(charlie).post(path)["Location"] == "/acme/"
    charlie.refresh_from_db()
    assert charlie.check_password(PASSWORD)


def test_token_is_shown_once(alice: User, agent: Agent, sign_in: SignIn) -> None:
    browser = sign_in(alice)
    answer = browser.post("/acme/-/tokens/", {"name": "ci", "scopes": ["read"], "days": "30", "agent": str(agent.pk)})

    secret = re.search(r'id="new-token">(rs_[\w-]+)<', answer.content.decode())
    assert secret
    assert answer["Cache-Control"] == "no-store"
    assert Api().get("/agents/support-agent", secret[1]).status_code == 200
    assert secret[1] not in browser.get("/acme/-/tokens/").content.decode()
    browser.post(f"/acme/-/tokens/{Token.objects.get().pk}/revoke/")
    assert Api().get("/agents/support-agent", secret[1]).status_code == 401


def test_token_is_of_an_agent_of_the_client(alice: User, other_agent: Agent, sign_in: SignIn) -> None:
    fields = {"name": "ci", "scopes": ["read"], "days": "30", "agent": str(other_agent.pk)}

    assert sign_in(alice).post("/acme/-/tokens/", fields).status_code == 422
    assert Token.objects.count() == 0


def test_removed_member_sees_nothing_at_once(alice: User, bob: User, sign_in: SignIn) -> None:
    browser = sign_in(bob)
    assert browser.get("/acme/").status_code == 200

    sign_in(alice).post(f"/acme/-/members/{Membership.objects.get(user=bob).pk}/", {"remove": "1"})

    assert browser.get("/acme/").status_code == 404


def test_unassigned_consultant_sees_nothing_at_once(alice: User, erin: User, sign_in: SignIn) -> None:
    sign_in(erin).post(f"/acme/-/consultants/{Assignment.objects.get(user=alice).pk}/unassign/")

    assert sign_in(alice).get("/acme/").status_code == 404


def test_person_who_may_not_sign_in_loses_the_session(erin: User, alice: User, sign_in: SignIn) -> None:
    browser = sign_in(alice)
    sign_in(erin).post(f"/-/people/{alice.pk}/", {"is_consultant": "on"})

    assert browser.get("/acme/")["Location"].startswith("/accounts/login/")


def test_invitation_is_withdrawn(alice: User, sign_in: SignIn) -> None:
    browser = sign_in(alice)
    browser.post("/acme/-/members/", {"email": "new@example.org", "role": "viewer"})
    browser.post(f"/acme/-/invitations/{Invitation.objects.get().pk}/revoke/")

    assert Invitation.objects.pending().count() == 0
    assert "new@example.org" not in browser.get("/acme/-/members/").content.decode().split("Invite a person")[
        0
    ].replace("The invitation of new@example.org was withdrawn", "")


def test_sign_up_is_closed(db: None) -> None:
    answer = Browser().get("/accounts/signup/")

    assert "invitation" in answer.content.decode().lower()
    Browser().post("/accounts/signup/", {"email": "x@example.org", "password1": "a long password"})
    assert not User.objects.exists()


def test_sign_in_by_email_whatever_its_case(bob: User) -> None:
    browser = Browser()
    answer = browser.post("/accounts/login/", {"login": "BOB@Example.org", "password": PASSWORD})

    assert answer.status_code == 302
    assert browser.get("/")["Location"] == "/acme/"


@pytest.mark.parametrize("number", [1, 3])
def test_member_list_takes_the_same_queries(
    alice: User, client_org: Client, sign_in: SignIn, django_assert_num_queries: Callable[[int], object], number: int
) -> None:
    for n in range(number):
        user = User.objects.create_user(f"m{n}@example.org")
        Membership.objects.create(client=client_org, user=user)
        Invitation.objects.create(
            client=client_org, email=f"i{n}@example.org", secret_sha256=str(n), expires_at="2099-01-01T00:00Z"
        )
    browser = sign_in(alice)
    # session, user, client, assignment of the consultant; members, invitations, assignments, consultants to assign
    with django_assert_num_queries(8):  # type: ignore[attr-defined]
        browser.get("/acme/-/members/")


@pytest.mark.parametrize("number", [1, 3])
def test_portfolio_takes_the_same_queries(
    alice: User, client_org: Client, sign_in: SignIn, django_assert_num_queries: Callable[[int], object], number: int
) -> None:
    for n in range(number):
        Agent.objects.create(client=client_org, slug=f"a{n}", name=f"Agent {n}")
    browser = sign_in(alice)
    # session, user, clients; agents, snapshots, steps, drafts
    with django_assert_num_queries(7):  # type: ignore[attr-defined]
        browser.get("/")


def test_audit_log_names_people_and_keeps_their_ids_in_the_chain(alice: User, agent: Agent, sign_in: SignIn) -> None:
    browser = sign_in(alice)
    browser.post("/acme/-/tokens/", {"name": "ci", "agent": "", "scopes": ["runs:write"], "days": "30"})

    page = browser.get("/acme/-/audit/").content.decode()

    assert f'title="user {alice.pk}">{alice}</td>' in page
    assert f">user {alice.pk}<" not in page


def test_token_for_what_nothing_receives_is_not_offered(alice: User, agent: Agent, sign_in: SignIn) -> None:
    browser = sign_in(alice)
    assert "evidence:write" not in browser.get("/acme/-/tokens/").content.decode()
    browser.post("/acme/-/tokens/", {"name": "x", "agent": "", "scopes": ["evidence:write"], "days": "30"})
    assert not Token.objects.exists()


def test_slug_comes_from_the_name_when_left_out(erin: User, sign_in: SignIn) -> None:
    browser = sign_in(erin)
    browser.post("/-/clients/new/", {"name": "Müller & Söhne", "slug": "", "time_zone": "UTC"})
    browser.post("/muller-sohne/-/agents/new/", {"name": "Support agent 2", "risk_tier": "low"})

    assert Client.objects.get().slug == "muller-sohne"
    assert Agent.objects.get().slug == "support-agent-2"
    answer = browser.post("/-/clients/new/", {"name": "返金", "slug": "", "time_zone": "UTC"})
    assert answer.status_code == 422
    assert "Give a slug" in answer.content.decode()


def test_pages_are_not_kept_by_shared_caches(alice: User, sign_in: SignIn) -> None:
    assert "private" in sign_in(alice).get("/acme/-/members/")["Cache-Control"]
