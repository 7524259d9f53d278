"""One answer for a browser and for HTMX: the whole page or one of its partials."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django_htmx.middleware import HtmxDetails


def wants_partial(request: HttpRequest) -> bool:
    """HTMX asks for a part; boosted links and history restores want the page."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]  # set by HtmxMiddleware
    return bool(htmx) and htmx.request_type != "full" and not htmx.history_restore_request and not htmx.boosted


def render_page(
    request: HttpRequest, template: str, partial: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render `template`, or only its partial `partial` (which is also the DOM id that it replaces) for HTMX."""
    name = f"{template}#{partial}" if partial and wants_partial(request) else template
    response = render(request, name, context, status=status)
    if "Cache-Control" not in response:
        patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["HX-Request", "HX-Request-Type", "HX-History-Restore-Request"])
    return response
