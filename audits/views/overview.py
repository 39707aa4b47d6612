"""The overview: is memory safe right now, and are we keeping up? And how to begin."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import psycopg
from django.core.cache import cache
from django.db import Error, transaction
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits import duplicates, figures
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.figures import read_span
from audits.queries import overview as queries
from audits.queries.attention import list_needs
from audits.views import attention
from audits.views.charts import charted
from audits.views.figures import REMEMBERED, names, ranges
from audits.views.pages import reading, show, url
from records.domain.facts import Status
from records.jobs.overview import read_overview

logger = logging.getLogger(__name__)
SHOWN_JOBS = 8
STATUS_MEANINGS = {
    Status.ACTIVE: "Served to agents",
    Status.QUARANTINED: "Waiting for a decision",
    Status.REJECTED: "Turned away for good",
    Status.SUPERSEDED: "Replaced by a newer fact",
    Status.RETRACTED: "Marked wrong",
    Status.EVICTED: "Taken out, can be restored",
    Status.ERASED: "Content destroyed",
}
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that opens its list; ``None`` when it could not be counted now."""

    name: str
    number: int | None
    label: str
    href: str
    status: bool = False
    icon: str = ""
    since: datetime | None = None  # of the oldest, or of the last good count


@require_safe
@require(Permission.VIEW)
@charted
def show_overview(request: ConsoleRequest) -> HttpResponse:
    """Show what needs a person and what the workspace holds; the charts come after the page."""
    if request.session.get("place") != str(request.here.id):
        request.session["place"] = str(request.here.id)
    here, now = request.here.id, timezone.now()
    span, warnings = read_span(request.GET)
    with reading(request):
        statuses, status_at = counted(f"statuses.{here}", lambda: queries.load_statuses(here))
        state, state_at = counted(f"state.{here}", lambda: queries.load_state(here))
        needs, _ = counted(f"needs.{here}", lambda: list_needs(workspace_id=here, now=now))
        jobs = read_overview(here, now=now)
    context: dict[str, Any] = {
        **ranges(span),
        "warnings": warnings,
        "is_empty": statuses is not None and not any(statuses.values()),
        "keys": state.keys if state else 0,
        "cap": queries.COUNT_CAP,
        "tiles": _tiles(request, statuses, status_at, state, state_at),
        "needs": [
            *attention.of_trail(request, getattr(request, "shell", None)),
            *attention.of_rows(request, needs or ()),
            *attention.of_jobs(request, [job for job in jobs if job.state in ("failed", "lost")]),
        ],
        "is_partly_known": needs is None,
        "figures": names(figures.OVERVIEW),
        "recent_jobs": sorted(
            (job for job in jobs if job.started_at),
            key=lambda job: job.started_at or now,
            reverse=True,
        )[:SHOWN_JOBS],
        "api_url": request.build_absolute_uri("/api/v1/memories"),
    }
    return show(request, "overview/overview.html", context)


@require_safe
@require(Permission.VIEW)
def show_day(request: ConsoleRequest) -> HttpResponse:
    """Show the last day's writes and the duplicate ratio: a piece, or a page of its own."""
    with reading(request):
        day = queries.load_day(request.here.id, now=timezone.now())
        ratio = duplicates.load_ratio(request.here.id)
    most = max(day.decisions.values(), default=0)
    context = {
        "day": day,
        "ratio": ratio,
        "decisions": [
            (name, count, round(100 * count / most) if most else 0)
            for name, count in day.decisions.items()
        ],
    }
    template = "overview/_last_day.html" if request.htmx else "overview/last_day.html"
    return show(request, template, context)


def counted(key: str, load: Callable[[], Found]) -> tuple[Found | None, datetime | None]:
    """Return what ``load`` counts; ``None`` when it fails, with when it last could."""
    try:
        with transaction.atomic():
            found = load()
    except (Error, psycopg.Error):
        logger.exception("A part of the overview failed: %s", key.split(".")[0])
        return None, cache.get(f"overview.{key}")
    cache.set(f"overview.{key}", timezone.now(), REMEMBERED)
    return found, None


def _tiles(
    request: ConsoleRequest,
    statuses: dict[str, int] | None,
    status_at: datetime | None,
    state: queries.State | None,
    state_at: datetime | None,
) -> list[Tile]:
    """Return the ten numbers, in rows of five."""
    oldest = state.oldest_held_at if state else None
    tiles = [
        Tile(
            str(status),
            None if statuses is None else statuses.get(status, 0),
            STATUS_MEANINGS[status],
            url(request, "records", query=f"status={status}"),
            status=True,
            since=status_at
            if statuses is None
            else oldest
            if status is Status.QUARANTINED
            else None,
        )
        for status in Status
    ]
    expired = url(request, "records", query="status=active&standing=expired")
    recheck = url(request, "records", query="status=active&standing=recheck")
    where = f"Wrote, in {state.partitions:,} partition{'' if state.partitions == 1 else 's'}" if (
        state
    ) else "Wrote"  # fmt: skip
    rest = (
        ("expired", "Active, past their validity", expired, "clock"),
        ("recheck", "Active, to be checked again", recheck, "again"),
        ("sessions", where, url(request, "sessions"), "sessions"),
    )
    return tiles + [
        Tile(name, getattr(state, name) if state else None, label, href, icon=icon, since=state_at)
        for name, label, href, icon in rest
    ]
