"""The one API: tokens in, JSON out, every error a problem document."""

import logging
from http import HTTPStatus

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from evals.api import router as evals_router
from reliability.auth import TokenAuth
from reliability.errors import AppError
from reliability.interruptions import NO_DATABASE, NO_ROOM, has_no_room, may_pass
from reliability.problems import problem_response
from scorecards.api import router as scorecards_router
from scorecards.report_api import router as report_router

logger = logging.getLogger(__name__)

api = NinjaAPI(
    title="Reliability Snapshot",
    version="1",
    urls_namespace="api-1",
    auth=TokenAuth(),
    description="Upload evaluation runs and read results. Errors are `application/problem+json` (RFC 9457).",
)
api.add_router("", evals_router)
api.add_router("", scorecards_router)
api.add_router("", report_router)


@api.exception_handler(AppError)
def refuse(request: HttpRequest, error: AppError) -> HttpResponse:
    answer = problem_response(error.status, detail=error.detail, code=error.code, errors=error.errors)
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        answer["Retry-After"] = "2"
    return answer


@api.exception_handler(ValidationError)
def refuse_parameters(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Ninja's places begin with the source and the parameter's name; a query parameter has no JSON pointer."""
    errors = [
        {"message": fault["msg"], "parameter": str(fault["loc"][-1]), "expected": fault.get("type", "")}
        for fault in error.errors
    ]
    names = ", ".join(sorted({fault["parameter"] for fault in errors}))
    return problem_response(422, detail=f"Not accepted: {names}.", code="invalid_parameters", errors=errors)


@api.exception_handler(AuthenticationError)
def refuse_stranger(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    answer = problem_response(
        401,
        detail="Send `Authorization: Bearer <token>` with a token that is neither expired nor revoked.",
        code="token_needed",
    )
    answer["WWW-Authenticate"] = 'Bearer realm="reliability-snapshot"'
    return answer


@api.exception_handler(PermissionDenied)
def forbid(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem_response(403, detail=str(error) or "This token may not do that.", code="scope_missing")


@api.exception_handler(Http404)
def miss(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_response(404, detail="There is no such thing here, or this token may not see it.")


@api.exception_handler(HttpError)
def refuse_plainly(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem_response(error.status_code, detail=error.message)


@api.exception_handler(MultiPartParserError)
def refuse_multipart(request: HttpRequest, error: MultiPartParserError) -> HttpResponse:
    return problem_response(400, detail=f"The multipart body cannot be read: {error}.", code="unreadable")


@api.exception_handler(UnreadablePostError)
def refuse_silence(request: HttpRequest, error: UnreadablePostError) -> HttpResponse:
    return problem_response(408, detail="The body stopped coming.", code="cut_off")


@api.exception_handler(SuspiciousOperation)
def refuse_suspicious(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    if isinstance(error, RequestDataTooBig):
        return problem_response(413, detail="A form field of the request is too large.", code="too_large")
    return problem_response(400, detail="The request is not well formed.")


@api.exception_handler(Exception)
def stumble(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.exception("%s %s", request.method, request.path, exc_info=error)
    if has_no_room(error):
        return problem_response(507, detail=NO_ROOM, code="no_room")
    if may_pass(error):
        answer = problem_response(503, detail=NO_DATABASE, code="no_database")
        answer["Retry-After"] = "2"
        return answer
    return problem_response(500, detail="We failed to answer; it has been logged. Trying again is safe.")
