"""Sessions with their rollups and scores, one session's facts by status, and its events.

Owns the statements. The list reads ``session_totals``, ``session_signals`` and
``session_suspicion``, which the write path and a job keep; it never groups over
facts. Inside a workspace scope.
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
from records.domain import sketch

PAGE = 50
SAMPLED = 200  # a session's newest facts, of which the list tells predicates and serves
EXPOSED_CAP = 50_000
CLAIMS = 50  # a session whose newest so many claims are dropped counts as evicted
TELLING = 8  # points from which a reason is told in the list
SORTS = ("suspicion", "recent")

ROW = f"""SELECT s.id, s.external_id AS session, s.synthesised, s.agent, s.extracted_by,
    s.partition_id, p.name AS partition, s.first_write_at,
    coalesce(t.last_write_at, s.first_write_at) AS last_write_at,
    s.suspended_at, s.suspended_by, s.suspended_reason, coalesce(t.writes, 0) AS writes,
    coalesce(t.added, 0) AS added, coalesce(t.reinforced, 0) AS reinforced,
    coalesce(t.updated, 0) AS updated, coalesce(t.contested, 0) AS contested,
    coalesce(t.echoed, 0) AS echoed, coalesce(t.late, 0) AS late, coalesce(t.fenced, 0) AS fenced,
    coalesce(t.quarantined, 0) AS quarantined, coalesce(t.rejected, 0) AS rejected,
    (coalesce(t.quarantined, 0) + coalesce(t.contested, 0))::float / nullif(t.writes, 0)
        AS held_share,
    coalesce(t.rejected, 0)::float / nullif(t.writes, 0) AS rejected_share,
    g.made, g.derived, g.subjects, g.predicates, g.fresh::float / nullif(g.made, 0) AS novelty,
    c.score, c.reasons, c.computed_at,
    g.changed_at IS NOT NULL AND (c.looked_at IS NULL OR c.looked_at < g.changed_at) AS is_stale,
    (SELECT bool_and(state = 'dropped') FROM (SELECT state FROM claim WHERE session_id = s.id
        ORDER BY record_id DESC LIMIT {CLAIMS}) AS newest) AS is_evicted,
    i.incident_id, i.incident_number
"""
JOINS = """JOIN partition p ON p.id = s.partition_id
LEFT JOIN session_signals g ON g.session_id = s.id
LEFT JOIN LATERAL (
    SELECT n.id AS incident_id, n.number AS incident_number
    FROM incident_scope o JOIN incident n ON n.id = o.incident_id
    WHERE o.target_id = s.id AND o.kind = 'session' AND o.removed_at IS NULL
    ORDER BY n.state = 'open' DESC, n.number DESC LIMIT 1) i ON true
"""
RANKED = f"""{ROW} FROM session_suspicion c JOIN session_totals t ON t.session_id = c.session_id
JOIN session s ON s.id = c.session_id {JOINS}"""
RECENT = f"""{ROW} FROM session_totals t JOIN session s ON s.id = t.session_id
LEFT JOIN session_suspicion c ON c.session_id = s.id {JOINS}"""
ONE = f"""{ROW}, (SELECT count(*) FROM session_note n WHERE n.session_id = s.id) AS notes
FROM session s LEFT JOIN session_totals t ON t.session_id = s.id
LEFT JOIN session_suspicion c ON c.session_id = s.id {JOINS}"""
HELD = "t.quarantined + t.contested"
SERVED = f"""EXISTS (SELECT 1 FROM (SELECT record_id FROM claim WHERE session_id = s.id
    ORDER BY record_id DESC LIMIT {SAMPLED}) AS newest
    WHERE EXISTS (SELECT 1 FROM serve v WHERE v.record_id = newest.record_id))"""
OUT = f"""coalesce((SELECT bool_and(state = 'dropped') FROM (SELECT state FROM claim
    WHERE session_id = s.id ORDER BY record_id DESC LIMIT {CLAIMS}) AS newest), false)"""

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

EVENTS = """SELECT e.id, e.at, e.action, e.outcome, e.actor_kind, e.actor, e.role, e.session_id,
    e.reason,
    e.request_id, e.count, e.details, e.target_kind, e.target_id, NULL AS position
FROM event e WHERE e.session_id = %(id)s AND e.workspace_id = %(workspace)s AND e.id < %(before)s
ORDER BY e.id DESC LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list, and in which order; what is ``None`` filters nothing."""

    partition_id: UUID | None = None
    session: str | None = None
    agent: str | None = None
    since: datetime | None = None  # of the last write
    until: datetime | None = None
    state: str | None = None  # "serving", "suspended" or "evicted"
    held: float | None = None  # at least this share of writes held
    held_to: float | None = None
    writes: int | None = None  # at least so many writes
    writes_to: int | None = None
    origin: str | None = None  # "talk" or "source"
    served: bool | None = None
    sort: str = "suspicion"

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything, in whatever order."""
        named = asdict(self)
        del named["sort"]
        return not any(value is not None for value in named.values())


def list_sessions(wanted: SessionFilter, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of sessions, the oddest or the last to write first.

    BadRequest: a cursor of another list.
    """
    key = list_key("console.sessions", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    is_ranked = wanted.sort == "suspicion"
    first = "c" if is_ranked else "t"
    where, values = _conditions(wanted, first)
    values |= {"workspace": workspace_id, "limit": PAGE + 1}
    by = "c.score" if is_ranked else "t.last_write_at"
    if place is not None:
        at = int(place[0]) if is_ranked else datetime.fromisoformat(place[0])
        where.append(f"({by} < %(at)s OR {by} = %(at)s AND {first}.session_id > %(after)s)")
        values |= {"at": at, "after": UUID(place[1])}
    rows = fetch(
        f"""{RANKED if is_ranked else RECENT} WHERE {" AND ".join(where)}
            ORDER BY {by} DESC, {first}.session_id LIMIT %(limit)s""",
        values,
    )
    return make_page(
        [_told(row) for row in rows],
        limit=PAGE,
        key=key,
        place=lambda row: [
            row["score"] if is_ranked else row["last_write_at"].isoformat(),
            row["id"],
        ],
    )


def _conditions(wanted: SessionFilter, first: str) -> tuple[list[str], dict[str, Any]]:
    """Return what a list's rows must meet; ``first`` is the table whose order is read."""
    where = [f"{first}.workspace_id = %(workspace)s"]
    values: dict[str, Any] = {}
    for condition, name in (
        (f"{first}.partition_id = %(partition_id)s", "partition_id"),
        ("s.external_id = %(session)s", "session"),
        ("s.agent = %(agent)s", "agent"),
        ("t.last_write_at >= %(since)s", "since"),
        ("t.last_write_at < %(until)s", "until"),
        (f"{HELD} >= %(held)s * t.writes", "held"),
        (f"{HELD} <= %(held_to)s * t.writes", "held_to"),
        ("t.writes >= %(writes)s", "writes"),
        ("t.writes <= %(writes_to)s", "writes_to"),
    ):
        value = getattr(wanted, name)
        if value is not None:
            where.append(condition)
            values[name] = value
    if wanted.state == "evicted":
        where.append(OUT)
    elif wanted.state is not None:
        where.append(f"s.suspended_at IS {'NOT ' if wanted.state == 'suspended' else ''}NULL")
        if wanted.state == "serving":
            where.append(f"NOT {OUT}")
    if wanted.origin is not None:
        where.append(f"coalesce(g.derived, 0) {'>' if wanted.origin == 'source' else '='} 0")
    if wanted.served is not None:
        where.append(SERVED if wanted.served else f"NOT {SERVED}")
    return where, values


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Put the samples into numbers."""
    for name in ("subjects", "predicates"):
        sample = row.pop(name) or []
        row[name] = sketch.estimate(sample)
        row[f"is_{name}_exact"] = sketch.is_exact(sample)
    row["reasons"] = row["reasons"] or []
    row["told"] = [one for one in row["reasons"] if one["points"] >= TELLING][:2]
    row["direction"] = next((one["value"] for one in row["told"] if one["id"] == "direction"), None)
    return row


def load_session(session_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one session with its rollups; ``None`` for unknown and foreign alike."""
    found = fetch(
        f"{ONE} WHERE s.id = %(id)s AND s.workspace_id = %(workspace)s",
        {"id": session_id, "workspace": workspace_id},
    )
    return _told(found[0]) if found else None


def when_scored(workspace_id: UUID) -> datetime | None:
    """Return when the job that keeps the scores last came to an end here."""
    found = fetch(
        """SELECT max(finished_at) AS at FROM job_run
           WHERE workspace_id = %(workspace)s AND job = 'suspicion' AND state = 'done'""",
        {"workspace": workspace_id},
    )
    at: datetime | None = found[0]["at"]
    return at


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
