"""What the domain raises when it says no. The API makes a problem document of it, pages a message."""

from typing import Any


class AppError(Exception):
    """A refusal with an HTTP `status`, a stable `code`, a sentence for people, and places.

    `errors` holds dicts with `message` and, where known, `pointer`, `line` and `expected`.
    """

    status = 422
    code = "invalid"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        status: int | None = None,
        errors: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.status = status or self.status
        self.errors = errors or []


class Conflict(AppError):
    status = 409
    code = "conflict"
