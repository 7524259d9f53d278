"""Settings come from the environment; a wrong value stops the start with a clear message."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _check(tmp_path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**plain, "DATA_DIR": str(tmp_path), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_is_needed_for_a_first_run(tmp_path: Path) -> None:
    done = _check(tmp_path)

    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "secret_key").read_text()) > 40
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DEBUG", "yes", "DEBUG=yes: use True or False"),
        ("WEB_THREADS", "many", "WEB_THREADS=many: use a whole number from 2 to 256"),
        ("DATABASE_URL", "mysql://db/x", "DATABASE_URL begins with 'mysql': use postgres://… or"),
        ("DATABASE_URL", "sqlite://elsewhere", "leave it out for the embedded SQLite"),
        ("CELERY_BROKER_URL", "sqs://x", "CELERY_BROKER_URL begins with 'sqs'"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL=LOUD: use one of DEBUG, INFO"),
        ("SECRET_KEY_FILE", "/no/such/file", "SECRET_KEY_FILE=/no/such/file: there is no such file"),
        ("PUBLIC_URL", "snapshot.example.org", "PUBLIC_URL begins with ''"),
    ],
)
def test_wrong_value_stops_the_start(tmp_path: Path, name: str, value: str, message: str) -> None:
    done = _check(tmp_path, **{name: value})

    assert done.returncode != 0
    assert message in done.stderr.splitlines()[-1]


def test_message_about_a_wrong_url_does_not_show_its_password(tmp_path: Path) -> None:
    done = _check(tmp_path, DATABASE_URL="mysql://me:hunter2@db/x")

    assert "hunter2" not in done.stderr
