"""Uploads through the API: what the artifact pages promise, counted."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from evals.models import (
    Agent,
    Artifact,
    Attempt,
    Evaluation,
    EvaluationDetail,
    Import,
    Run,
    RunScenario,
    Scenario,
)
from evals.storing import Unreadable, read_exactly
from reliability.models import User
from tests.conftest import Api

# From the formats page, section 9: total, pass, fail, unknown, error.
COUNTS = {
    "agent-reliability/evidence.jsonl": (7, 3, 2, 1, 1),
    "agent-reliability/report.json": (10, 7, 2, 1, 0),
    "agent-reliability/report_evaluator.json": (3, 2, 1, 0, 0),
    "deepeval/test_run_basic.json": (5, 3, 2, 0, 0),
    "deepeval/test_run_metric_errors.json": (10, 3, 6, 0, 1),
    "garak/all-fail.hitlog.jsonl": (18, 0, 18, 0, 0),
    "garak/all-fail.report.jsonl": (18, 0, 18, 0, 0),
    "garak/none-outputs.report.jsonl": (16, 0, 0, 16, 0),
    "inspect/odd-scores-nan.json": (20, 10, 1, 9, 0),
    "inspect/public-2025-02-deflate.eval": (10, 8, 2, 0, 0),
    "inspect/sample-errors.eval": (5, 2, 2, 0, 1),
    "inspect/support-agent-epochs2.eval": (10, 6, 4, 0, 0),
    "inspect/support-agent.json": (10, 5, 5, 0, 0),
    "otel-genai/basic-logs.json": (5, 1, 1, 2, 1),
    "otel-genai/basic-traces.json": (5, 1, 1, 2, 1),
    "pydantic-evals/basic.json": (13, 9, 1, 0, 3),
    "pydantic-evals/repeat2.json": (14, 8, 2, 0, 4),
    "promptfoo/results.json": (36, 12, 4, 4, 16),
    "promptfoo/results.jsonl": (36, 12, 4, 4, 16),
    "promptfoo/results.junit.xml": (36, 16, 12, 0, 8),
    "pytest/basic.xml": (18, 5, 8, 3, 2),
    "pytest/collection_error.xml": (1, 0, 0, 0, 1),
    "pytest/xdist.xml": (18, 5, 8, 3, 2),
}


@pytest.mark.parametrize("name", COUNTS)
def test_upload_counts_every_evaluation(
    api: Api, agent: Agent, full_token: str, artifact: Callable[[str], bytes], name: str
) -> None:
    answer = api.upload(artifact(name), full_token)

    assert answer.status_code == 201, answer.content
    counts = answer.json()["run"]["counts"]
    assert tuple(counts[key] for key in ("total", "pass", "fail", "unknown", "error")) == COUNTS[name]
    classes = api.get(f"/runs/{answer.json()['run']['id']}/classes", full_token).json()["items"]
    assert sum(line["counts"]["total"] for line in classes) == COUNTS[name][0]


def _run(**members: Any) -> bytes:
    return json.dumps({"schema": "run/v1", "run": {"id": "r1", "suite": "smoke"}, **members}).encode()


ONE_PASS = _run(attempts=[{"scenario": "a", "evaluations": [{"indicator": "task_success", "outcome": "PASS"}]}])


def test_answer_says_what_was_understood(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(ONE_PASS, full_token, query="commit=abc123&branch=main")

    body = answer.json()
    assert body["summary"] == "Imported 1 evaluation: 1 PASS, 0 FAIL, 0 UNKNOWN, 0 ERROR."
    assert (body["run"]["commit"], body["run"]["branch"], body["run"]["format"]) == ("abc123", "main", "run-v1")
    assert body["run"]["intake"] == "closed"
    assert body["classes"][0]["reliability"] == {"numerator": 1, "denominator": 1, "text": "100%"}
    assert body["links"]["run"].endswith(f"/acme/support-agent/runs/{body['run']['id']}/")
    assert answer["Location"] == f"/api/v1/runs/{body['run']['id']}"


def test_same_upload_again_changes_nothing(api: Api, agent: Agent, full_token: str) -> None:
    first = api.upload(ONE_PASS, full_token)
    again = api.upload(ONE_PASS, full_token, query="mode=scripted&wait=1")  # a default and its absence are equal

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert Run.objects.count() == 1


def test_same_bytes_for_another_commit_are_another_run(api: Api, agent: Agent, full_token: str) -> None:
    api.upload(ONE_PASS, full_token, query="commit=one")
    answer = api.upload(ONE_PASS, full_token, query="commit=two")

    assert answer.status_code == 201
    assert sorted(Run.objects.values_list("commit", flat=True)) == ["one", "two"]
    assert len(set(Artifact.objects.values_list("path", flat=True))) == 1


def test_explicit_key_with_another_body_is_409(api: Api, agent: Agent, full_token: str) -> None:
    api.upload(ONE_PASS, full_token, Idempotency_Key="build-7")
    answer = api.upload(_run(), full_token, Idempotency_Key="build-7")

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
    assert api.upload(ONE_PASS, full_token, Idempotency_Key="build-7").status_code == 200


def test_refused_upload_frees_its_key_and_stores_no_run(api: Api, agent: Agent, full_token: str) -> None:
    broken = api.upload(b'{"schema": "run/v1", ', full_token, Idempotency_Key="build-8")

    assert (broken.status_code, broken["Content-Type"]) == (400, "application/problem+json")
    assert (Run.with_hidden.count(), Attempt.objects.count(), Scenario.objects.count()) == (0, 0, 0)
    assert (Artifact.objects.count(), Import.objects.get().state) == (1, "refused")
    assert api.upload(ONE_PASS, full_token, Idempotency_Key="build-8").status_code == 201


def test_fault_late_in_the_artifact_leaves_nothing(
    api: Api, agent: Agent, full_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.ingest.BATCH_ROWS", {"sqlite": 2, "postgresql": 2})
    good = [{"scenario": f"s{n}", "evaluations": [{"indicator": "i", "outcome": "PASS"}]} for n in range(10)]
    lines = [{"schema": "run/v1", "run": {"id": "r", "suite": "s"}}, *({"attempt": a} for a in good)]
    lines.append({"attempt": {"scenario": "bad", "evaluations": [{"indicator": "i", "outcome": "MAYBE"}]}})

    answer = api.upload("\n".join(json.dumps(line) for line in lines).encode(), full_token)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["line"] == 12
    assert answer.json()["errors"][0]["pointer"] == "/attempt/evaluations/0/outcome"
    left = [model.objects.count() for model in (Attempt, Evaluation, RunScenario, Scenario)]
    assert (left, Run.with_hidden.count()) == ([0, 0, 0, 0], 0)


def test_dry_run_says_what_would_be_stored_and_stores_nothing(
    api: Api, agent: Agent, full_token: str, settings: Settings
) -> None:
    answer = api.upload(ONE_PASS, full_token, query="dry_run=true")

    body = answer.json()
    assert (answer.status_code, body["run"]["counts"]["pass"], body["run"]["id"]) == (200, 1, "")
    assert body["summary"].endswith("Nothing was stored.")
    assert (Run.with_hidden.count(), Artifact.objects.count(), Scenario.objects.count()) == (0, 0, 0)
    assert [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()] == []
    assert api.upload(ONE_PASS, full_token).status_code == 201  # its key was not taken


def test_csv_is_refused_with_its_hint(
    api: Api, agent: Agent, full_token: str, artifact: Callable[[str], bytes]
) -> None:
    answer = api.upload(artifact("promptfoo/results.csv"), full_token)

    assert answer.status_code == 415
    assert "results.json" in answer.json()["detail"]


def test_query_must_agree_with_a_run_document(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(ONE_PASS, full_token, query="suite=other")

    assert (answer.status_code, answer.json()["code"]) == (422, "query_disagrees")
    assert answer.json()["errors"][0]["pointer"] == "/run/suite"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("mode=wild", "mode"),
        ("planned=-1", "planned"),
        (f"planned={'9' * 5000}", "planned"),
        ("planned=٣", "planned"),
        ("wait=26", "wait"),
        ("ci_url=javascript:alert(1)", "ci_url"),
        ("commit=", "commit"),
        ("commit=a%00b", "commit"),
        ("comit=abc", "comit"),
        ("commit=a&commit=b", "commit"),
        ("format=csv", "format"),
    ],
)
def test_wrong_query_is_named(api: Api, agent: Agent, full_token: str, query: str, parameter: str) -> None:
    answer = api.upload(ONE_PASS, full_token, query=query)

    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, parameter)
    assert answer.json()["errors"][0]["expected"]
    assert Import.objects.count() == 0


def test_gzip_body_is_the_artifact_it_holds(api: Api, agent: Agent, full_token: str) -> None:
    api.upload(ONE_PASS, full_token)
    answer = api.upload(gzip.compress(ONE_PASS), full_token, Content_Encoding="gzip")

    assert answer.status_code == 200  # the key is of the decoded body


def test_gzip_file_stays_one(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(gzip.compress(ONE_PASS, mtime=0), full_token)

    assert answer.status_code == 201
    assert Artifact.objects.get().sha256 == hashlib.sha256(gzip.compress(ONE_PASS, mtime=0)).hexdigest()


@pytest.mark.parametrize(
    ("body", "encoding", "status", "code"),
    [
        (gzip.compress(ONE_PASS)[:-9], "gzip", 400, "cut_off"),
        (ONE_PASS, "gzip", 400, "not_gzip"),
        (ONE_PASS, "br", 415, "encoding"),
        (b"", "identity", 411, "length_required"),
    ],
)
def test_unreadable_body(
    api: Api, agent: Agent, full_token: str, body: bytes, encoding: str, status: int, code: str
) -> None:
    answer = api.upload(body, full_token, Content_Encoding=encoding)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert Import.objects.count() == 0


def test_zip_bomb_is_413(api: Api, agent: Agent, full_token: str, settings: Settings) -> None:
    settings.MAX_UNPACKED_MB = 1
    answer = api.upload(gzip.compress(b" " * 5_000_000), full_token, Content_Encoding="gzip")

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "MAX_UNPACKED_MB" in answer.json()["detail"]


def test_multipart_field_file(api: Api, agent: Agent, full_token: str) -> None:
    upload = SimpleUploadedFile("../../evil\x00name.json", ONE_PASS)
    answer = api.browser.post(
        "/api/v1/agents/support-agent/runs", {"file": upload}, headers={"Authorization": f"Bearer {full_token}"}
    )

    assert answer.status_code == 201, answer.content
    assert "/" not in Artifact.objects.get().file_name


def test_chunked_upload_is_411(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.browser.generic(
        "POST",
        "/api/v1/agents/support-agent/runs",
        headers={"Authorization": f"Bearer {full_token}", "Transfer-Encoding": "chunked"},
        CONTENT_LENGTH="",
    )

    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")


@pytest.mark.parametrize(("announced", "brought"), [(10, 3), (10, 0)])
def test_body_shorter_than_announced_is_refused(announced: int, brought: int) -> None:
    with pytest.raises(Unreadable, match=f"announced {announced} bytes and brought {brought}"):
        list(read_exactly(io.BytesIO(b"x" * brought), announced))


def test_containment_is_computed_on_import(
    api: Api, agent: Agent, full_token: str, artifact: Callable[[str], bytes]
) -> None:
    answer = api.upload(artifact("run-v1/injected.json"), full_token)

    run = answer.json()["run"]
    assert run["containment"] == {"proven": 1, "unproven": 0, "breached": 0}
    lines = {line["indicator"]: line for line in answer.json()["classes"]}
    assert lines["containment"]["counts"]["pass"] == 1
    assert lines["containment"]["categories"] == ["security"]  # its class's
    assert run["counts"]["total"] == 4  # three uploaded, one ours


def test_artifact_comes_back_byte_for_byte(
    api: Api, agent: Agent, full_token: str, artifact: Callable[[str], bytes], sign_in: Any, carol: User
) -> None:
    body = artifact("promptfoo/results.json")
    run = api.upload(body, full_token).json()["run"]["id"]
    stored = Artifact.objects.get()

    answer = sign_in(carol).get(f"/acme/support-agent/runs/{run}/artifacts/{stored.pk}/")

    assert b"".join(answer.streaming_content) == body
    assert stored.sha256 == hashlib.sha256(body).hexdigest()


def test_hostile_text_is_stored_and_read_back(api: Api, agent: Agent, full_token: str) -> None:
    text = "<script>alert(1)</script> \u202e\u200b\U000e0041 \x1b[31m 返金"
    evaluation = {"indicator": "i", "outcome": "FAIL", "reason": text, "evidence": {"said": text}}
    answer = api.upload(
        _run(attempts=[{"scenario": text[:40].replace("\x1b", ""), "evaluations": [evaluation]}]), full_token
    )

    assert answer.status_code == 201, answer.content
    assert EvaluationDetail.objects.get().reason == text


def test_crashed_attempt_without_evaluations_is_an_execution_error(api: Api, agent: Agent, full_token: str) -> None:
    attempts = [{"scenario": "a", "ordinal": n, "status": "crashed"} for n in range(1, 10)]
    attempts.append({"scenario": "a", "ordinal": 10, "evaluations": [{"indicator": "i", "outcome": "PASS"}]})

    run = api.upload(_run(attempts=attempts), full_token).json()["run"]

    assert (run["counts"]["pass"], run["counts"]["error"]) == (1, 9)
    assert run["attempts"]["range"]["text"] == "10%–100%"
    assert run["attempts"]["execution_text"].startswith("10%: 1 of 10")


def test_missing_attempts_widen_the_range_over_attempts(api: Api, agent: Agent, full_token: str) -> None:
    attempts = [{"scenario": "a", "evaluations": [{"indicator": "i", "outcome": "PASS"}]}]

    run = api.upload(_run(attempts=attempts), full_token, query="planned=4").json()["run"]

    assert (run["attempts"]["missing"], run["attempts"]["range"]["text"]) == (3, "25%–100%")
