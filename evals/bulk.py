"""The one way to write many rows: COPY on PostgreSQL, executemany on SQLite (DESIGN 8)."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any, cast

import msgspec
from django.db import connection, models, transaction
from psycopg.types.json import Jsonb

from evals.fields import CodeField

type Row = Sequence[Any]
type Prepare = Callable[[Any], Any]

RESERVING = 7_264_117  # key of the advisory lock; any number that nobody else uses


def encode_json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except OverflowError:  # an integer of more than 64 bits
        return json.dumps(value).encode()


def write_rows(model: type[models.Model], names: Sequence[str], rows: Iterable[Row]) -> int:
    """Write `rows` (values in the order of the field `names`) and return how many. Database defaults and signals do
    not apply, and costs are the whole nano-dollars that the column holds; database errors come as Django's."""
    values = list(rows)
    if not values:
        return 0
    fields = [model._meta.get_field(name) for name in names]
    columns = ", ".join(connection.ops.quote_name(str(getattr(field, "column", ""))) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    prepared = _prepared(values, [_preparer(field, connection.vendor) for field in fields])
    if connection.vendor == "postgresql":
        types = [_type_name(field) for field in fields]
        _copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)", types, prepared)
    else:
        marks = ", ".join(["%s"] * len(fields))
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", cast(Any, prepared))  # noqa: S608 (own names)
    return len(values)


def _prepared(rows: list[Row], prepares: list[Prepare | None]) -> Iterable[Any]:
    """Turn the values that need it into what the driver takes, column by column: most columns need nothing, and a
    column is one pass in C where a row would be one call for each value."""
    if not any(prepares):
        return rows
    columns = [
        map(itemgetter(at), rows) if prepare is None else map(prepare, map(itemgetter(at), rows))
        for at, prepare in enumerate(prepares)
    ]
    return zip(*columns, strict=True)


def _copy(statement: str, types: list[str], rows: Iterable[Row]) -> None:
    # Inside COPY psycopg raises its own errors: the wrapper turns them into Django's.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def _type_name(field: Any) -> str:
    """Name the column's type without its length: binary COPY needs the exact one."""
    return str(field.db_type(connection)).partition("(")[0]


@cache
def _preparer(field: Any, vendor: str) -> Prepare | None:
    """Return a function from a Python value to what the driver takes; None where it takes the value itself."""
    if isinstance(field, CodeField):
        return field.codes.__getitem__
    if vendor == "postgresql":
        return _jsonb if isinstance(field, models.JSONField) else None
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


def _jsonb(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(value, dumps=encode_json)


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
    table = model._meta.db_table
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                """WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(%s)),
                        sequence AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name FROM locked)
                   SELECT setval(name, nextval(name) + %s) FROM sequence""",
                [RESERVING, table, number - 1],
            )
        else:
            # Where SQLite keeps the last key of each table with an AUTOINCREMENT; there is no row before the first.
            cursor.execute(
                """INSERT INTO sqlite_sequence (name, seq) SELECT %s, 0
                   WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = %s)""",
                [table, table],
            )
            cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s RETURNING seq", [number, table])
        last = cursor.fetchone()[0]
    return range(last - number + 1, last + 1)


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
