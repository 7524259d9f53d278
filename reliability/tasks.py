"""Periodic work of the site."""

import time
from pathlib import Path

from celery import shared_task
from django.conf import settings

KEEP_PROCESSED_SECONDS = 3600


@shared_task
def sweep_broker() -> None:
    """The filesystem broker keeps each message that was taken; drop those an hour old."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return
    done = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["processed_folder"])
    oldest = time.time() - KEEP_PROCESSED_SECONDS
    for message in done.iterdir():
        if message.is_file() and message.stat().st_mtime < oldest:
            message.unlink(missing_ok=True)
