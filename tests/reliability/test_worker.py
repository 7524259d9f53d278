"""What a worker is beside its tasks."""

import pytest
from celery.signals import worker_init
from pytest_django import Settings

from reliability.celery import give_way


def test_a_worker_gives_way_to_pages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("os.nice", given.append)
    settings.WORKER_NICE = 7
    give_way()
    assert given == [7]
    assert give_way in [receiver() for _, receiver in worker_init.receivers]
