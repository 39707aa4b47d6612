"""The first audit's page: each number with the list behind it and what to do next."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from audits import first_audit, jobs
from audits.access import ConsoleRequest, require
from audits.domain.categories import MEANINGS, Category
from audits.domain.first_audit import ODD, looks_single
from audits.domain.roles import Permission
from audits.queries import first_audit as queries
from audits.queries.rows import fetch
from audits.views.pages import is_partial, reading, show, url
from records import tasks
from records.cursors import list_key, make_page, open_cursor
from records.items import BadRequest
from records.scope import workspace_scope

SLOTS_A_PAGE = 20
RUN = """SELECT state, started_at, error FROM job_run
WHERE workspace_id = %(workspace)s AND job = %(job)s ORDER BY started_at DESC, id DESC LIMIT 1"""
OPEN = ("queued", "running")


@require_safe
@require(Permission.VIEW)
def show_audit(request: ConsoleRequest) -> HttpResponse:
    """Show the newest audit, or how to make one; while one is made, the page asks again."""
    with reading(request):
        audit = first_audit.last_audit(request.here.id)
        runs = fetch(RUN, {"workspace": request.here.id, "job": jobs.FIRST_AUDIT.name})
    run = runs[0] if runs else None
    context: dict[str, Any] = {
        "audit": audit,
        "n": audit.numbers if audit else {},
        "run": run,
        "is_running": bool(run and run["state"] in OPEN),
        "stopped": _stopped(audit.numbers) if audit else [],
        "odd": ODD,
        "may_start": request.here.may(Permission.RUN_JOBS),
    }
    template = "first_audit/_first_audit.html" if is_partial(request) else "first_audit/audit.html"
    return show(request, template, context)


@require_POST
@require(Permission.RUN_JOBS)
def start_audit(request: ConsoleRequest) -> HttpResponse:
    """Begin an audit in the background."""
    with workspace_scope(request.here.id):
        run_id = tasks.start(jobs.FIRST_AUDIT, access=request.access)
    if run_id is None:
        messages.warning(request, "Nothing was started: an audit is under way.")
    return HttpResponseRedirect(url(request, "first-audit"))


@require_safe
@require(Permission.VIEW)
def list_contradictions(request: ConsoleRequest) -> HttpResponse:
    """Show the slots in which several values were stated, side by side."""
    with reading(request):
        audit = first_audit.last_audit(request.here.id)
        slots = list(audit.slots) if audit else []
        key = list_key("console.contradictions", request.here.id, str(audit.id if audit else ""))
        warnings: list[str] = []
        try:
            place = open_cursor(request.GET.get("after") or None, key=key)
        except BadRequest:
            place = None
            warnings.append("That place belongs to an older audit; this is the newest's beginning.")
        start = int(place[0]) if place else 0
        shown = [{"place": start + n, "id": one} for n, one in enumerate(slots[start:])]
        page = make_page(
            shown[: SLOTS_A_PAGE + 1],
            limit=SLOTS_A_PAGE,
            key=key,
            place=lambda row: [row["place"] + 1],
        )
        sides = queries.list_sides([row["id"] for row in page.items], workspace_id=request.here.id)
    context = {
        "audit": audit,
        "sides": sides,
        "page": page,
        "warnings": warnings,
        "is_first": start == 0,
        "kept": queries.SLOTS_KEPT,
        "total": len(slots),
    }
    return show(request, "first_audit/contradictions.html", context)


@require_safe
@require(Permission.VIEW)
def list_predicates(request: ConsoleRequest) -> HttpResponse:
    """Show the predicates that nobody has described, with how their values lie."""
    with reading(request):
        rows = queries.list_unknown(request.here.id)
    for row in rows:
        if row.get("subjects"):
            row["per_subject"] = row["facts"] / row["subjects"]
            row["looks_single"] = looks_single(
                row["subjects"], row["crowded"], row["spells"], row["facts"]
            )
    context = {"rows": rows, "newest": queries.NEWEST, "looked": queries.PREDICATES}
    return show(request, "first_audit/predicates.html", context)


def _stopped(numbers: dict[str, int]) -> list[tuple[Category, str, int, int]]:
    """Return what the gate stopped, by what it is about: held and rejected."""
    return [
        (one, MEANINGS[one], numbers[f"held_{one}"], numbers[f"rejected_{one}"])
        for one in Category
        if numbers[f"held_{one}"] or numbers[f"rejected_{one}"]
    ]
