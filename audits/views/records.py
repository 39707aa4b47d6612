"""The record list: every fact of the workspace, by filter. And the jump field of every page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.filters import TEXT_LIMIT
from audits.forms.records import CHOICES, AskedRecords, read_filters
from audits.queries import records as queries
from audits.queries.jump import find_named, find_target
from audits.queries.overview import COUNT_CAP
from audits.queries.saved import saved_of
from audits.views.pages import is_partial, reading, show, url
from records.cursors import Page
from records.items import BadRequest

BAD_CURSOR = "The place in the list could not be read from the URL; this is its beginning."


@require_safe
@require(Permission.VIEW)
def list_records(request: ConsoleRequest) -> HttpResponse:
    """Show a page of records; all of its state is in the URL."""
    with reading(request):
        asked = read_filters(request.GET, access=request.access)
        page, count = _page(request, asked)
        context: dict[str, Any] = {
            "asked": asked,
            "page": page,
            "count": count,
            "quick_cap": queries.QUICK_CAP,
            "found_cap": queries.FOUND_CAP,
            "query": urlencode(asked.values),
        }
        if not is_partial(request):
            predicates, views = queries.load_choices(request.here.id, request.user.id)
            context |= {"choices": CHOICES, "predicates": predicates}
            context["saved"] = saved_of(
                "records", views, query=context["query"], asked_for=request.GET.get("view")
            )
    template = "records/_records_table.html" if is_partial(request) else "records/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def count_records(request: ConsoleRequest) -> HttpResponse:
    """Show how many records match exactly, up to the bound that all counts have."""
    with reading(request):
        asked = read_filters(request.GET, access=request.access)
        count = queries.count_records(asked.wanted, workspace_id=request.here.id)
    context = {"count": count, "cap": COUNT_CAP, "query": urlencode(asked.values)}
    template = "records/_records_count.html" if is_partial(request) else "records/count.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_sessions(request: ConsoleRequest) -> HttpResponse:
    """Show which sessions assert the matching records, most first: a piece, or a page."""
    with reading(request):
        asked = read_filters(request.GET, access=request.access)
        found = queries.list_behind(asked.wanted, workspace_id=request.here.id)
    context = {"behind": found, "asked": asked, "behind_cap": queries.BEHIND_CAP}
    template = "records/_records_sessions.html" if is_partial(request) else "records/sessions.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def search(request: ConsoleRequest) -> HttpResponse:
    """Go to what has the id or the name that was typed; search the records for anything else.

    An id may be of a record, session, recall, source, incident or operation. A name is a
    partition's, whose sessions are listed, or a session's.
    """
    text = request.GET.get("q", "").strip()[:TEXT_LIMIT].replace("\x00", "")
    if not text:
        return HttpResponseRedirect(url(request, "records"))
    try:
        wanted = UUID(text)
    except ValueError:
        return HttpResponseRedirect(_named(request, text))
    with reading(request):
        target = find_target(wanted, workspace_id=request.here.id)
    return HttpResponseRedirect(url(request, target or "record", wanted))


def _named(request: ConsoleRequest, text: str) -> str:
    """Return where a name leads: a partition's sessions, a session, or the records with the text."""
    with reading(request):
        is_partition, sessions = find_named(
            text, request.access.partition_id(text), workspace_id=request.here.id
        )
    if is_partition:
        return url(request, "sessions", query=urlencode({"partition": text}))
    if len(sessions) == 1:
        return url(request, "session", sessions[0])
    if sessions:
        return url(request, "sessions", query=urlencode({"session": text}))
    return url(request, "records", query=urlencode({"text": text}))


def _page(request: ConsoleRequest, asked: AskedRecords) -> tuple[Page, int]:
    def load(cursor: str | None) -> tuple[Page, int]:
        return queries.list_and_count(
            asked.wanted,
            cursor=cursor,
            workspace_id=request.here.id,
            now=timezone.now(),
            most=queries.QUICK_CAP,
        )

    try:
        return load(asked.after)
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        return load(None)
