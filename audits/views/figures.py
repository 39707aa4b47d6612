"""The charts' pages: all figures, one figure as a piece or a page, and the lists behind the numbers."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import partial
from typing import Any

import psycopg
from django.core.cache import cache
from django.db import Error, transaction
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits import figures
from audits.access import ConsoleRequest, require
from audits.charts import Chart, zone_of
from audits.domain.figures import SPANS, Span, steps_of
from audits.domain.roles import Permission
from audits.figure_parts import Asking
from audits.forms.figures import read_list, read_span
from audits.queries.figure_lists import LISTS, list_behind
from audits.queries.figures import load_zone
from audits.views.charts import charted
from audits.views.pages import is_partial, reading, show, url
from records.items import BadRequest

logger = logging.getLogger(__name__)
REMEMBERED = 7 * 24 * 3600  # seconds that the time of a figure's last success is kept


@require_safe
@require(Permission.VIEW)
@charted
def show_figures(request: ConsoleRequest) -> HttpResponse:
    """Show every figure that is not on the overview; each comes after the page."""
    span, warnings = read_span(request.GET)
    with reading(request):
        zone = load_zone(request.here.id)
    context = {**ranges(span), "figures": names(figures.FIGURES), "zone": zone}
    return show(request, "figures/figures.html", {**context, "warnings": warnings})


@require_safe
@require(Permission.VIEW)
@charted
def show_figure(request: ConsoleRequest, name: str) -> HttpResponse:
    """Show one figure: a piece of the page, or a page of its own. It fails alone."""
    if name not in figures.ALL:
        raise Http404
    span, warnings = read_span(request.GET)
    question, make = figures.ALL[name]
    key = f"figure.{request.here.id}.{name}.{span.name}"
    now = timezone.now()
    charts: list[Chart] = []
    failed_since: datetime | None = None
    is_failed = False
    with reading(request):
        try:
            with transaction.atomic():
                is_zoned = name not in figures.TIMELESS or name == "expiries"
                zone = zone_of(load_zone(request.here.id) if is_zoned else "UTC")
                charts = make(
                    Asking(
                        request.here.id,
                        steps_of(span, zone, now),
                        now,
                        partial(url, request),
                        may_see_trail=request.here.may(Permission.SEE_TRAIL),
                    )
                )
        except (Error, psycopg.Error):
            logger.exception("The figure %s of workspace %s failed", name, request.here.id)
            is_failed, failed_since = True, cache.get(key)
        else:
            cache.set(key, now, REMEMBERED)
    context = {
        **ranges(span),
        "name": name,
        "question": question,
        "charts": charts,
        "is_failed": is_failed,
        "last_good_at": failed_since,
        "counted_at": now,
        "is_timeless": name in figures.TIMELESS,
        "warnings": warnings,
    }
    template = "figures/_figure.html" if is_partial(request) else "figures/figure.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_list(request: ConsoleRequest) -> HttpResponse:
    """Show the rows that a number of a figure counted."""
    asked = read_list(request.GET)
    context: dict[str, Any] = {"asked": asked, "page": None}
    with reading(request):
        if asked.wanted is not None:
            context["list"] = LISTS[asked.wanted.about]
            cursor = request.GET.get("after") or None
            try:
                page = list_behind(asked.wanted, cursor=cursor, workspace_id=request.here.id)
            except BadRequest:
                asked.warnings.append("The place in the list could not be read from the URL.")
                page = list_behind(asked.wanted, cursor=None, workspace_id=request.here.id)
            context["page"] = page
            context["is_first"] = cursor is None
    return show(request, "figures/list.html", context)


def ranges(span: Span) -> dict[str, Any]:
    """Return what the choice of a range is drawn from."""
    return {"span": span, "spans": list(SPANS.values())}


def names(which: Any) -> list[tuple[str, str]]:
    """Return the figures of a place: name and question."""
    return [(name, question) for name, (question, _) in which.items()]
