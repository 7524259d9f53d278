"""Errors of the API as `application/problem+json` (RFC 9457); one shape for all of them."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse

CONTENT_TYPE = "application/problem+json"


def problem_response(
    status: int, *, detail: str = "", code: str = "", errors: list[dict[str, Any]] | None = None, **more: Any
) -> HttpResponse:
    """Return the answer. `errors[]` name places by `pointer` (JSON) or `line`, and say what was expected."""
    title = HTTPStatus(status).phrase
    code = code or title.lower().replace(" ", "_").replace("-", "_")
    body = {
        "type": f"urn:reliability-snapshot:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail or title,
        "code": code,
        "errors": errors or [],
        **more,
    }
    return HttpResponse(json.dumps(body, ensure_ascii=False, indent=2) + "\n", status=status, content_type=CONTENT_TYPE)
