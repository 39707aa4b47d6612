"""The session list and the session page: which looks wrong, why, and what it wrote.

Owns the frame that the session's other parts stand in (``session_parts.py``,
``radius.py``): they begin with ``load``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from audits import suspicion
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.records import AskedRecords
from audits.forms.sessions import STATES, read_filters
from audits.queries import records as record_queries
from audits.queries import sessions as queries
from audits.queries.records import RecordFilter
from audits.views.pages import is_partial, reading, show
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

SORTS = {"suspicion": "Oddest first", "recent": "Last write first"}


@require_safe
@require(Permission.VIEW)
def list_sessions(request: ConsoleRequest) -> HttpResponse:
    """Show a page of sessions; all of its state is in the URL.

    Where no session has a score yet, they come by their last write unless asked otherwise.
    """
    asked = read_filters(request.GET, access=request.access)
    with reading(request):
        scored_at = queries.when_scored(request.here.id)
        if scored_at is None and "sort" not in asked.values:
            asked.wanted = replace(asked.wanted, sort="recent")
        try:
            page = queries.list_sessions(
                asked.wanted, cursor=asked.after, workspace_id=request.here.id
            )
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = queries.list_sessions(asked.wanted, cursor=None, workspace_id=request.here.id)
    context = {
        "asked": asked,
        "page": page,
        "sorts": SORTS,
        "scored_at": scored_at,
        "states": STATES,
        "sampled": queries.SAMPLED,
        "ids": urlencode({"id": [row["id"] for row in page.items]}, doseq=True),
    }
    template = "sessions/_sessions_table.html" if is_partial(request) else "sessions/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def sample_sessions(request: ConsoleRequest) -> HttpResponse:
    """Fill in what takes longer than the list: predicates and serves of each session shown."""
    ids = []
    for text in request.GET.getlist("id")[: queries.PAGE]:
        try:
            ids.append(UUID(text))
        except ValueError as error:
            raise Http404("session") from error
    with reading(request):
        rows = queries.sample_sessions(ids)
    context = {"rows": rows, "sampled": queries.SAMPLED}
    template = "sessions/_sessions_sample.html" if is_partial(request) else "sessions/sample.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_session(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show one session with its facts."""
    with reading(request):
        session = load(request, session_id)
        wanted = RecordFilter(session_id=session_id)
        asked = AskedRecords(wanted, after=request.GET.get("after") or None)
        now = timezone.now()
        try:
            page = record_queries.list_records(
                wanted, cursor=asked.after, workspace_id=request.here.id, now=now
            )
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = record_queries.list_records(
                wanted, cursor=None, workspace_id=request.here.id, now=now
            )
    context: dict[str, Any] = {"session": session, "asked": asked, "page": page, "tab": "facts"}
    template = "session/_session_facts.html" if is_partial(request) else "session/session.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_timeline(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show what happened in and to a session."""
    with reading(request):
        session = load(request, session_id)
        try:
            page = queries.list_events(
                session_id, cursor=request.GET.get("after") or None, workspace_id=request.here.id
            )
        except BadRequest:
            page = queries.list_events(session_id, cursor=None, workspace_id=request.here.id)
    context = {"session": session, "page": page, "tab": "timeline"}
    template = "session/_session_timeline.html" if is_partial(request) else "session/session.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_verdict(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Judge a session as it is at this moment, and name what it comes back to: a piece, or a page."""
    with reading(request):
        session = load(request, session_id)
        found = suspicion.judge_now(session_id, workspace_id=request.here.id)
        repeated = suspicion.what_repeats(session_id, workspace_id=request.here.id)
    if found is not None:
        session |= {"score": found.score, "reasons": found.as_json(), "is_stale": False}
    context = {"session": session, "repeated": repeated, "is_now": True}
    template = "session/_session_verdict.html" if is_partial(request) else "session/verdict.html"
    return show(request, template, context)


def load(request: ConsoleRequest, session_id: UUID) -> dict[str, Any]:
    """Return one session; 404 for what is unknown, foreign or out of reach."""
    session = queries.load_session(session_id, workspace_id=request.access.workspace_id)
    if session is None:
        raise Http404("session")
    return session
