"""Answering: JSON out, and what an endpoint declares about its answers.

Owns rendering and the declarations that OpenAPI is made from. Endpoints return
finished responses, so that nothing is validated a second time on the way out;
tests hold them to their schemas.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from pydantic import BaseModel
from pydantic_core import to_json

from records.access import Scope
from records.api.auth import ApiKeyAuth
from records.schemas.base import ErrorAnswer

ALWAYS = (400, 401, 405, 500, 503)
WITH_BODY = (409, 411, 413, 415, 422)
IDEMPOTENCY_HEADER = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": (
        "Makes a repeated request one request for 24 hours: the first answer is sent again,"
        " with the header `Idempotency-Replayed: true`."
    ),
}


def answer(body: Any, *, status: int = 200) -> HttpResponse:
    """Return ``body`` as JSON."""
    return HttpResponse(to_json(body), status=status, content_type="application/json")


def endpoint(
    gives: type[BaseModel],
    *,
    scope: Scope | None,
    summary: str,
    takes: type[BaseModel] | None = None,
    optional_body: bool = False,
    once: bool = False,
    parameters: list[dict[str, Any]] | None = None,
    errors: tuple[int, ...] = (),
) -> dict[str, Any]:
    """Return the arguments of ninja's decorators for one endpoint: its key, its shapes."""
    statuses = {*ALWAYS, *errors}
    extra: dict[str, Any] = {}
    if scope is not None:
        statuses.add(403)
        extra["x-scope"] = str(scope)
    if takes is not None:
        statuses.update(WITH_BODY)
        extra["x-takes"] = takes
        extra["x-optional-body"] = optional_body
    if parameters:
        statuses.add(422)
    extra["parameters"] = [*(parameters or []), *([IDEMPOTENCY_HEADER] if once else [])]
    responses: dict[int, Any] = {200: gives}
    responses.update(dict.fromkeys(sorted(statuses), ErrorAnswer))
    return {
        "auth": ApiKeyAuth(scope),
        "response": responses,
        "summary": summary,
        "openapi_extra": extra,
    }
