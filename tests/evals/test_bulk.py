"""Bulk rows: what goes in comes out by the ORM, keys are nobody else's, and the writing thread hides no error."""

import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from evals.behind import WriteBehind
from evals.bulk import KeyPool, reserve_ids, write_rows
from evals.models import Agent, Attempt, AttemptDetail, Run, Scenario
from evals.records import AttemptStatus, Containment, Outcome
from evals.rows import ATTEMPT_DETAIL_FIELDS, ATTEMPT_FIELDS
from reliability.models import User
from tests.run_documents import attempt, document, import_document


@pytest.fixture
def run(agent: Agent, alice: User) -> Run:
    return import_document(agent, document("r", attempt("a")), alice)


def _attempt_row(id: int, run: Run, number: int, **members: object) -> tuple[object, ...]:
    values = dict.fromkeys(ATTEMPT_FIELDS) | {
        "id": id,
        "run": run.pk,
        "number": number,
        "variant": "",
        "ordinal": 1,
        "status": AttemptStatus.COMPLETED,
        "outcome": Outcome.PASS,
        "trace_id": "",
    }
    return tuple((values | members).values())


def test_rows_come_back_as_they_went(run: Run) -> None:
    first, second = reserve_ids(Attempt, 2)
    zoned = datetime(2026, 11, 2, 10, 14, 5, 123456, tzinfo=timezone(timedelta(hours=1)))
    odd = {"containment": Containment.BREACHED, "started_at": zoned, "latency_ms": 1.5}
    rows = [
        _attempt_row(first, run, 7, cost_usd=3_100_000, trace_id="żółć\t\\N\n", **odd),
        _attempt_row(second, run, 8, tokens_input=2**62),
    ]
    assert write_rows(Attempt, ATTEMPT_FIELDS, rows) == 2

    stored = Attempt.objects.get(pk=first)
    assert (stored.trace_id, stored.cost_usd, stored.latency_ms) == ("żółć\t\\N\n", Decimal("0.0031"), 1.5)
    assert stored.started_at == datetime(2026, 11, 2, 9, 14, 5, 123456, tzinfo=UTC)
    assert (stored.outcome, stored.containment, stored.tokens_input) == (Outcome.PASS, Containment.BREACHED, None)
    other = Attempt.objects.get(pk=second)
    assert (other.started_at, other.cost_usd, other.tokens_input) == (None, None, 2**62)


def test_json_of_any_size_is_stored(run: Run) -> None:
    (id,) = reserve_ids(Attempt, 1)
    write_rows(Attempt, ATTEMPT_FIELDS, [_attempt_row(id, run, 7)])
    extras = {"big": 2**80, "text": "ż\u2028", "nothing": None, "list": [1, 2.5, True]}
    write_rows(AttemptDetail, ATTEMPT_DETAIL_FIELDS, [(id, "", "", "", "", [], extras)])
    stored = AttemptDetail.objects.get(pk=id).extras
    assert (stored["text"], stored["nothing"], stored["list"]) == ("ż\u2028", None, [1, 2.5, True])
    assert Decimal(stored["big"]) == Decimal(2**80)


def test_nothing_is_written_for_no_rows() -> None:
    assert write_rows(Attempt, ATTEMPT_FIELDS, []) == 0


def test_reserved_keys_are_nobody_elses(run: Run) -> None:
    used = Attempt.objects.get().pk
    one, other = reserve_ids(Attempt, 3), reserve_ids(Attempt, 2)
    assert used < one[0]
    assert (len(one), len(other), set(one) & set(other)) == (3, 2, set())
    assert Attempt.objects.create(run=run, number=9, outcome=Outcome.PASS).pk > other[-1]
    assert list(reserve_ids(Attempt, 0)) == []


@pytest.mark.django_db
def test_keys_of_an_empty_table_begin_with_one_or_later() -> None:
    first = reserve_ids(Scenario, 2)
    assert first[0] >= 1
    assert reserve_ids(Scenario, 1)[0] == first[-1] + 1


@pytest.mark.django_db
def test_a_pool_gives_each_key_once() -> None:
    pool = KeyPool(Scenario, 4)
    assert not pool.holds(1)
    pool.fill(3)
    taken = list(pool.take(3))
    pool.fill(6)
    assert pool.holds(6)
    taken += list(pool.take(6))
    assert len(set(taken)) == 9


class Broken(Exception):
    pass


def _break() -> None:
    raise Broken


@pytest.mark.django_db
def test_work_behind_sees_the_same_transaction(agent: Agent) -> None:
    found: list[int] = []
    behind = WriteBehind()
    behind.submit(lambda: found.append(Agent.objects.count()))
    behind.wait()
    behind.close()
    assert found == [1]


@pytest.mark.django_db
def test_an_error_behind_is_raised_at_the_next_step() -> None:
    behind = WriteBehind()
    behind.submit(_break)
    with pytest.raises(Broken):
        behind.submit(lambda: None)
    behind.submit(_break)
    with pytest.raises(Broken):
        behind.wait()
    behind.wait()  # told once
    behind.close()


@pytest.mark.django_db
def test_closing_ends_quietly_and_restores_the_interpreter() -> None:
    before = sys.getswitchinterval()
    behind = WriteBehind()
    assert sys.getswitchinterval() < before
    behind.submit(_break)
    behind.close()
    assert sys.getswitchinterval() == before
