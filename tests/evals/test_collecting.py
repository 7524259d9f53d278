"""Garbage collection stands still while a run is written, and goes on as it was."""

import gc

import pytest

from evals.collecting import collect_young, collected_by_hand


class Knot:
    def __init__(self, loose: list[int]) -> None:
        self.itself, self.loose = self, loose

    def __del__(self) -> None:
        self.loose.append(1)


def test_collection_goes_on_after_an_error() -> None:
    def _break() -> None:
        with collected_by_hand():
            was_enabled.append(gc.isenabled())
            raise ValueError("broken")

    was_enabled: list[bool] = []
    with pytest.raises(ValueError, match="broken"):
        _break()
    assert (was_enabled, gc.isenabled()) == ([False], True)


def test_young_cycles_are_freed_by_hand() -> None:
    loose: list[int] = []
    with collected_by_hand():
        Knot(loose)
        assert loose == []
        collect_young()
        assert loose == [1]
