"""Packed columns are what psycopg makes of the same rows, value by value."""

import random
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.postgres import types
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from evals.copying import BEGIN, END, KINDS, encode_json, pack_rows

NAMES = {"timestamp with time zone": "timestamptz", "double precision": "float8", "boolean": "bool"}
TEXTS = ["", "żółć\t\\N\n", "a" * 300, "👍", "PASS"]
ZONES = [UTC, timezone(timedelta(hours=-5, minutes=-30))]

MAKE: dict[str, Callable[[random.Random], Any]] = {
    "bigint": lambda r: r.choice([0, -1, 2**63 - 1, -(2**63), r.getrandbits(40)]),
    "boolean": lambda r: r.random() < 0.5,
    "date": lambda r: date(1, 1, 1) + timedelta(days=r.randrange(3_600_000)),
    "double precision": lambda r: r.choice([0.5, 1e300, -1e-300, 7, r.random()]),
    "integer": lambda r: r.choice([0, 2**31 - 1, -(2**31), r.getrandbits(20)]),
    "jsonb": lambda r: r.choice(
        [[], {}, {"big": 2**80}, ["ż", 1.5, None, True], "text", 1, 1.0, True, {"n": 1}, {"n": True}]
    ),
    "smallint": lambda r: r.choice([0, 2**15 - 1, -(2**15)]),
    "text": lambda r: r.choice(TEXTS) + str(r.randrange(3)),
    "timestamp with time zone": lambda r: datetime(
        r.randrange(2, 9999), 12, 31, 23, 59, 59, r.randrange(10**6), tzinfo=r.choice(ZONES)
    ),
    "uuid": lambda r: UUID(int=r.getrandbits(128)),
    "varchar": lambda r: r.choice(TEXTS),
}


def _by_psycopg(rows: list[tuple[Any, ...]], kinds: list[str]) -> bytes:
    packed = BEGIN
    for row in rows:
        packed += struct.pack(">h", len(row))
        for value, kind in zip(row, kinds, strict=True):
            if value is None:
                packed += struct.pack(">i", -1)
                continue
            transformer = Transformer()
            transformer.set_dumper_types([types[NAMES.get(kind, kind)].oid], Format.BINARY)
            value = Jsonb(value, dumps=encode_json) if kind == "jsonb" else value
            (content,) = transformer.dump_sequence([value], [PyFormat.BINARY])
            assert content is not None
            packed += struct.pack(">i", len(content)) + bytes(content)
    return packed + END


def _column(kind: str, number: int, r: random.Random) -> list[Any]:
    """All the same, a few values, or any; with and without None."""
    few = [MAKE[kind](r) for _ in range(r.choice([1, 1, 2, 5]))]
    values = [r.choice(few) if r.random() < 0.9 or len(few) < 5 else MAKE[kind](r) for _ in range(number)]
    return [None if r.random() < 0.2 else value for value in values] if r.random() < 0.4 else values


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_packed_as_psycopg_packs_them(seed: int) -> None:
    r = random.Random(seed)  # noqa: S311 (a repeatable choice)
    kinds = r.choices(sorted(KINDS), k=r.randrange(1, 16))
    columns = [_column(kind, number, r) for number in [r.choice([1, 2, 30])] for kind in kinds]
    rows = list(zip(*columns, strict=True))
    assert pack_rows(rows, [KINDS[kind] for kind in kinds]) == _by_psycopg(rows, kinds)


def test_minus_zero_is_zero_whatever_stands_beside_it() -> None:
    kinds = [KINDS["double precision"]]
    zeros = pack_rows([(0.0,), (0.0,)], kinds)
    assert pack_rows([(-0.0,), (0.0,)], kinds) == pack_rows([(0.0,), (-0.0,)], kinds) == zeros
