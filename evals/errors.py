"""The one error a parser may raise: it says what kind, where, and what was expected."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in an artifact. `pointer` is a JSON pointer (RFC 6901), `line` counts from 1."""

    message: str
    pointer: str = ""
    line: int | None = None
    expected: str = ""


class ImportRefused(Exception):
    """The artifact is not taken; nothing of it is stored as a run.

    `status` is the HTTP status of the answer: 400 unreadable, 413 too large, 415 not a format we read,
    422 readable but invalid. `code` is a stable word for programs, `detail` a sentence for people.
    """

    def __init__(self, status: int, code: str, detail: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.problems = problems
