"""Statements of the notifications: what a rule looks at, and the lists of their pages.

Inside a workspace scope.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from records import queries
from records.cursors import LIMIT, Page, list_key, make_page, open_cursor

# A worker that is replaced is no failure of the job; a run that is given up is.
FAILED = """SELECT id, job FROM job_run WHERE workspace_id = %s AND state IN ('failed', 'lost')
    AND finished_at > %s AND finished_at <= %s ORDER BY finished_at LIMIT %s"""
ODD = """SELECT session_id, score FROM session_suspicion WHERE workspace_id = %s
    AND score > 0 AND computed_at > %s AND computed_at <= %s ORDER BY score DESC LIMIT %s"""
UNANSWERED = """SELECT id, opened_at FROM incident WHERE workspace_id = %s AND state = 'open'
    AND acknowledged_at IS NULL ORDER BY opened_at LIMIT %s"""
CHANNELS = """SELECT c.id, c.name, c.kind, c.place, c.is_active, c.created_by, c.created_at,
    last.state, last.created_at, last.fault
FROM notice_channel c
LEFT JOIN LATERAL (SELECT state, created_at, fault FROM notice n WHERE n.workspace_id = c.workspace_id
                   AND n.channel_id = c.id ORDER BY n.id DESC LIMIT 1) AS last ON true
WHERE c.workspace_id = %s AND c.removed_at IS NULL ORDER BY c.created_at, c.id LIMIT 200"""
RULES = """SELECT r.id, r.kind, r.threshold, r.quiet_minutes, r.is_active, r.created_by,
    r.created_at, c.id, c.name, c.kind, c.is_active
FROM notice_rule r JOIN notice_channel c ON c.id = r.channel_id
WHERE r.workspace_id = %s AND r.removed_at IS NULL ORDER BY r.kind, r.created_at LIMIT 200"""
DELIVERIES = """SELECT n.id, n.kind, n.target_kind, n.target, n.numbers, n.more, n.is_test,
    n.created_at, n.state, n.attempts, n.next_at, n.sent_at, n.fault, c.name, c.kind
FROM notice n JOIN notice_channel c ON c.id = n.channel_id
WHERE n.workspace_id = %(workspace)s AND (%(state)s = '' OR n.state = %(state)s)
  AND (%(before)s::uuid IS NULL OR n.id < %(before)s)
  AND (%(only)s::uuid IS NULL OR n.id = %(only)s) ORDER BY n.id DESC LIMIT %(limit)s"""
ATTEMPTS = """SELECT at, millis, fault FROM notice_attempt WHERE workspace_id = %s AND notice_id = %s
ORDER BY at DESC LIMIT 50"""


def load_numbers(workspace_id: UUID) -> dict[str, Any] | None:
    """Return the workspace's last measurement."""
    with queries.cursor() as cursor:
        cursor.execute("SELECT numbers FROM measure WHERE workspace_id = %s", [workspace_id])
        row = cursor.fetchone()
    if row is None:
        return None
    found: dict[str, Any] = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return found


def load_failed(
    workspace_id: UUID, since: datetime, until: datetime, most: int
) -> list[tuple[UUID, str]]:
    """Return the runs that failed in a stretch of time, and of which jobs."""
    return [(row[0], row[1]) for row in _rows(FAILED, [workspace_id, since, until, most])]


def load_odd(
    workspace_id: UUID, since: datetime, until: datetime, most: int
) -> list[tuple[UUID, int]]:
    """Return the sessions that were scored in a stretch of time, with their scores."""
    return [(row[0], row[1]) for row in _rows(ODD, [workspace_id, since, until, most])]


def load_unanswered(workspace_id: UUID, most: int) -> list[tuple[UUID, datetime]]:
    """Return the open incidents that nobody has acknowledged, the oldest first."""
    return [(row[0], row[1]) for row in _rows(UNANSWERED, [workspace_id, most])]


def list_channels(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the channels, with what became of the newest notice of each."""
    names = "id name kind place is_active created_by created_at last_state last_at last_fault"
    return _named(names, CHANNELS, [workspace_id])


def list_rules(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the rules with the names of their channels."""
    names = (
        "id kind threshold quiet_minutes is_active created_by created_at"
        " channel_id channel channel_kind channel_is_active"
    )
    return _named(names, RULES, [workspace_id])


def list_deliveries(workspace_id: UUID, *, state: str, cursor: str | None) -> Page:
    """Return a page of notices, the newest first."""
    key = list_key("notices", workspace_id, state)
    place = open_cursor(cursor, key=key)
    rows = _deliveries(workspace_id, state=state, before=place[0] if place else None)
    return make_page(rows, limit=LIMIT, key=key, place=lambda row: [row["id"]])


def find_delivery(workspace_id: UUID, notice_id: UUID) -> dict[str, Any] | None:
    """Return one notice as the list shows it."""
    return next(iter(_deliveries(workspace_id, only=notice_id)), None)


def list_attempts(workspace_id: UUID, notice_id: UUID) -> list[dict[str, Any]]:
    """Return the newest attempts at one notice."""
    return _named("at millis fault", ATTEMPTS, [workspace_id, notice_id])


def _deliveries(
    workspace_id: UUID, *, state: str = "", before: str | None = None, only: UUID | None = None
) -> list[dict[str, Any]]:
    names = (
        "id kind target_kind target numbers more is_test created_at state attempts next_at"
        " sent_at fault channel channel_kind"
    )
    values = {
        "workspace": workspace_id,
        "state": state,
        "before": before,
        "only": only,
        "limit": LIMIT + 1,
    }
    rows = _named(names, DELIVERIES, values)
    for row in rows:
        row["numbers"] = as_json(row["numbers"])
    return rows


def _named(names: str, statement: str, values: Any) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in _rows(statement, values)]


def _rows(statement: str, values: Any) -> list[queries.Row]:
    with queries.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def as_json(value: Any) -> Any:
    """Return a JSON column, which Django's connection hands out as text."""
    return json.loads(value) if isinstance(value, str) else value
