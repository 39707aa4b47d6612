"""What people do to a session: suspend, release, and the way to its last eviction.

Owns the way from a form to ``records.curate``. Evicting is a bulk operation:
``views/operations.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from audits import operations
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.operations import OperationFilter
from audits.views.modal import finish, show_form
from audits.views.pages import reading, url
from audits.views.sessions import load
from records import curate

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
    return cast(Callable[..., HttpResponse], view)


@require_safe
@require(Permission.RESPOND)
def undo(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Go to the last eviction of this session that can be undone."""
    with reading(request):
        load(request, session_id)
        page = operations.list_operations(
            OperationFilter(kind="evict", session_id=session_id, undoable_at=timezone.now()),
            cursor=None,
            workspace_id=request.here.id,
            limit=1,
        )
    if page.items:
        return HttpResponseRedirect(url(request, "operation", page.items[0]["id"]))
    messages.info(request, "No eviction of this session can be undone any more.")
    return HttpResponseRedirect(url(request, "operations", query=f"session={session_id}"))
