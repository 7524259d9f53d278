"""The same bytes sent by several at once: one run, and everybody may follow it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser

from evals import submitting
from evals.importing import run_import
from evals.models import Agent, Artifact, Import, ImportState, Run
from reliability.models import Client, Scope, User
from reliability.people import issue_token
from tests.conftest import Api
from tests.run_documents import attempt, document

BODY = json.dumps(document("r1", attempt("a"))).encode()
UPLOAD_PAGE = "/acme/support-agent/upload/"


@pytest.fixture
def second_token(client_org: Client) -> str:
    return issue_token(client_org, name="second", scopes=[Scope.RUNS_WRITE]).secret


@pytest.fixture
def third_token(client_org: Client) -> str:
    return issue_token(client_org, name="third", scopes=[Scope.RUNS_WRITE]).secret


@pytest.fixture
def job(api: Api, agent: Agent, upload_token: str, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Sent by the first token, and not yet imported."""
    monkeypatch.setattr("evals.api.enqueue_import", lambda import_id: None)
    assert api.upload(BODY, upload_token, query="wait=0").status_code == 202
    return Import.objects.get()


def test_whoever_sends_the_same_meanwhile_may_follow_the_import(
    api: Api, job: Import, upload_token: str, second_token: str, third_token: str
) -> None:
    answers = [api.upload(BODY, second_token, query="wait=0") for _ in range(3)]
    place = answers[-1]["Location"].removeprefix("/api/v1")
    during = api.get(place, second_token)
    run_import(job.pk)
    after = api.get(place, second_token).json()

    assert {answer.status_code for answer in answers} == {202}
    assert (during.status_code, during.json()["state"]) == (200, "queued")
    assert (after["state"], Run.objects.count(), Import.objects.count()) == ("done", 1, 1)
    assert api.get(f"/runs/{after['run']['id']}", second_token).status_code == 200
    assert len(api.get("/agents/support-agent/runs", second_token).json()["items"]) == 1
    assert Artifact.objects.count() == 2  # one for each sender, however often
    assert len(set(Artifact.objects.values_list("path", flat=True))) == 1
    assert api.get(place, third_token).status_code == 404
    assert api.get(f"/runs/{after['run']['id']}", third_token).status_code == 404


def test_sending_the_same_bytes_as_another_run_opens_no_door(api: Api, job: Import, second_token: str) -> None:
    api.upload(BODY, second_token, query="wait=0&branch=other")
    assert api.get(f"/imports/{job.pk}", second_token).status_code == 404


def test_a_person_who_sends_what_a_token_sent_follows_the_same_import(
    job: Import, carol: User, sign_in: Callable[[User], Browser]
) -> None:
    browser = sign_in(carol)
    answer = browser.post(UPLOAD_PAGE, {"file": SimpleUploadedFile("r.json", BODY)}, follow=True)

    assert answer.redirect_chain[-1][0] == job.get_absolute_url()
    assert (answer.status_code, Import.objects.count()) == (200, 1)


def _meet_a_twin(monkeypatch: pytest.MonkeyPatch, *, times: int, then: Callable[[Import], None]) -> None:
    """Let another process commit the same request just before ours is written, `times` times."""
    create, left = submitting._create, [None] * times

    def create_after_the_twin(*arguments: Any, **named: Any) -> Import:
        if not left:
            return create(*arguments, **named)
        left.pop()
        twin = create(*arguments, **named)
        try:
            return create(*arguments, **named)
        finally:
            then(twin)

    monkeypatch.setattr(submitting, "_create", create_after_the_twin)


def _gone(twin: Import) -> None:
    """The whole transaction is undone, and the twin with it: as if it had been refused before we look."""


@pytest.mark.parametrize(("times", "status"), [(1, 201), (2, 503)])
def test_a_twin_that_is_refused_and_gone_is_no_failure_of_ours(
    api: Api, agent: Agent, full_token: str, monkeypatch: pytest.MonkeyPatch, times: int, status: int
) -> None:
    _meet_a_twin(monkeypatch, times=times, then=_gone)

    answer = api.upload(BODY, full_token)

    assert answer.status_code == status, answer.content
    assert (Run.objects.count(), Import.objects.count()) == (2 - times, 2 - times)
    if status == 503:
        assert (answer.json()["code"], answer["Content-Type"]) == ("overtaken", "application/problem+json")
        assert api.upload(BODY, full_token).status_code == 201
    assert not Import.objects.exclude(state=ImportState.DONE).exists()
