"""One held fact in front of one reviewer: the three panes, the lease, and every panel in their place.

Owns how the open item is drawn, whatever has come between. What is decided is ``queue_acts.py``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audits import leases
from audits.access import ConsoleRequest, require
from audits.domain.review import ADMISSIONS, BY_CODE, LEASE_WARNING, NOTE_LIMIT, REASONS
from audits.domain.roles import Permission
from audits.forms.queue import AskedQueue
from audits.leases import Lease, Leased
from audits.queries.decisions import list_recent
from audits.queries.queue_item import load_item
from audits.views.modal import show_form
from audits.views.pages import is_partial, reading, show, url
from audits.views.queue import ask, asking_of, glancing, reviewer_of
from audits.views.record import spans_of
from records.domain.facts import Status
from records.domain.normalise.text import clean


@dataclass(slots=True)
class Panel:
    """What stands above the item when the way on is not simply deciding."""

    kind: str  # "decided", "leased", "changed", "tab", "erased" or "owes"
    text: str
    errors: list[str] = field(default_factory=list)


@require_safe
@require(Permission.REVIEW)
def show_item(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Open one fact: take its lease where it is to be had, and show it either way."""
    with reading(request):
        asked = ask(request)
        lease, panel = take_lease(request, record_id)
        context = item_context(request, record_id, asked, lease=lease, panel=panel)
    return show_context(request, context)


@require_POST
@require(Permission.REVIEW)
def keep_lease(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Renew a lease, or give it back: by a button, or by the page's last word when it closes."""
    act = request.POST.get("act", "")
    try:
        token = UUID(request.POST.get("token", ""))
    except ValueError:
        return JsonResponse({"error": "token: must be the lease's"}, status=422)
    with glancing(request):
        if act == "renew":
            until = leases.renew(record_id, token, now=timezone.now())
            if until is None:
                return JsonResponse({"error": "the lease is lost"}, status=409)
            return JsonResponse({"seconds": seconds_of(until)})
        leases.release(record_id, token)
    if act == "leave":
        return HttpResponse(status=204)
    return HttpResponseRedirect(url(request, "queue", query=request.GET.urlencode()))


@require_safe
@require(Permission.REVIEW)
def show_recent(request: ConsoleRequest) -> HttpResponse:
    """List the person's last decisions, each with its undo."""
    with reading(request):
        rows = list_recent(request.user.id, workspace_id=request.here.id)
    for row in rows:
        row["why"] = BY_CODE[row["reason"]].label if row["reason"] in BY_CODE else ""
    return show_form(request, "queue/recent", {"recent": rows, "title": "Your last decisions"})


def take_lease(request: ConsoleRequest, record_id: UUID) -> tuple[Lease | None, Panel | None]:
    """Take an item's lease, or say who has it; inside the scope."""
    try:
        return leases.take(
            record_id, reviewer_of(request), access=request.access, now=timezone.now()
        ), None
    except Leased as leased:
        return None, leased_panel(leased)


def leased_panel(leased: Leased) -> Panel:
    """Say who has the item, and until when."""
    return Panel(
        "leased", f"{leased.by} has this item open, until {leased.until:%H:%M:%S} UTC at most."
    )


def item_context(
    request: ConsoleRequest,
    record_id: UUID,
    asked: AskedQueue,
    *,
    lease: Lease | None,
    panel: Panel | None = None,
    draft: Mapping[str, Any] | None = None,
    done: int = 0,
    key: str = "",
    last: str = "",
) -> dict[str, Any]:
    """Return what the open item draws; 404 for what is unknown, foreign or out of reach."""
    item = load_item(
        record_id,
        wanted=asked.wanted,
        asking=asking_of(request),
        book=asked.book,
    )
    if item is None:
        raise Http404("record")
    record = item["record"]
    if panel is None and record["status"] != Status.QUARANTINED:
        panel = decided_panel(record, item["decision"])
    return {
        **item,
        "spans": spans_of(record),
        "asked": asked,
        "lease": lease,
        "lease_seconds": seconds_of(lease.expires_at) if lease else 0,
        "lease_warning": int(LEASE_WARNING.total_seconds()),
        "panel": panel,
        "draft": draft or {},
        # What the reviewer writes does not inherit what nobody sees.
        "edited": (draft or {}).get("value") or clean(record["value"])[0],
        "key": key or uuid4().hex,
        "done": done,
        "reasons": REASONS,
        "admissions": ADMISSIONS,
        "note_limit": NOTE_LIMIT,
        "query": asked.query,
        "last": last,
    }


def decided_panel(record: Mapping[str, Any], decision: Mapping[str, Any] | None) -> Panel:
    """Say what became of the fact, by whom, when and why."""
    if record["status"] == Status.ERASED:
        return Panel("erased", "Its content has been destroyed. There is nothing left to decide.")
    if decision is None or decision["verb"] == "snooze":
        return Panel("decided", f"It is {record['status']} now, without a decision in the queue.")
    who = "you" if decision["mine"] else decision["user"]
    reason = BY_CODE[decision["reason"]].label if decision["reason"] in BY_CODE else ""
    why = f", reason: {reason}" if reason else ""
    verb = {"approve": "Approved", "reject": "Rejected", "edit": "Edited"}.get(
        decision["verb"], "Approved in place of the current value"
    )
    return Panel("decided", f"{verb} by {who} at {decision['decided_at']:%H:%M:%S} UTC{why}.")


def show_context(
    request: ConsoleRequest,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    announce: str = "",
    push: str = "",
) -> HttpResponse:
    """Draw the open item: as the page, or as the piece that takes its predecessor's place."""
    template = "queue/_queue_item.html" if is_partial(request) else "queue/item.html"
    response = show(request, template, context, status=status, announce=announce)
    if push and is_partial(request):
        response.headers["HX-Push-Url"] = push
    return response


def seconds_of(until: datetime) -> int:
    """Return how long a lease still lasts."""
    return max(0, int((until - timezone.now()).total_seconds()))
