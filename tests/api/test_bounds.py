"""Every bound has a setting, and a refusal states the limit and names it."""

import io
import json
import zipfile
from typing import Any

import pytest
from pytest_django import Settings

from evals.models import Agent, Artifact, Import, Run
from tests.conftest import Api
from tests.run_documents import attempt, document


def _ndjson(*attempts: dict[str, Any]) -> bytes:
    lines = [{"schema": "run/v1", "run": {"id": "r", "suite": "s"}}, *({"attempt": a} for a in attempts)]
    return "\n".join(map(json.dumps, [*lines, {"end": {"attempts": len(attempts)}}])).encode()


def _zip(members: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            archive.writestr(f"samples/{number}_epoch_1.json", "{}" + " " * 100_000)
    return packed.getvalue()


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


DEEP = json.dumps(document("r", attempt("a", evidence=_nested(12)))).encode()
LONG_LINE = _ndjson(attempt("a", reason="x" * 1_100_000))


@pytest.mark.parametrize(
    ("setting", "limit", "body", "status"),
    [
        ("MAX_UPLOAD_MB", 1, b"{" + b" " * (1 << 20), 413),
        ("MAX_DOCUMENT_MB", 1, json.dumps(document("r", attempt("a", reason="x" * (1 << 20)))).encode(), 413),
        ("MAX_LINE_MB", 1, LONG_LINE, 413),
        ("MAX_ROWS", 3, _ndjson(attempt("a"), attempt("b")), 413),
        ("MAX_ZIP_MEMBERS", 3, _zip(4), 413),
        ("MAX_NESTING", 8, DEEP, 422),
    ],
)
def test_a_refusal_states_the_limit_and_its_setting(
    api: Api, agent: Agent, full_token: str, settings: Settings, setting: str, limit: int, body: bytes, status: int
) -> None:
    setattr(settings, setting, limit)

    answer = api.upload(body, full_token)

    assert answer.status_code == status, answer.content
    assert setting in answer.json()["detail"] + json.dumps(answer.json().get("errors", []))
    assert not Run.with_hidden.exists()


def test_a_text_beyond_the_limit_is_cut_and_marked(api: Api, agent: Agent, full_token: str, settings: Settings) -> None:
    settings.MAX_TEXT = 1_000
    run = api.upload(json.dumps(document("r", attempt("a", reason="é" * 1_001))).encode(), full_token).json()["run"]
    assert run["notes"] == ["1 text was longer than 1000 characters and cut."]


def test_a_body_over_the_limit_leaves_nothing(api: Api, agent: Agent, full_token: str, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    api.upload(b"x" * ((1 << 20) + 1), full_token)
    assert not Artifact.objects.exists()
    assert not Import.objects.exists()
