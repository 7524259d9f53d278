"""Addresses that no client of ours makes: NUL, times before year 1, places past the end, forms beyond the limit."""

import base64
import io
import json
import uuid
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.test import Client as Browser
from django.test import RequestFactory
from pytest_django import Settings

from evals.models import Agent
from reliability.models import User
from reliability.wsgi import SILENCE_SECONDS, application
from tests.conftest import Api
from tests.run_documents import attempt, document, import_document


def test_nul_in_an_address_finds_nothing(api: Api, agent: Agent, alice: User, full_token: str) -> None:
    run = import_document(agent, document("r1", attempt("a")), alice, visibility="client")

    assert api.get("/agents/%00", full_token).status_code == 404
    assert api.upload(b"{}", full_token, agent="%00").status_code == 404
    for query in ("classes?variant=%00", "classes?class=%00", "scenarios?after=%00"):
        assert api.get(f"/runs/{run.pk}/{query}", full_token).status_code == 200


@pytest.mark.parametrize(
    "address", ["http://a.example/%00", "http://a.example/%0a", "http://a.example/%20b", "http://["]
)
def test_ci_address_is_one(api: Api, agent: Agent, full_token: str, address: str) -> None:
    answer = api.upload(b"{}", full_token, query=f"ci_url={address}")

    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "ci_url")


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01", 5, None])
def test_cursor_of_another_time_is_no_fault_of_ours(api: Api, agent: Agent, full_token: str, at: object) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps([at, str(uuid.uuid4())]).encode()).decode().rstrip("=")

    assert api.get(f"/agents/{agent.slug}/runs?after={cursor}", full_token).status_code == 200


def test_scenarios_are_read_page_by_page_whatever_they_are_called(
    api: Api, agent: Agent, alice: User, full_token: str
) -> None:
    keys = [f"refund & more #{number:03} +é=?" for number in range(401)]
    run = import_document(agent, document("r1", *map(attempt, keys)), alice, visibility="client")
    address, seen, pages = f"/runs/{run.pk}/scenarios", [], 0

    while address:
        page = api.get(address, full_token).json()
        seen += [scenario["key"] for scenario in page["items"]]
        address, pages = (page["next"] or "").partition("/api/v1")[2], pages + 1

    assert (seen, pages) == (sorted(keys), 3)
    assert api.get(f"/runs/{run.pk}/scenarios?after=zzz", full_token).json()["items"] == []


def test_form_beyond_the_limit_is_refused_before_it_is_read(
    agent: Agent, alice: User, sign_in: Callable[[User | None], Browser], settings: Settings
) -> None:
    settings.MAX_UPLOAD_MB = 1

    for browser, address in ((sign_in(None), "/accounts/login/"), (sign_in(alice), "/acme/support-agent/upload/")):
        answer = browser.post(address, data=b"x" * 1_500_000, content_type="multipart/form-data; boundary=x")
        assert answer.status_code == 413


@pytest.mark.parametrize("slug", ["deadbeef" * 4, "123e4567-e89b-12d3-a456-426614174000"])
def test_agent_whose_slug_looks_like_a_uuid_is_found(api: Api, agent: Agent, full_token: str, slug: str) -> None:
    Agent.objects.create(client=agent.client, slug=slug, name="Odd agent")

    assert api.get(f"/agents/{slug}", full_token).json()["slug"] == slug
    assert api.get(f"/agents/{agent.pk}", full_token).json()["slug"] == agent.slug
    assert api.get(f"/agents/{uuid.uuid4()}", full_token).status_code == 404


class SilentBody(io.BytesIO):
    """What gunicorn's body does once its socket has waited long enough."""

    def read(self, size: int | None = -1) -> bytes:
        raise TimeoutError("timed out")


@pytest.mark.django_db(transaction=True)  # a WSGI request closes a connection that is inside a transaction
def test_body_that_stops_coming_holds_no_thread(agent: Agent, full_token: str) -> None:
    waits, statuses = [], []
    environ = RequestFactory().generic("POST", "/api/v1/agents/support-agent/runs").environ | {
        "HTTP_AUTHORIZATION": f"Bearer {full_token}",
        "CONTENT_LENGTH": "1000",
        "wsgi.input": SilentBody(),
        "gunicorn.socket": SimpleNamespace(settimeout=waits.append),
    }

    application(environ, lambda status, headers: statuses.append(status))

    assert (waits, statuses) == ([SILENCE_SECONDS], ["408 Request Timeout"])
