"""The one shape in which every error of the API leaves.

Owns the shape, its codes and how the domain's errors become them. Holds no
rule. ``memconsole/middleware.py`` uses it for what Django refuses before any
endpoint runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from records.items import FieldError

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    411: "length_required",
    413: "too_large",
    414: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    429: "too_many_requests",
    500: "internal",
    503: "unavailable",
}
MESSAGES = {
    400: "The request cannot be understood.",
    403: "This is not allowed.",
    404: "There is no such thing.",
    405: "This path does not answer this method.",
    413: "The request is too large.",
    500: "Something went wrong on the server; the request id finds it in the log.",
    503: "The service cannot answer now; try again shortly.",
}


class Problem(Exception):
    """An error answer: its HTTP status, a stable code, a sentence, the fields at fault."""

    def __init__(
        self,
        status: int,
        message: str = "",
        *,
        code: str = "",
        fields: Iterable[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.message = message or MESSAGES.get(status, "The request was refused.")
        self.code = code or CODES.get(status, "error")
        self.fields = tuple(fields)
        self.headers = dict(headers or {})
        super().__init__(self.message)


def not_found() -> Problem:
    """Return the one answer for what is unknown, foreign or out of the key's reach."""
    return Problem(404)


def invalid(*fields: FieldError, message: str = "") -> Problem:
    """Return the answer to a request whose fields are wrong."""
    return Problem(422, message or summary(fields), fields=fields)


def summary(fields: Iterable[FieldError]) -> str:
    """Return the field errors as one sentence."""
    said = [f"{one.field} {one.message}".strip() for one in fields]
    return "; ".join(said) or "The request is malformed."


def body_of(problem: Problem) -> dict[str, Any]:
    """Return what an error says, without the request it belongs to."""
    return {
        "code": problem.code,
        "message": problem.message,
        "fields": [field_body(one) for one in problem.fields],
    }


def field_body(error: FieldError) -> dict[str, Any]:
    """Return one field error as JSON."""
    return {
        "field": error.field,
        "message": error.message,
        "code": error.code,
        "limit": error.limit,
    }


def respond(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Return the problem as the answer to ``request``."""
    body = {"error": {**body_of(problem), "request_id": request_id(request)}}
    # ASCII: the names a hostile request chose may hold what UTF-8 cannot say.
    text = json.dumps(body)
    response = HttpResponse(text, status=problem.status, content_type="application/json")
    for name, value in problem.headers.items():
        response.headers[name] = value
    return response


def request_id(request: HttpRequest) -> str:
    """Return the id that the request carries in its answer and in the log."""
    return str(getattr(request, "request_id", ""))
