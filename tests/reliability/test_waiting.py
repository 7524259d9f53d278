"""Waiting for a job's row while the database comes and goes."""

import time
import uuid
from collections.abc import Callable

import psycopg
import pytest
from django.db import DataError, OperationalError

from reliability.waiting import WaitingRoom

pytestmark = pytest.mark.django_db


def _room(*answers: str | Exception) -> WaitingRoom[str]:
    left = list(answers)

    def fetch(row_id: uuid.UUID) -> str:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return WaitingRoom(fetch=fetch, is_finished=lambda row: row == "done", seats=lambda: 1)


def _away() -> OperationalError:
    error = OperationalError("terminating connection due to administrator command")
    error.__cause__ = psycopg.errors.AdminShutdown()
    return error


def test_a_database_that_goes_away_is_waited_for() -> None:
    assert _room("running", _away(), _away(), _away(), "done").wait_for(uuid.uuid4(), 5) == "done"


@pytest.mark.parametrize("seconds", [0, 5])
def test_a_connection_that_broke_meanwhile_is_made_anew(seconds: float) -> None:
    assert _room(_away(), "done").wait_for(uuid.uuid4(), seconds) == "done"


def test_waiting_ends_when_the_time_is_over() -> None:
    began = time.monotonic()
    assert _room("running").wait_for(uuid.uuid4(), 0.2) == "running"
    assert 0.2 <= time.monotonic() - began < 2


@pytest.mark.parametrize(("failing", "seconds"), [(_away, 0), (_away, 0.2), (lambda: DataError("bad"), 5)])
def test_what_does_not_pass_in_time_is_raised(failing: Callable[[], Exception], seconds: float) -> None:
    error = failing()
    began = time.monotonic()
    with pytest.raises(type(error)):
        _room(error).wait_for(uuid.uuid4(), seconds)
    assert time.monotonic() - began < 2
