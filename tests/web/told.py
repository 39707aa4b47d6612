"""Check 34 over the whole suite: every act that a test does leaves an event of its own.

Each POST of a ``Person`` is noted with the events of its request. When all of
``tests/web`` has run, each route that ever succeeded must have told something:
who, by which request, how it ended, and the reason where one was given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connections

# What leaves no event on purpose, and why.
QUIET = {
    "view-save": "a person's own bookmark",
    "view-delete": "a person's own bookmark",
    "queue-lease": "leases never appear in history",
    "queue-next": "leases never appear in history",
}
FIND = """SELECT actor_kind, actor, role, outcome, reason FROM event
WHERE workspace_id = %s AND request_id = %s"""


@dataclass
class Route:
    """What a route's successful POSTs told."""

    posts: int = 0
    told: int = 0
    reasons: int = 0  # POSTs with a reason, and an event
    repeated: int = 0  # of those, where an event has the reason
    faults: list[str] = field(default_factory=list)


ROUTES: dict[str, Route] = defaultdict(Route)


def note(response: Any, workspace_id: UUID, data: Any, who: str) -> None:
    """Note what one POST told."""
    if response.status_code not in (204, 302) and not response.streaming:
        return
    match = getattr(response, "resolver_match", None)
    if (
        match is None
        or not match.url_name
        or response.headers.get("Location", "").startswith("/login")
    ):
        return
    found = ROUTES[match.url_name]
    found.posts += 1
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(FIND, [workspace_id, response.headers["X-Request-ID"]])
        events = cursor.fetchall()
    if not events:
        return
    found.told += 1
    for actor_kind, actor, role, outcome, _ in events:
        if not (actor and outcome) or (actor_kind == "user" and (actor != who or not role)):
            found.faults.append(f"{actor_kind} {actor!r} {role!r} {outcome!r}")
    reason = str(data.get("reason", "")).strip() if isinstance(data, Mapping) else ""
    if reason:
        found.reasons += 1
        found.repeated += any(reason in event[4] for event in events)


def problems() -> list[str]:
    """Return what is wrong with the routes that were noted."""
    wrong = []
    for name, route in sorted(ROUTES.items()):
        wrong += [f"{name}: {fault}" for fault in route.faults]
        if not route.told and name not in QUIET:
            wrong.append(f"{name}: {route.posts} acts left no event")
        if route.reasons and not route.repeated:
            wrong.append(f"{name}: no event has the reason that was given")
    return wrong
