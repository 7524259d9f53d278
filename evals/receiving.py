"""The import door's request: which body it carries, and what its query says."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, QueryDict

from evals.options import TEXT_MEMBERS, ImportOptions
from evals.parsers import FORMATS
from evals.parsers.values import MAX_URL, is_http_url
from evals.records import Mode, Origin
from evals.storing import MIB, Received, TooLarge, Unreadable, gunzip, read_exactly, receive_chunks, receive_file
from reliability.errors import AppError
from reliability.uploads import TidyFileUploadHandler

MAX_WAIT = 25
DEFAULT_WAIT = 20
CHOICES: dict[str, tuple[str, ...]] = {
    "mode": tuple(Mode),
    "origin": tuple(Origin),
    "dry_run": ("true", "false", "1", "0"),
    "final": ("true", "false", "1", "0"),
    "format": (*FORMATS, "run/v1"),
    "answer": ("final", "now"),
}
NUMBERS = {"planned": 2**53, "wait": MAX_WAIT}
KNOWN = (*TEXT_MEMBERS, *CHOICES, *NUMBERS, "run", "shard")
NUMBER = re.compile(r"\d{1,16}", re.ASCII)
SHARD = re.compile(r"([1-9]\d{0,4})/([1-9]\d{0,4})", re.ASCII)


class NotFinished(AppError):
    """The upload asked for its end (`answer=final`), and it has not come within `wait`."""

    status = 503
    code = "not_finished"


class BadQuery(AppError):
    status = 422
    code = "invalid_parameters"


def receive_body(request: HttpRequest) -> Received:
    """Stream the raw body or the multipart field `file` to disk. Raises `AppError` (400, 411, 413, 415)."""
    length = _announced_length(request)
    if request.content_type == "multipart/form-data":
        return _receive_multipart(request)
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise AppError(f"Content-Encoding {encoding} is not read; use gzip or none.", status=415, code="encoding")
    chunks: Iterator[bytes] = read_exactly(request, length)  # type: ignore[arg-type]  # a request reads like a file
    return receive_chunks(chunks if encoding == "identity" else gunzip(chunks))


def _announced_length(request: HttpRequest) -> int:
    announced = request.META.get("CONTENT_LENGTH") or ""
    if not (announced.isascii() and announced.isdigit()):
        raise AppError(
            "Send the artifact with a Content-Length: chunked uploads are not read.", status=411, code="length_required"
        )
    if int(announced) > settings.MAX_UPLOAD_MB * MIB:
        raise TooLarge(f"The request is larger than {settings.MAX_UPLOAD_MB} MiB (MAX_UPLOAD_MB). Try gzip.")
    if int(announced) == 0:
        raise Unreadable(
            "The request has no body: the file is empty or was not found. Did the step before write it? "
            "Send it as the body or as multipart field `file`."
        )
    return int(announced)


def _receive_multipart(request: HttpRequest) -> Received:
    request.upload_handlers = [TidyFileUploadHandler(request)]
    upload = request.FILES.get("file")
    if upload is None or isinstance(upload, list):
        raise Unreadable("The multipart body has no file in its field `file`.", code="file_missing")
    if not upload.size:
        raise Unreadable("The uploaded file is empty.", code="empty")
    return receive_file(upload)


def read_options(query: QueryDict) -> ImportOptions:
    """Check the query and return it. Raises `BadQuery` naming each parameter and what was expected."""
    errors = [_fault(name, "this parameter is not known", ", ".join(KNOWN)) for name in query if name not in KNOWN]
    errors += [_fault(name, "given more than once", "once") for name in query if len(query.getlist(name)) > 1]
    for name in KNOWN:
        if name in query and (expected := _expectation(name, query.get(name, ""))):
            errors.append(_fault(name, f"{query.get(name, '')[:80]!r} is not accepted", expected))
    if "run" not in query and ("shard" in query or _is_true(query.get("final"))):
        errors.append(_fault("run", "missing, though this is a part of a run", "your own id of the run, in every part"))
    if errors:
        said = "; ".join(f"{fault['message']}; expected {fault['expected']}" for fault in errors[:3])
        raise BadQuery(f"Not accepted in the query: {said}.", errors=errors)
    planned, shard = query.get("planned"), SHARD.fullmatch(query.get("shard", ""))
    return ImportOptions(
        format=query.get("format", ""),
        mode=query.get("mode", ""),
        origin=query.get("origin", ""),
        planned=int(planned) if planned else None,
        run=query.get("run", ""),
        shard_index=int(shard[1]) if shard else None,
        shard_of=int(shard[2]) if shard else None,
        final=_is_true(query.get("final")),
        **{name: query.get(name, "") for name in TEXT_MEMBERS},
    )


def _fault(parameter: str, message: str, expected: str) -> dict[str, Any]:
    return {"parameter": parameter, "message": f"{parameter}: {message}", "expected": expected}


def _expectation(name: str, value: str) -> str:
    """Return what was expected instead of `value`, or '' if it is fine."""
    if name in CHOICES:
        return "" if value in CHOICES[name] else " or ".join(CHOICES[name])
    if name in NUMBERS:
        good = NUMBER.fullmatch(value) is not None and int(value) <= NUMBERS[name]
        return "" if good else f"a whole number from 0 to {NUMBERS[name]}"
    if name == "shard":
        shard = SHARD.fullmatch(value)
        return "" if shard and int(shard[1]) <= int(shard[2]) else "i/n, such as 2/4"
    if name == "ci_url":
        return "" if is_http_url(value) and len(value) <= MAX_URL else "an http or https address"
    good = 1 <= len(value) <= 200 and not any(unicodedata.category(c) in ("Cc", "Cs") for c in value)
    return "" if good else "1 to 200 characters without control characters"


def read_wait(query: QueryDict) -> float:
    """Seconds to wait for the result; call it after `read_options`."""
    return float(query.get("wait", DEFAULT_WAIT))


def read_must_end(query: QueryDict) -> bool:
    """Whether only the end is an answer: then a client that tries again on 503, as curl does, needs no loop."""
    return query.get("answer") == "final"


def read_dry_run(query: QueryDict) -> bool:
    return _is_true(query.get("dry_run"))


def _is_true(value: str | None) -> bool:
    return value in ("true", "1")
