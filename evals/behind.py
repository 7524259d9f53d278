"""Writing behind the reading: one piece of database work at a time, in a thread that borrows our connection."""

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock

from django.db import connection, connections

# The reader computes without pause and the writer mostly waits: each time the database answers, Python's usual 5 ms
# would pass before the writer may go on, and a batch has a dozen answers.
SWITCH_SECONDS = 0.0002


class _QuickSwitches:
    """Python switches quickly between threads as long as anybody writes behind; the interval is the whole process's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._usual = 0.0

    def begin(self) -> None:
        with self._lock:
            if self._users == 0:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(SWITCH_SECONDS)
            self._users += 1

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setswitchinterval(self._usual)


_quick_switches = _QuickSwitches()


class WriteBehind:
    """While the database works on one batch, the caller reads the next. Until `wait` returns, the caller must leave
    the database alone: both threads use one connection, so that everything stays in the caller's session."""

    def __init__(self) -> None:
        self._pending: Future[None] | None = None
        self._connection = connections[connection.alias]
        self._executor = ThreadPoolExecutor(1, "write-behind", initializer=self._borrow)
        self._connection.inc_thread_sharing()
        _quick_switches.begin()

    def _borrow(self) -> None:
        connections[self._connection.alias] = self._connection

    def submit(self, work: Callable[[], None]) -> None:
        """Begin the work once the work before it is done; raises what that one raised."""
        self.wait()
        self._pending = self._executor.submit(work)

    def wait(self) -> None:
        """Return when nothing is under way; raises what the work raised."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def close(self) -> None:
        """End the thread. What work is under way is finished, and its error is no longer anybody's."""
        with suppress(Exception):
            self.wait()
        self._executor.shutdown()
        _quick_switches.end()
        self._connection.dec_thread_sharing()
