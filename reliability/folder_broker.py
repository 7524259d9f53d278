"""The embedded broker: messages as files in a folder, each there as a whole or not at all.

kombu's own transport writes a message where the reader already looks for it, so a reader may find half of one, and a
worker that does stops. Here a message is written under another name and then renamed.
"""

import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

TRIES = 20
PAUSE_SECONDS = 0.05


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # bases differ
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        part = folder / f"{name}.part"  # the name of no queue, so nobody reads it
        try:
            part.write_bytes(dumps(payload).encode())
            os.replace(part, folder / name)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ChannelError(f"Cannot add file {name!r} to directory") from error

    def get_table(self, exchange: str) -> Any:
        return _whole(lambda: super(Channel, self).get_table(exchange))

    def _queue_bind(self, *names: Any) -> None:
        _whole(lambda: super(Channel, self)._queue_bind(*names))


class Transport(filesystem.Transport):
    Channel = Channel


def use_whole_messages() -> None:
    """Make this the transport of `filesystem://`."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"


def _whole[Read](read: Callable[[], Read]) -> Read:
    """Read again while another process is writing the table of queues, which it does once and in a moment."""
    for _ in range(TRIES - 1):
        try:
            return read()
        except ValueError:  # half a JSON document
            time.sleep(PAUSE_SECONDS)
    return read()
