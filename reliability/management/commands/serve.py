"""`manage.py serve`: the web process, one worker and beat, supervised together."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from honcho.manager import Manager

WORKER_FLAGS = "--without-gossip --without-mingle --without-heartbeat --loglevel WARNING"


class Command(BaseCommand):
    help = "Serves on 127.0.0.1:$PORT until Ctrl-C. When one of its processes ends, the others are stopped too."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--bind", default=f"127.0.0.1:{os.getenv('PORT') or 8000}", help="address and port")

    def handle(self, *args: Any, **options: Any) -> None:
        manager = Manager()
        env = {**os.environ, "PYTHONUNBUFFERED": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        for name, command in self._commands(options["bind"]).items():
            manager.add_process(name, command, env=env, cwd=str(settings.BASE_DIR))
        manager.loop()
        sys.exit(manager.returncode)

    def _commands(self, bind: str) -> dict[str, str]:
        python = shlex.quote(sys.executable)
        schedule = shlex.quote(str(settings.DATA_DIR / "beat-schedule"))
        return {
            "web": (
                f"exec {python} -m gunicorn reliability.wsgi --bind {shlex.quote(bind)} --worker-class gthread "
                f"--workers 1 --threads {settings.WEB_THREADS} --timeout 120 --graceful-timeout 30"
            ),
            "worker": f"exec {python} -m celery -A reliability worker -P solo {WORKER_FLAGS}",
            "beat": f"exec {python} -m celery -A reliability beat --schedule {schedule} --pidfile= --loglevel WARNING",
        }
