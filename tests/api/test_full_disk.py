"""No room left while an upload is stored: 507, nothing half kept, and the same upload works once there is room."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client as Browser
from pytest_django import Settings

from evals import storing, submitting
from evals.models import Agent, Artifact, Import, Run
from reliability.interruptions import NO_ROOM
from reliability.models import User
from tests.conftest import Api
from tests.run_documents import attempt, document

BODY = json.dumps(document("r1", attempt("a"))).encode()


def _no_room(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def _half_a_part(handler: TemporaryFileUploadHandler, data: bytes, start: int) -> None:
    handler.file.write(data[:10])
    handler.file.flush()
    _no_room()


def _half(storage: FileSystemStorage, name: str, content: Any) -> str:
    Path(storage.path(name)).parent.mkdir(parents=True, exist_ok=True)
    Path(storage.path(name)).write_bytes(content.read()[:10])
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


PLACES: dict[str, tuple[Any, str, Any]] = {
    "receiving": (storing, "_check_size", _no_room),
    "storing": (FileSystemStorage, "save", _half),
    "noting": (submitting, "_create", _no_room),
}


def _left(settings: Settings) -> list[Path]:
    folders = (Path(settings.MEDIA_ROOT), Path(settings.FILE_UPLOAD_TEMP_DIR))
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_a_full_disk_is_507_and_the_upload_can_be_sent_again(
    api: Api, agent: Agent, full_token: str, settings: Settings, place: str, query: str
) -> None:
    with pytest.MonkeyPatch.context() as full:
        full.setattr(*PLACES[place])
        answer = api.upload(BODY, full_token, query=query)

    assert (answer.status_code, answer["Content-Type"]) == (507, "application/problem+json")
    assert (answer.json()["code"], answer.json()["detail"]) == ("no_room", NO_ROOM)
    assert (Import.objects.count(), Artifact.objects.count(), Run.with_hidden.count()) == (0, 0, 0)
    kept = [path for path in _left(settings) if path.read_bytes() != BODY]  # whole ones serve the next upload
    assert kept == []
    assert query == "" or _left(settings) == []
    assert api.upload(BODY, full_token, query=query).status_code == (200 if query else 201)


@pytest.mark.parametrize("place", [*PLACES, "parsing"])
def test_the_upload_page_says_that_there_is_no_room(
    sign_in: Callable[[User], Browser],
    carol: User,
    agent: Agent,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    places = {**PLACES, "parsing": (TemporaryFileUploadHandler, "receive_data_chunk", _half_a_part)}
    monkeypatch.setattr(*places[place])
    browser = sign_in(carol)
    browser.raise_request_exception = False

    answer = browser.post("/acme/support-agent/upload/", {"file": SimpleUploadedFile("r.json", BODY)})

    assert answer.status_code == 507
    assert "The server has no room left" in answer.content.decode()
    assert [path for path in _left(settings) if path.read_bytes() != BODY] == []
    assert not Import.objects.exists()
