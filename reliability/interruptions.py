"""What a database or disk error means for the work it interrupts: it may pass, there is no room, or neither."""

import errno
import sqlite3
from collections.abc import Iterator

import psycopg

NO_ROOM = "There is no room left on the server's disk, so nothing of this was stored. Send it again once there is room."
NO_DATABASE = "The database was away or busy for a moment. Nothing is half stored, and trying again is safe."
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)

# https://www.postgresql.org/docs/current/errcodes-appendix.html: connection, rollback for another's sake, resources,
# operator and system; and a lock or a transaction that timed out.
PASSING_CLASSES = ("08", "40", "53", "57", "58")
PASSING_STATES = ("55P03", "25P03", "25P04")
DISK_FULL = "53100"

# https://www.sqlite.org/rescode.html: of another connection's doing, or of the system's.
PASSING_CODES = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
)


def has_no_room(error: BaseException | None) -> bool:
    """Whether the disk of the files or of the database is full."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in FULL_DISK:
            return True
        if isinstance(cause, psycopg.Error) and cause.sqlstate == DISK_FULL:
            return True
        if isinstance(cause, sqlite3.Error) and _primary_code(cause) == sqlite3.SQLITE_FULL:
            return True
    return False


def may_pass(error: BaseException | None) -> bool:
    """Whether the same work may succeed a minute later: the database was away, busy, or stopped it for another's sake.
    A full disk is not of these, and what the rows themselves brought about never passes."""
    return not has_no_room(error) and any(map(_may_pass, _causes(error)))


def _may_pass(cause: BaseException) -> bool:
    if isinstance(cause, psycopg.Error):
        if cause.sqlstate is None:  # the driver's own: it has no connection, or lost it
            return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
        return cause.sqlstate.startswith(PASSING_CLASSES) or cause.sqlstate in PASSING_STATES
    return isinstance(cause, sqlite3.Error) and _primary_code(cause) in PASSING_CODES


def _primary_code(error: sqlite3.Error) -> int | None:
    """Return the code without its extension; errors of Python's own module have none."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and what it came from: Django wraps the driver's."""
    while error is not None:
        yield error
        error = error.__cause__
