"""Before Django starts: the folders and the secret that an installation keeps under DATA_DIR."""

import os
import secrets
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("artifacts", "incoming", "broker/queue", "broker/done", "broker/control", "static")


def data_dir() -> Path:
    return Path(os.getenv("DATA_DIR") or ROOT / "var").resolve()


def prepare_data_dir() -> None:
    """Make what is missing; existing files stay as they are."""
    root = data_dir()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)  # the database and the artifacts are nobody else's
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    secret = root / "secret_key"
    if os.getenv("SECRET_KEY") or os.getenv("SECRET_KEY_FILE") or secret.exists():
        return
    # O_EXCL: of two processes that start at once, one writes and the other reads what it wrote.
    try:
        handle = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(48))
