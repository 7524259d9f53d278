"""Which token may call what: every operation with each kind of token, in one table."""

from typing import Any

import pytest

from evals.models import Agent, Run, Visibility
from reliability.api import api as site_api
from reliability.models import Client, Scope
from reliability.people import issue_token
from scorecards.demo.loading import load_demo
from scorecards.models import Review
from tests.conftest import Api, read_through

TOKENS = ("writer", "reader", "one_agent", "other_agent", "evidence", "other_client", "nobody")
UPLOAD = (200, 403, 200, 404, 403, 404, 401)
OWN_IMPORT = (200, 403, 404, 404, 403, 404, 401)
READ = (403, 200, 200, 404, 403, 404, 401)
READ_LIST = (403, 200, 200, 200, 403, 200, 401)
READ_RUN = (404, 200, 200, 404, 403, 404, 401)  # a writer sees the runs it made, and this is not one
READ_RUNS = (200, 200, 200, 404, 403, 404, 401)
ANYBODY = (200,) * 7

OPERATIONS: dict[tuple[str, str], tuple[int, ...]] = {
    ("post", "/agents/{agent}/runs"): UPLOAD,
    ("get", "/imports/{import_id}"): OWN_IMPORT,
    ("get", "/agents"): READ_LIST,
    ("get", "/agents/{agent}"): READ,
    ("get", "/agents/{agent}/runs"): READ_RUNS,
    ("get", "/runs/compare"): READ_RUN,
    ("get", "/runs/{run_id}"): READ_RUN,
    ("get", "/runs/{run_id}/classes"): READ_RUN,
    ("get", "/runs/{run_id}/scenarios"): READ_RUN,
    ("get", "/schemas/run-v1.json"): ANYBODY,
    ("get", "/reviews/{review_id}"): READ,
    ("get", "/reviews/{review_id}/report.pdf"): READ,
}
BODY = b'{"schema": "run/v1", "run": {"id": "x", "suite": "smoke"}}'


class World:
    """The demo's client, with a token of each kind, an import of the writer, and an internal run."""

    def __init__(self) -> None:
        load_demo(lambda line: None)
        client = Client.objects.get(slug="demo")
        other = Client.objects.create(slug="globex", name="Globex")
        agents = {agent.slug: agent for agent in Agent.objects.filter(client=client)}
        both = [Scope.RUNS_WRITE, Scope.READ]
        kinds: dict[str, Any] = {
            "writer": {"client": client, "scopes": [Scope.RUNS_WRITE]},
            "reader": {"client": client, "scopes": [Scope.READ]},
            "one_agent": {"client": client, "scopes": both, "agent": agents["support-agent"]},
            "other_agent": {"client": client, "scopes": both, "agent": agents["healthcare-agent"]},
            "evidence": {"client": client, "scopes": [Scope.EVIDENCE_WRITE]},
            "other_client": {"client": other, "scopes": both},
        }
        self.tokens = {name: issue_token(kind.pop("client"), name=name, **kind).secret for name, kind in kinds.items()}
        self.tokens["nobody"] = "rs_no-such-token"
        self.run = Run.objects.get(label="governance-2.4.1")
        self.before = Run.objects.get(label="governance-2.1.0")
        self.review = Review.objects.get(number=2)
        job = Api().upload(BODY, self.tokens["writer"]).json()
        self.import_id, self.own_run = job["id"], job["run"]["id"]

    def path(self, template: str) -> str:
        filled = template.format(
            agent="support-agent", import_id=self.import_id, run_id=self.run.pk, review_id=self.review.pk
        )
        return f"{filled}?a={self.before.pk}&b={self.run.pk}" if template.endswith("/compare") else filled

    def call(self, method: str, template: str, token: str) -> int:
        api = Api()
        if method == "post":
            answer = api.upload(BODY.replace(b"smoke", token.encode()), self.tokens[token])
            return 200 if answer.status_code == 201 else answer.status_code
        answer = api.get(self.path(template), self.tokens[token])
        read_through(answer)
        return 200 if answer.status_code == 202 else answer.status_code


@pytest.fixture
def world(db: None) -> World:
    return World()


def _operations() -> set[tuple[str, str]]:
    paths = site_api.get_openapi_schema()["paths"]
    prefix = "/api/v1"
    return {(method, path.removeprefix(prefix)) for path, operations in paths.items() for method in operations}


def test_table_names_every_operation() -> None:
    assert set(OPERATIONS) == _operations()


def test_every_operation_with_each_token(world: World) -> None:
    wrong = []
    for (method, template), expected in OPERATIONS.items():
        for token, wanted in zip(TOKENS, expected, strict=True):
            got = world.call(method, template, token)
            if got != wanted:
                wrong.append(f"{method} {template} as {token}: {got} instead of {wanted}")
    assert not wrong, "\n".join(wrong)


def test_internal_run_is_nowhere_for_a_token(world: World) -> None:
    Run.objects.filter(pk=world.run.pk).update(visibility=Visibility.INTERNAL)
    api, token = Api(), world.tokens["reader"]

    listed = api.get("/agents/support-agent/runs?limit=200", token).json()["items"]

    assert str(world.run.pk) not in [run["id"] for run in listed]
    paths = [f"/runs/{world.run.pk}{rest}" for rest in ("", "/classes", "/scenarios")]
    paths.append(f"/runs/compare?a={world.before.pk}&b={world.run.pk}")
    assert {api.get(path, token).status_code for path in paths} == {404}


def test_writer_reads_the_run_that_it_made(world: World) -> None:
    assert Api().get(f"/runs/{world.own_run}", world.tokens["writer"]).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nowhere", 404), ("/runs/not-a-uuid", 404), ("/agents/support-agent/runs?limit=0", 422), ("/runs/compare", 422)],
)
def test_errors_have_one_shape(agent: Agent, full_token: str, path: str, status: int) -> None:
    answer = Api().get(path, full_token)

    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert {"type", "title", "status", "detail", "code", "errors"} <= set(problem)
    assert problem["status"] == status


@pytest.mark.parametrize(("method", "path"), [("delete", "/api/v1/agents"), ("post", "/api/v1/agents/x")])
def test_wrong_method_is_a_problem_with_allow(db: None, method: str, path: str) -> None:
    answer = getattr(Api().browser, method)(path)

    assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json")
    assert "GET" in answer["Allow"]
