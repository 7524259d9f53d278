"""Threads of a web process that wait for a job's row, counted so that the others stay free for pages (DESIGN 8)."""

import time
import uuid
from collections.abc import Callable
from threading import Lock

from django.db import Error, connection

from reliability.interruptions import may_pass

POLL_SECONDS = 0.05
LONGEST_PAUSE = 0.5


class WaitingRoom[Row]:
    """Has `seats()` places. `fetch` reads the job's row anew, outside any transaction; `is_finished` judges it."""

    def __init__(
        self, *, fetch: Callable[[uuid.UUID], Row], is_finished: Callable[[Row], bool], seats: Callable[[], int]
    ) -> None:
        self._fetch = fetch
        self._is_finished = is_finished
        self._seats = seats
        self._waiting = 0
        self._lock = Lock()

    def wait_for(self, row_id: uuid.UUID, seconds: float) -> Row:
        """Return the row when it is finished, after `seconds`, or at once when the room is full. A database that goes
        away meanwhile is waited for as well."""
        if not self._enter():
            return self._read(row_id)
        try:
            return self._poll(row_id, time.monotonic() + seconds)
        finally:
            with self._lock:
                self._waiting -= 1

    def _enter(self) -> bool:
        with self._lock:
            if self._waiting >= self._seats():
                return False
            self._waiting += 1
            return True

    def _poll(self, row_id: uuid.UUID, deadline: float) -> Row:
        pause = POLL_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            try:
                row = self._read(row_id)
            except Error as error:
                if not may_pass(error):
                    raise
            else:
                if self._is_finished(row):
                    return row
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_PAUSE)
        return self._read(row_id)

    def _read(self, row_id: uuid.UUID) -> Row:
        """Read the row, on a new connection if the one at hand broke while we slept."""
        try:
            return self._fetch(row_id)
        except Error as error:
            if not may_pass(error):
                raise
            connection.close_if_unusable_or_obsolete()
            return self._fetch(row_id)
