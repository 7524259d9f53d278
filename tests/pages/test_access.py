"""Who may open what: every address and every API operation, as each of the cast, in one table.

An address that the table lacks fails the test, so nothing is added without saying who may see it.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client as Browser
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from evals.models import Agent, Import, Run, Visibility
from evals.options import ImportOptions
from evals.storing import receive_chunks
from evals.submitting import submit_artifact
from reliability import people
from reliability.access import enter_client
from reliability.models import Assignment, Client, Membership, Role, Scope, User
from reliability.people import issue_token
from scorecards.demo.loading import load_demo
from scorecards.fact_checks import open_fact_check
from scorecards.models import EvidenceItem, NextStep, Revision, RevisionState, SourceType
from scorecards.remarks import Place, add_remark
from scorecards.reviewing import submit_for_review
from tests.conftest import read_through

CAST = ("alice", "bob", "carol", "dora", "charlie", "erin", "frank", "nobody")
# What each of the cast gets, in that order: "ok" is anything but a refusal.
ANYBODY = ("ok",) * 8
SIGNED_IN = (*("ok",) * 7, "login")
MEMBERS = ("ok", "ok", "ok", "ok", 404, "ok", 404, "login")
UPLOADERS = ("ok", 403, "ok", 403, 404, "ok", 404, "login")
INTERNAL = ("ok", 403, 403, 403, 404, "ok", 404, "login")  # members see the place, and may not act
HIDDEN = ("ok", 404, 404, 404, 404, "ok", 404, "login")  # members do not learn that it exists
OWN_IMPORT = ("ok", 404, "ok", 404, 404, "ok", 404, "login")  # Carol's
NAMED = ("ok", "ok", 404, 404, 404, "ok", 404, "login")  # Bob is named in the fact check
REMARKERS = (403, "ok", 404, 404, 404, 403, 404, "login")  # internal people remark on the form
ADMINISTRATORS = (403, 404, 404, 404, 404, "ok", 403, "login")

PAGES: dict[str, tuple[Any, ...]] = {
    "healthz": ANYBODY,
    "invitation-accept": ANYBODY,
    "home": SIGNED_IN,
    "help": SIGNED_IN,
    "people": ADMINISTRATORS,
    "person-change": ADMINISTRATORS,
    "colleague-invitation-revoke": ADMINISTRATORS,
    "client-create": ADMINISTRATORS,
    "client": MEMBERS,
    "client-change": INTERNAL,
    "member-list": INTERNAL,
    "member-change": INTERNAL,
    "consultant-assign": INTERNAL,
    "consultant-unassign": INTERNAL,
    "invitation-revoke": INTERNAL,
    "token-list": INTERNAL,
    "token-revoke": INTERNAL,
    "audit-list": INTERNAL,
    "agent": MEMBERS,
    "agent-create": INTERNAL,
    "agent-change": INTERNAL,
    "run-list": MEMBERS,
    "run-compare": MEMBERS,
    "run": MEMBERS,
    "run-change": INTERNAL,
    "attempt-list": MEMBERS,
    "attempt": MEMBERS,
    "scenario-class": INTERNAL,
    "class-mapping": MEMBERS,
    "taxonomy": MEMBERS,
    "artifact-download": UPLOADERS,
    "upload": UPLOADERS,
    "import": OWN_IMPORT,
    "engagement-list": HIDDEN,
    "engagement-create": HIDDEN,
    "engagement": HIDDEN,
    "engagement-change": HIDDEN,
    "review-list": MEMBERS,
    "review-start": INTERNAL,
    "review": MEMBERS,
    "review-revise": INTERNAL,
    "revision": MEMBERS,
    "revision-snapshot": MEMBERS,
    "review-edit": HIDDEN,
    "review-head": HIDDEN,
    "markdown-preview": HIDDEN,
    "review-runs": HIDDEN,
    "review-override": HIDDEN,
    "review-dimension": HIDDEN,
    "dimension-confirm": HIDDEN,
    "evidence-create": HIDDEN,
    "evidence-change": HIDDEN,
    "step-create": HIDDEN,
    "step-change": HIDDEN,
    "review-state": HIDDEN,
    "review-publish": HIDDEN,
    "review-discard": HIDDEN,
    "fact-check": NAMED,
    "fact-check-open": HIDDEN,
    "fact-check-close": HIDDEN,
    "fact-check-remark": REMARKERS,
    "remark-create": HIDDEN,
    "remark-answer": HIDDEN,
    "evidence-file": MEMBERS,
    "step-list": MEMBERS,
    "step-state": INTERNAL,
    "review-compare": MEMBERS,
    "review-history": MEMBERS,
    "report": MEMBERS,
    "report-download": MEMBERS,
}
POSTED = {  # these take POST alone
    "scenario-class",
    "colleague-invitation-revoke",
    "consultant-assign",
    "consultant-unassign",
    "invitation-revoke",
    "token-revoke",
    "review-start",
    "review-revise",
    "review-head",
    "markdown-preview",
    "review-override",
    "dimension-confirm",
    "review-state",
    "review-discard",
    "fact-check-open",
    "fact-check-close",
    "fact-check-remark",
    "remark-create",
    "remark-answer",
    "step-state",
}
FIELDS = {"part": "subject", "preview": "summary", "summary": "*text*"}  # what some of them need to be understood
OF_THE_DRAFT = {
    "review-edit",
    "review-head",
    "markdown-preview",
    "review-runs",
    "review-override",
    "review-dimension",
    "dimension-confirm",
    "evidence-create",
    "evidence-change",
    "step-create",
    "step-change",
    "review-state",
    "review-publish",
    "review-discard",
    "fact-check",
    "fact-check-open",
    "fact-check-close",
    "fact-check-remark",
    "remark-create",
    "remark-answer",
}


class World:
    """The demo's client with the cast at its doors, and one of everything that an address names."""

    def __init__(self) -> None:
        load_demo(lambda line: None)
        self.client = Client.objects.get(slug="demo")
        self.client.name = "Demo"
        self.cast = {name: self._person(name) for name in CAST if name != "nobody"}
        alice, bob = self.cast["alice"], self.cast["bob"]
        self.mira = User.objects.get(email="mira@demo.example")
        self.published = Revision.objects.filter(state=RevisionState.PUBLISHED).order_by("-published_at").first()
        self.draft = Revision.objects.get(state=RevisionState.DRAFT)
        self.run = Run.objects.get(label="governance-2.4.1")
        self.file = EvidenceItem.objects.filter(source=SourceType.FILE).last()
        self.step = NextStep.objects.filter(agent=self.published.review.agent, visibility=Visibility.CLIENT).last()
        self.draft_item = EvidenceItem.objects.get(agent=self.draft.review.agent)
        self.draft_step = NextStep.objects.get(agent=self.draft.review.agent)
        self.token = issue_token(self.client, name="x", scopes=[Scope.READ]).token
        self.invitation = people.invite("new@example.org", by=alice, client=self.client, role=Role.VIEWER)
        self.colleague = people.invite("colleague@example.org", by=self.cast["erin"])
        self.job = self._import_of_carol()
        submit_for_review(self.draft, by=alice)
        until = timezone.localdate() + timedelta(days=7)
        open_fact_check(self.draft, people=[bob], until=until, with_levels=False, by=alice)
        self.remark = add_remark(self.draft, place=Place(), text="A remark", internal=True, by=alice)

    def _person(self, name: str) -> User:
        email = f"{name}@example.org"
        if name == "erin":
            return User.objects.create_superuser(email, "a long password", name=name)
        user = User.objects.create_user(email, "a long password", name=name, is_consultant=name in ("alice", "frank"))
        if name == "alice":
            Assignment.objects.create(client=self.client, user=user)
        elif name == "charlie":
            other = Client.objects.create(slug="globex", name="Globex")
            Membership.objects.create(client=other, user=user, role=Role.CONTRIBUTOR)
        elif name in ("bob", "carol", "dora"):
            role = {"bob": Role.VIEWER, "carol": Role.CONTRIBUTOR, "dora": Role.SPONSOR}[name]
            Membership.objects.create(client=self.client, user=user, role=role)
        return user

    def _import_of_carol(self) -> Import:
        standing = enter_client(self.cast["carol"], "demo")
        agent = Agent.objects.get(slug="support-agent", client=self.client)
        return submit_artifact(standing, agent, receive_chunks(iter([b"{}"])), ImportOptions()).job

    def values(self, name: str) -> dict[str, Any]:
        """Return a value for each parameter that an address may have."""
        revision = self.draft if name in OF_THE_DRAFT else self.published
        assert revision is not None
        of_draft = name in OF_THE_DRAFT
        return {
            "user_id": self.cast["frank"].pk,
            "client": "demo",
            "agent": revision.review.agent.slug,
            "number": 1 if name in ("attempt", "scenario-class") else revision.review.number,
            "revision_number": revision.number,
            "n": revision.number,
            "paper": "a4",
            "dimension": "eval_coverage",
            "member_id": Membership.objects.get(client=self.client, user=self.cast["bob"]).pk,
            "assignment_id": Assignment.objects.get(client=self.client, user=self.cast["alice"]).pk,
            "invitation_id": self.colleague.invitation.pk if "colleague" in name else self.invitation.invitation.pk,
            "secret": self.invitation.url.rstrip("/").rsplit("/", 1)[-1],
            "token_id": self.token.pk,
            "engagement_id": revision.review.engagement_id,
            "run_id": self.run.pk,
            "artifact_id": self.run.artifacts.get().pk,
            "import_id": self.job.pk,
            "item_id": self.draft_item.pk if of_draft else self.file.pk,
            "step_id": self.draft_step.pk if of_draft else self.step.pk,
            "remark_id": self.remark.pk,
        }


def _patterns(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[URLPattern, str]]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern, prefix + str(pattern.pattern)
        elif pattern.namespace is None and "allauth" not in str(pattern.urlconf_name):
            yield from _patterns(pattern, prefix + str(pattern.pattern))


ADDRESSES = {str(pattern.name): pattern for pattern, _ in _patterns(get_resolver())}


def test_table_names_every_address() -> None:
    assert set(PAGES) == set(ADDRESSES)


@pytest.fixture
def world(db: None) -> World:
    return World()


def test_every_address_as_each_of_the_cast(world: World) -> None:
    wrong = []
    for name in sorted(ADDRESSES):
        expected = PAGES[name]
        values = world.values(name)
        for person, wanted in zip(CAST, expected, strict=True):
            got = _open(world, name, values, person)
            if got != wanted:
                wrong.append(f"{name} as {person}: {got} instead of {wanted}")
    assert not wrong, "\n".join(wrong)


def _open(world: World, name: str, values: dict[str, Any], person: str) -> Any:
    """Ask as the person and undo what it did; return "ok", "login" or the status of a refusal."""
    browser = Browser(raise_request_exception=True)
    if person != "nobody":
        browser.force_login(world.cast[person], backend="allauth.account.auth_backends.AuthenticationBackend")
    path = _reverse(name, values)
    with transaction.atomic():
        answer = (
            browser.post(path, {**FIELDS, "engagement": values["engagement_id"]})
            if name in POSTED
            else browser.get(path)
        )
        read_through(answer)
        transaction.set_rollback(True)
    if answer.status_code == 302 and "/accounts/login/" in answer["Location"]:
        return "login"
    assert answer.status_code != 405, f"{name}: {answer.status_code}"
    return answer.status_code if answer.status_code in (403, 404, 500) else "ok"


def _reverse(name: str, values: dict[str, Any]) -> str:
    pattern = next(route for found, route in _patterns(get_resolver()) if found.name == name)
    needed = {part.split(":")[-1].rstrip(">") for part in pattern.split("<")[1:] for part in [part.split(">")[0]]}
    return reverse(name, kwargs={key: values[key] for key in needed})
