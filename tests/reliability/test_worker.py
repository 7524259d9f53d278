"""What a worker is beside its tasks."""

import pytest
from celery.signals import worker_init
from pytest_django import Settings


def test_a_worker_gives_way_to_pages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("os.nice", given.append)
    settings.WORKER_NICE = 7
    worker_init.send(sender=None)
    assert given == [7]
