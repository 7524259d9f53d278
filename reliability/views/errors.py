"""The page for what went wrong on our side: no room and no database are said, the rest is only recorded."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from reliability.interruptions import NO_DATABASE, NO_ROOM, has_no_room, may_pass


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles the exception. The template gets no request: what failed may lie there."""
    error = sys.exception()
    if has_no_room(error):
        return _say(507, "The server has no room left", NO_ROOM)
    if may_pass(error):
        return _say(503, "The database is away", NO_DATABASE)
    return HttpResponse(render_to_string("500.html"), status=500)


def _say(status: int, title: str, detail: str) -> HttpResponse:
    context = {"status": status, "title": title, "detail": detail}
    return HttpResponse(render_to_string("unavailable.html", context), status=status)
