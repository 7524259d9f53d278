"""The embedded broker never shows half a message."""

import os
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from reliability.folder_broker import Transport


@pytest.fixture
def channel(tmp_path: Path) -> Any:
    (tmp_path / "queue").mkdir()
    (tmp_path / "done").mkdir()
    options = {name: str(tmp_path / "queue") for name in ("data_folder_in", "data_folder_out")}
    options |= {"control_folder": str(tmp_path / "control"), "processed_folder": str(tmp_path / "done")}
    with Connection("filesystem://", transport_options={**options, "store_processed": True}) as connection:
        assert isinstance(connection.transport, Transport)  # as the application's import made it
        yield connection.default_channel


def test_a_message_comes_as_it_was_put(channel: Any) -> None:
    channel._put("celery", {"task": "né"})
    assert channel._get("celery") == {"task": "né"}
    with pytest.raises(Empty):
        channel._get("celery")


def test_half_a_message_is_not_there(channel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    rename = os.replace

    def look_before(source: Path, target: Path) -> None:
        with pytest.raises(Empty):
            channel._get("celery")
        seen.append(target.name)
        rename(source, target)

    monkeypatch.setattr("os.replace", look_before)
    channel._put("celery", {"task": 1})
    assert len(seen) == 1
    assert channel._get("celery") == {"task": 1}


def test_a_table_that_is_just_being_written_is_read_again(channel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    channel._queue_bind("celery", "celery", "", "celery")
    file = Path(channel.control_folder) / "celery.exchange"
    whole = file.read_bytes()
    file.write_bytes(b"")
    monkeypatch.setattr("time.sleep", lambda seconds: file.write_bytes(whole))
    assert [queue.queue for queue in channel.get_table("celery")] == ["celery"]
