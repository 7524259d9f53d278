"""A whole installation of its own for tests that need real processes: database, broker, web, worker, beat."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 30


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class Installation:
    """Everything under one folder; `start` what a test needs, `kill` it as a machine would."""

    data: Path
    env: dict[str, str]
    port: int
    token: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, name: str) -> None:
        gunicorn = f"gunicorn reliability.wsgi --bind 127.0.0.1:{self.port} --threads 8 --no-control-socket"
        celery = "celery -q -A reliability"
        commands = {
            "web": gunicorn,
            "worker": f"{celery} worker -P solo --without-gossip --without-mingle --without-heartbeat",
            "beat": f"{celery} beat --schedule {self.data / 'beat'} --pidfile=",
        }
        with (self.data / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", *commands[name].split()], cwd=ROOT, env=self.env, stdout=log, stderr=log
            )
        if name == "web":
            self.wait_until(lambda: self.request("/healthz").status == 200, "the web process answers")

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait(timeout=30)

    def stop(self) -> None:
        for name in list(self.processes):
            self.kill(name, signal.SIGTERM if name != "worker" else signal.SIGKILL)

    def request(self, path: str, body: bytes | None = None, *, token: str = "") -> Answer:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body)
        request.add_header("Authorization", f"Bearer {token or self.token}")
        request.add_header("Content-Type", "application/octet-stream")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 (always http)
                return _answer(response)
        except urllib.error.HTTPError as response:
            with response:
                return _answer(response)
        except (urllib.error.URLError, ConnectionError):
            return Answer(0, {}, None)

    def upload(self, body: bytes, query: str = "") -> Answer:
        return self.request(f"/api/v1/agents/support-agent/runs?{query}", body)

    def follow(self, import_id: str, *, seconds: float = 90) -> Any:
        """Return the import once it is finished."""
        state: dict[str, Any] = {}

        def finished() -> bool:
            nonlocal state
            state = self.request(f"/api/v1/imports/{import_id}").body
            return state["state"] in ("done", "refused", "failed")

        self.wait_until(finished, "the import finishes", seconds=seconds)
        return state

    def wait_until(self, condition: Any, what: str, *, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            logs = {path.name: path.read_text()[-2000:] for path in self.data.glob("*.log")}
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{logs}"
            time.sleep(0.1)


def _answer(response: Any) -> Answer:
    content = response.read()
    is_json = "json" in response.headers.get("Content-Type", "")
    return Answer(response.status, dict(response.headers), json.loads(content) if is_json else content)


@contextlib.contextmanager
def install(data: Path) -> Iterator[Installation]:
    """Yield a migrated installation with the client `acme`, its `support-agent`, and a token.

    It uses the database and broker of the environment (a database and a queue of its own there), else SQLite and
    the filesystem broker.
    """
    with _database() as database, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        env = {**os.environ, **database, "DATA_DIR": str(data), "PORT": str(port), "JOB_LEASE_SECONDS": "3"}
        env["CELERY_QUEUE"] = f"test-{uuid.uuid4().hex[:12]}"
        env["PYTHONWARNINGS"] = "default"
        installation = Installation(data, env, port)
        installation.manage("migrate", "--verbosity", "0")
        installation.manage("collectstatic", "--no-input", "--verbosity", "0")
        installation.manage("shell", "--no-imports", "-c", SET_UP)
        installation.token = installation.manage("token", "acme", "--scope", "runs:write", "--scope", "read").strip()
        try:
            yield installation
        finally:
            installation.stop()


SET_UP = """
from evals.models import Agent
from reliability.models import Client
acme = Client.objects.create(slug="acme", name="Acme")
Agent.objects.create(client=acme, slug="support-agent", name="Support agent")
"""


@contextlib.contextmanager
def _database() -> Iterator[dict[str, str]]:
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        yield {}
        return
    name = f"snapshot_{uuid.uuid4().hex[:12]}"
    base, _, _ = url.rpartition("/")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield {"DATABASE_URL": f"{base}/{name}"}
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
