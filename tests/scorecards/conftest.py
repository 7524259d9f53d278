"""Snapshots of a finished engagement, built once for all tests that only read them."""

import hashlib
from typing import Any

import pytest

from scorecards.snapshot_reading import Snapshot, read_snapshot
from tests.scorecards.finished import build_snapshots


@pytest.fixture(scope="session")
def snapshot_bodies(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bytes, bytes]:
    """Client snapshots of spring and autumn, as stored. Tests that use them are marked `django_db`."""
    with django_db_blocker.unblock():
        return build_snapshots(tmp_path_factory.mktemp("finished"))


@pytest.fixture(scope="session")
def spring(snapshot_bodies: tuple[bytes, bytes]) -> Snapshot:
    return read_snapshot(snapshot_bodies[0])


@pytest.fixture(scope="session")
def autumn(snapshot_bodies: tuple[bytes, bytes]) -> Snapshot:
    return read_snapshot(snapshot_bodies[1])


@pytest.fixture(scope="session")
def autumn_sha256(snapshot_bodies: tuple[bytes, bytes]) -> str:
    return hashlib.sha256(snapshot_bodies[1]).hexdigest()
