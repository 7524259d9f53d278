"""What went wrong on our side: said as far as it helps, on pages and in the API alike."""

import errno
from collections.abc import Callable

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client as Browser

from evals.models import Agent
from reliability.interruptions import NO_DATABASE, NO_ROOM
from reliability.models import User
from tests.conftest import Api


def _away() -> OperationalError:
    error = OperationalError()
    error.__cause__ = psycopg.OperationalError("connection refused")
    return error


FAULTS = [
    (_away(), 503, NO_DATABASE, "no_database"),
    (OSError(errno.ENOSPC, "No space left on device"), 507, NO_ROOM, "no_room"),
    (RuntimeError("ours"), 500, "Nothing was saved", "internal_server_error"),
]


@pytest.mark.parametrize(("fault", "status", "said", "code"), FAULTS)
def test_a_page_says_what_went_wrong(
    sign_in: Callable[[User], Browser],
    alice: User,
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    status: int,
    said: str,
    code: str,
) -> None:
    browser = sign_in(alice)
    browser.raise_request_exception = False

    def stumble(*_: object) -> None:
        raise fault

    monkeypatch.setattr("evals.access.list_agents", stumble)
    answer = browser.get("/acme/support-agent/upload/")

    assert answer.status_code == status
    assert said.replace("'", "&#x27;") in answer.content.decode()


@pytest.mark.parametrize(("fault", "status", "said", "code"), FAULTS)
def test_the_api_says_what_went_wrong(
    api: Api,
    agent: Agent,
    full_token: str,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    status: int,
    said: str,
    code: str,
) -> None:
    def stumble(*_: object) -> None:
        raise fault

    monkeypatch.setattr("evals.access.list_agents", stumble)
    answer = api.get("/agents/support-agent/runs", full_token)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert status == 500 or answer.json()["detail"] == said
    assert answer.get("Retry-After") == ("2" if status == 503 else None)
