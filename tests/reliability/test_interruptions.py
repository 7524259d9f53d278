"""Which errors are tried again: those of the drivers, as they say them."""

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import DataError, OperationalError, connection, transaction
from psycopg import errors

from reliability.interruptions import has_no_room, may_pass


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), True),
        (psycopg.InterfaceError("connection pointer is NULL"), True),
        (errors.AdminShutdown(), True),
        (errors.DeadlockDetected(), True),
        (errors.SerializationFailure(), True),
        (errors.LockNotAvailable(), True),
        (errors.TooManyConnections(), True),
        (errors.DiskFull(), False),
        (errors.ProgramLimitExceeded(), False),  # Django's OperationalError as well: a text too long for an index
        (errors.NumericValueOutOfRange(), False),
        (errors.UniqueViolation(), False),
        (psycopg.ProgrammingError("the query has 2 placeholders but 1 parameters were passed"), False),
        (sqlite3.OperationalError("of Python's own module"), False),
        (ValueError("anything else"), False),
        (OSError(errno.ENOSPC, "No space left on device"), False),
    ],
)
def test_what_may_pass(error: Exception, passes: bool) -> None:
    wrapped = OperationalError()
    wrapped.__cause__ = error
    assert (may_pass(error), may_pass(wrapped)) == (passes, passes)


def test_a_lock_of_another_connection_passes(tmp_path: Path) -> None:
    first, second = (sqlite3.connect(tmp_path / "db", timeout=0, isolation_level=None) for _ in range(2))
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked") as busy:
        second.execute("BEGIN IMMEDIATE")
    first.close()
    second.close()
    assert (may_pass(busy.value), has_no_room(busy.value)) == (True, False)


@pytest.mark.parametrize("statement", ["SELECT zeroblob(2000000000)", "SELECT abs(-9223372036854775807 - 1)", "!"])
def test_what_a_statement_brings_about_does_not_pass(statement: str) -> None:
    with closing(sqlite3.connect(":memory:")) as memory, pytest.raises(sqlite3.Error) as permanent:
        memory.execute(statement).fetchall()
    assert (may_pass(permanent.value), has_no_room(permanent.value)) == (False, False)


def test_a_full_database_is_no_room(tmp_path: Path) -> None:
    small = sqlite3.connect(tmp_path / "db", isolation_level=None)
    small.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError, match="full") as full:
        small.execute("CREATE TABLE big AS SELECT zeroblob(100000)")
    small.close()
    assert (has_no_room(full.value), may_pass(full.value)) == (True, False)


@pytest.mark.django_db
def test_a_number_too_large_of_this_database_does_not_pass() -> None:
    with pytest.raises((OperationalError, DataError)) as overflow, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT abs(-9223372036854775807 - 1)")
    assert not may_pass(overflow.value)
