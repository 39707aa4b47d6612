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
from audits.models import SavedView
from audits.queries import records as queries
from audits.queries.jump import find_target
from audits.queries.overview import COUNT_CAP
from audits.views.pages import is_partial, reading, show, url
from records.cursors import Page
from records.items import BadRequest
from records.policies import book

BAD_CURSOR = "The place in the list could not be read from the URL; this is its beginning."


@require_safe
@require(Permission.VIEW)
def list_records(request: ConsoleRequest) -> HttpResponse:
    """Show a page of records; all of its state is in the URL."""
    with reading(request):
        asked = read_filters(
            request.GET, access=request.access, book=book(request.access.workspace_id)
        )
        page = _page(request, asked)
        context: dict[str, Any] = {
            "asked": asked,
            "page": page,
            "count": queries.count_records(
                asked.wanted, workspace_id=request.here.id, most=queries.QUICK_CAP
            ),
            "quick_cap": queries.QUICK_CAP,
            "found_cap": queries.FOUND_CAP,
            "query": urlencode(asked.values),
        }
        if not is_partial(request):
            context |= {
                "choices": CHOICES,
                "predicates": queries.known_predicates(request.here.id),
                "views": list(
                    SavedView.objects.filter(
                        workspace_id=request.here.id, user=request.user, page="records"
                    ).order_by("name")
                ),
            }
    template = "records/_records_table.html" if is_partial(request) else "records/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def count_records(request: ConsoleRequest) -> HttpResponse:
    """Show how many records match exactly, up to the bound that all counts have."""
    with reading(request):
        asked = read_filters(
            request.GET, access=request.access, book=book(request.access.workspace_id)
        )
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


def _page(request: ConsoleRequest, asked: Asked) -> Page:
    now = timezone.now()
    try:
        return queries.list_records(
            asked.wanted, cursor=asked.after, workspace_id=request.here.id, now=now
        )
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        return queries.list_records(
            asked.wanted, cursor=None, workspace_id=request.here.id, now=now
        )
