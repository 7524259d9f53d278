"""`manage.py bench`: measures speed as ratios in a database of its own, and drops it."""

import os
import uuid
from typing import Any

from celery import current_app as app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.test.utils import override_settings, setup_test_environment

from evals.bench import peak_memory, run_bench
from evals.importing import run_import

PLAIN = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # nothing is collected for a bench


class Command(BaseCommand):
    help = "Speed as ratios against a baseline of the same run; nothing is asserted, missed targets are marked."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--evaluations", type=int, nargs="+", default=[10_000, 100_000])
        parser.add_argument("--import", type=uuid.UUID, help="do one import job and print this process's peak memory")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["import"]:
            os.nice(settings.WORKER_NICE)  # as a worker does
            run_import(options["import"])
            self.stdout.write(f"{peak_memory():.1f}")
            return
        app.conf.task_always_eager = True  # an upload is imported within its request
        setup_test_environment(debug=False)
        name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
        self.stdout.write(f"On {connection.vendor}:")
        try:
            with override_settings(ALLOWED_HOSTS=["testserver"], STORAGES=settings.STORAGES | {"staticfiles": PLAIN}):
                run_bench(options["evaluations"], self.stdout.write)
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)
