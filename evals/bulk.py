"""The one way to write many rows: COPY on PostgreSQL, executemany on SQLite (DESIGN 8)."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any

from django.db import connection, models, transaction

from evals.copying import KINDS, Fixed, Kind, Row, encode_json, pack_rows
from evals.fields import CodeField

type Prepare = Callable[[Any], Any]

PIECE = 256 * 1024  # bytes given to the driver at once: it keeps a copy of what the database has not taken yet
RESERVING = 7_264_117  # key of the advisory lock; any number that nobody else uses


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """Rows of one table as the database takes them, made without it; to be written once."""

    statement: str
    content: bytes | Sequence[Row]
    number: int

    def write(self) -> int:
        """Write the rows and return how many. Database errors come as Django's."""
        if isinstance(self.content, bytes):
            # Inside COPY psycopg raises its own errors: the wrapper turns them into Django's.
            with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(self.statement) as copy:
                for start in range(0, len(self.content), PIECE):
                    copy.write(self.content[start : start + PIECE])
        elif self.content:
            with connection.cursor() as cursor:
                cursor.executemany(self.statement, self.content)
        return self.number


def write_rows(model: type[models.Model], names: Sequence[str], rows: Sequence[Row]) -> int:
    """Write `rows` (values in the order of the field `names`) and return how many. Database defaults and signals do
    not apply, and costs are the whole nano-dollars that the column holds."""
    return prepare_rows(model, names, rows).write()


def prepare_rows(model: type[models.Model], names: Sequence[str], rows: Sequence[Row]) -> PreparedRows:
    """Do all of `write_rows` that needs no database."""
    fields = [model._meta.get_field(name) for name in names]
    columns = ", ".join(connection.ops.quote_name(str(getattr(field, "column", ""))) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    if connection.vendor == "postgresql":
        statement = f"COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)"
        packed = pack_rows(rows, [_kind_of(field) for field in fields]) if rows else ()
        return PreparedRows(statement, packed, len(rows))
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 (own names)
    return PreparedRows(statement, _prepared(rows, [_preparer(field) for field in fields]), len(rows))


@cache
def _kind_of(field: Any) -> Kind:
    """Return how PostgreSQL's COPY takes the values of the field."""
    if isinstance(field, CodeField):
        return Fixed("h", partial(map, field.codes.__getitem__))
    return KINDS[str(field.db_type(connection)).partition("(")[0]]


def _prepared(rows: Sequence[Row], prepares: list[Prepare | None]) -> list[Row]:
    """Turn the values that need it into what SQLite takes, column by column: most columns need nothing, and a
    column is one pass in C where a row would be one call for each value."""
    columns = [
        map(itemgetter(at), rows) if prepare is None else map(prepare, map(itemgetter(at), rows))
        for at, prepare in enumerate(prepares)
    ]
    return list(zip(*columns, strict=True))


@cache
def _preparer(field: Any) -> Prepare | None:
    """Return a function from a Python value to what SQLite takes; None where it takes the value itself."""
    if isinstance(field, CodeField):
        return field.codes.__getitem__
    if isinstance(field, models.JSONField):
        return lambda value: None if value is None else encode_json(value).decode()
    if isinstance(field, models.DateTimeField):
        return _sqlite_time
    if isinstance(_target(field), models.UUIDField):
        return lambda value: None if value is None else value.hex
    return None


def _target(field: Any) -> Any:
    """Return the field whose values the column holds."""
    return field.target_field if isinstance(field, models.ForeignKey) else field


def _sqlite_time(value: datetime | None) -> str | None:
    """Write a time as Django does: in UTC, without saying so."""
    return None if value is None else str(value.astimezone(UTC).replace(tzinfo=None))


@contextmanager
def planned_without(*methods: str) -> Iterator[None]:
    """Keep PostgreSQL's planner from methods (`enable_…`) that it likes for tables that it takes for empty: rows just
    written have no statistics. Call it inside a transaction."""
    names = methods if connection.vendor == "postgresql" else ()
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(f"SET LOCAL {name} TO OFF")
        yield
        for name in names:
            cursor.execute(f"SET LOCAL {name} TO DEFAULT")


def commit_lazily() -> None:
    """Let this transaction's commit not wait for the disk. For rows under a hidden run: the transaction that makes
    them visible waits for its own, and with it for all before it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO OFF")


def reserve_ids(model: type[models.Model], number: int) -> range:
    """Return `number` unused primary keys in a row, as COPY gives none back.

    Keys that nobody uses are lost, so they may be taken long before. Call it outside of a transaction: on PostgreSQL
    the lock, under which the sequence jumps, lasts until the transaction ends, and other imports would wait.
    """
    if number == 0:
        return range(0)
    reserve = _reserve_in_postgres if connection.vendor == "postgresql" else _reserve_in_sqlite
    last = reserve(model._meta.db_table, number)
    return range(last - number + 1, last + 1)


def _reserve_in_postgres(table: str, number: int) -> int:
    """Let the sequence jump and return its new value: one statement, so one round trip. Its commit need not wait for
    the disk: the log is in order, so rows with these keys are never safe before the jump is."""
    with connection.cursor() as cursor:
        cursor.execute(
            """WITH locked AS MATERIALIZED (
                        SELECT pg_advisory_xact_lock(%s), set_config('synchronous_commit', 'off', true)),
                    sequence AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name FROM locked)
               SELECT setval(name, nextval(name) + %s) FROM sequence""",
            [RESERVING, table, number - 1],
        )
        return int(cursor.fetchone()[0])


def _reserve_in_sqlite(table: str, number: int) -> int:
    """Raise the last key, which SQLite keeps for each table with an AUTOINCREMENT; there is none before the first."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO sqlite_sequence (name, seq) SELECT %s, 0
               WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = %s)""",
            [table, table],
        )
        cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s RETURNING seq", [number, table])
        return int(cursor.fetchone()[0])


class KeyPool:
    """Primary keys of one table, reserved ahead: the thread that has the database fills it, the other one takes."""

    def __init__(self, model: type[models.Model], chunk: int) -> None:
        self.model = model
        self.chunk = chunk
        self._ranges: deque[range] = deque()
        self._lock = Lock()

    def holds(self, number: int) -> bool:
        with self._lock:
            return sum(map(len, self._ranges)) >= number

    def fill(self, number: int) -> None:
        """Reserve until `number` keys are there."""
        if not self.holds(number):
            fresh = reserve_ids(self.model, max(self.chunk, number))
            with self._lock:
                self._ranges.append(fresh)

    def take(self, number: int) -> Iterator[int]:
        """Return an iterator over `number` keys; they must be there."""
        parts = []
        with self._lock:
            while number:
                first = self._ranges.popleft()
                if len(first) > number:
                    self._ranges.appendleft(first[number:])
                    first = first[:number]
                parts.append(first)
                number -= len(first)
        return chain.from_iterable(parts)
