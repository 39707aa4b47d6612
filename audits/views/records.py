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
from audits.forms.records import CHOICES, TEXT_LIMIT, Asked, read_filters
from audits.queries import records as queries
from audits.queries.jump import find_target
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
def search(request: ConsoleRequest) -> HttpResponse:
    """Go to the record or session whose id was pasted; search the records for anything else."""
    text = request.GET.get("q", "").strip()[:TEXT_LIMIT].replace("\x00", "")
    if not text:
        return HttpResponseRedirect(url(request, "records"))
    try:
        wanted = UUID(text)
    except ValueError:
        return HttpResponseRedirect(url(request, "records", query=urlencode({"text": text})))
    with reading(request):
        target = find_target(wanted, workspace_id=request.here.id)
    return HttpResponseRedirect(url(request, target or "record", wanted))


def _page(request: ConsoleRequest, asked: Asked) -> tuple[Page, int]:
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
