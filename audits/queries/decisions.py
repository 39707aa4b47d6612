"""What one reviewer decided last, and what came of it. Inside a workspace scope.

Decisions made together, in bulk, are one line.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.domain.review import RECENT_DECISIONS
from audits.queries.rows import fetch

WINDOW = 5_000

RECENT = """WITH mine AS (
    SELECT d.*, CASE WHEN d.idempotency_key LIKE 'bulk:%%' THEN split_part(d.idempotency_key, ':', 2)
                END AS bulk
    FROM review_decision d WHERE d.workspace_id = %(workspace)s AND d.user_id = %(me)s
    ORDER BY d.id DESC LIMIT %(window)s),
numbered AS (
    SELECT mine.*, row_number() OVER together AS place, count(*) OVER together_all AS size,
        count(undone_at) OVER together_all AS undone
    FROM mine WINDOW together AS (PARTITION BY coalesce(bulk, id::text) ORDER BY id DESC),
        together_all AS (PARTITION BY coalesce(bulk, id::text)))
SELECT n.id, n.record_id, n.verb, n.reason, n.note, n.decided_at, n.undone_at, n.bulk, n.size,
    n.undone, r.subject, r.predicate, r.value, r.status, served.n AS served
FROM numbered n JOIN memory_record r ON r.id = n.record_id
LEFT JOIN LATERAL (SELECT count(*) AS n FROM (
    SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at >= n.decided_at LIMIT 100) AS one)
    AS served ON n.bulk IS NULL
WHERE n.place = 1 ORDER BY n.id DESC LIMIT %(limit)s"""


def list_recent(user_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return a person's last decisions, the newest first."""
    return fetch(
        RECENT,
        {
            "workspace": workspace_id,
            "me": user_id,
            "window": WINDOW,
            "limit": RECENT_DECISIONS,
        },
    )
