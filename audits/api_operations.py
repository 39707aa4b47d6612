"""The door for bulk operations: preview, submit, watch, cancel, take back.

For machines that respond; a key never approves, and what needs a second person
must be asked for by a person. Owns shapes in and out; every rule is
``audits.operations``'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from audits import operations
from audits.domain.operations import GROUPS_OF, OUTCOMES, Kind, State, needs_count, needs_second
from audits.domain.scope import Scope as FactScope
from audits.domain.scope import Shared, WrongScope
from audits.models import Operation
from audits.operations import OperationFilter
from audits.schemas import (
    OperationAnswer,
    OperationPage,
    OperationStart,
    OperationSubmit,
    TargetPage,
)
from records.access import Access, Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of
from records.api.once import once
from records.api.paging import NAMES, PAGING, answer_page, parameter, read_limit
from records.api.problems import Problem, invalid
from records.api.reading import read_id, read_model, read_parameters, read_uuid
from records.cursors import Page
from records.items import FieldError
from records.schemas.base import Sent
from records.scope import workspace_scope

router = Router(tags=["operations"])

FILTERS = [
    parameter("kind", enum=[str(one) for one in Kind]),
    parameter("state", enum=[str(one) for one in State if one is not State.PREVIEW]),
    parameter("person", "Who asked for it, or agreed to it"),
    parameter("incident", format="uuid"),
    parameter("session", "An operation whose scope names this session", format="uuid"),
]
GROUP_NAMES = sorted({name for groups in GROUPS_OF.values() for name in groups})
TARGET_FILTERS = [
    parameter("group", enum=GROUP_NAMES),
    parameter("outcome", enum=list(OUTCOMES)),
    parameter("ticked", type="boolean"),
]
BOOLEANS = {"true": True, "false": False}
SUMMARY = (
    "id",
    "kind",
    "state",
    "title",
    "total",
    "changed",
    "skipped",
    "failed",
    "requested_by",
    "approved_by",
    "requested_at",
    "started_at",
    "finished_at",
    "undo_until",
    "incident_id",
    "undoes",
)


class Nothing(Sent):
    """No field at all."""


@router.post(
    "/operations",
    **endpoint(
        OperationAnswer,
        scope=Scope.RESPOND,
        summary="Preview an eviction",
        takes=OperationStart,
        once=True,
        errors=(404,),
    ),
)
def preview_operation(request: HttpRequest) -> HttpResponse:
    """Freeze what evicting a scope would do now; nothing changes until it is submitted."""
    access = _whole(request)
    wanted = read_model(request, OperationStart)
    try:
        scope = FactScope.from_json(wanted.scope)
    except WrongScope as error:
        raise invalid(FieldError(f"scope.{error.field}", error.problem)) from error
    return once(
        request,
        access,
        lambda: _tell(
            operations.preview(
                Kind.EVICT,
                scope,
                access=access,
                user_id=None,
                shared=Shared(wanted.shared),
                incident_id=wanted.incident_id,
            ),
            access,
        ),
    )


@router.get(
    "/operations",
    **endpoint(
        OperationPage,
        scope=Scope.RESPOND,
        summary="List operations",
        parameters=[*FILTERS, *PAGING],
    ),
)
def list_operations(request: HttpRequest) -> HttpResponse:
    """List what ran, runs and waits, the newest first; previews are not listed."""
    access = _whole(request)
    found = read_parameters(request, ("kind", "state", "person", "incident", "session", *NAMES))
    _check(found, FILTERS)
    ids = {
        name: read_uuid(name, found[name]) if name in found else None
        for name in ("incident", "session")
    }
    wanted = OperationFilter(
        kind=found.get("kind"),
        state=found.get("state"),
        person=found.get("person"),
        incident_id=ids["incident"],
        session_id=ids["session"],
    )
    limit = read_limit(found)
    with workspace_scope(access.workspace_id):
        page = operations.list_operations(
            wanted, cursor=found.get("cursor"), workspace_id=access.workspace_id, limit=limit
        )
    rows = [
        {name: row[name] or None if name == "approved_by" else row[name] for name in SUMMARY}
        for row in page.items
    ]
    return answer_page(Page(rows, page.next_cursor))


@router.get(
    "/operations/{operation_id}",
    **endpoint(OperationAnswer, scope=Scope.RESPOND, summary="One operation", errors=(404, 422)),
)
def get_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Return one operation: its preview, its progress, its receipt."""
    access = _whole(request)
    read_parameters(request, ())
    with workspace_scope(access.workspace_id):
        found = operations.load(read_id(operation_id), workspace_id=access.workspace_id)
    return answer(_tell(found, access))


@router.get(
    "/operations/{operation_id}/targets",
    **endpoint(
        TargetPage,
        scope=Scope.RESPOND,
        summary="The facts of an operation",
        parameters=[*TARGET_FILTERS, *PAGING],
        errors=(404,),
    ),
)
def list_targets(request: HttpRequest, operation_id: str) -> HttpResponse:
    """List an operation's facts by id: how each was frozen, and what became of it."""
    access = _whole(request)
    found = read_parameters(request, ("group", "outcome", "ticked", *NAMES))
    _check(found, TARGET_FILTERS)
    wanted = read_id(operation_id)
    limit = read_limit(found)
    with workspace_scope(access.workspace_id):
        operations.load(wanted, workspace_id=access.workspace_id)
        page = operations.list_targets(
            wanted,
            group=found.get("group"),
            outcome=found.get("outcome"),
            ticked=BOOLEANS[found["ticked"]] if "ticked" in found else None,
            cursor=found.get("cursor"),
            workspace_id=access.workspace_id,
            limit=limit,
        )
    rows = [
        {
            **{name: row[name] for name in ("id", "partition", "version", "group", "outcome")},
            "ticked": row["is_ticked"],
            "why": row["why"],
            "status": row["status"],
        }
        for row in page.items
    ]
    return answer_page(Page(rows, page.next_cursor))


@router.post(
    "/operations/{operation_id}/submit",
    **endpoint(
        OperationAnswer,
        scope=Scope.RESPOND,
        summary="Run a preview",
        takes=OperationSubmit,
        once=True,
        errors=(404,),
    ),
)
def submit_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Queue a preview, exactly as it was shown; what needs a second person is refused to a key."""
    access = _whole(request)
    wanted = read_model(request, OperationSubmit)
    return _do(
        request,
        operation_id,
        lambda one: operations.submit(
            one,
            digest=wanted.digest,
            reason=wanted.reason,
            note=wanted.note,
            incident_id=wanted.incident_id,
            typed_count=wanted.typed_count,
            access=access,
            user_id=None,
        ),
    )


@router.post(
    "/operations/{operation_id}/cancel",
    **endpoint(
        OperationAnswer,
        scope=Scope.RESPOND,
        summary="Cancel an operation",
        takes=Nothing,
        optional_body=True,
        once=True,
        errors=(404,),
    ),
)
def cancel_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Stop an operation after the batch at hand; what is done stays done."""
    access = _whole(request)
    read_model(request, Nothing, optional=True)
    return _do(request, operation_id, lambda one: operations.cancel(one, access=access))


@router.post(
    "/operations/{operation_id}/undo",
    **endpoint(
        OperationAnswer,
        scope=Scope.RESPOND,
        summary="Preview the undo of an operation",
        takes=Nothing,
        optional_body=True,
        once=True,
        errors=(404,),
    ),
)
def undo_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Freeze what taking an operation back would do: a new operation, submitted like any other."""
    access = _whole(request)
    read_model(request, Nothing, optional=True)
    return _do(
        request,
        operation_id,
        lambda one: operations.preview_undo(one, access=access, user_id=None),
    )


def _whole(request: HttpRequest) -> Access:
    """Return the access of a key that reaches the whole workspace: operations know no smaller."""
    access = access_of(request)
    if access.partition is not None:
        raise Problem(403, "This needs a key that is not bound to one partition.")
    return access


def _do(request: HttpRequest, operation_id: str, act: Callable[[UUID], Operation]) -> HttpResponse:
    access = access_of(request)
    wanted = read_id(operation_id)
    return once(request, access, lambda: _tell(act(wanted), access))


def _tell(operation: Operation, access: Access) -> dict[str, Any]:
    """Return an operation as the API gives it."""
    with workspace_scope(access.workspace_id):
        settings = operations.settings_of(access.workspace_id)
    total = operations.asked(operation)
    plain = (
        *("id", "kind", "state", "title", "scope", "digest", "groups", "total", "reason", "note"),
        *("incident_id", "approval_id", "undoes", "requested_by", "created_at", "requested_at"),
        *("started_at", "finished_at", "changed", "restored", "dropped_claims"),
        *("restored_claims", "skipped", "failed", "receipt", "error", "undo_until"),
    )
    return {
        **{name: getattr(operation, name) for name in plain},
        "shared": operation.options.get("shared", Shared.DROP),
        "asked": total,
        "displaced": operation.options.get("displaced", 0),
        "needs_second": needs_second(operation.kind, total, settings),
        "needs_count": needs_count(operation.kind, total),
        "done": operations.progress(operation),
    }


def _check(found: dict[str, str], declared: list[dict[str, Any]]) -> None:
    """Hold parameters to the choices that the document declares."""
    for one in declared:
        name, schema = one["name"], one["schema"]
        choices = schema.get("enum") or (list(BOOLEANS) if schema["type"] == "boolean" else None)
        if name in found and choices and found[name] not in choices:
            raise invalid(FieldError(name, f"must be one of {', '.join(choices)}", "choice"))
