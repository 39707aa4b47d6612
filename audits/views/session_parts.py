"""The parts of a session's page beside its facts: sessions that say the same, and notes."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from audits import session_notes
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.sessions import NoteForm
from audits.queries import neighbours as queries
from audits.views.pages import done, reading, show, url
from audits.views.sessions import load
from records.items import NotFound


@require_safe
@require(Permission.VIEW)
def show_neighbours(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show the sessions, in any partition, that state the same facts or the same values."""
    with reading(request):
        session = load(request, session_id)
        found = queries.list_neighbours(session_id, workspace_id=request.here.id)
    context = {
        "session": session,
        "rows": found.rows,
        "values": found.values,
        "looked_at": queries.LOOKED_AT,
        "most": queries.MOST,
        "tab": "neighbours",
    }
    return show(request, "session/neighbours.html", context)


@require_safe
@require(Permission.VIEW)
def show_notes(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show what people wrote about a session."""
    return _notes(request, session_id, NoteForm())


@require_http_methods(["POST"])
@require(Permission.REVIEW)
def add_note(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Write a note about a session."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _notes(request, session_id, form, status=422)
    try:
        session_notes.add(session_id, form.cleaned_data["text"], access=request.access)
    except NotFound as error:
        raise Http404("session") from error
    return done(request, "The note is kept.", url(request, "session-notes", session_id))


def _notes(
    request: ConsoleRequest, session_id: UUID, form: NoteForm, *, status: int = 200
) -> HttpResponse:
    with reading(request):
        context = {
            "session": load(request, session_id),
            "notes": queries.list_notes(session_id, workspace_id=request.here.id),
            "form": form,
            "may_note": request.here.may(Permission.REVIEW),
            "tab": "notes",
        }
    return show(request, "session/notes.html", context, status=status)
