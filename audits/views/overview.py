"""The overview: what there is, what waits, whether it is sound; and how to begin."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.queries import overview as queries
from audits.views.pages import reading, show
from records.domain.facts import Status
from records.jobs.overview import overview as job_overview

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


@require_safe
@require(Permission.VIEW)
def show_overview(request: ConsoleRequest) -> HttpResponse:
    """Show what the workspace holds; what takes longer comes after the page."""
    if request.session.get("place") != str(request.here.id):
        request.session["place"] = str(request.here.id)
    with reading(request):
        found = queries.load_overview(request.here.id)
    now = timezone.now()
    jobs = job_overview(request.here.id, now=now)
    context = {
        "overview": found,
        "cap": queries.COUNT_CAP,
        "statuses": [
            (status, STATUS_MEANINGS[status], found.statuses.get(status, 0)) for status in Status
        ],
        "troubled": [job for job in jobs if job.state in ("failed", "lost")],
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
    """Show the last day's writes and the check for duplicates: a piece, or a page of its own."""
    with reading(request):
        day = queries.load_day(request.here.id, now=timezone.now())
        duplicates = queries.load_duplicates(request.here.id)
    most = max(day.decisions.values(), default=0)
    context = {
        "day": day,
        "duplicates": duplicates,
        "decisions": [
            (name, count, round(100 * count / most) if most else 0)
            for name, count in day.decisions.items()
        ],
    }
    template = "overview/_last_day.html" if request.htmx else "overview/last_day.html"
    return show(request, template, context)
