"""The web process: `gunicorn reliability.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reliability.settings")
application = get_wsgi_application()
