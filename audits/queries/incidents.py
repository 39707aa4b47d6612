"""The list of incidents, one incident with its work, and what a new one would be about.

Owns the statements. ``contained_at`` and ``evicted_at`` are what the acts wrote
down, or what followed from acts elsewhere: every session and source of the
scope suspended, an eviction of the incident finished. Counting what is served
is ``incident_standing.py``'s. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.incidents import SEVERITIES
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
FACTS_CAP = 1_000  # counted for each row of the list; the incident's own page counts further
ITEMS_MOST = 200

RANK = f"array_position(ARRAY{[str(one) for one in SEVERITIES]!r}, i.severity)"

CONTAINED = """coalesce(i.contained_at, (
    SELECT CASE WHEN bool_and(coalesce(s.suspended_at, so.suspended_at) IS NOT NULL)
                THEN max(coalesce(s.suspended_at, so.suspended_at)) END
    FROM incident_scope x LEFT JOIN session s ON x.kind = 'session' AND s.id = x.target_id
    LEFT JOIN source so ON x.kind = 'source' AND so.id = x.target_id
    WHERE x.incident_id = i.id AND x.removed_at IS NULL AND x.kind IN ('session', 'source')
)) AS contained_at"""
EVICTED = """coalesce(i.evicted_at, (
    SELECT min(o.finished_at) FROM operation o
    WHERE o.incident_id = i.id AND o.kind IN ('evict', 'erase') AND o.state = 'done'
)) AS evicted_at"""
APPROVALS = """(SELECT count(*) FROM operation o JOIN approval a ON a.id = o.approval_id
    WHERE o.incident_id = i.id AND a.state = 'waiting' AND a.expires_at > now()) AS approvals"""

COLUMNS = f"""i.id, i.number, i.title, i.severity, i.state, i.owner_id, i.owner, i.opened_by,
    i.opened_at, i.acknowledged_at, i.acknowledged_by, i.closed_at, i.closed_by, i.merged_into,
    {CONTAINED}, {EVICTED}"""

ROW = f"""SELECT {COLUMNS}, {APPROVALS}, {RANK} AS rank,
    (SELECT count(*) FROM incident_scope x WHERE x.incident_id = i.id AND x.removed_at IS NULL
        AND x.kind = 'session') AS sessions,
    (SELECT count(*) FROM incident_scope x WHERE x.incident_id = i.id AND x.removed_at IS NULL
        AND x.kind = 'text') AS texts,
    (SELECT count(*) FROM (SELECT DISTINCT f.id FROM incident_scope x CROSS JOIN LATERAL (
        SELECT c.record_id AS id FROM claim c WHERE x.kind = 'session'
            AND c.session_id = x.target_id
        UNION ALL
        SELECT c.record_id FROM claim c WHERE x.kind = 'source' AND c.source_id = x.target_id
        UNION ALL
        SELECT m.id FROM memory_record m WHERE x.kind = 'partition'
            AND m.partition_id = x.target_id
        UNION ALL
        SELECT x.target_id WHERE x.kind = 'record'
        LIMIT %(cap)s + 1) f
     WHERE x.incident_id = i.id AND x.removed_at IS NULL LIMIT %(cap)s + 1) AS one) AS facts
FROM incident i"""

# Each order with its key: a NOT NULL expression, ascending.
SORTS: dict[str, tuple[tuple[str, str], ...]] = {
    "urgency": (("(i.state <> 'open')::int", "int"), (RANK, "int"), ("-i.number", "int")),
    "newest": (("-i.number", "int"),),
    "oldest": (("i.number", "int"),),
}

ONE = f"""SELECT {COLUMNS}, i.summary, i.cause, i.lessons, i.origin_kind, i.origin_id,
    i.waived_reason, (SELECT k.number FROM incident k WHERE k.id = i.merged_into) AS merged_number,
    ARRAY(SELECT m.number || ':' || m.id FROM incident m WHERE m.merged_into = i.id
          ORDER BY m.number) AS absorbed,
    (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.created_at, t.id) FROM incident_task t
     WHERE t.incident_id = i.id) AS tasks,
    (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.is_pinned DESC, n.written_at DESC, n.id DESC)
     FROM (SELECT * FROM incident_note n WHERE n.incident_id = i.id
           ORDER BY n.is_pinned DESC, n.id DESC LIMIT %(most)s) n) AS notes
FROM incident i WHERE i.id = %(id)s AND i.workspace_id = %(workspace)s"""

OPERATIONS = """SELECT o.id, o.kind, o.state, o.title, o.total, o.changed, o.restored, o.skipped,
    o.failed, o.dropped_claims, o.restored_claims, o.requested_by, o.created_at, o.started_at,
    o.finished_at, o.undo_until, o.undoes, o.reason, o.receipt, o.first_event, o.last_event,
    o.approval_id, a.state AS approval_state, a.summary AS approval_summary, a.requested_at,
    a.expires_at, a.decided_by
FROM operation o LEFT JOIN approval a ON a.id = o.approval_id
WHERE o.incident_id = %(id)s AND o.workspace_id = %(workspace)s
    AND (o.state <> 'preview' OR %(previews)s)
ORDER BY o.id DESC LIMIT %(most)s"""


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Which incidents to list, and in which order; what is ``None`` filters nothing."""

    state: str | None = None
    severity: str | None = None
    owner: str | None = None  # a member's name; "nobody" for none
    mine: UUID | None = None
    sort: str = "urgency"

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything, in whatever order."""
        return not any((self.state, self.severity, self.owner, self.mine))


def list_incidents(
    wanted: IncidentFilter, *, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> Page:
    """Return a page of incidents. BadRequest: a cursor of another list."""
    key = list_key("console.incidents", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    sort = SORTS[wanted.sort]
    values: dict[str, Any] = {"workspace": workspace_id, "limit": limit + 1, "cap": FACTS_CAP}
    where = ["i.workspace_id = %(workspace)s"]
    for column in ("state", "severity"):
        value = getattr(wanted, column)
        if value is not None:
            where.append(f"i.{column} = %({column})s")
            values[column] = value
    if wanted.mine is not None:
        where.append("i.owner_id = %(mine)s")
        values["mine"] = wanted.mine
    if wanted.owner is not None:
        where.append("i.owner = %(owner)s")
        values["owner"] = "" if wanted.owner == "nobody" else wanted.owner
    keys = ", ".join(expression for expression, _ in sort)
    if place is not None:
        after = ", ".join(f"%(after{n})s::{kind}" for n, (_, kind) in enumerate(sort))
        where.append(f"({keys}) > ({after})")
        values |= {f"after{n}": one for n, one in enumerate(place)}
    rows = fetch(f"{ROW} WHERE {' AND '.join(where)} ORDER BY {keys} LIMIT %(limit)s", values)
    places = {
        "urgency": lambda row: [int(row["state"] != "open"), row["rank"], -row["number"]],
        "newest": lambda row: [-row["number"]],
        "oldest": lambda row: [row["number"]],
    }
    return make_page(rows, limit=limit, key=key, place=places[wanted.sort])


def load_incident(incident_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one incident with its tasks and notes; ``None`` for unknown and foreign alike."""
    found = fetch(ONE, {"id": incident_id, "workspace": workspace_id, "most": ITEMS_MOST})
    if not found:
        return None
    row = found[0]
    for name in ("tasks", "notes"):
        row[name] = [_dated(one) for one in row[name] or ()]
    row["absorbed"] = [
        {"number": int(one.split(":")[0]), "id": UUID(one.split(":")[1])} for one in row["absorbed"]
    ]
    return row


def list_operations(
    incident_id: UUID, *, workspace_id: UUID, previews: bool = False
) -> list[dict[str, Any]]:
    """Return an incident's operations, the newest first, each with its approval."""
    values = {
        "id": incident_id,
        "workspace": workspace_id,
        "previews": previews,
        "most": ITEMS_MOST,
    }
    return fetch(OPERATIONS, values)


def list_members(workspace_id: UUID, *, most: int = 500) -> list[dict[str, Any]]:
    """Return the members who may respond: those to whom an incident can be handed."""
    return fetch(
        """SELECT m.user_id, u.username, m.role FROM membership m
           JOIN audits_user u ON u.id = m.user_id
           WHERE m.workspace_id = %(workspace)s AND m.removed_at IS NULL AND u.is_active
           ORDER BY u.username LIMIT %(most)s""",
        {"workspace": workspace_id, "most": most},
    )


def list_owners(workspace_id: UUID) -> list[str]:
    """Return the names that own incidents here, for the filter."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT DISTINCT owner FROM incident WHERE workspace_id = %s AND owner <> ''
               ORDER BY owner LIMIT 200""",
            [workspace_id],
        )
        return [row[0] for row in cursor.fetchall()]


def list_open(workspace_id: UUID, *, most: int = 200) -> list[dict[str, Any]]:
    """Return the open incidents by number, newest first: where to add to, or merge into."""
    return fetch(
        """SELECT id, number, title, severity FROM incident
           WHERE workspace_id = %(workspace)s AND state = 'open'
           ORDER BY number DESC LIMIT %(most)s""",
        {"workspace": workspace_id, "most": most},
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    """Turn what JSON made of ids and instants back into them."""
    for name, value in row.items():
        if name.endswith("_at") and value is not None:
            row[name] = datetime.fromisoformat(value)
    return row
