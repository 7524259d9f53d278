"""Rows as PostgreSQL's binary COPY takes them, packed column by column.

Most columns of a batch hold few different values, or a single one: each value is packed once, and the rest is left to
loops in C. That costs a third of packing value by value, and an import has millions of rows.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain, repeat
from struct import Struct
from typing import Any
from uuid import UUID

import msgspec

type Row = Sequence[Any]
type Pack = Callable[[Any], bytes]  # a value as its length and its bytes

BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # the signature, no flags, nothing more in the header
END = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"  # a length of -1
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
MANY = 2  # rows for each different value of a column, on average, from where on it is packed only once

pack_length = Struct(">i").pack
pack_small = partial(Struct(">ih").pack, 2)
pack_whole = partial(Struct(">ii").pack, 4)
pack_big = partial(Struct(">iq").pack, 8)
pack_double = partial(Struct(">id").pack, 8)
pack_bool = partial(Struct(">i?").pack, 1)


def encode_json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except OverflowError:  # an integer of more than 64 bits
        return json.dumps(value).encode()


def _pack_float(value: float) -> bytes:
    return pack_double(value + 0.0)  # -0.0 equals 0.0, and becomes it: equal values are packed alike


def _pack_text(value: str) -> bytes:
    encoded = value.encode()
    return pack_length(len(encoded)) + encoded


def _pack_json(value: Any) -> bytes:
    encoded = encode_json(value)
    return pack_length(len(encoded) + 1) + b"\x01" + encoded  # the version of the format


def _pack_time(value: datetime) -> bytes:
    since = value - EPOCH
    return pack_big((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)


def _pack_day(value: date) -> bytes:
    return pack_whole(value.toordinal() - EPOCH.toordinal())


def _pack_uuid(value: UUID) -> bytes:
    return pack_length(16) + value.bytes


# By the column's type, without its length.
PACKS: dict[str, Pack] = {
    "bigint": pack_big,
    "boolean": pack_bool,
    "date": _pack_day,
    "double precision": _pack_float,
    "integer": pack_whole,
    "jsonb": _pack_json,
    "smallint": pack_small,
    "text": _pack_text,
    "timestamp with time zone": _pack_time,
    "uuid": _pack_uuid,
    "varchar": _pack_text,
}


def pack_rows(rows: Sequence[Row], packs: Sequence[Pack]) -> bytes:
    """Return the rows as the content of a binary COPY; None is NULL, whatever the column."""
    pieces: list[Iterable[bytes]] = []
    same = Struct(">h").pack(len(packs))  # what begins each row; equal values that follow each other are joined to it
    for column, pack in zip(zip(*rows, strict=True), packs, strict=True):
        packed = _packed(column, pack)
        if isinstance(packed, bytes):
            same += packed
        else:
            pieces += [repeat(same, len(rows)), packed] if same else [packed]
            same = b""
    if same:
        pieces.append(repeat(same, len(rows)))
    return b"".join(chain([BEGIN], chain.from_iterable(zip(*pieces, strict=True)), [END]))


def _packed(column: tuple[Any, ...], pack: Pack) -> bytes | Iterable[bytes]:
    """Return the packed values of a column; a single one where all are equal."""
    try:
        different = set(column)
    except TypeError:  # JSON values
        return [NULL if value is None else pack(value) for value in column]
    if len(different) * MANY > len(column) > 1:
        return [NULL if value is None else pack(value) for value in column] if None in different else map(pack, column)
    known = {value: NULL if value is None else pack(value) for value in different}
    return known[column[0]] if len(known) == 1 else map(known.__getitem__, column)
