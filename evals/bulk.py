"""The one way to write many rows: COPY on PostgreSQL, executemany on SQLite (DESIGN 8)."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models
from psycopg.types.json import Jsonb

type Row = Sequence[Any]


def write_rows(model: type[models.Model], names: Sequence[str], rows: Iterable[Row]) -> int:
    """Write `rows` (values in the order of the field `names`) and return how many. Database defaults and signals do
    not apply; database errors come as Django's."""
    fields = [model._meta.get_field(name) for name in names]
    columns = [connection.ops.quote_name(str(getattr(field, "column", ""))) for field in fields]
    table = connection.ops.quote_name(model._meta.db_table)
    prepare = [_preparer(field) for field in fields]
    values = [[prep(value) for prep, value in zip(prepare, row, strict=True)] for row in rows]
    if not values:
        return 0
    if connection.vendor == "postgresql":
        _copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN", values)
    else:
        marks = ", ".join(["%s"] * len(columns))
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)  # noqa: S608 (names are our own models')
    return len(values)


def _copy(statement: str, rows: list[list[Any]]) -> None:
    # Inside COPY psycopg raises its own errors: the wrapper turns them into Django's.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _preparer(field: Any) -> Any:
    """Return a function from a Python value to what the driver takes."""
    if connection.vendor == "postgresql":
        if isinstance(field, models.JSONField):
            return lambda value: None if value is None else Jsonb(value)
        if isinstance(field, models.SmallIntegerField) and hasattr(field, "enum"):
            return field.get_prep_value
        return _same
    return lambda value: field.get_db_prep_save(value, connection)


def _same(value: Any) -> Any:
    return value


def reserve_ids(model: type[models.Model], number: int) -> range | list[int]:
    """Return `number` unused primary keys, as COPY gives none back. SQLite needs the writing transaction around it."""
    if number == 0:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, number]
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute(f"SELECT COALESCE(MAX(id), 0) FROM {connection.ops.quote_name(table)}")  # noqa: S608 (own name)
        first = cursor.fetchone()[0] + 1
        return range(first, first + number)
