"""The queue's list: held facts by filter, what changes in them meanwhile, and the way to the next.

Owns reading the queue. The open item is ``queue_item.py``'s, decisions ``queue_acts.py``'s,
decisions on many ``queue_bulk.py``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits import leases
from audits.access import ConsoleRequest, require
from audits.domain.review import BY_CODE
from audits.domain.roles import Permission
from audits.forms.queue import CHOICES, IDS_MOST, AskedQueue, read_filters
from audits.leases import Reviewer
from audits.queries import queue as queries
from audits.queries.queue import Asking
from audits.queries.saved import saved_of
from audits.queries.shell import bound_statements
from audits.templatetags.console import age
from audits.views.pages import done, is_partial, reading, show, url
from records.cursors import Page
from records.domain.facts import Status
from records.items import BadRequest
from records.policies import book
from records.scope import workspace_scope

BAD_CURSOR = "The place in the list could not be read from the URL; this is its beginning."
# What is due when, in words, and the filter that lists it; later is the rest.
AGEING = (
    ("overdue", "overdue", "overdue"),
    ("hour", "due within 1 h", "1h"),
    ("shift", "due within 8 h", "8h"),
    ("later", "due later", ""),
)
NOTHING_OPEN = "Nothing is open to take: what is left is with colleagues, snoozed, or filtered out."


@require_safe
@require(Permission.REVIEW)
def list_queue(request: ConsoleRequest) -> HttpResponse:
    """Show a page of held facts; all of its state is in the URL."""
    with reading(request):
        asked = ask(request)
        asking = asking_of(request)
        page = _page(asked, asking)
        count, newest, views = queries.count_queue(asked.wanted, asking=asking)
        is_stuck = not any(row["lease"] != "colleague" for row in page.items)
        why = queries.explain(asked.wanted, asking=asking) if is_stuck and not asked.after else None
    context: dict[str, Any] = {
        "asked": asked,
        "page": page,
        "count": count,
        "count_cap": queries.COUNT_CAP,
        "serves_cap": queries.SERVES_CAP,
        "newest": newest or "",
        "why": why,
        "is_all_leased": bool(page.items) and is_stuck and asked.after is None,
        "choices": CHOICES,
        "query": asked.query,
        "saved": saved_of("queue", views, query=asked.query, asked_for=request.GET.get("view")),
    }
    template = "queue/_queue_table.html" if is_partial(request) else "queue/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.REVIEW)
def show_states(request: ConsoleRequest) -> HttpResponse:
    """Answer, as JSON, where the facts on somebody's screen stand now, and how many have arrived.

    Asked every few seconds: rows change in place, and none comes or moves.
    """
    seen = _ids(request.GET.get("seen", ""))
    since = _ids(request.GET.get("since", ""))
    now = timezone.now()
    with glancing(request):
        rows = queries.load_states(seen, workspace_id=request.here.id)
        arrivals = 0
        if since:
            asked = ask(request)
            arrivals = queries.count_arrivals(
                asked.wanted, since=since[0], asking=asking_of(request)
            )
    answer = {
        "rows": {str(row["id"]): _state(row, request, now) for row in rows},
        "arrivals": arrivals,
        "arrivals_cap": queries.ARRIVALS_CAP,
    }
    response = JsonResponse(answer)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_safe
@require(Permission.REVIEW)
def show_ageing(request: ConsoleRequest) -> HttpResponse:
    """Show how much is due when: a piece that comes after the list, or a page of its own."""
    with reading(request):
        counted = queries.count_ageing(workspace_id=request.here.id, now=timezone.now())
    total = sum(counted.values())
    parts, start = [], 0.0
    for name, words, due in AGEING:
        width = 100 * counted[name] / total if total else 0
        parts.append({"name": name, "words": words, "due": due, "count": counted[name]})
        parts[-1] |= {"start": round(start, 2), "width": round(width, 2)}
        start += width
    context = {"parts": parts, "total": total, "most": queries.AGEING_CAP}
    template = "queue/_queue_ageing.html" if is_partial(request) else "queue/ageing.html"
    return show(request, template, context)


@require_safe
@require(Permission.REVIEW)
def take_next(request: ConsoleRequest) -> HttpResponse:
    """Lease the next open fact that passes the filter, and go to it; ``skip`` gives one back."""
    with reading(request):
        asked = ask(request)
        lease = next_lease(request, asked, skip=_ids(request.GET.get("skip", "")))
    if lease is None:
        return done(request, NOTHING_OPEN, url(request, "queue", query=asked.query))
    return HttpResponseRedirect(url(request, "queue-item", lease.record_id, query=asked.query))


@contextmanager
def glancing(request: ConsoleRequest) -> Iterator[None]:
    """Open the workspace for an answer that shows no shell and so loads none."""
    with workspace_scope(request.access.workspace_id):
        bound_statements()
        yield


def next_lease(
    request: ConsoleRequest, asked: AskedQueue, *, skip: list[UUID]
) -> leases.Lease | None:
    """Lease what is next under a filter, and give back what is skipped; inside a scope."""
    reviewer = reviewer_of(request)
    leases.give_back(skip, reviewer)
    where, values = queries.conditions(asked.wanted, is_handout=True)
    return leases.take_next(
        reviewer,
        access=request.access,
        now=timezone.now(),
        where=where,
        parameters=values,
        skip=skip,
    )


def ask(request: ConsoleRequest) -> AskedQueue:
    """Read the filters of the URL; inside the scope."""
    return read_filters(request.GET, access=request.access, book=book(request.access.workspace_id))


def asking_of(request: ConsoleRequest) -> Asking:
    """Return who looks, where and when."""
    return Asking(request.here.id, request.user.id, timezone.now())


def reviewer_of(request: ConsoleRequest) -> Reviewer:
    """Return the person as the holder of leases."""
    return Reviewer(request.user.id, request.user.get_username())


def _page(asked: AskedQueue, asking: Asking) -> Page:
    try:
        return queries.list_queue(asked.wanted, cursor=asked.after, asking=asking)
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        return queries.list_queue(asked.wanted, cursor=None, asking=asking)


def _ids(text: str) -> list[UUID]:
    """Read ids that stand in a row; what is none is nobody's."""
    found: list[UUID] = []
    for one in text.split(",")[:IDS_MOST]:
        try:
            found.append(UUID(one))
        except ValueError:
            continue
    return found


def _state(row: dict[str, Any], request: ConsoleRequest, now: Any) -> dict[str, Any]:
    """Say where one fact stands, in the words that the screen shows."""
    if row["status"] != Status.QUARANTINED:
        return {"state": "decided", "says": told(row, request.user.id), "version": row["version"]}
    expires = row["lease_expires_at"]
    if expires is None or expires <= now:
        return {"state": "free", "says": "", "version": row["version"]}
    token = request.GET.get("token", "")
    is_mine = row["lease_user_id"] == request.user.id
    left = age(expires - now)
    return {
        "state": "mine" if is_mine else "colleague",
        "says": f"yours, {left}" if is_mine else f"{row['lease_user']}, {left}",
        "version": row["version"],
        "is_here": not token or str(row["lease_token"]) == token,
    }


WORDS = {
    Status.ACTIVE: "approved",
    Status.SUPERSEDED: "approved into the past",
    Status.REJECTED: "rejected",
}


def told(row: dict[str, Any], me: UUID) -> str:
    """Say what became of a fact, by whom and why."""
    status = Status(row["status"])
    if not row["decided_by"]:
        return str(status)
    who = "you" if row["decided_by_id"] == me else row["decided_by"]
    verb = "edited" if row["verb"] == "edit" else WORDS.get(status, str(status))
    text = f"{verb} by {who} at {row['decided_at']:%H:%M:%S} UTC"
    reason = BY_CODE.get(cast(str, row["reason"]))
    return f"{text}: {reason.label.lower()}" if reason else text
