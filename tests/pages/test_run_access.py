"""Who may open which page of agents and runs: 200, 403 for what one may see but not do, 404 for strangers."""

from collections.abc import Callable

import pytest
from django.test import Client as Browser

from evals.models import Agent, Run
from reliability.models import User
from tests.conftest import read_through
from tests.run_documents import attempt, document, import_document

SignIn = Callable[[User | None], Browser]
READ = {
    "agent": "/acme/support-agent/",
    "run-list": "/acme/support-agent/runs/",
    "run-compare": "/acme/support-agent/runs/compare/",
    "run": "/acme/support-agent/runs/{run}/",
    "attempt-list": "/acme/support-agent/runs/{run}/attempts/",
    "attempt": "/acme/support-agent/runs/{run}/attempts/1/",
}
UPLOAD = {
    "upload": "/acme/support-agent/upload/",
    "artifact-download": "/acme/support-agent/runs/{run}/artifacts/{artifact}/",
}
INTERNAL = {
    "agent-create": "/acme/-/agents/new/",
    "agent-change": "/acme/support-agent/settings/",
    "run-change": "/acme/support-agent/runs/{run}/change/",
}
ALL = READ | UPLOAD | INTERNAL


@pytest.fixture
def run(agent: Agent, alice: User) -> Run:
    return import_document(agent, document("nightly-1", attempt("a")), alice)


def _address(template: str, run: Run) -> str:
    return template.format(run=run.pk, artifact=run.artifacts.get().pk)


def _status(browser: Browser, address: str) -> int:
    answer = browser.get(address)
    read_through(answer)
    return answer.status_code


@pytest.mark.parametrize("name", ALL)
def test_consultant_and_administrator_open_everything(
    sign_in: SignIn, run: Run, alice: User, erin: User, name: str
) -> None:
    address = _address(ALL[name], run)
    assert [_status(sign_in(person), address) for person in (alice, erin)] == [200, 200]


@pytest.mark.parametrize("name", ALL)
def test_client_members_open_what_their_role_lets_them(
    sign_in: SignIn, run: Run, bob: User, carol: User, dora: User, name: str
) -> None:
    address = _address(ALL[name], run)
    reads = 200 if name in READ else 403
    uploads = 403 if name in INTERNAL else 200

    assert _status(sign_in(bob), address) == reads
    assert _status(sign_in(dora), address) == reads
    assert _status(sign_in(carol), address) == uploads


@pytest.mark.parametrize("name", ALL)
def test_strangers_learn_nothing(sign_in: SignIn, run: Run, charlie: User, frank: User, name: str) -> None:
    address = _address(ALL[name], run)
    assert [sign_in(person).get(address).status_code for person in (charlie, frank)] == [404, 404]


@pytest.mark.parametrize("name", ALL)
def test_nobody_is_sent_to_sign_in(sign_in: SignIn, run: Run, name: str) -> None:
    address = _address(ALL[name], run)
    answer = sign_in(None).get(address)

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/accounts/login/?next={address}"


@pytest.mark.parametrize("name", ["run", "attempt-list", "attempt", "artifact-download"])
def test_internal_runs_do_not_exist_for_the_client(
    sign_in: SignIn, run: Run, bob: User, carol: User, name: str
) -> None:
    Run.objects.filter(pk=run.pk).update(visibility="internal")
    address = _address(ALL[name], run)

    assert [sign_in(person).get(address).status_code for person in (bob, carol)] == [404, 404]


def test_internal_run_cannot_be_compared_by_the_client(sign_in: SignIn, run: Run, bob: User) -> None:
    Run.objects.filter(pk=run.pk).update(visibility="internal")

    assert sign_in(bob).get(f"/acme/support-agent/runs/compare/?b={run.pk}").status_code == 404


def test_run_of_another_agent_is_not_found(sign_in: SignIn, run: Run, alice: User) -> None:
    Agent.objects.create(client=run.client, slug="second", name="Second")

    assert sign_in(alice).get(f"/acme/second/runs/{run.pk}/").status_code == 404


@pytest.mark.parametrize("number", ["0", "2", "99999999999999999999"])
def test_attempt_that_does_not_exist_is_not_found(sign_in: SignIn, run: Run, alice: User, number: str) -> None:
    assert sign_in(alice).get(f"/acme/support-agent/runs/{run.pk}/attempts/{number}/").status_code == 404


def test_viewer_sees_no_way_to_upload_or_download(sign_in: SignIn, run: Run, bob: User, carol: User) -> None:
    for_bob, for_carol = (sign_in(p).get(_address(READ["run"], run)).content.decode() for p in (bob, carol))

    assert "/artifacts/" not in for_bob
    assert f"{run.pk}/change/" not in for_bob
    assert "/artifacts/" in for_carol
    assert f"{run.pk}/change/" not in for_carol
