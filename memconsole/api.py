"""The API put together: routers, errors, its OpenAPI document and reference page.

Owns the version in the path and nothing of what the endpoints do; those are in
``records/api`` (and ``audits/api``). The document is made once per process.
"""

from __future__ import annotations

import copy
import logging
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from pydantic.json_schema import models_json_schema

from audits import api_incidents, api_operations
from records.api import (
    corrections,
    gate,
    history,
    memories,
    policies,
    recall,
    sessions,
    sources,
    whoami,
)
from records.api.problems import Problem, invalid, not_found, respond
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.scope import sqlstate

logger = logging.getLogger(__name__)
VERSION = "1"
# SQLSTATE classes that pass by themselves: connection, rollback (deadlock), resources,
# a lock not had in time, and an operator's shutdown or start.
PASSING = ("08", "40", "53", "55P03", "57P")
DESCRIPTION = """Agents write facts and recall them here; nothing they write is trusted because
they wrote it. A held write answers 200 with `decision` `quarantined` or `contested`, a rejected
one 200 with `rejected`; a malformed one 422. Every error has one shape, and every answer an
`X-Request-ID`."""


class Api(NinjaAPI):
    """Ninja's API with the bodies that endpoints read by hand in its document."""

    _document: OpenAPISchema | None = None

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the document, made at the first call."""
        if self._document is None:
            self._document = complete(
                super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
            )
        return self._document

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the endpoint's own name: clients are generated from it."""
        return operation.view_func.__name__


def complete(document: OpenAPISchema) -> OpenAPISchema:
    """Give each operation its request body, from the ``x-takes`` its endpoint declares."""
    taken: dict[str, Any] = {}
    for path in document["paths"].values():
        for method, declared in list(path.items()):
            path[method] = operation = copy.copy(declared)
            model = operation.pop("x-takes", None)
            optional = operation.pop("x-optional-body", False)
            if model is None:
                continue
            taken[model.__name__] = model
            schema = {"$ref": REF_TEMPLATE.format(model=model.__name__)}
            operation["requestBody"] = {
                "required": not optional,
                "content": {"application/json": {"schema": schema}},
            }
    models = [(model, "validation") for model in taken.values()]
    _, definitions = models_json_schema(models, ref_template=REF_TEMPLATE)  # type: ignore[arg-type]
    document["components"].setdefault("schemas", {}).update(definitions.get("$defs", {}))
    return document


api = Api(
    title="MemConsole",
    version=VERSION,
    description=DESCRIPTION,
    urls_namespace="api",
    openapi_url="/openapi.json",
    docs_url="/docs",
)
RECORDS = (whoami, memories, history, corrections, recall, sources, policies, sessions, gate)
DOORS = (*RECORDS, api_incidents, api_operations)
for router in dict.fromkeys(module.router for module in DOORS):
    api.add_router("", router)


@api.exception_handler(Problem)
def _problem(request: HttpRequest, problem: Problem) -> HttpResponse:
    return respond(request, problem)


@api.exception_handler(BadRequest)
def _bad_request(request: HttpRequest, error: BadRequest) -> HttpResponse:
    return respond(request, invalid(*error.errors))


@api.exception_handler(NotFound)
@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    return respond(request, not_found())


@api.exception_handler(Conflict)
def _conflict(request: HttpRequest, error: Conflict) -> HttpResponse:
    return respond(request, Problem(409, str(error)))


@api.exception_handler(ValidationError)
def _ninja_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields = [
        FieldError(".".join(str(part) for part in one["loc"][1:]), str(one["msg"]))
        for one in error.errors
    ]
    return respond(request, invalid(*fields))


@api.exception_handler(Exception)
def _crash(request: HttpRequest, error: Exception) -> HttpResponse:
    raise error  # Django logs it; the middleware gives it the API's shape


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
@api.exception_handler(psycopg.OperationalError)
@api.exception_handler(psycopg.InterfaceError)
def _unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """Tell a database that is away, starting, full or torn between two writers from a fault."""
    state = sqlstate(error)
    if state is not None and not state.startswith(PASSING):
        raise error
    logger.warning("The database cannot answer: %s", type(error.__cause__ or error).__name__)
    return respond(request, Problem(503, headers={"Retry-After": "2"}))
