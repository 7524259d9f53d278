"""Garbage collection while a run is written: at each batch, not at every few thousand objects.

Records and rows are millions of objects that hold no cycles, and are gone as soon as nobody refers to them. Looking
through those that are alive, time and again, costs an import a fifth of its time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_by_hand() -> Iterator[None]:
    """Stop the collection, so that only `collect_young` does it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_young() -> None:
    """Free the cycles among objects made since the time before last: whatever is older waits for the end."""
    gc.collect(1)
