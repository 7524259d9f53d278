"""A column for a closed set of words: two bytes in the table, the enum in Python."""

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any

from django.db import models


class CodeField(models.SmallIntegerField[Any, Any]):
    """Stores a member of `enum` as its position (from 1), so bulk rows stay narrow.

    The order of the enum's members is part of the schema: new members go to the end.
    """

    def __init__(self, enum: type[StrEnum] | None = None, **options: Any) -> None:
        self.enum = enum
        super().__init__(**options)

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        # Migrations need only the column: the enum would tie old ones to today's words.
        return super().deconstruct()

    def from_db_value(self, value: int | None, expression: Any, connection: Any) -> StrEnum | None:
        return None if value is None else list(self._enum)[value - 1]

    def to_python(self, value: Any) -> StrEnum | None:
        if value is None or value == "":
            return None
        return list(self._enum)[value - 1] if isinstance(value, int) else self._enum(value)

    def get_prep_value(self, value: Any) -> int | None:
        if value is None or value == "":
            return None
        if isinstance(value, int):
            return value
        return code_of(value if isinstance(value, self._enum) else self._enum(value))

    @property
    def codes(self) -> dict[StrEnum | None, int | None]:
        """What each member is stored as; None as NULL."""
        return {None: None} | {member: code_of(member) for member in self._enum}

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj) or "")

    @property
    def _enum(self) -> type[StrEnum]:
        if self.enum is None:
            raise TypeError("a CodeField outside migrations needs its enum")
        return self.enum


@lru_cache(maxsize=None, typed=True)  # typed: members of two enums with the same word are equal as texts
def code_of(member: StrEnum) -> int:
    """Position of a member in its enum, from 1."""
    return list(type(member)).index(member) + 1


class DollarField(models.BigIntegerField[Any, Any]):
    """US dollars to a billionth: a Decimal in Python, whole nano-dollars in the table, where adding them is exact and
    writing a million costs a third of what a NUMERIC column does."""

    def from_db_value(self, value: int | None, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else Decimal(value).scaleb(-9)

    def to_python(self, value: Any) -> Decimal | None:
        return None if value is None or value == "" else Decimal(value)

    def get_prep_value(self, value: Any) -> int | None:
        return None if value is None else int(Decimal(value).scaleb(9).to_integral_value())
