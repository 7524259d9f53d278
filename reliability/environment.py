"""Readers for settings: from the environment to typed values, with one clear message when a value is wrong."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def env_bool(name: str, default: bool) -> bool:
    value = os.getenv(name, str(default))
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"{name}={value}: use True or False")
    return value == "True"


def env_int(name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
    value = os.getenv(name) or str(default)
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name}={value}: use a whole number from {least} to {most}")
    return int(value)


def env_url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    value = os.getenv(name) or default
    parts = urlsplit(value)
    if parts.scheme not in schemes or (parts.scheme != "filesystem" and not parts.hostname):
        # The value itself may hold a password, so only its scheme is shown.
        raise ImproperlyConfigured(
            f"{name} begins with {parts.scheme!r}: use {' or '.join(s + '://…' for s in schemes)}"
        )
    return value


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = os.getenv(name) or default
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value}: use one of {', '.join(choices)}")
    return value


def env_list(name: str) -> list[str]:
    return [part.strip() for part in os.getenv(name, "").split(",") if part.strip()]


def env_secret(name: str, fallback: Path) -> str:
    """Return the secret of `name`, of the file named by `name`_FILE, or of the `fallback` file; '' if none is there."""
    if value := os.getenv(name):
        return value
    path = Path(os.getenv(f"{name}_FILE") or fallback)
    if os.getenv(f"{name}_FILE") and not path.is_file():
        raise ImproperlyConfigured(f"{name}_FILE={path}: there is no such file")
    return path.read_text().strip() if path.is_file() else ""
