"""`manage.py bench`: measures speed as ratios in a database of its own, and drops it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.test.utils import override_settings, setup_test_environment

from evals.bench import run_bench


class Command(BaseCommand):
    help = "Speed as ratios against a baseline of the same run; nothing is asserted, missed targets are marked."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--attempts", type=int, nargs="+", default=[10_000, 100_000])

    def handle(self, *args: Any, **options: Any) -> None:
        setup_test_environment(debug=False)
        name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
        self.stdout.write(f"On {connection.vendor}:")
        try:
            with override_settings(ALLOWED_HOSTS=["testserver"]):
                run_bench(options["attempts"], self.stdout.write)
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)
