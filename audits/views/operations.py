"""A bulk operation as a page: choose, preview, watch, read the receipt; and the list of them.

Owns what the pages show. What people do to an operation is
``operation_acts.py``'s; every rule and every number is ``audits.operations``'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from audits import operations
from audits.access import ConsoleRequest, require
from audits.domain.operations import (
    GOING,
    OUTCOMES,
    RETRIABLE,
    SHARED_WORDS,
    Kind,
    State,
    needs_count,
    needs_second,
)
from audits.domain.roles import Permission
from audits.domain.scope import Shared
from audits.forms.operation_lists import read_filters, read_rows
from audits.forms.operations import AskedScope, SubmitForm, read_scope
from audits.models import Operation
from audits.queries import operation_pages as queries
from audits.queries import radius
from audits.queries.operation_pages import Beside
from audits.views.pages import SEEN, is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records.items import BadRequest, NotFound

VERBS: Mapping[str, tuple[str, str, str]] = {
    Kind.EVICT: ("Evict", "Evicting", "Evicted"),
    Kind.RESTORE: ("Restore", "Restoring", "Restored"),
    Kind.ERASE: ("Erase", "Erasing", "Erased"),
    Kind.HOLD: ("Hold", "Holding", "Held"),
}
DRAFT = "operation_draft"  # where a reason waits while its preview is made anew


@require_safe
@require(Permission.VIEW)
def list_operations(request: ConsoleRequest) -> HttpResponse:
    """Show what ran, runs and waits, the newest first; all of its state is in the URL."""
    with reading(request):
        asked = read_filters(request.GET, person=request.user.get_username())

        def load(cursor: str | None) -> Any:
            return operations.list_operations(
                asked.wanted, cursor=cursor, workspace_id=request.here.id
            )

        try:
            page = load(asked.after)
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = load(None)
    now = timezone.now()
    for row in page.items:
        row["done"] = VERBS[row["kind"]][2]
        if row["started_at"]:
            row["lasted"] = (row["finished_at"] or now) - row["started_at"]
        row["can_undo"] = bool(
            row["undo_until"] and row["undo_until"] > now and not row["is_undone"]
        )
        row["claims"] = row["dropped_claims"] + row["restored_claims"]
    context = {"asked": asked, "page": page, "kinds": list(Kind), "states": LISTED}
    partial = "operations/_operations_table.html"
    return show(request, partial if is_partial(request) else "operations/list.html", context)


LISTED = [one for one in State if one is not State.PREVIEW]


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def new_operation(request: ConsoleRequest) -> HttpResponse:
    """Ask what is to be taken out; freeze it as a preview and go there."""
    given = request.POST if request.method == "POST" else request.GET
    with reading(request):
        asked = read_scope(given, access=request.access)
        names = queries.load_names(
            asked.scope, incident_id=asked.incident_id, workspace_id=request.here.id
        )
    if request.method == "GET":
        return show_new(request, asked, names)
    if asked.faults or asked.scope.is_empty:
        return show_new(request, asked, names, status=422)
    try:
        made = operations.preview(
            Kind.EVICT,
            asked.scope,
            access=request.access,
            user_id=request.user.id,
            incident_id=asked.incident_id,
        )
    except BadRequest as error:
        for one in error.errors:
            asked.faults[one.field] = f"{one.field.replace('_', ' ').capitalize()} {one.message}."
        return show_new(request, asked, names, status=422)
    except NotFound as error:
        raise Http404("incident") from error
    return HttpResponseRedirect(url(request, "operation", made.id))


def show_new(
    request: ConsoleRequest, asked: AskedScope, names: Beside, *, status: int = 200
) -> HttpResponse:
    """Show what is chosen so far, and what is wrong with it."""
    known = {one["id"]: one for one in names.sessions}
    context = {
        "asked": asked,
        "names": names,
        "sessions": [
            (str(one), known.get(str(one)), one) for one in asked.scope.session_ids[: queries.NAMED]
        ],
        "more_sessions": asked.scope.session_ids[queries.NAMED :],
        "records": asked.scope.record_ids,
        "is_empty": status == 422 and not asked.faults,
    }
    return show(request, "operations/new.html", context, status=status)


@require_safe
@require(Permission.VIEW)
def show_operation(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Show one operation in whatever state it is."""
    with reading(request):
        context = page_of(request, operation_id)
    shell = getattr(request, "shell", None)
    if shell is not None and shell.act_id == operation_id:
        note_seen(request, shell.act_at)  # reading it is having seen it
    return show_page(request, context)


@require_safe
@require(Permission.VIEW)
def show_progress(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Show how far an operation has come; once it has ended, the piece fetches the whole page."""
    with reading(request):
        operation = load(request, operation_id)
    context = progress_of(operation)
    if not is_partial(request):
        return HttpResponseRedirect(url(request, "operation", operation_id))
    said = request.GET.get("said", "")
    before = int(said) if said.isdecimal() and len(said) < 4 else 0
    quarter = context["percent"] // 25 * 25
    context["said"] = max(before, quarter)
    announce = ""
    if not context["is_going"]:
        announce = f"Ended: {operation.state}."
    elif quarter > before:
        announce = f"{context['done']:,} of {context['asked']:,}."
    return show(request, "operations/_operation_progress.html", context, announce=announce)


@require_safe
@require(Permission.VIEW)
def show_rows(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Show an operation's facts page by page; those of a preview can be left out one by one."""
    with reading(request):
        context = rows_of(request, operation_id)
    partial = "operations/_operation_rows.html"
    return show(request, partial if is_partial(request) else "operations/rows.html", context)


@require_safe
@require(Permission.VIEW)
def show_drift(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Show how the store has moved since an operation's preview."""
    with reading(request):
        operation = load(request, operation_id)
        context = {
            "operation": operation,
            "drift": operations.drift(operation, workspace_id=request.here.id),
        }
    partial = "operations/_operation_drift.html"
    return show(request, partial if is_partial(request) else "operations/drift.html", context)


@require_safe
@require(Permission.VIEW)
def show_exposure(request: ConsoleRequest, operation_id: UUID) -> HttpResponse:
    """Show how far an operation's facts had been served, in one sentence."""
    with reading(request):
        operation = load(request, operation_id)
        facts = queries.facts_of(operation_id, list(operations.acted_of(operation)))
        found = radius.measure(facts, workspace_id=request.here.id)
    context = {
        "operation": operation,
        "sentence": radius.sentence(found, now=timezone.now()),
    }
    partial = "operations/_operation_exposure.html"
    return show(request, partial if is_partial(request) else "operations/exposure.html", context)


def note_seen(request: ConsoleRequest, at: datetime | None) -> None:
    """Note that this person has seen what was done in bulk up to then."""
    if at is not None:
        seen = dict(request.session.get(SEEN) or {})
        seen[str(request.here.id)] = at.isoformat()
        request.session[SEEN] = seen


def load(request: ConsoleRequest, operation_id: UUID) -> Operation:
    """Return one operation; 404 for unknown and foreign alike. Inside the workspace's scope."""
    try:
        return operations.load(operation_id, workspace_id=request.here.id)
    except NotFound as error:
        raise Http404("operation") from error


def show_page(
    request: ConsoleRequest, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Draw an operation: the page, or its whole content as a piece."""
    partial = is_partial(request)
    template = "operations/_operation.html" if partial else "operations/operation.html"
    return show(request, template, context, status=status)


def page_of(
    request: ConsoleRequest,
    operation_id: UUID,
    *,
    form: SubmitForm | None = None,
    conflict: str = "",
) -> dict[str, Any]:
    """Return what an operation's page shows. Inside the workspace's scope."""
    operation = load(request, operation_id)
    beside = queries.load_beside(operation, workspace_id=request.here.id)
    words = operations.group_words(operation)
    samples = queries.load_samples(
        operation, [name for name, _, count in words if count], workspace_id=request.here.id
    )
    total = operations.asked(operation)
    may_ask = request.here.may(permission_for(operation))
    is_preview = operation.state == State.PREVIEW
    count = total if needs_count(operation.kind, total) else None
    if form is None and is_preview and may_ask:
        form = submit_form(request, operation, beside, count)
    now = timezone.now()
    return {
        **progress_of(operation),
        "operation": operation,
        "beside": beside,
        "groups": _groups(operation, words, samples),
        "displaced": samples["displaced"],
        "displaced_count": operation.options.get("displaced", 0),
        "left": samples["left"],
        "asked": total,
        "sum": " + ".join(f"{number:,} {text}" for _, text, number in words if number),
        "unticked": operation.total - sum(operation.options.get("ticked", {}).values())
        if "ticked" in operation.options
        else 0,
        "second": needs_second(operation.kind, total, beside.settings),
        "count": count,
        "form": form,
        "conflict": conflict,
        "shared_words": [(str(one), text) for one, text in SHARED_WORDS.items()],
        "shared": str(operation.options.get("shared", Shared.DROP)),
        "outcomes": [(OUTCOMES[name], number) for name, number in beside.did.items()],
        "outcome_words": OUTCOMES,
        "may_ask": may_ask,
        "may_approve": request.here.may(Permission.APPROVE_OPERATIONS),
        "is_mine": operation.requested_by_id == request.user.id,
        "can_undo": may_ask and _can_undo(operation, beside, now),
        "can_resume": may_ask
        and operation.state in RETRIABLE
        and operation.started_at is not None
        and (operation.failed > 0 or operation.state != State.DONE)
        and (beside.undo is None or beside.undo["state"] not in (State.DONE, *GOING)),
    }


def progress_of(operation: Operation) -> dict[str, Any]:
    """Return how far an operation has come, in numbers."""
    total = operation.options.get("asked") or operations.asked(operation)
    done = operations.progress(operation)
    claims = claims_of(operation)
    return {
        "moving": total - claims,
        "claims": claims,
        "operation": operation,
        "verb": VERBS[operation.kind],
        "asked": total,
        "done": done,
        "percent": min(100, done * 100 // total) if total else 100,
        "is_going": operation.state in GOING,
        "said": 0,
    }


def claims_of(operation: Operation) -> int:
    """Return on how many facts only claims are dropped, or count again: these facts stay."""
    ticked = operation.options.get("ticked", operation.groups)
    if operation.kind == Kind.RESTORE:
        return int(ticked.get("claims", 0))
    is_dropped = operation.options.get("shared", Shared.DROP) == Shared.DROP
    return int(ticked.get("shared", 0)) if operation.kind == Kind.EVICT and is_dropped else 0


def rows_of(request: ConsoleRequest, operation_id: UUID) -> dict[str, Any]:
    """Return a page of an operation's facts. Inside the workspace's scope."""
    operation = load(request, operation_id)
    asked = read_rows(request.GET, kind=operation.kind)

    def page_at(cursor: str | None) -> Any:
        return operations.list_targets(
            operation_id,
            group=asked.values.get("group"),
            outcome=asked.values.get("outcome"),
            ticked={"in": True, "out": False}.get(asked.values.get("ticked", "")),
            cursor=cursor,
            workspace_id=request.here.id,
        )

    try:
        page = page_at(asked.after)
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        page = page_at(None)
    return {
        "operation": operation,
        "asked": asked,
        "page": page,
        "total": operations.asked(operation),
        "group_words": {name: text for name, text, _ in operations.group_words(operation)},
        "outcome_words": OUTCOMES,
        "acted": operations.acted_of(operation),
        "can_tick": operation.state == State.PREVIEW
        and request.here.may(permission_for(operation)),
    }


def submit_form(
    request: ConsoleRequest, operation: Operation, beside: Beside, count: int | None
) -> SubmitForm:
    """Return the empty form of a preview, with what was typed before it was made anew."""
    kept = request.session.get(DRAFT) or {}
    typed = kept if kept.get("id") == str(operation.id) else {}
    return SubmitForm(
        initial={
            "reason": typed.get("reason", ""),
            "note": typed.get("note", ""),
            "incident": str(operation.incident_id or ""),
        },
        incidents=pickable(operation, beside),
        count=count,
    )


def pickable(operation: Operation, beside: Beside) -> Sequence[Mapping[str, Any]]:
    """Return the incidents that an operation may belong to: the open ones, and its own."""
    found = list(beside.open_incidents)
    own = beside.incident
    if own and all(one["id"] != own["id"] for one in found):
        found.insert(0, own)
    return found


def permission_for(operation: Operation) -> Permission:
    """Return what asking for an operation needs: what destroys is not a responder's to ask."""
    return Permission.HANDLE_SUBJECTS if operation.kind == Kind.ERASE else Permission.RESPOND


def _groups(
    operation: Operation,
    words: Sequence[tuple[str, str, int]],
    samples: Mapping[str, Sequence[dict[str, Any]]],
) -> list[dict[str, Any]]:
    acted = operations.acted_of(operation)
    ticked = operation.options.get("ticked", operation.groups)
    return [
        {
            "name": name,
            "words": text,
            "count": count,
            "out": count - ticked.get(name, 0) if name in ticked or count else 0,
            "is_acted": name in acted,
            "rows": samples.get(name, ()),
        }
        for name, text, count in words
    ]


def _can_undo(operation: Operation, beside: Beside, now: Any) -> bool:
    return (
        operation.kind in (Kind.EVICT, Kind.HOLD)
        and operation.state in RETRIABLE
        and operation.changed + operation.dropped_claims > 0
        and (operation.undo_until is None or operation.undo_until > now)
        and (beside.undo is None or beside.undo["state"] in (State.CANCELLED, State.FAILED))
    )
