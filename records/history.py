"""One record and its trail: the record, its chain, its claims, its events.

Owns reading what is needed to explain a fact. Unknown, foreign and out of
reach are one NotFound. Lists by filter are ``lists.py``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from records.access import Access
from records.cursors import Page, list_key, make_page, open_cursor
from records.items import NotFound
from records.lists import RECORD, decoded, finish_record, reading

CLAIMS = """SELECT c.session_id, se.external_id AS session, se.agent, se.extracted_by,
    so.name AS source, c.source_id, c.derived, c.state, c.first_at, c.last_at, c.count, c.echoes,
    c.confidence, c.evidence, c.wording,
    (se.suspended_at IS NOT NULL OR so.suspended_at IS NOT NULL) AS suspended
FROM claim c JOIN session se ON se.id = c.session_id JOIN source so ON so.id = c.source_id
WHERE c.record_id = %(id)s
  AND (%(first)s::timestamptz IS NULL
       OR (c.first_at, c.session_id, c.source_id) > (%(first)s, %(session)s::uuid, %(source)s::uuid))
ORDER BY c.first_at, c.session_id, c.source_id LIMIT %(limit)s"""

EVENTS = """SELECT e.id, e.at, e.action, e.outcome, e.actor_kind, e.actor, e.role, e.session_id,
    e.reason, e.request_id, e.count, e.details
FROM event e WHERE e.target_id = %(id)s AND e.id > %(after)s ORDER BY e.id LIMIT %(limit)s"""

# The slot's records, and those that another slot's record replaced or was replaced by
# (an address of a source that moved to another subject).
CHAIN = f"""WITH RECURSIVE linked AS (
    SELECT s.id, s.superseded_by FROM memory_record s WHERE s.slot_id = %(slot)s
    UNION
    SELECT m.id, m.superseded_by FROM memory_record m JOIN linked l
        ON m.superseded_by = l.id OR m.id = l.superseded_by),
page AS MATERIALIZED (
    SELECT r.id FROM memory_record r JOIN linked USING (id)
    WHERE %(at)s::timestamptz IS NULL OR (r.order_at, r.id) > (%(at)s, %(after)s::uuid)
    ORDER BY r.order_at, r.id LIMIT %(limit)s)
{RECORD} ORDER BY r.order_at, r.id"""


def get_memory(record_id: UUID, *, access: Access, now: datetime) -> Mapping[str, Any]:
    """Return one record as people and tools see it."""
    with reading(access) as cur:
        cur.execute(
            f"""WITH page AS (SELECT id FROM memory_record WHERE id = %s AND workspace_id = %s)
                {RECORD}""",
            [record_id, access.workspace_id],
        )
        found = cur.fetchone()
    if found is None:
        raise NotFound("record")
    return finish_record(found, now=now)


def list_chain(
    record_id: UUID, *, limit: int, cursor: str | None, access: Access, now: datetime
) -> Page:
    """Return a page of the records that held or contested the record's slot, in order of time."""
    key = list_key("chain", access.workspace_id, record_id)
    place = open_cursor(cursor, key=key)
    with reading(access) as cur:
        slot = _require(cur, record_id, access)["slot_id"]
        cur.execute(
            CHAIN,
            {
                "slot": slot,
                "at": datetime.fromisoformat(place[0]) if place else None,
                "after": place[1] if place else None,
                "limit": limit + 1,
            },
        )
        rows = [finish_record(row, now=now) for row in cur]
    return make_page(
        rows, limit=limit, key=key, place=lambda row: [row["order_at"].isoformat(), row["id"]]
    )


def list_claims(record_id: UUID, *, limit: int, cursor: str | None, access: Access) -> Page:
    """Return a page of who asserted the record, the first first."""
    key = list_key("claims", access.workspace_id, record_id)
    place = open_cursor(cursor, key=key)
    with reading(access) as cur:
        _require(cur, record_id, access)
        cur.execute(
            CLAIMS,
            {
                "id": record_id,
                "first": datetime.fromisoformat(place[0]) if place else None,
                "session": place[1] if place else None,
                "source": place[2] if place else None,
                "limit": limit + 1,
            },
        )
        rows = cur.fetchall()
    return make_page(
        rows,
        limit=limit,
        key=key,
        place=lambda row: [row["first_at"].isoformat(), row["session_id"], row["source_id"]],
    )


def list_events(record_id: UUID, *, limit: int, cursor: str | None, access: Access) -> Page:
    """Return a page of what happened to the record, in order."""
    key = list_key("events", access.workspace_id, record_id)
    place = open_cursor(cursor, key=key)
    with reading(access) as cur:
        _require(cur, record_id, access)
        after = int(place[0]) if place else 0
        cur.execute(EVENTS, {"id": record_id, "after": after, "limit": limit + 1})
        rows = [{**row, "details": decoded(row["details"])} for row in cur]
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def _require(
    cur: psycopg.Cursor[dict[str, Any]], record_id: UUID, access: Access
) -> dict[str, Any]:
    cur.execute(
        "SELECT slot_id FROM memory_record WHERE id = %s AND workspace_id = %s",
        [record_id, access.workspace_id],
    )
    found = cur.fetchone()
    if found is None:
        raise NotFound("record")
    return found
