"""The page for what went wrong on our side: a full disk is said, the rest is only recorded."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from reliability.interruptions import NO_ROOM, has_no_room


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles the exception. The template gets no request: what failed may lie there."""
    status = 507 if has_no_room(sys.exception()) else 500
    return HttpResponse(render_to_string(f"{status}.html", {"detail": NO_ROOM}), status=status)
