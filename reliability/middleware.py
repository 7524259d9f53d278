"""Small corrections: API errors in one shape, no form beyond the limit, sign-in for a page that HTMX asked about."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect

from reliability.problems import CONTENT_TYPE, prefers_text, problem_as_text, problem_response

type Handler = Callable[[HttpRequest], HttpResponse]
KEPT_HEADERS = ("Allow", "WWW-Authenticate", "Retry-After")


def problem_json_for_api(get_response: Handler) -> Handler:
    """Unknown paths, wrong methods and bad hosts never reach the API itself and would come as HTML."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code < 400 or not request.path.startswith("/api/"):
            return response
        if not response.headers.get("Content-Type", "").startswith(CONTENT_TYPE):
            response = _as_problem(request, response)
        return problem_as_text(response) if prefers_text(request) else response

    return middleware


def _as_problem(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    detail = ""
    if response.status_code == HTTPStatus.NOT_FOUND:
        detail = "No operation of the API has this address"
        detail += "; without the slash at its end?" if request.path.endswith("/") else ": see /api/v1/docs."
    elif response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not done here; use {response.headers.get('Allow') or 'another method'}."
    answer = problem_response(response.status_code, detail=detail)
    for name in KEPT_HEADERS:
        if name in response.headers:
            answer[name] = response[name]
    return answer


def refuse_large_forms(get_response: Handler) -> Handler:
    """A page reads its form before it knows who sends it, so the limit comes first. The API says more, and later."""

    def middleware(request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or ""
        is_large = announced.isdecimal() and int(announced) > settings.MAX_UPLOAD_MB * 1024 * 1024
        if is_large and not request.path.startswith("/api/"):
            text = f"The request is larger than {settings.MAX_UPLOAD_MB} MiB (MAX_UPLOAD_MB).\n"
            return HttpResponse(text, status=413, content_type="text/plain")
        return get_response(request)

    return middleware


def sign_in_again_for_htmx(get_response: Handler) -> Handler:
    """A lost session answers with the sign-in page; HTMX must go there instead of swapping it in."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not getattr(request, "htmx", False) or response.status_code != 302:
            return response
        login = resolve_url(settings.LOGIN_URL)
        if urlsplit(response.headers.get("Location", "")).path != login:
            return response
        back = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]  # set by HtmxMiddleware
        return HttpResponseClientRedirect(f"{login}?{urlencode({'next': back})}")

    return middleware
