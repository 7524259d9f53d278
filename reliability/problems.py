"""Errors of the API as `application/problem+json` (RFC 9457); one shape for all of them."""

import json
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

CONTENT_TYPE = "application/problem+json"


def problem_response(
    status: int, *, detail: str = "", code: str = "", errors: list[dict[str, Any]] | None = None, **more: Any
) -> HttpResponse:
    """Return the answer. `errors[]` name places by `pointer` (JSON) or `line`, and say what was expected."""
    title = HTTPStatus(status).phrase
    code = code or title.lower().replace(" ", "_").replace("-", "_")
    body = {
        "detail": detail or title,  # first, as people read it in CI logs
        "status": status,
        "title": title,
        "type": f"urn:reliability-snapshot:problem:{code}",
        "code": code,
        "errors": errors or [],
        **more,
    }
    return HttpResponse(json.dumps(body, ensure_ascii=False, indent=2) + "\n", status=status, content_type=CONTENT_TYPE)


def prefers_text(request: HttpRequest) -> bool:
    """Whether the client asks for plain text: a log that only people read."""
    return request.get_preferred_type(["application/json", CONTENT_TYPE, "text/plain"]) == "text/plain"


def text_response(lines: Iterable[str], *, status: int = 200) -> HttpResponse:
    return HttpResponse("\n".join(lines) + "\n", status=status, content_type="text/plain; charset=utf-8")


def problem_as_text(problem: HttpResponse) -> HttpResponse:
    """Return the same refusal in lines, with its status and headers."""
    answer = text_response(_lines(json.loads(problem.content)), status=problem.status_code)
    for name, value in problem.headers.items():
        if name not in ("Content-Type", "Content-Length"):
            answer[name] = value
    return answer


def _lines(body: dict[str, Any]) -> Iterator[str]:
    yield f"{body['detail']} ({body['status']} {body['code']})"
    for error in body["errors"]:
        line = f"line {error['line']}" if error.get("line") else ""
        place = ", ".join(filter(None, [line, str(error.get("pointer") or "")]))
        said = "" if error["message"] == body["detail"] else error["message"].rstrip(".")
        expected = f"expected {error['expected']}" if error.get("expected") else ""
        if words := "; ".join(filter(None, [said, expected])):
            yield f"  {place + ': ' if place else ''}{words}"
    if body.get("import"):
        yield f"Import: {body['import']}"
