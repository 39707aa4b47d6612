"""The sessions that say what one session says, in any partition, and what people noted of it.

Owns the statements. The same facts are found by their records, which sessions of
one partition share; the same values by the samples that the scores keep
(``memconsole_alike``), which sessions of any partition share. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch

LOOKED_AT = 500  # of a session's newest facts, whose other claims are counted
MOST = 50

FACTS = f"""WITH mine AS (SELECT DISTINCT record_id FROM claim WHERE session_id = %(id)s
    ORDER BY record_id DESC LIMIT {LOOKED_AT}),
same AS (SELECT c.session_id, count(DISTINCT c.record_id)::int AS facts
    FROM mine JOIN claim c ON c.record_id = mine.record_id
    WHERE c.session_id <> %(id)s AND c.workspace_id = %(workspace)s
    GROUP BY c.session_id ORDER BY 2 DESC LIMIT {MOST}),
own AS (SELECT stated FROM session_signals WHERE session_id = %(id)s
        AND workspace_id = %(workspace)s),
alike AS (SELECT a.id AS session_id, a.shared FROM own,
          LATERAL memconsole_alike(own.stated, %(id)s, {MOST}) a)
SELECT s.id, s.external_id AS session, s.agent, p.name AS partition, s.suspended_at,
    coalesce(same.facts, 0) AS facts, coalesce(alike.shared, 0) AS shared,
    (SELECT cardinality(stated) FROM own) AS values, c.score, c.reasons, false AS is_stale,
    false AS is_evicted, s.partition_id = m.partition_id AS is_here
FROM same FULL JOIN alike USING (session_id) JOIN session s ON s.id = session_id
JOIN partition p ON p.id = s.partition_id JOIN session m ON m.id = %(id)s
LEFT JOIN session_suspicion c ON c.session_id = s.id
WHERE s.workspace_id = %(workspace)s
ORDER BY coalesce(same.facts, 0) + coalesce(alike.shared, 0) DESC, s.id LIMIT {MOST}"""
NOTES = """SELECT id, "user", text, written_at FROM session_note
WHERE session_id = %(id)s AND workspace_id = %(workspace)s ORDER BY id DESC LIMIT 200"""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Sessions that say the same, and of how many values the sample of this one is."""

    rows: list[dict[str, Any]]
    values: int


def list_neighbours(session_id: UUID, *, workspace_id: UUID) -> Neighbours:
    """Return the sessions that share most with this one."""
    rows = fetch(FACTS, {"id": session_id, "workspace": workspace_id})
    return Neighbours(rows, (rows[0]["values"] or 0) if rows else 0)


def list_notes(session_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the notes about a session, the newest first."""
    return fetch(NOTES, {"id": session_id, "workspace": workspace_id})
