"""What people do to a bulk operation: leave rows out, ask for it, cancel, resume, undo, read it.

Owns the way from a form to ``audits.operations``. An act that comes too late
is answered with the operation as it is now, and what was typed stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from uuid import UUID

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from audits import operations
from audits.access import ConsoleRequest, demand, require, safe_next
from audits.domain.operations import State, needs_count
from audits.domain.roles import Permission
from audits.domain.scope import Scope, Shared
from audits.forms.operations import SubmitForm
from audits.models import Operation
from audits.queries import operation_pages as queries
from audits.views.operations import (
    DRAFT,
    load,
    note_seen,
    page_of,
    permission_for,
    pickable,
    rows_of,
    show_page,
)
from audits.views.pages import is_partial, reading, show, url
from records.items import BadRequest, Conflict
from records.scope import workspace_scope


@require_POST
@require(Permission.RESPOND)
def tick(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Leave out exactly the rows of this page that are not ticked; other pages stay as they are."""
    shown, ticked = _ids(request, "shown"), _ids(request, "tick")
    _ask_for(request, operation_id)
    with workspace_scope(request.here.id):
        left = queries.unticked(operation_id, workspace_id=request.here.id)
    conflict = ""
    try:
        operations.tick(
            operation_id, untick=(left - shown) | (shown - ticked), access=request.access
        )
    except (Conflict, BadRequest) as error:
        conflict = f"Nothing was changed: {error}."
    if not is_partial(request):
        if conflict:
            messages.error(request, conflict)
        target = request.POST.get("next", "")
        if not target.startswith(url(request, "operation", operation_id)):
            target = url(request, "operation", operation_id)
        return HttpResponseRedirect(safe_next(request, target))
    with reading(request):
        context = rows_of(request, operation_id) | {"conflict": conflict}
    said = conflict or f"{context['total']:,} facts will change."
    status = 409 if conflict else 200
    return show(request, "operations/_operation_rows.html", context, status=status, announce=said)


@require_POST
@require(Permission.RESPOND)
def preview_again(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Make a new preview of the same scope: as of now, or with another answer for shared facts."""
    operation = _ask_for(request, operation_id)
    with workspace_scope(request.here.id):
        left = queries.unticked(operation_id, workspace_id=request.here.id)
    shared = request.POST.get("shared") or operation.options.get("shared", Shared.DROP)
    if shared not in set(Shared):
        raise Http404("shared")
    try:
        if operation.undoes is not None:
            made = operations.preview_undo(
                operation.undoes, access=request.access, user_id=request.user.id
            )
        else:
            made = operations.preview(
                operation.kind,
                Scope.from_json(operation.scope),
                access=request.access,
                user_id=request.user.id,
                shared=Shared(shared),
                with_held=(
                    request.POST.get("with_held") == "yes"
                    if "shared" in request.POST
                    else bool(operation.options.get("with_held"))
                ),
                incident_id=operation.incident_id,
            )
        _leave_out(made, left, request)
    except (Conflict, BadRequest) as error:
        return _refuse(request, operation_id, f"No new preview was made: {error}.", 409)
    request.session[DRAFT] = {
        "id": str(made.id),
        "reason": request.POST.get("reason", operation.reason)[:1_000],
        "note": request.POST.get("note", operation.note)[:2_000],
    }
    return HttpResponseRedirect(url(request, "operation", made.id))


@require_POST
@require(Permission.RESPOND)
def submit(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Run exactly what the preview shows, or ask a second person whether it may run."""
    operation = _ask_for(request, operation_id)
    with workspace_scope(request.here.id):
        beside = queries.load_beside(operation, workspace_id=request.here.id)
    total = operations.asked(operation)
    count = total if needs_count(operation.kind, total) else None
    form = SubmitForm(request.POST, incidents=pickable(operation, beside), count=count)
    conflict, status = "", 422
    if form.is_valid():
        given = form.cleaned_data
        try:
            operations.submit(
                operation_id,
                digest=request.POST.get("digest", ""),
                reason=given["reason"],
                note=given["note"],
                incident_id=given.get("incident"),
                typed_count=given.get("count"),
                access=request.access,
                user_id=request.user.id,
            )
        except Conflict as error:
            conflict, status = f"Nothing was changed: {error}.", 409
        except BadRequest as error:
            _blame(form, error)
        else:
            request.session.pop(DRAFT, None)
            return HttpResponseRedirect(url(request, "operation", operation_id))
    with reading(request):
        context = page_of(request, operation_id, form=form, conflict=conflict)
    return show_page(request, context, status=status)


def act(
    does: Callable[[ConsoleRequest, UUID], Operation], name: str
) -> Callable[..., HttpResponseBase]:
    """Return the view of an act that needs nothing typed."""

    @require_POST
    @require(Permission.RESPOND)
    def view(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
        _ask_for(request, operation_id)
        try:
            after = does(request, operation_id)
        except (Conflict, BadRequest) as error:
            return _refuse(request, operation_id, f"Nothing was changed: {error}.", 409)
        return HttpResponseRedirect(url(request, "operation", after.id))

    view.__name__ = name
    return view


cancel = act(lambda request, one: operations.cancel(one, access=request.access), "cancel")
retry = act(
    lambda request, one: operations.retry(one, access=request.access, user_id=request.user.id),
    "retry",
)
undo = act(
    lambda request, one: operations.preview_undo(
        one, access=request.access, user_id=request.user.id
    ),
    "undo",
)


@require_safe
@require(Permission.VIEW)
def download_receipt(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Send the whole receipt as JSON: the numbers, and what became of each fact, by id."""
    with reading(request):
        operation = load(request, operation_id)
        beside = queries.load_beside(operation, workspace_id=request.here.id)
    if operation.state == State.PREVIEW:
        raise Http404("receipt")
    head = json.dumps(
        {
            **operations.describe_receipt(operation),
            "reasons": beside.reasons,
            "approval": beside.approval,
        },
        cls=DjangoJSONEncoder,
    )
    response = StreamingHttpResponse(
        _stream(head, operation_id, request.here.id), content_type="application/json"
    )
    response.headers["Content-Disposition"] = (
        f'attachment; filename="operation-{operation_id}.json"'
    )
    response.headers["Cache-Control"] = "no-store"
    return response  # type: ignore[return-value]


@require_POST
@require(Permission.VIEW)
def dismiss(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Note that this person has seen what was done in bulk up to this operation."""
    with reading(request):
        at = load(request, operation_id).started_at
    note_seen(request, at)
    target = request.POST.get("next", "")
    if is_partial(request):
        return HttpResponse(status=200)
    return HttpResponseRedirect(safe_next(request, target) if target else url(request, "overview"))


def _stream(head: str, operation_id: UUID, workspace_id: UUID) -> Iterator[str]:
    """Yield the receipt's head, then every target; each page in a scope of its own."""
    yield head[:-1] + ', "targets": ['
    cursor, first = None, True
    while True:
        with workspace_scope(workspace_id):
            page = queries.list_outcomes(operation_id, after=cursor, workspace_id=workspace_id)
        for row in page:
            yield ("" if first else ",") + json.dumps(row, cls=DjangoJSONEncoder)
            first = False
        if len(page) < queries.OUTCOMES_PAGE:
            break
        cursor = page[-1]["id"]
    yield "]}"


def _ask_for(request: ConsoleRequest, operation_id: UUID) -> Operation:
    """Return an operation that the person may ask for; 403 and a denied event when they may not.

    In a scope of its own: a refusal ends the one it is raised in, its event with it.
    """
    with reading(request):
        operation = load(request, operation_id)
    demand(request, permission_for(operation))
    return operation


def _refuse(request: ConsoleRequest, operation_id: UUID, text: str, status: int) -> HttpResponse:
    with reading(request):
        context = page_of(request, operation_id, conflict=text)
    return show_page(request, context, status=status)


def _leave_out(made: Operation, left: set[UUID], request: ConsoleRequest) -> None:
    """Leave out of a new preview what was left out of the one before."""
    if not left:
        return
    with workspace_scope(request.here.id):
        there = queries.targets_among(made.id, left, workspace_id=request.here.id)
    if there:
        operations.tick(made.id, untick=there, access=request.access)


def _ids(request: ConsoleRequest, name: str) -> set[UUID]:
    try:
        return {UUID(one) for one in request.POST.getlist(name)}
    except ValueError as error:
        raise Http404("record") from error


def _blame(form: SubmitForm, error: BadRequest) -> None:
    """Put each refusal beside its field."""
    for one in error.errors:
        name = {"typed_count": "count"}.get(one.field, one.field)
        form.add_error(
            name if name in form.fields else None,
            f"{one.field.replace('_', ' ').capitalize()} {one.message}.",
        )
