"""Somebody else saved meanwhile: nothing is overwritten, both versions are kept side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from reliability.errors import AppError, Conflict


class Frozen(AppError):
    """The revision is published: it never changes again."""

    status = 409
    code = "frozen"


@dataclass(frozen=True, slots=True)
class Differing:
    """One field whose two versions differ, as stored values."""

    name: str
    mine: Any
    theirs: Any


class VersionConflict(Conflict):
    """`theirs` is the row as it stands now, `version` its version, `differing` what the two saves disagree about."""

    code = "version_conflict"

    def __init__(
        self, theirs: Model, *, version: int, by: object, mine: Mapping[str, Any], now: Mapping[str, Any]
    ) -> None:
        super().__init__(f"{by or 'Somebody'} saved this meanwhile. Nothing was overwritten.")
        self.theirs = theirs
        self.version = version
        self.by = by
        self.differing = [Differing(name, mine[name], now.get(name)) for name in mine if mine[name] != now.get(name)]
