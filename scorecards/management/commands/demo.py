"""`manage.py demo`: loads the demo client once, and prints how to sign in."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from scorecards.demo.loading import is_loaded, load_demo


class Command(BaseCommand):
    help = "Loads an invented client with runs, reviews and accounts, unless it is there already."

    def handle(self, *args: Any, **options: Any) -> None:
        kept = Path(settings.DATA_DIR) / "demo-accounts.txt"
        if not is_loaded():
            accounts = load_demo(self.stdout.write)
            # Kept for the next `make demo`, readable by this user alone.
            handle = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(accounts + "\n")
        self.stdout.write(f"The demo client is at {settings.PUBLIC_URL.rstrip('/')}/demo/ with these accounts:\n")
        if not kept.is_file():
            self.stdout.write(f"(kept in {kept}, which is gone)\n")
            return
        self.stdout.write(kept.read_text())
        token = kept.read_text().split()[-1]
        address = f"{settings.PUBLIC_URL.rstrip('/')}/api/v1/agents/support-agent/runs"
        self.stdout.write(
            f'curl --fail-with-body --data-binary @results.json -H "Authorization: Bearer {token}" {address}\n'
        )
