"""The record page: everything about one fact. What people do to it is ``record_acts.py``'s."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_safe

from audits import factor_charts
from audits.access import ConsoleRequest, require
from audits.domain import acts
from audits.domain.factor_history import replay
from audits.domain.roles import Permission
from audits.queries import factors
from audits.queries import record as queries
from audits.views.charts import charted
from audits.views.pages import is_partial, reading, show
from records.items import BadRequest


@require_safe
@charted
@require(Permission.VIEW)
def show_record(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Show one record; history and serves come after the page."""
    with reading(request):
        context = load(request, record_id)
    return show(request, "record/record.html", context)


@require_safe
@require(Permission.VIEW)
def show_history(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Show what happened to the record: a piece, or a page of its own."""
    with reading(request):
        _must_exist(request, record_id)
        try:
            page = queries.list_events(
                record_id, cursor=request.GET.get("after") or None, workspace_id=request.here.id
            )
        except BadRequest:
            page = queries.list_events(record_id, cursor=None, workspace_id=request.here.id)
    template = "record/_history.html" if is_partial(request) else "record/history.html"
    return show(request, template, {"page": page, "record_id": record_id})


@require_safe
@require(Permission.VIEW)
def show_serves(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Show where the record was served: a piece, or a page of its own."""
    before = _instant(request.GET.get("before", ""))
    with reading(request):
        _must_exist(request, record_id)
        rows = queries.list_serves(
            record_id, before=before, workspace_id=request.here.id, now=timezone.now()
        )
    shown = rows[: queries.SERVES_PAGE]
    context = {
        "serves": shown,
        "older": shown[-1]["at"].isoformat() if len(rows) > len(shown) else "",
        "record_id": record_id,
    }
    template = "record/_serves.html" if is_partial(request) else "record/serves.html"
    return show(request, template, context)


@require_safe
@charted
@require(Permission.VIEW)
def show_factors(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Show what the record's ranking factors were, are and become: a piece, or a page of its own."""
    now = timezone.now()
    with reading(request):
        loaded = factors.load_past(record_id, workspace_id=request.access.workspace_id)
    if loaded is None:
        raise Http404("record")
    chart = factor_charts.of_record(replay(loaded.past, now=now), now=now, zone=loaded.zone)
    template = "record/_factor_history.html" if is_partial(request) else "record/factors.html"
    return show(request, template, {"chart": chart, "record_id": record_id})


def load(request: ConsoleRequest, record_id: UUID) -> dict[str, Any]:
    """Return what the record page draws; 404 for what is unknown, foreign or out of reach."""
    record = queries.load_record(
        record_id, workspace_id=request.access.workspace_id, now=timezone.now()
    )
    if record is None:
        raise Http404("record")
    return {
        "record": record,
        "claims": queries.load_claims(record_id),
        "claims_limit": queries.CLAIMS_LIMIT,
        "chain": queries.load_chain(record),
        "acts": [act for act in acts.acts_on(record["status"]) if request.here.may(act.permission)],
        "spans": spans_of(record),
    }


def spans_of(record: dict[str, Any]) -> dict[str, list[tuple[int, int]]]:
    """Return for each field of a record the places that findings point to."""
    found: dict[str, list[tuple[int, int]]] = {}
    for finding in record["findings"] or ():
        if finding.get("span"):
            start, end = finding["span"]
            found.setdefault(finding["field"], []).append((start, end))
    return found


def _must_exist(request: ConsoleRequest, record_id: UUID) -> None:
    if not queries.is_record(record_id, workspace_id=request.access.workspace_id):
        raise Http404("record")


def _instant(text: str) -> Any:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
