"""The worker's application: `celery -A reliability worker`, and `celery -A reliability beat`."""

import os

from celery import Celery

from reliability.bootstrap import prepare_data_dir

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reliability.settings")
prepare_data_dir()  # the package imports this module, so it is done before any settings are read
app = Celery("reliability")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
