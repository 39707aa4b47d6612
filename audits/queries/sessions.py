"""Sessions with their rollups, one session's facts by status, and where they were served.

Owns the statements. The list reads ``session_totals``, which the write path
keeps; it never groups over facts. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
SAMPLED = 200  # a session's newest facts, of which the list tells predicates and serves
EXPOSED_CAP = 50_000

ROW = """SELECT s.id, s.external_id AS session, s.synthesised, s.agent, s.extracted_by,
    s.partition_id,
    p.name AS partition, s.first_write_at, coalesce(t.last_write_at,
    s.first_write_at) AS last_write_at,
    s.suspended_at, s.suspended_by, s.suspended_reason, coalesce(t.writes, 0) AS writes,
    coalesce(t.added, 0) AS added, coalesce(t.reinforced, 0) AS reinforced, coalesce(t.updated,
    0) AS updated,
    coalesce(t.contested, 0) AS contested, coalesce(t.echoed, 0) AS echoed, coalesce(t.late,
    0) AS late,
    coalesce(t.fenced, 0) AS fenced, coalesce(t.quarantined, 0) AS quarantined,
    coalesce(t.rejected, 0) AS rejected,
    (coalesce(t.quarantined, 0) + coalesce(t.contested, 0))::float / nullif(t.writes,
    0) AS held_share,
    coalesce(t.rejected, 0)::float / nullif(t.writes, 0) AS rejected_share
"""
HELD_SHARE = "(t.quarantined + t.contested) >= %(held)s * t.writes"

SAMPLE = f"""SELECT s.id, count(DISTINCT r.predicate), count(r.id), coalesce(sum(v.serves),
    0)::bigint
FROM unnest(%(ids)s::uuid[]) AS s (id)
LEFT JOIN LATERAL (SELECT record_id FROM claim WHERE session_id = s.id
                   ORDER BY record_id DESC LIMIT {SAMPLED}) c ON true
LEFT JOIN memory_record r ON r.id = c.record_id
LEFT JOIN LATERAL (SELECT count(*) AS serves FROM (
    SELECT 1 FROM serve WHERE record_id = c.record_id LIMIT 1000) AS one) v ON true
GROUP BY s.id"""

STATUSES = """SELECT r.status, count(*) FROM (
    SELECT DISTINCT record_id FROM claim WHERE session_id = %(id)s LIMIT %(most)s) c
JOIN memory_record r ON r.id = c.record_id WHERE r.workspace_id = %(workspace)s
GROUP BY r.status ORDER BY count(*) DESC"""

EXPOSURE = """WITH mine AS MATERIALIZED (
    SELECT DISTINCT record_id FROM claim WHERE session_id = %(id)s LIMIT %(most)s)
SELECT count(DISTINCT m.record_id), count(DISTINCT v.record_id), count(v.record_id),
    count(DISTINCT v.session_id), max(v.at)
FROM mine m LEFT JOIN serve v ON v.record_id = m.record_id AND v.workspace_id = %(workspace)s"""

EVENTS = """SELECT e.id, e.at, e.action, e.outcome, e.actor_kind, e.actor, e.role, e.session_id,
    e.reason,
    e.request_id, e.count, e.details, e.target_kind, e.target_id, NULL AS position
FROM event e WHERE e.session_id = %(id)s AND e.workspace_id = %(workspace)s AND e.id < %(before)s
ORDER BY e.id DESC LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list; what is ``None`` filters nothing."""

    partition_id: UUID | None = None
    session: str | None = None
    agent: str | None = None
    state: str | None = None  # "serving" or "suspended"
    held: float | None = None  # at least this share of writes held
    writes: int | None = None  # at least so many writes

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything."""
        return not any(value is not None for value in asdict(self).values())


@dataclass(frozen=True, slots=True)
class Exposure:
    """How far a session's facts got: the sentence of the session page."""

    facts: int
    served_facts: int
    serves: int
    sessions: int
    last_at: datetime | None


def list_sessions(wanted: SessionFilter, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of sessions, the last to write first. BadRequest: a cursor of another list."""
    key = list_key("console.sessions", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "limit": PAGE + 1}
    where = ["t.workspace_id = %(workspace)s"]
    if wanted.partition_id is not None:
        where.append("t.partition_id = %(partition)s")
        values["partition"] = wanted.partition_id
    for column, value in (("external_id", wanted.session), ("agent", wanted.agent)):
        if value is not None:
            where.append(f"s.{column} = %({column})s")
            values[column] = value
    if wanted.state is not None:
        where.append(f"s.suspended_at IS {'NOT ' if wanted.state == 'suspended' else ''}NULL")
    if wanted.held is not None:
        where.append(HELD_SHARE)
        values["held"] = wanted.held
    if wanted.writes is not None:
        where.append("t.writes >= %(writes)s")
        values["writes"] = wanted.writes
    if place is not None:
        where.append(
            "(t.last_write_at < %(at)s OR t.last_write_at = %(at)s AND t.session_id > %(after)s)"
        )
        values |= {"at": datetime.fromisoformat(place[0]), "after": UUID(place[1])}
    rows = fetch(
        f"""{ROW} FROM session_totals t JOIN session s ON s.id = t.session_id
            JOIN partition p ON p.id = s.partition_id WHERE {" AND ".join(where)}
            ORDER BY t.last_write_at DESC, t.session_id LIMIT %(limit)s""",
        values,
    )
    return make_page(
        rows, limit=PAGE, key=key, place=lambda row: [row["last_write_at"].isoformat(), row["id"]]
    )


def load_session(session_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one session with its rollup; ``None`` for unknown and foreign alike."""
    found = fetch(
        f"""{ROW} FROM session s LEFT JOIN session_totals t ON t.session_id = s.id
            JOIN partition p ON p.id = s.partition_id
            WHERE s.id = %(id)s AND s.workspace_id = %(workspace)s""",
        {"id": session_id, "workspace": workspace_id},
    )
    return found[0] if found else None


def sample_sessions(session_ids: Sequence[UUID]) -> list[tuple[UUID, int, int, int]]:
    """Return predicates, facts and serves of each session's newest facts."""
    with connection.cursor() as cursor:
        cursor.execute(SAMPLE, {"ids": list(session_ids)})
        return [(row[0], row[1], row[2], int(row[3])) for row in cursor.fetchall()]


def count_statuses(session_id: UUID, *, workspace_id: UUID) -> list[tuple[str, int]]:
    """Return how the session's facts stand now."""
    with connection.cursor() as cursor:
        cursor.execute(STATUSES, {"id": session_id, "workspace": workspace_id, "most": EXPOSED_CAP})
        return [(row[0], row[1]) for row in cursor.fetchall()]


def load_exposure(session_id: UUID, *, workspace_id: UUID) -> Exposure:
    """Count where the session's facts were served."""
    with connection.cursor() as cursor:
        cursor.execute(EXPOSURE, {"id": session_id, "workspace": workspace_id, "most": EXPOSED_CAP})
        row = cursor.fetchone()
    assert row is not None
    return Exposure(*row)


def list_events(session_id: UUID, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of what happened in and to the session, the last first."""
    key = list_key("console.session_events", workspace_id, session_id)
    place = open_cursor(cursor, key=key)
    rows = fetch(
        EVENTS,
        {
            "id": session_id,
            "workspace": workspace_id,
            "before": int(place[0]) if place else 2**62,
            "limit": PAGE + 1,
        },
    )
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["id"]])
