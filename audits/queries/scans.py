"""What the pages of scans read: the list, one scan as it goes, its hits, the sessions behind them.

Inside a workspace scope. Rows of hits carry memory text as it is now:
templates draw it with ``memory_text``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records import scans
from records.cursors import Page, list_key, make_page, open_cursor
from records.models import Scan
from records.scans.finishing import COUNTS

PAGE = 50
SAMPLE = 20
TOP_SESSIONS = 5
LIVE_WINDOW = timedelta(seconds=60)  # by which the speed of a scan under way is told

LIST = """SELECT s.id, s.number, s.mode, s.rules_kind, s.ruleset, s.scope, s.scope_title, s.state,
    s.total, s.started_by, s.started_at, s.finished_at, s.paused_at, s.paused_ms, s.error,
    (s.result -> 'diff' ->> 'cleared')::int AS cleared_since,
    coalesce(g.checked, s.checked) AS checked, coalesce(g.new, s.new) AS new,
    coalesce(g.known, s.known) AS known, coalesce(g.cleared, s.cleared) AS cleared,
    coalesce(g.held, s.held) AS held
FROM scan s LEFT JOIN LATERAL (
    SELECT sum(checked) AS checked, sum(new) AS new, sum(known) AS known, sum(cleared) AS cleared,
        sum(held) AS held
    FROM scan_range WHERE scan_id = s.id AND s.state IN ('running', 'paused')) AS g ON true
WHERE s.workspace_id = %(workspace)s AND {where} ORDER BY s.id DESC LIMIT %(limit)s"""

PACE = """SELECT coalesce(sum(facts), 0) AS facts, count(DISTINCT worker) AS workers,
    extract(epoch FROM max(done_at) - min(done_at)) AS seconds, count(*) AS ranges
FROM scan_range WHERE scan_id = %(scan)s AND done_at > %(since)s"""

HITS = """SELECT h.record_id AS id, h.kind, h.stood, h.outcome, h.severity, h.rules, h.is_approved,
    h.is_held, h.version <> r.version AS has_moved, r.status, r.hold_reason, r.subject, r.predicate,
    r.value, r.content, r.session_id, se.external_id AS session, p.name AS partition
FROM scan_hit h JOIN memory_record r ON r.id = h.record_id
JOIN session se ON se.id = r.session_id JOIN partition p ON p.id = r.partition_id
WHERE h.scan_id = %(scan)s AND h.workspace_id = %(workspace)s AND {where}
ORDER BY h.record_id DESC LIMIT %(limit)s"""

SESSIONS = """SELECT r.session_id AS id, se.external_id AS name, p.name AS partition, count(*) AS hits
FROM scan_hit h JOIN memory_record r ON r.id = h.record_id
JOIN session se ON se.id = r.session_id JOIN partition p ON p.id = r.partition_id
WHERE h.scan_id = %(scan)s AND h.workspace_id = %(workspace)s AND h.kind = 'new'
GROUP BY r.session_id, se.external_id, p.name ORDER BY count(*) DESC, r.session_id LIMIT %(most)s"""

SENT = """SELECT o.id, o.state, o.title, o.changed, o.requested_by, o.requested_at
FROM operation o WHERE o.workspace_id = %(workspace)s AND o.kind = 'hold'
  AND o.scope ->> 'scan_id' = %(scan)s AND o.state <> 'preview' ORDER BY o.id DESC LIMIT 5"""

CHOOSE = """SELECT h.record_id AS id FROM scan_hit h JOIN memory_record r ON r.id = h.record_id
WHERE h.scan_id = %(scan)s AND h.workspace_id = %(workspace)s AND h.kind = 'new'
  AND r.status = 'active' AND (%(rule)s::text IS NULL OR %(rule)s = ANY(h.rules))
ORDER BY {order} LIMIT %(most)s"""
ORDERS = {
    "severe": "array_position(ARRAY['critical', 'high', 'medium', 'low', 'info'], h.severity),"
    " h.record_id DESC",
    # Drawn by the scan's id: the same sample each time it is asked for.
    "random": "md5(h.record_id::text || h.scan_id::text)",
}

# The rules that rule were put in force after the last whole scan by them.
UNSCANNED = """SELECT g.number, g.activated_at, g.activated_by FROM gate_ruleset g
WHERE g.workspace_id = %(workspace)s AND g.state = 'active' AND NOT EXISTS (
    SELECT 1 FROM scan s WHERE s.workspace_id = g.workspace_id AND s.scope_key = ''
      AND s.started_at >= g.activated_at AND s.rules_kind = 'active'
      AND s.state IN ('running', 'paused', 'done'))"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan is, how fast it goes, and when it will be done."""

    counts: dict[str, int]
    facts_per_second: float | None
    workers: int
    remaining: timedelta | None
    seen: int

    @property
    def checked(self) -> int:
        """How many facts are dealt with, in whatever way."""
        return self.seen


def list_scans(*, cursor: str | None, workspace_id: UUID, limit: int = PAGE) -> Page:
    """Return a page of scans, the newest first. BadRequest: the cursor is not one of this list."""
    key = list_key("console.scans", workspace_id)
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "limit": limit + 1}
    where = "true"
    if place is not None:
        where = "s.id < %(after)s"
        values["after"] = UUID(place[0])
    rows = fetch(LIST.format(where=where), values)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def load_progress(scan: Scan, *, now: datetime) -> Progress:
    """Return how far a scan is; of one that ended, what it came to."""
    if scan.state not in ("running", "paused"):
        counts = {name: getattr(scan, name) for name in COUNTS}
        return Progress(counts, None, 0, None, _dealt_with(counts))
    counts = scans.sums(scan)
    (pace,) = fetch(PACE, {"scan": scan.id, "since": now - LIVE_WINDOW})
    speed = None
    # The first range's own time is not in the span between the ends: one less counts.
    if pace["ranges"] > 1 and pace["seconds"]:
        speed = pace["facts"] * (pace["ranges"] - 1) / pace["ranges"] / float(pace["seconds"])
    seen = _dealt_with(counts)
    left = timedelta(seconds=max(scan.total - seen, 0) / speed) if speed else None
    return Progress(counts, speed, pace["workers"], left, seen)


def _dealt_with(counts: dict[str, int]) -> int:
    return counts["checked"] + counts["failed"] + counts["gone"]


def list_hits(
    scan_id: UUID,
    *,
    kind: str | None = None,
    rule: str | None = None,
    cursor: str | None,
    workspace_id: UUID,
    limit: int = SAMPLE,
) -> Page:
    """Return a page of a scan's hits, the newest facts first."""
    key = list_key("console.scan_hits", workspace_id, scan_id, kind, rule)
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "scan": scan_id, "limit": limit + 1}
    where = ["true"]
    if kind is not None:
        where.append("h.kind = %(kind)s")
        values["kind"] = kind
    if rule is not None:
        where.append("%(rule)s = ANY(h.rules)")
        values["rule"] = rule
    if place is not None:
        where.append("h.record_id < %(after)s")
        values["after"] = UUID(place[0])
    rows = fetch(HITS.format(where=" AND ".join(where)), values)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def list_sessions(scan_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the sessions that wrote most of the new hits."""
    return fetch(SESSIONS, {"scan": scan_id, "workspace": workspace_id, "most": TOP_SESSIONS})


def list_sent(scan_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the operations that sent hits of this scan to the queue."""
    return fetch(SENT, {"scan": str(scan_id), "workspace": workspace_id})


def choose_hits(
    scan_id: UUID, *, rule: str | None, order: str, most: int, workspace_id: UUID
) -> tuple[UUID, ...]:
    """Return that many new hits which are still in service, in an order of ``ORDERS``."""
    rows = fetch(
        CHOOSE.format(order=ORDERS[order]),
        {"scan": scan_id, "workspace": workspace_id, "rule": rule, "most": most},
    )
    return tuple(row["id"] for row in rows)


def load_unscanned(workspace_id: UUID) -> dict[str, Any] | None:
    """Return the active set when no scan of everything has been made by it; None: nothing to do."""
    rows = fetch(UNSCANNED, {"workspace": workspace_id})
    return rows[0] if rows else None


def last_whole(workspace_id: UUID) -> Scan | None:
    """Return the last whole scan of everything."""
    return (
        Scan.objects.filter(workspace_id=workspace_id, scope_key="", state="done")
        .order_by("-id")
        .first()
    )
