"""What people do to a session: suspend, release, evict after a preview, undo.

Owns the way from a form to ``records.curate`` and ``audits.evictions``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from audits import evictions
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.queries.eviction import MOST, preview_eviction
from audits.views.modal import finish, show_form
from audits.views.pages import reading, show, url
from audits.views.sessions import load
from records import curate
from records.domain.facts import Status
from records.items import Conflict

CONTAINMENT: dict[str, dict[str, Any]] = {
    "suspend": {
        "title": "Suspend serving",
        "meaning": "From now on no recall answers with what only this session asserts. Nothing is"
        " deleted; release it at any time.",
        "act": curate.suspend,
        "done": "Suspended: what only this session asserts is not served.",
    },
    "release": {
        "title": "Release",
        "meaning": "Serve this session's facts again.",
        "act": curate.release,
        "done": "Released: its facts are served again.",
    },
}


def contain(verb: str) -> Callable[..., HttpResponse]:
    """Return the view that suspends or releases a session."""
    how = CONTAINMENT[verb]

    @require_http_methods(["GET", "POST"])
    @require(Permission.RESPOND)
    def view(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
        with reading(request):
            session = load(request, session_id)
        form = ReasonForm(request.POST or None, is_reason_needed=False)
        context = {
            "session": session,
            "form": form,
            "act": how,
            "action": request.path,
            "next": request.POST.get("next") or request.headers.get("HX-Current-URL", ""),
        }
        if request.method == "GET":
            return show_form(request, "session/contain", context)
        if not form.is_valid():
            return show_form(request, "session/contain", context, status=422)
        acted = how["act"](
            "session", session_id, form.cleaned_data["reason"], access=request.access
        )
        if not acted.changed:
            context["conflict"] = f"Nothing changed: the session {acted.skipped[0][1]}."
            return show_form(request, "session/contain", context, status=409)
        return finish(request, how["done"], url(request, "session", session_id))

    view.__name__ = f"session_{verb}"
    return view


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def evict(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show what an eviction would do; run exactly that."""
    status = 200
    form = ReasonForm(request.POST or None)
    conflict = ""
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                receipt = evictions.evict_session(
                    session_id,
                    form.cleaned_data["reason"],
                    digest=request.POST.get("digest", ""),
                    access=request.access,
                )
            except Conflict as error:
                status, conflict = 409, str(error)
            else:
                return _show_receipt(request, session_id, receipt, "Evicted", can_undo=True)
    with reading(request):
        context = {
            "session": load(request, session_id),
            "preview": preview_eviction(session_id, workspace_id=request.here.id),
            "taken": len(evictions.taken_from(session_id, access=request.access)),
            "most": MOST,
            "form": form,
            "conflict": conflict,
        }
    return show(request, "session/evict.html", context, status=status)


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def restore(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Undo a session's evictions, after saying how many records that is."""
    with reading(request):
        session = load(request, session_id)
        taken = evictions.taken_from(session_id, access=request.access)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        receipt = evictions.restore_session(
            session_id, form.cleaned_data["reason"], access=request.access
        )
        return _show_receipt(request, session_id, receipt, "Restored", can_undo=False)
    status = 422 if request.method == "POST" else 200
    evicted = sum(row["status"] == Status.EVICTED for row in taken)
    context = {
        "session": session,
        "evicted": evicted,
        "stayed": len(taken) - evicted,
        "form": form,
    }
    return show(request, "session/restore.html", context, status=status)


def _show_receipt(
    request: ConsoleRequest,
    session_id: UUID,
    receipt: evictions.Receipt,
    done: str,
    *,
    can_undo: bool,
) -> HttpResponse:
    with reading(request):
        session = load(request, session_id)
    context = {
        "session": session,
        "receipt": receipt,
        "skipped": receipt.skipped.most_common(),
        "done": done,
        "can_undo": can_undo and (receipt.changed > 0 or receipt.dropped_claims > 0),
    }
    return show(request, "session/receipt.html", context)
