"""What a CI log shows: plain lines when asked for, and only the end when asked for."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evals.importing import run_import
from evals.models import Agent, Import
from tests.conftest import Api
from tests.run_documents import attempt, document

TEXT = {"Accept": "text/plain"}


def _lines(answer: Any) -> list[str]:
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    return list(answer.content.decode().splitlines())


def test_the_first_line_says_what_was_imported(
    api: Api, agent: Agent, full_token: str, artifact: Callable[[str], bytes]
) -> None:
    answer = api.upload(artifact("promptfoo/results.json"), full_token, **TEXT)
    lines = _lines(answer)
    assert answer.status_code == 201
    assert lines[0].startswith("Imported 36 evaluations: 12 PASS, 4 FAIL, 4 UNKNOWN, 16 ERROR.")
    assert "outcomes are not the tool's own" in lines[0]
    assert lines[1].startswith("Read as promptfoo")
    assert any(line.startswith("Run: http") for line in lines)
    assert any(line.startswith("UNKNOWN here, PASS by the tool: ") for line in lines)

    again = _lines(api.upload(artifact("promptfoo/results.json"), full_token, **TEXT))
    assert again[0] == "The same was sent before, so nothing changes. The answer was:"
    assert again[1:] == lines


def test_json_is_what_comes_unless_text_is_preferred(api: Api, agent: Agent, full_token: str) -> None:
    for accept in ("*/*", "application/json", "application/json, text/plain"):
        answer = api.upload(json.dumps(document("a", attempt("a"))).encode(), full_token, Accept=accept)
        assert answer["Content-Type"] == "application/json"


def test_a_refusal_in_text_names_places(api: Api, agent: Agent, full_token: str) -> None:
    body = json.dumps(document("a", attempt("a")) | {"runn": 1}).encode()
    answer = api.upload(body, full_token, **TEXT)
    lines = _lines(answer)
    assert answer.status_code == 422
    assert "(422 " in lines[0]
    assert any(line.startswith("  /runn: ") for line in lines[1:])


def test_other_refusals_come_in_text_too(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(b"{}", full_token, agent="nobody", **TEXT)
    assert (answer.status_code, _lines(answer)[0][:41]) == (404, "No agent “nobody” for this token: its cli")
    answer = api.upload(b"{}", "wrong", **TEXT)
    assert (answer.status_code, answer["WWW-Authenticate"][:6]) == (401, "Bearer")
    assert _lines(answer)[0].startswith("Send `Authorization")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"planned": 3}, "2 attempts of 3 planned did not come."),
        ({"session": "cancelled", "session_reason": "stopped by hand"}, "The session is cancelled: stopped by hand."),
    ],
)
def test_what_must_not_be_overlooked_is_in_the_summary(
    api: Api, agent: Agent, full_token: str, changes: dict[str, Any], sentence: str
) -> None:
    made = document("a", attempt("a"))
    made["run"] |= changes
    answer = api.upload(json.dumps(made).encode(), full_token)
    assert sentence in answer.json()["summary"], answer.content


def test_a_part_says_that_its_run_is_open(api: Api, agent: Agent, full_token: str) -> None:
    body = json.dumps(document("x", attempt("a"))).encode()
    assert (
        api.upload(body, full_token, query="run=x&shard=1/2")
        .json()["summary"]
        .endswith("The run is open for the rest of its 2 parts.")
    )


def test_who_asks_for_the_end_is_sent_back_until_it_is_there(
    api: Api, agent: Agent, full_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.api.enqueue_import", lambda import_id: None)  # the worker is slow today
    body = json.dumps(document("a", attempt("a"))).encode()
    answer = api.upload(body, full_token, query="answer=final&wait=0", **TEXT)
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert _lines(answer)[0].startswith("Waiting for a worker: 0 rows read so far. Send the same request again")

    run_import(Import.objects.get().pk)
    answer = api.upload(body, full_token, query="answer=final&wait=0", **TEXT)
    assert answer.status_code == 200
    assert "Imported 1 evaluation" in _lines(answer)[1]
    assert Import.objects.count() == 1


def test_a_wrong_address_says_so(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.get("/agents/support-agent/runs/", full_token)
    assert answer.status_code == 404
    assert "without the slash at its end" in answer.json()["detail"]
    answer = api.browser.put("/api/v1/agents/support-agent/runs", headers={"Authorization": f"Bearer {full_token}"})
    assert answer.status_code == 405
    assert "PUT is not done here" in answer.json()["detail"]


def test_a_query_that_is_not_accepted_says_why(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(b"{}", full_token, query="shard=1/2&wait=99")
    assert "run: missing, though this is a part of a run" in answer.json()["detail"]
    assert "wait: '99' is not accepted; expected a whole number from 0 to 25" in answer.json()["detail"]
