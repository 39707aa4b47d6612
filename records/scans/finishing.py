"""How a scan ends: its counts summed, its hits by rule, the difference to the scan before.

Owns the last word on a scan, and the tidying of old ones. Counts come from the
ranges, which are dropped once a scan is whole.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from records import queries
from records.access import Access, Actor, ActorKind
from records.models import Scan
from records.scans.planning import Mode, say
from records.scope import workspace_scope

COUNTS = ("checked", "new", "known", "cleared", "approved", "held", "skipped", "gone", "failed")
KEPT = 30  # scheduled scans of one scope whose hits are kept; of older ones the counts are

SUMS = f"""SELECT {", ".join(f"coalesce(sum({one}), 0)" for one in COUNTS)},
    coalesce(sum(ms), 0) FROM scan_range WHERE scan_id = %s"""
BY_RULE = """SELECT coalesce(jsonb_object_agg(rule, kinds), '{}') FROM (
    SELECT rule, jsonb_object_agg(kind, n) AS kinds FROM (
        SELECT rule, kind, count(*) AS n FROM scan_hit h, unnest(h.rules) AS rule
        WHERE h.scan_id = %s GROUP BY rule, kind) AS each GROUP BY rule) AS every"""
# What failed at the scan before and does not any more: let through now, or out of its reach.
DIFF = """SELECT count(*) FILTER (WHERE h.record_id IS NULL),
    count(*) FILTER (WHERE h.kind = 'cleared'), count(*) FILTER (WHERE h.kind IN ('new', 'known'))
FROM scan_hit p LEFT JOIN scan_hit h ON h.scan_id = %(scan)s AND h.record_id = p.record_id
WHERE p.scan_id = %(previous)s AND p.kind IN ('new', 'known')"""
TIDY = """DELETE FROM scan_hit WHERE scan_id IN (
    SELECT id FROM scan WHERE workspace_id = %(workspace)s AND mode = 'hold' AND scope_key = %(key)s
      AND state = 'done' ORDER BY id DESC OFFSET %(kept)s)"""


def finish(scan_id: UUID, *, workspace_id: UUID) -> bool:
    """End a scan whose ranges are all done; False when it is stopped or others are at work."""
    with workspace_scope(workspace_id), queries.cursor() as cursor:
        scan = (
            Scan.objects.select_for_update()
            .filter(id=scan_id, workspace_id=workspace_id, state="running")
            .first()
        )
        if scan is None:
            return False
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM scan_range WHERE scan_id = %s AND done_at IS NULL)",
            [scan.id],
        )
        row = cursor.fetchone()
        if row is None or row[0]:
            return False
        access = Access(workspace_id, Actor(ActorKind.JOB, "scans"), request_id=str(scan.id))
        end(scan, "done", access=access, now=timezone.now())
        cursor.execute("DELETE FROM scan_range WHERE scan_id = %s", [scan.id])
        if scan.mode == Mode.HOLD:
            cursor.execute(TIDY, {"workspace": workspace_id, "key": scan.scope_key, "kept": KEPT})
        return True


def end(scan: Scan, state: str, *, access: Access, now: datetime) -> None:
    """Write a scan's counts and results down, and say that it ended. Inside a scope."""
    counts = sums(scan)
    for name, number in counts.items():
        setattr(scan, name, number)
    scan.result = {"rules": by_rule(scan.id), **_diff(scan)}
    if scan.paused_at is not None:
        scan.paused_ms += max(0, int((now - scan.paused_at).total_seconds() * 1_000))
    scan.state, scan.finished_at, scan.paused_at = state, now, None
    scan.save()
    action = {"done": "scan.finished", "cancelled": "scan.cancelled"}.get(state, "scan.failed")
    told = {name: counts[name] for name in COUNTS if counts[name]}
    say(action, scan, access, **told)


def sums(scan: Scan) -> dict[str, int]:
    """Return what a scan's ranges add up to by now."""
    with queries.cursor() as cursor:
        cursor.execute(SUMS, [scan.id])
        row = cursor.fetchone()
    assert row is not None
    return {name: int(n) for name, n in zip((*COUNTS, "busy_ms"), row, strict=True)}


def by_rule(scan_id: UUID) -> dict[str, dict[str, int]]:
    """Return a scan's hits by rule and kind. A fact counts for each of its rules."""
    with queries.cursor() as cursor:
        cursor.execute(BY_RULE, [scan_id])
        row = cursor.fetchone()
    found: dict[str, dict[str, int]] = json.loads(row[0]) if row else {}
    return found


def _diff(scan: Scan) -> dict[str, Any]:
    if scan.previous_id is None:
        return {}
    with queries.cursor() as cursor:
        cursor.execute(DIFF, {"scan": scan.id, "previous": scan.previous_id})
        row = cursor.fetchone()
    assert row is not None
    return {"diff": {"left": row[0], "cleared": row[1], "still": row[2]}}
