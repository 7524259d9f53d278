"""`manage.py serve`: the web process, one worker and beat, under supervisord, which restarts what dies."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

WORKER_FLAGS = "-P solo --without-gossip --without-mingle --without-heartbeat --loglevel WARNING"
GENERAL = """\
[supervisord]
nodaemon = true
silent = true
logfile = /dev/null
logfile_maxbytes = 0
pidfile = {data}/serve.pid
childlogdir = {data}
"""
PROGRAM = """
[program:{name}]
command = {command}
directory = {root}
autorestart = true
startsecs = 1
startretries = 10
stopwaitsecs = 30
stdout_logfile = /dev/fd/1
stdout_logfile_maxbytes = 0
stderr_logfile = /dev/fd/2
stderr_logfile_maxbytes = 0
"""


class Command(BaseCommand):
    help = "Serves on 127.0.0.1:$PORT until Ctrl-C; a process that dies is started again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--bind", default=f"127.0.0.1:{os.getenv('PORT') or 8000}", help="address and port")

    def handle(self, *args: Any, **options: Any) -> None:
        parts = [GENERAL.format(data=_escaped(settings.DATA_DIR))]
        for name, command in self._commands(options["bind"]).items():
            parts.append(PROGRAM.format(name=name, command=command, root=_escaped(settings.BASE_DIR)))
        configuration = Path(settings.DATA_DIR) / "serve.conf"
        configuration.write_text("".join(parts))
        self.stdout.write(f"Serving on http://{options['bind']}/ (Ctrl-C stops it).")
        self.stdout.flush()
        # It takes this process over: signals go straight to it, and it stops its children.
        os.execv(sys.executable, [sys.executable, "-m", "supervisor.supervisord", "-c", str(configuration)])  # noqa: S606

    def _commands(self, bind: str) -> dict[str, str]:
        python = f'"{_escaped(sys.executable)}"'
        schedule = f'"{_escaped(settings.DATA_DIR / "beat-schedule")}"'
        celery = f"{python} -m celery -q -A reliability"
        return {
            "web": (
                f"{python} -m gunicorn reliability.wsgi --bind {bind} --worker-class gthread --workers 1 "
                f"--threads {settings.WEB_THREADS} --timeout 120 --graceful-timeout 30 --no-control-socket "
                "--log-level warning"
            ),
            "worker": f"{celery} worker {WORKER_FLAGS}",
            "beat": f"{celery} beat --schedule {schedule} --pidfile= --loglevel WARNING",
        }


def _escaped(path: object) -> str:
    """supervisord expands percent signs."""
    return str(path).replace("%", "%%")
