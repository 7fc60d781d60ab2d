"""Every error leaves as a problem document (RFC 9457): ours, the framework's, and those nobody expected.

Rules: `code` is stable; `detail` says what to change, never quotes a text and names no file of this machine, which only
the log does; an unexpected error is logged by its kind
and place only, since its message may hold what a caller sent; the document is plain ASCII, whatever the input was.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memgraph_server.errors import InvalidInput, MemgraphServerError, NotFound, TooLarge, Unauthorized

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
#: Where each code is explained; a relative reference, so that it works behind any host name.
TYPE_BASE = "/docs#problem-"

#: A pydantic error type -> what to say. Others are said in pydantic's own words, which never quote the input.
_WORDS = {
    "string_unicode": "holds half of a surrogate pair, which is no character",
    "extra_forbidden": "is not a member that is known here",
    "missing": "is missing",
}


class MalformedBody(InvalidInput):
    code = "malformed_json"


class MethodNotAllowed(MemgraphServerError):
    code = "method_not_allowed"
    status = 405
    fault = "caller"


class BadRequest(MemgraphServerError):
    code = "bad_request"
    status = 400
    fault = "caller"


def problem(error: MemgraphServerError, headers: Mapping[str, str] | None = None) -> Response:
    document: dict[str, Any] = {
        "type": f"{TYPE_BASE}{error.code}",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "fault": error.fault,
        "retry": error.retry,
    }
    if error.field is not None:
        document["field"] = error.field
    sent = dict(headers or {})
    if error.retry_after is not None:
        sent["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        sent["WWW-Authenticate"] = "Bearer"
    return Response(json.dumps(document), error.status, sent, MEDIA_TYPE)


def of_validation(error: RequestValidationError) -> MemgraphServerError:
    """The first thing that is wrong; the others are counted."""
    errors = error.errors()
    first = errors[0]
    if first["type"] == "json_invalid":
        return MalformedBody(f"the body is no JSON: {first['ctx']['error']} at character {first['loc'][-1]}")
    where = [str(part) for part in first["loc"]]
    field = ".".join(where[1:]) or where[0]
    if field == "body":
        return InvalidInput("send a JSON object with Content-Type: application/json", field="body")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return InvalidInput(f"{field}: {_WORDS.get(first['type'], first['msg'])}{more}", field=field)


def of_http(error: HTTPException, path: str) -> MemgraphServerError:
    """The framework's own errors: no such route, no such method, a body that cannot be decoded."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return NotFound(f"there is nothing at {path[:200]!a}; see /docs")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return MethodNotAllowed(f"this method is not for {path[:200]!a}; see the Allow header")
    if error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return TooLarge("the body is too large")
    if error.status_code == HTTPStatus.BAD_REQUEST:
        return MalformedBody("the body is no JSON in UTF-8, nested too deeply, or has a number of thousands of digits")
    return BadRequest(str(error.detail))


def of_surprise(error: BaseException) -> MemgraphServerError:
    """A fault of this program: logged without the words that may quote a caller."""
    frames, frame = [], error.__traceback__
    while frame is not None:
        frames.append(f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}")
        frame = frame.tb_next
    log.error("unexpected %s at %s", type(error).__name__, " > ".join(frames[-6:]))
    return MemgraphServerError("this is a fault of the server; its log has the place")


def install(app: FastAPI) -> None:
    @app.exception_handler(MemgraphServerError)
    async def ours(_request: Request, error: MemgraphServerError) -> Response:
        if error.where:
            log.error("%s at %s", error.code, error.where)
        return problem(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Response:
        return problem(of_validation(error))

    @app.exception_handler(HTTPException)
    async def framework(request: Request, error: HTTPException) -> Response:
        return problem(of_http(error, request.url.path), error.headers)
