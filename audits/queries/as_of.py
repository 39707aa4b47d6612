"""What a partition's agent believed at a moment, with what has become of it since.

Owns the statements. Inside a workspace scope. When a record was believed is
kept as intervals in its row (``believed``), so the answer stays true whatever
happened later; whether it held in the world at another time is
``records.retrieve.past``'s condition. Rows carry memory text: templates draw
it with ``memory_text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain.terms import query_terms
from records.retrieve import past

PAGE = 50
PIECE = 1_000  # rows read at once for a file
COUNT_CAP = 10_000
EVENTS_SHOWN = 3

SUSPENDED = """EXISTS (SELECT 1 FROM session s WHERE s.id = m.session_id AND s.suspended_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM source s WHERE s.id = m.source_id AND s.suspended_at IS NOT NULL)"""
# Served then is not served now: an agent that asks about the past does not get these.
WITHHELD = f"(NOT m.{past.ANSWERS} OR {SUSPENDED})"

ROWS = f"""WITH page AS MATERIALIZED (
    SELECT m.id FROM memory_record m WHERE {{where}} ORDER BY m.id DESC LIMIT %(limit)s)
SELECT m.id, m.subject, m.predicate, m.value, m.content, m.status, m.hold_reason, m.confidence,
    m.valid_from, m.valid_until, m.recorded_at, m.superseded_by, m.status_at, m.session_id,
    se.external_id AS session, so.name AS source, {WITHHELD} AS is_withheld,
    ({SUSPENDED}) AS is_suspended, coalesce(since.events, '[]') AS since, since.more
FROM page JOIN memory_record m ON m.id = page.id
JOIN session se ON se.id = m.session_id JOIN source so ON so.id = m.source_id
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('at', e.at, 'action', e.action, 'actor_kind', e.actor_kind,
               'actor', e.actor, 'reason', e.reason) ORDER BY e.id DESC)
               FILTER (WHERE e.place <= {EVENTS_SHOWN}) AS events,
           greatest(count(*) - {EVENTS_SHOWN}, 0) AS more
    FROM (SELECT v.*, row_number() OVER (ORDER BY v.id DESC) AS place FROM event v
          WHERE v.target_id = m.id AND v.workspace_id = %(workspace)s AND v.at > %(as_of)s
          ORDER BY v.id DESC LIMIT 100) AS e) AS since ON true
ORDER BY m.id DESC"""

COUNTS = f"""SELECT count(*) AS believed, count(*) FILTER (WHERE is_withheld) AS withheld,
    count(*) FILTER (WHERE status = 'superseded') AS superseded
FROM (SELECT m.status, {WITHHELD} AS is_withheld FROM memory_record m WHERE {{where}}
      LIMIT %(cap)s) AS one"""


@dataclass(frozen=True, slots=True)
class Moment:
    """Which belief: of a partition, at an instant, about the world at ``valid_at``, with words."""

    partition_id: UUID
    as_of: datetime
    valid_at: datetime | None = None
    text: str | None = None


def list_believed(
    wanted: Moment, *, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> Page:
    """Return a page of what was believed, the newest first. BadRequest: a cursor of another list."""
    key = list_key("console.as_of", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    rows = _rows(wanted, UUID(place[0]) if place else None, limit + 1, workspace_id)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def count_believed(wanted: Moment, *, workspace_id: UUID) -> dict[str, int]:
    """Count what was believed, and how much of it is withheld or superseded now; capped."""
    where, values = _conditions(wanted, workspace_id)
    (row,) = fetch(COUNTS.format(where=where), {**values, "cap": COUNT_CAP + 1})
    return {name: int(count) for name, count in row.items()}


def pieces_of_believed(wanted: Moment, *, workspace_id: UUID) -> Iterator[list[dict[str, Any]]]:
    """Yield everything that was believed, a piece at a time; the caller scopes each piece."""
    after: UUID | None = None
    while True:
        rows = _rows(wanted, after, PIECE, workspace_id)
        yield rows
        if len(rows) < PIECE:
            return
        after = rows[-1]["id"]


def _rows(
    wanted: Moment, after: UUID | None, limit: int, workspace_id: UUID
) -> list[dict[str, Any]]:
    where, values = _conditions(wanted, workspace_id)
    if after is not None:
        where += " AND m.id < %(after)s"
    return fetch(ROWS.format(where=where), {**values, "after": after, "limit": limit})


def _conditions(wanted: Moment, workspace_id: UUID) -> tuple[str, dict[str, Any]]:
    where = ["m.workspace_id = %(workspace)s", "m.partition_id = %(partition)s"]
    where.append(past.held(as_of=True, valid_at=wanted.valid_at is not None))
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "partition": wanted.partition_id,
        "as_of": wanted.as_of,
        "valid_at": wanted.valid_at,
    }
    if wanted.text:
        where.append("(m.terms || coalesce(m.more_terms, '{}')) @> %(terms)s::int[]")
        values["terms"] = list(query_terms(wanted.text))
    return " AND ".join(f"({one})" for one in where), values
