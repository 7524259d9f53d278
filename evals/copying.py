"""Rows as PostgreSQL's binary COPY takes them, packed column by column.

What a column holds decides how it is packed. Equal values throughout become a part of the bytes between other columns;
numbers, times and the like go through one `struct` for all of them; only texts, JSON and columns with NULLs are packed
value by value. An import has millions of rows, so the loops are those of C.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain, repeat
from operator import add, attrgetter, floordiv, sub
from struct import Struct
from typing import Any, ClassVar

import msgspec

type Row = Sequence[Any]
type Column = tuple[Any, ...]

BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # the signature, no flags, nothing more in the header
END = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"  # a length of -1
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
FEW = 2  # rows for each different value, on average, from where on a value is packed only once

pack_length = Struct(">i").pack


@dataclass(frozen=True, slots=True)
class Fixed:
    """A type whose values are all of one size: its letter for `struct`, and how a column becomes what that takes."""

    letter: str
    convert: Callable[[Iterable[Any]], Iterable[Any]] = iter
    equal_is_same: ClassVar[bool] = True

    @property
    def length(self) -> bytes:
        return pack_length(Struct(f">{self.letter}").size)

    def pack(self, value: Any) -> bytes:
        return self.length + Struct(f">{self.letter}").pack(*self.convert([value]))


@dataclass(frozen=True, slots=True)
class Sized:
    """A type whose values bring their size. JSON's equal values may differ: 1, 1.0 and true are equal in Python."""

    encode: Callable[[Any], bytes]
    equal_is_same: bool = True

    def pack(self, value: Any) -> bytes:
        encoded = self.encode(value)
        return pack_length(len(encoded)) + encoded


type Kind = Fixed | Sized


def encode_json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except OverflowError:  # an integer of more than 64 bits
        return json.dumps(value).encode()


def _microseconds(times: Iterable[datetime]) -> Iterable[int]:
    return map(floordiv, map(sub, times, repeat(EPOCH)), repeat(MICROSECOND))


def _days(days: Iterable[date]) -> Iterable[int]:
    return map(sub, map(date.toordinal, days), repeat(EPOCH.toordinal()))


# By the column's type, without its length.
KINDS: dict[str, Kind] = {
    "bigint": Fixed("q"),
    "boolean": Fixed("?"),
    "date": Fixed("i", _days),
    "double precision": Fixed("d", lambda column: map(add, column, repeat(0.0))),  # -0.0, which equals it, becomes 0.0
    "integer": Fixed("i"),
    "jsonb": Sized(lambda value: b"\x01" + encode_json(value), equal_is_same=False),  # 1 is the version of the format
    "smallint": Fixed("h"),
    "text": Sized(str.encode),
    "timestamp with time zone": Fixed("q", _microseconds),
    "uuid": Fixed("16s", lambda column: map(attrgetter("bytes"), column)),
    "varchar": Sized(str.encode),
}


def pack_rows(rows: Sequence[Row], kinds: Sequence[Kind]) -> bytes:
    """Return the rows as the content of a binary COPY; None is NULL, whatever the column."""
    packing = _Packing(len(rows), Struct(">h").pack(len(kinds)))
    for column, kind in zip(zip(*rows, strict=True), kinds, strict=True):
        if kind.equal_is_same and column[0] == column[-1] and column.count(column[0]) == len(column):
            packing.add_same(NULL if column[0] is None else kind.pack(column[0]))
        elif isinstance(kind, Fixed) and type(None) not in set(map(type, column)):
            packing.add_fixed(kind, column)
        else:
            packing.add_packed(_packed(column, kind))
    return b"".join(chain([BEGIN], chain.from_iterable(packing.finish()), [END]))


class _Packing:
    """Gathers the columns of rows. What has the same size in all rows is packed by one `struct`, up to the next column
    that has not."""

    def __init__(self, number: int, begin: bytes) -> None:
        self.number = number
        self._same = begin  # bytes that each row has next
        self._letters = ""
        self._values: list[Iterable[Any]] = []
        self._pieces: list[Iterable[bytes]] = []

    def add_same(self, packed: bytes) -> None:
        self._same += packed

    def add_fixed(self, kind: Fixed, column: Column) -> None:
        self._same += kind.length
        self._add_same_bytes()
        self._letters += kind.letter
        self._values.append(kind.convert(column))

    def add_packed(self, column: Iterable[bytes]) -> None:
        self._end_piece()
        self._pieces.append(column)

    def finish(self) -> Iterable[Iterable[bytes]]:
        """Return the parts of each row."""
        self._end_piece()
        return zip(*self._pieces, strict=True)

    def _add_same_bytes(self) -> None:
        if self._same:
            self._letters += f"{len(self._same)}s"
            self._values.append(repeat(self._same, self.number))
            self._same = b""

    def _end_piece(self) -> None:
        self._add_same_bytes()
        if self._values:
            self._pieces.append(map(Struct(">" + self._letters).pack, *self._values))
            self._letters, self._values = "", []


def _packed(column: Column, kind: Kind) -> Iterable[bytes]:
    pack = kind.pack
    different = set(column) if kind.equal_is_same else ()
    if 0 < len(different) * FEW <= len(column):
        known = {value: NULL if value is None else pack(value) for value in different}
        return map(known.__getitem__, column)
    return [NULL if value is None else pack(value) for value in column]
