"""The numbers of the overview: what there is, what waits, what happened, and whether it is sound.

Every number is counted, never estimated, and up to a bound that keeps the page
quick; beyond it the number says so. Inside a workspace scope. The lists behind
the numbers use the same conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from records.domain.facts import Status

COUNT_CAP = 100_000
EVENTS_CAP = 100_000
DAY = timedelta(hours=24)

STATUSES = """SELECT s.status, (SELECT count(*) FROM (
        SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s AND r.status = s.status
        LIMIT %(most)s) AS one)
FROM unnest(%(statuses)s::text[]) AS s (status)"""

STATE = """SELECT
    (SELECT status_at FROM memory_record WHERE workspace_id = %(workspace)s
        AND status = 'quarantined' ORDER BY status_at LIMIT 1),
    (SELECT count(*) FROM (SELECT 1 FROM session_totals WHERE workspace_id = %(workspace)s
        LIMIT %(most)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM partition WHERE workspace_id = %(workspace)s
        LIMIT %(most)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE workspace_id = %(workspace)s
        AND status = 'active' AND valid_until <= now() LIMIT %(most)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE workspace_id = %(workspace)s
        AND recheck_at IS NOT NULL AND status = 'active' LIMIT %(most)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM api_key WHERE workspace_id = %(workspace)s
        AND revoked_at IS NULL LIMIT %(most)s) AS one)"""

# An act on a record that is there already says where it came from; a write does not.
DECISIONS = """SELECT action, sum(count)::bigint, min(at), count(*) FROM (
    SELECT action, count, at FROM event WHERE workspace_id = %(workspace)s AND at > %(since)s
      AND action = ANY(%(actions)s) AND NOT jsonb_exists(details, 'from')
    ORDER BY id DESC LIMIT %(most)s) AS recent
GROUP BY action"""

WRITE_DECISIONS = (
    "added",
    "reinforced",
    "updated",
    "contested",
    "echoed",
    "late",
    "fenced",
    "quarantined",
    "rejected",
)


@dataclass(frozen=True, slots=True)
class State:
    """What the workspace holds now, besides its records by status."""

    oldest_held_at: datetime | None
    sessions: int
    partitions: int
    expired: int
    recheck: int
    keys: int


@dataclass(frozen=True, slots=True)
class Day:
    """Writes of the last 24 hours by decision; ``since`` is later when the bound cut it short."""

    decisions: dict[str, int]
    since: datetime
    is_cut: bool

    @property
    def total(self) -> int:
        """How many writes were decided."""
        return sum(self.decisions.values())


def load_statuses(workspace_id: UUID) -> dict[str, int]:
    """Count the records by status, each up to the bound."""
    values: dict[str, Any] = {"workspace": workspace_id, "most": COUNT_CAP + 1}
    with connection.cursor() as cursor:
        cursor.execute(STATUSES, {**values, "statuses": [str(one) for one in Status]})
        return dict(cursor.fetchall())


def load_state(workspace_id: UUID) -> State:
    """Count the rest of what the workspace holds."""
    with connection.cursor() as cursor:
        cursor.execute(STATE, {"workspace": workspace_id, "most": COUNT_CAP + 1})
        row = cursor.fetchone()
    assert row is not None
    return State(*row)


def load_day(workspace_id: UUID, *, now: datetime) -> Day:
    """Count the last day's writes by decision, from their events."""
    since = now - DAY
    with connection.cursor() as cursor:
        cursor.execute(
            DECISIONS,
            {
                "workspace": workspace_id,
                "since": since,
                "most": EVENTS_CAP,
                "actions": [f"record.{one}" for one in WRITE_DECISIONS],
            },
        )
        rows = cursor.fetchall()
    found = {action.removeprefix("record."): int(count) for action, count, _, _ in rows}
    is_cut = sum(row[3] for row in rows) >= EVENTS_CAP
    return Day(
        {one: found.get(one, 0) for one in WRITE_DECISIONS},
        min((row[2] for row in rows), default=since) if is_cut else since,
        is_cut,
    )
