"""The list of records: any filter, keyset pages, newest first, at the cost of the page alone.

Owns the statements. Each filter either walks an index in the order of ids or
narrows to ids first; nothing here grows with an offset. Inside a workspace
scope. Rows carry memory text: templates draw it with ``memory_text``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.categories import Category, found_condition
from audits.queries.overview import COUNT_CAP
from audits.queries.rows import fetch
from audits.queries.saved import VIEWS
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain.facts import Status
from records.domain.ranking import why_not_current
from records.domain.terms import query_terms
from records.holds import HELD

PAGE = 50
QUICK_CAP = 1_000  # counted with the page; the exact count comes after it
BEHIND_CAP = 1_000  # of the newest matches, the sessions behind are told
BEHIND = 8
FOUND_CAP = 10_000  # a search looks at its newest matches; the page says when there are more

ROW = """SELECT r.id, r.partition_id, p.name AS partition, r.subject, r.predicate, r.value,
    r.content,
    r.status, r.hold_reason, r.confidence, r.recorded_at, r.valid_from, r.valid_until, r.recheck_at,
    r.unlisted_at, r.session_id, se.external_id AS session, so.name AS source, r.tags, r.derived,
    r.version, coalesce(t.seen_count, 1) AS seen_count, greatest(t.last_seen,
    r.last_seen) AS last_seen,
    se.suspended_at IS NOT NULL OR so.suspended_at IS NOT NULL AS suspended,
    {held} AS on_legal_hold, {total} AS total
FROM page JOIN memory_record r ON r.id = page.id
JOIN partition p ON p.id = r.partition_id
JOIN session se ON se.id = r.session_id
JOIN source so ON so.id = r.source_id
LEFT JOIN tally t ON t.record_id = r.id
ORDER BY r.id DESC"""

CHOICES = f"""WITH RECURSIVE found AS (
    (SELECT predicate, 1 AS place FROM memory_record WHERE workspace_id = %(workspace)s
     ORDER BY predicate LIMIT 1)
    UNION ALL
    SELECT (SELECT r.predicate FROM memory_record r WHERE r.workspace_id = %(workspace)s
              AND r.predicate > found.predicate ORDER BY r.predicate LIMIT 1), place + 1
    FROM found WHERE found.predicate IS NOT NULL AND place < %(most)s)
SELECT ARRAY(SELECT predicate FROM found WHERE predicate IS NOT NULL ORDER BY predicate)
        AS predicates,
    {VIEWS} AS views"""


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which records to list; what is ``None`` or empty filters nothing."""

    status: str | None = None
    hold_reason: str | None = None
    partition_id: UUID | None = None
    predicate: str | None = None
    session_id: UUID | None = None
    source_id: UUID | None = None
    standing: str | None = None  # "current", "expired", "recheck" or "unlisted"
    tag: str | None = None
    text: str | None = None
    seen: str | None = None  # "again": said more than once
    found: str | None = None  # a category of what the gate found (domain/categories.py)

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything."""
        return not any(value is not None for value in asdict(self).values())


SEEN = {"again": "EXISTS (SELECT 1 FROM tally n WHERE n.record_id = r.id AND n.seen_count > 1)"}
STANDINGS = {
    "current": "r.status = 'active' AND coalesce(r.valid_until, 'infinity') > now()"
    " AND coalesce(r.valid_from, '-infinity') <= now() AND NOT r.demoted",
    "expired": "r.valid_until <= now()",
    "recheck": "r.recheck_at IS NOT NULL",
    "unlisted": "r.unlisted_at IS NOT NULL",
}


def list_records(
    wanted: RecordFilter,
    *,
    cursor: str | None,
    workspace_id: UUID,
    now: datetime,
    limit: int = PAGE,
) -> Page:
    """Return a page of rows. BadRequest: the cursor is not one of this list."""
    return list_and_count(
        wanted, cursor=cursor, workspace_id=workspace_id, now=now, limit=limit, most=0
    )[0]


def list_and_count(
    wanted: RecordFilter,
    *,
    cursor: str | None,
    workspace_id: UUID,
    now: datetime,
    limit: int = PAGE,
    most: int = QUICK_CAP,
) -> tuple[Page, int]:
    """Return a page of rows and, in the same statement, the number of all matches.

    The number stops at ``most`` + 1. BadRequest: the cursor is not one of this list.
    """
    key = list_key("console.records", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "limit": limit + 1, "most": most + 1}
    if place is not None:
        values["after"] = UUID(place[0])
    ids = _ids(wanted, values, is_after=place is not None)
    counted = _ids(wanted, values, is_after=False, is_counted=True) + " LIMIT %(most)s"
    total = f"(SELECT count(*) FROM ({counted}) AS one)" if most else "0"
    statement = (
        f"WITH page AS MATERIALIZED ({ids} LIMIT %(limit)s)\n{ROW.format(total=total, held=HELD)}"
    )
    rows = [_finish(row, now) for row in fetch(statement, values)]
    page = make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])
    if not rows and place is not None and most:
        return page, count_records(wanted, workspace_id=workspace_id, most=most)
    return page, int(rows[0]["total"]) if rows else 0


def count_records(wanted: RecordFilter, *, workspace_id: UUID, most: int = COUNT_CAP) -> int:
    """Count the matches; ``most`` + 1 means that there are more than ``most``."""
    values: dict[str, Any] = {"workspace": workspace_id, "most": most + 1}
    ids = _ids(wanted, values, is_after=False, is_counted=True)
    with connection.cursor() as cur:
        cur.execute(f"SELECT count(*) FROM ({ids} LIMIT %(most)s) AS one", values)
        row = cur.fetchone()
    assert row is not None
    return int(row[0])


def list_behind(wanted: RecordFilter, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the sessions that assert the newest matches, those that assert most of them first."""
    values: dict[str, Any] = {"workspace": workspace_id, "most": BEHIND_CAP}
    ids = _ids(wanted, values, is_after=False)
    return fetch(
        f"""WITH found AS MATERIALIZED ({ids} LIMIT %(most)s),
            behind AS (SELECT c.session_id, count(DISTINCT c.record_id) AS facts
                       FROM found JOIN claim c ON c.record_id = found.id AND c.state <> 'dropped'
                       WHERE c.workspace_id = %(workspace)s
                       GROUP BY c.session_id ORDER BY 2 DESC, 1 LIMIT {BEHIND})
            SELECT s.id, s.external_id AS session, s.agent, p.name AS partition, s.suspended_at,
                behind.facts, c.score, c.reasons, false AS is_stale, false AS is_evicted,
                (SELECT count(*) FROM found) AS found
            FROM behind JOIN session s ON s.id = behind.session_id
            JOIN partition p ON p.id = s.partition_id
            LEFT JOIN session_suspicion c ON c.session_id = s.id
            ORDER BY behind.facts DESC, c.score DESC NULLS LAST, s.id""",
        values,
    )


def _ids(
    wanted: RecordFilter, values: dict[str, Any], *, is_after: bool, is_counted: bool = False
) -> str:
    """Return the statement of the matching ids, newest first, and fill in its values."""
    where = ["r.workspace_id = %(workspace)s"]
    if is_after:
        where.append("r.id < %(after)s")
    if wanted.status is not None:
        where.append("r.status = %(status)s")
        values["status"] = wanted.status
    for column in ("hold_reason", "partition_id", "predicate"):
        value = getattr(wanted, column)
        if value is not None:
            where.append(f"r.{column} = %({column})s")
            values[column] = value
    if wanted.standing is not None:
        where.append(f"({STANDINGS[wanted.standing]})")
    if wanted.seen is not None:
        where.append(SEEN[wanted.seen])
    if wanted.found is not None:
        where.append(found_condition(Category(wanted.found)))
        if wanted.status is None:
            where.append("r.status IN ('quarantined', 'rejected')")  # what the gate stopped
    source = "memory_record r"
    key = "r.id"
    if wanted.hold_reason is not None and wanted.status is None:
        where.append("r.status = 'quarantined'")  # nothing else has one, and an index knows it
    if wanted.text is not None or wanted.tag is not None:
        source = (
            "memconsole_search(%(terms)s, %(tag)s, %(found)s) AS found (id)"
            " JOIN memory_record r ON r.id = found.id"
        )
        key = "found.id"
        values |= {
            "terms": list(query_terms(wanted.text)) if wanted.text else None,
            "tag": wanted.tag,
            "found": FOUND_CAP,
        }
    if wanted.session_id is not None:
        values["session"] = wanted.session_id
        where.append("c.session_id = %(session)s")
        source += " JOIN claim c ON c.record_id = r.id"
        key = "c.record_id" if key == "r.id" else key
    if wanted.source_id is not None:
        values["source"] = wanted.source_id
        where.append(
            "EXISTS (SELECT 1 FROM claim s WHERE s.source_id = %(source)s AND s.record_id = r.id)"
        )
    if is_after and key != "r.id":
        where.append(f"{key} < %(after)s")
    # A session may claim one record through several sources.
    distinct = f"DISTINCT ON ({key}) " if wanted.session_id is not None else ""
    order = "" if is_counted and not distinct else f" ORDER BY {key} DESC"
    return f"SELECT {distinct}r.id FROM {source} WHERE {' AND '.join(where)}{order}"


def _finish(row: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Add what the clock makes of a row: the marks beside its status."""
    row["marks"] = standing_marks(row, now) if row["status"] == Status.ACTIVE else []
    if row["suspended"]:
        row["marks"].append("suspended")
    if row["on_legal_hold"]:
        row["marks"].append("legal_hold")
    return row


def standing_marks(row: dict[str, Any], now: datetime) -> list[str]:
    """Return why an active record is not current, as marks."""
    return list(
        why_not_current(
            at=now,
            valid_from=row["valid_from"],
            valid_until=row["valid_until"],
            is_recheck=row["recheck_at"] is not None,
            is_unlisted=row["unlisted_at"] is not None,
        )
    )


def load_choices(
    workspace_id: UUID, user_id: UUID, *, most: int = 200
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the predicates that records have, and the person's saved views of this list.

    The predicates by skipping through their index: the cost is theirs, not the records'.
    """
    values = {"workspace": workspace_id, "me": user_id, "saved_page": "records", "most": most}
    (row,) = fetch(CHOICES, values)
    return row["predicates"], row["views"]
