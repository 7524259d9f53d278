"""A run that comes in parts: one visible run, all of some parts and never half of one."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evals.merging import close_forgotten_runs
from evals.models import Agent, Artifact, Attempt, Evaluation, Intake, Run, RunScenario, Visibility
from reliability.models import AuditEntry
from tests.conftest import Api
from tests.run_documents import attempt, document


def _part(*attempts: dict[str, Any], label: str = "gha-1", **run: Any) -> bytes:
    return json.dumps(document(label, *attempts, **run)).encode()


def _send(api: Api, token: str, body: bytes, query: str = "") -> Any:
    answer = api.upload(body, token, query=query)
    assert answer.status_code == 201, answer.content
    return answer.json()["run"]


def test_shards_of_one_run_merge(api: Api, agent: Agent, full_token: str) -> None:
    first = _send(api, full_token, _part(attempt("a"), attempt("b", "FAIL"), planned=2), "run=gha-1&shard=1/2")
    assert (first["intake"], first["counts"]["total"], first["shards_expected"]) == ("open", 2, 2)

    second = _send(api, full_token, _part(attempt("a", ordinal=2), attempt("c"), planned=3), "run=gha-1&shard=2/2")

    assert second["id"] == first["id"]
    assert (second["intake"], second["session"]) == ("closed", "complete")
    assert (second["counts"]["total"], second["counts"]["pass"], second["counts"]["fail"]) == (4, 3, 1)
    assert (second["attempts"]["planned"], second["attempts"]["missing"]) == (5, 1)
    run = Run.with_hidden.get()
    assert list(
        Attempt.objects.filter(run=run).order_by("number").values_list("number", "scenario__key", "ordinal")
    ) == [
        (1, "a", 1),
        (2, "b", 1),
        (3, "a", 2),
        (4, "c", 1),
    ]
    assert Attempt.objects.count() == Evaluation.objects.filter(run=run).count() == 4
    assert RunScenario.objects.count() == RunScenario.objects.filter(run=run, scenario__isnull=False).count() == 3
    assert sorted(run.runartifact_set.values_list("shard", flat=True)) == [1, 2]


def test_the_document_itself_may_say_which_shard_it_is(api: Api, agent: Agent, full_token: str) -> None:
    parts = [_part(attempt(name), shard={"index": n, "of": 2}) for n, name in ((2, "b"), (1, "a"))]
    runs = [_send(api, full_token, part) for part in parts]
    assert [run["intake"] for run in runs] == ["open", "closed"]
    assert runs[1]["counts"]["total"] == 2


def test_a_tools_own_run_id_merges_nothing(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")
    other = _send(api, full_token, _part(attempt("b")))
    assert (other["label"], other["intake"], other["counts"]["total"]) == ("gha-1", "closed", 1)
    assert Run.objects.count() == 2


def test_parts_without_a_number_close_when_told_so(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1")
    _send(api, full_token, _part(attempt("b")), "run=gha-1")
    run = _send(api, full_token, _part(attempt("c")), "run=gha-1&final=true")
    assert (run["intake"], run["session"], run["counts"]["total"]) == ("closed", "complete", 3)
    later = _send(api, full_token, _part(attempt("d")), "run=gha-1")
    assert later["id"] != run["id"]  # the id merges only while a run is open


def test_closing_before_all_came_is_unfinished(api: Api, agent: Agent, full_token: str) -> None:
    run = _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=2/4&final=1")
    assert (run["session"], run["session_reason"]) == ("unfinished", "1 of 4 parts came.")


def test_the_same_shard_again_is_one(api: Api, agent: Agent, full_token: str) -> None:
    body = _part(attempt("a"))
    first = _send(api, full_token, body, "run=gha-1&shard=1/2")
    assert api.upload(body, full_token, query="run=gha-1&shard=1/2").status_code == 200
    again = api.upload(body, full_token, query="run=gha-1&shard=1/2&ci_url=https://ci.example.org/2")
    assert (again.status_code, again.json()["run"]) == (200, first)
    assert (Run.with_hidden.count(), Attempt.objects.count()) == (1, 1)


def test_the_same_shard_with_other_bytes_is_a_conflict(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")
    answer = api.upload(_part(attempt("b")), full_token, query="run=gha-1&shard=1/2")
    assert (answer.status_code, answer.json()["code"]) == (409, "shard_taken")
    assert (Run.with_hidden.count(), Attempt.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("run", "query", "pointer"),
    [
        ({"agent_version": "2"}, "run=gha-1&shard=2/2", "/run/agent_version"),
        ({"mode": "live"}, "run=gha-1&shard=2/2", "/run/mode"),
        ({}, "run=gha-1&shard=2/3", "/run/shard/of"),
    ],
)
def test_parts_that_disagree_are_refused(
    api: Api, agent: Agent, full_token: str, run: dict[str, Any], query: str, pointer: str
) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")
    answer = api.upload(_part(attempt("b"), **run), full_token, query=query)
    assert (answer.status_code, answer.json()["code"]) == (422, "shard_disagrees")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert Attempt.objects.count() == 1


def test_repeats_with_the_same_ordinal_are_both_kept(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1")
    run = _send(api, full_token, _part(attempt("a", "FAIL")), "run=gha-1&final=true")
    assert sorted(Attempt.objects.values_list("ordinal", flat=True)) == [1, 2]
    assert any("numbered anew" in note for note in run["notes"])


def test_joining_takes_as_many_queries_for_many_repeats_as_for_one(
    api: Api, agent: Agent, full_token: str, django_assert_max_num_queries: Any
) -> None:
    names = [f"case {number}" for number in range(300)]
    _send(api, full_token, _part(*map(attempt, names)), "run=gha-1")
    with django_assert_max_num_queries(150):
        run = _send(api, full_token, _part(*(attempt(name, "FAIL") for name in names)), "run=gha-1")
    assert run["notes"] == ["Parts used the same ordinals: those repeats were numbered anew, in their order."]
    third = _send(api, full_token, _part(attempt("case 7"), attempt("other")), "run=gha-1&final=true")
    assert third["notes"] == run["notes"]
    kept = Attempt.objects.filter(scenario__key="case 7").order_by("number")
    assert list(kept.values_list("ordinal", flat=True)) == [1, 2, 3]
    assert set(Attempt.objects.filter(scenario__key="other").values_list("ordinal", flat=True)) == {1}


def test_a_part_without_attempts_or_with_several_models_belongs(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a"), model="one", planned=2**53), "run=gha-1")
    assert _send(api, full_token, _part(), "run=gha-1")["model"] == "one"
    assert api.upload(_part(attempt("b"), model="two"), full_token, query="run=gha-1").status_code == 422
    assert _send(api, full_token, _part(attempt("c")), "run=gha-1&final=true")["model"] == ""


def test_the_worst_session_is_the_runs(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a"), session="errored", session_reason="out of money"), "run=gha-1")
    run = _send(api, full_token, _part(attempt("b")), "run=gha-1&final=true")
    assert (run["session"], run["session_reason"]) == ("errored", "out of money")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("shard=1/2", "your own id of the run, in every part"),
        ("final=true", "your own id of the run, in every part"),
        ("run=a&shard=3/2", "i/n, such as 2/4"),
        ("run=a&shard=0/2", "i/n, such as 2/4"),
        ("run=a&shard=2", "i/n, such as 2/4"),
    ],
)
def test_a_part_says_what_it_is_a_part_of(api: Api, agent: Agent, full_token: str, query: str, expected: str) -> None:
    answer = api.upload(_part(attempt("a")), full_token, query=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["expected"] == expected


def test_a_dry_run_of_a_part_opens_nothing(api: Api, agent: Agent, full_token: str) -> None:
    answer = api.upload(_part(attempt("a")), full_token, query="run=gha-1&shard=1/2&dry_run=true")
    assert answer.json()["run"]["counts"]["total"] == 1
    assert not Run.with_hidden.exists()


def test_what_nobody_finished_closes_after_a_day(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")
    assert close_forgotten_runs() == 0
    Run.objects.update(created_at=timezone.now() - timedelta(hours=25))

    assert close_forgotten_runs() == 1

    run = Run.objects.get()
    assert (run.intake, run.session) == (Intake.CLOSED, "unfinished")
    assert run.session_reason.startswith("1 of 2 parts came within 24 hours")
    assert AuditEntry.objects.filter(action="run.closed").count() == 1


CLOSED = "run=gha-1&shard={}/2"


def _close_a_run(api: Api, token: str) -> tuple[dict[str, Any], list[bytes]]:
    parts = [_part(attempt("a")), _part(attempt("b", "FAIL"))]
    for number, part in enumerate(parts, 1):
        run = _send(api, token, part, CLOSED.format(number))
    assert run["intake"] == "closed"
    return run, parts


@pytest.mark.parametrize("number", [1, 2])
def test_a_shard_again_under_another_key_changes_nothing_once_its_run_closed(
    api: Api, agent: Agent, full_token: str, number: int
) -> None:
    run, parts = _close_a_run(api, full_token)
    entries = AuditEntry.objects.filter(action="run.imported").count()

    answer = api.upload(parts[number - 1], full_token, query=CLOSED.format(number), Idempotency_Key="retry")

    assert (answer.status_code, answer.json()["run"]) == (200, run)
    assert answer.json()["summary"].startswith("This part was there already, so nothing changes.")
    assert (Run.with_hidden.count(), Attempt.objects.count(), RunScenario.objects.count()) == (1, 2, 2)
    assert AuditEntry.objects.filter(action="run.imported").count() == entries


def test_a_shard_with_other_bytes_is_a_conflict_once_its_run_closed(api: Api, agent: Agent, full_token: str) -> None:
    _close_a_run(api, full_token)

    answer = api.upload(_part(attempt("c")), full_token, query=CLOSED.format(2))

    assert (answer.status_code, answer.json()["code"]) == (409, "shard_taken")
    assert (Run.with_hidden.count(), Attempt.objects.count()) == (1, 2)


def test_the_same_bytes_for_another_commit_do_not_pass_for_the_closed_run(
    api: Api, agent: Agent, full_token: str
) -> None:
    _, parts = _close_a_run(api, full_token)

    answer = api.upload(parts[0], full_token, query=CLOSED.format(1) + "&commit=two")

    assert (answer.status_code, answer.json()["code"]) == (422, "shard_disagrees")
    assert answer.json()["errors"][0]["pointer"] == "/run/commit"


def test_a_whole_run_of_the_same_label_or_another_number_of_shards_is_no_holder(
    api: Api, agent: Agent, full_token: str
) -> None:
    whole = _send(api, full_token, _part(attempt("a")))  # a tool's own id: a label
    halves = _send(api, full_token, _part(attempt("b")), "run=gha-1&shard=1/2&final=true")
    thirds = _send(api, full_token, _part(attempt("c")), "run=gha-1&shard=1/3")
    assert len({whole["id"], halves["id"], thirds["id"]}) == 3


def test_a_shard_again_shows_nothing_of_a_run_taken_out_of_sight(api: Api, agent: Agent, full_token: str) -> None:
    _, parts = _close_a_run(api, full_token)
    Run.objects.update(visibility=Visibility.INTERNAL)

    answer = api.upload(parts[0], full_token, query=CLOSED.format(1), Idempotency_Key="retry")

    assert (answer.status_code, answer.json()["detail"]) == (409, "Shard 1 of the run “gha-1” is there already.")
    assert (b"internal" in answer.content, Run.with_hidden.count()) == (False, 1)


def test_the_same_shard_said_to_be_the_last_closes_its_run(api: Api, agent: Agent, full_token: str) -> None:
    body = _part(attempt("a"))
    _send(api, full_token, body, "run=gha-1&shard=1/2")
    run = _send(api, full_token, body, "run=gha-1&shard=1/2&final=true")
    assert (run["intake"], run["session"], run["counts"]["total"]) == ("closed", "unfinished", 1)


@pytest.mark.parametrize(
    ("body", "query", "status", "code"),
    [
        (_part(attempt("b"), agent_version="2"), "run=gha-1&shard=2/2", 422, "shard_disagrees"),
        (_part(attempt("b")), "run=gha-1&shard=1/2", 409, "shard_taken"),
        (_part(attempt("b")), "run=gha-1&shard=2/3", 422, "shard_disagrees"),
    ],
)
def test_a_dry_run_of_a_part_is_refused_as_the_part_would_be(
    api: Api, agent: Agent, full_token: str, body: bytes, query: str, status: int, code: str
) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")

    trial = api.upload(body, full_token, query=f"{query}&dry_run=true")
    real = api.upload(body, full_token, query=query)

    assert (trial.status_code, trial.json()["code"]) == (real.status_code, real.json()["code"]) == (status, code)
    assert trial.json()["errors"] == real.json()["errors"]
    assert (Run.with_hidden.count(), Attempt.objects.count()) == (1, 1)


def test_a_dry_run_of_a_part_changes_nothing_of_the_open_run(api: Api, agent: Agent, full_token: str) -> None:
    _send(api, full_token, _part(attempt("a")), "run=gha-1&shard=1/2")
    before = Run.objects.values().get()

    answer = api.upload(_part(attempt("a", "FAIL")), full_token, query="run=gha-1&shard=2/2&dry_run=true").json()

    assert (answer["run"]["counts"]["total"], answer["run"]["intake"], answer["run"]["id"]) == (2, "closed", "")
    assert answer["summary"] == "Would import 2 evaluations: 1 PASS, 1 FAIL, 0 UNKNOWN, 0 ERROR. Nothing was stored."
    assert Run.with_hidden.values().get() == before
    assert (Attempt.objects.count(), RunScenario.objects.count(), Artifact.objects.count()) == (1, 1, 1)
