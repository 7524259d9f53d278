"""The web process: `gunicorn reliability.wsgi --worker-class gthread --threads 8`."""

import os
from collections.abc import Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reliability.settings")
SILENCE_SECONDS = 30
django_application = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A body of which nothing more comes must not hold a thread for ever: a handful of them would stop all pages."""
    if socket := environ.get("gunicorn.socket"):
        socket.settimeout(SILENCE_SECONDS)
    return django_application(environ, start_response)
