"""The list of legal holds, each with what it is placed on, and what a hold would be placed on.

Owns the statements. Inside a workspace scope. Rows carry memory text (names of
what is held): templates draw it with ``memory_text``.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain import canonical
from records.holds import TABLES

PAGE = 50
STATES = ("standing", "released", "all")

# What each kind's target is called; a partition beside it tells two of one name apart.
TARGET = """LEFT JOIN memory_record r ON h.kind = 'record' AND r.id = h.target_id
LEFT JOIN session se ON h.kind = 'session' AND se.id = h.target_id
LEFT JOIN source so ON h.kind = 'source' AND so.id = h.target_id
LEFT JOIN partition p ON p.id = CASE h.kind WHEN 'partition' THEN h.target_id
    WHEN 'record' THEN r.partition_id WHEN 'session' THEN se.partition_id END"""
HOLDS = f"""SELECT h.id, h.kind, h.target_id, h.reason, h.placed_by, h.placed_at, h.released_at,
    h.released_by, h.release_reason, r.subject, r.predicate, r.value, r.status,
    se.external_id AS session, so.name AS source, p.name AS partition,
    (SELECT a.id FROM approval a WHERE a.target_id = h.id AND a.kind = 'legal_hold_release'
        AND a.state = 'waiting' AND a.expires_at > now() LIMIT 1) AS approval_id
FROM legal_hold h {TARGET}"""
# A record is looked up by its id, the others by the name that a person knows them by, too.
FIND = {
    "record": """SELECT r.id, r.subject, r.predicate, r.value, r.status, p.name AS partition
        FROM memory_record r JOIN partition p ON p.id = r.partition_id
        WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s""",
    "session": """SELECT s.id, s.external_id AS session, p.name AS partition
        FROM session s JOIN partition p ON p.id = s.partition_id
        WHERE s.id = %(id)s AND s.workspace_id = %(workspace)s""",
    "source": "SELECT id, name AS source FROM source WHERE id = %(id)s AND workspace_id = %(workspace)s",
    "partition": """SELECT id, name AS partition FROM partition
        WHERE id = %(id)s AND workspace_id = %(workspace)s""",
}


def list_holds(
    *, state: str, kind: str | None, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> Page:
    """Return a page of holds, the newest first. BadRequest: not a cursor of this list."""
    key = list_key("console.holds", workspace_id, state, kind)
    place = open_cursor(cursor, key=key)
    where = ["h.workspace_id = %(workspace)s"]
    if state != "all":
        where.append(f"h.released_at IS {'NOT ' if state == 'released' else ''}NULL")
    if kind is not None:
        where.append("h.kind = %(kind)s")
    if place is not None:
        where.append("h.id < %(after)s")
    rows = fetch(
        f"{HOLDS} WHERE {' AND '.join(where)} ORDER BY h.id DESC LIMIT %(limit)s",
        {
            "workspace": workspace_id,
            "kind": kind,
            "after": UUID(place[0]) if place else None,
            "limit": limit + 1,
        },
    )
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def load_hold(hold_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one hold with its target, or ``None``."""
    found = fetch(
        f"{HOLDS} WHERE h.id = %(id)s AND h.workspace_id = %(workspace)s",
        {"id": hold_id, "workspace": workspace_id},
    )
    return found[0] if found else None


def find_target(
    kind: str, named: str, partition: str, *, workspace_id: UUID
) -> dict[str, Any] | None:
    """Return what somebody named: by its id, or by the name of its kind; ``None`` is nothing."""
    target_id = _id_of(kind, named, partition, workspace_id)
    if target_id is None or kind not in TABLES:
        return None
    found = fetch(FIND[kind], {"id": target_id, "workspace": workspace_id})
    return {**found[0], "kind": kind} if found else None


def _id_of(kind: str, named: str, partition: str, workspace_id: UUID) -> UUID | None:
    try:
        return UUID(named)
    except ValueError:
        pass
    if kind == "partition":
        return canonical.partition_id(workspace_id, named)
    if kind == "source":
        return canonical.source_id(workspace_id, named)
    if kind == "session" and partition:
        within = canonical.partition_id(workspace_id, partition)
        return canonical.session_id(workspace_id, within, named)
    return None
