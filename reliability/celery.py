"""The worker's application: `celery -A reliability worker`, and `celery -A reliability beat`."""

import os

from celery import Celery
from celery.signals import worker_init

from reliability.bootstrap import prepare_data_dir
from reliability.folder_broker import use_whole_messages

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reliability.settings")
prepare_data_dir()  # the package imports this module, so it is done before any settings are read
use_whole_messages()
app = Celery("reliability")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def give_way(**signal: object) -> None:
    """Leave the processor to pages where both want it: nobody sits and waits for a long import."""
    from django.conf import settings  # not before the settings are prepared

    os.nice(settings.WORKER_NICE)
