"""What the integrity panel shows: the last checks, the one that is on, and where the trail ends.

Owns the statements. Inside a workspace scope.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.rows import fetch

CHECKS = """SELECT id, state, started_at, finished_at, cursor, error, requested_by,
    cursor->'report' AS report
FROM job_run WHERE workspace_id = %(workspace)s AND job = 'verification'
ORDER BY started_at DESC LIMIT 10"""
# What is not sealed is behind the newest seal's horizon: the index by transaction goes there.
STATE = """SELECT s.number, s.last, s.sealed_at, s.key_id,
    (SELECT count(*) FROM (
        SELECT 1 FROM event e WHERE e.workspace_id = %(workspace)s
          AND e.transaction >= coalesce(s.horizon, '0'::xid8)
          AND NOT EXISTS (SELECT 1 FROM sealed_event t WHERE t.event_id = e.id)
        LIMIT %(most)s) AS one) AS unsealed,
    (SELECT cursor FROM job_run WHERE workspace_id = %(workspace)s AND job = 'anchoring'
     ORDER BY started_at DESC LIMIT 1) AS anchoring
FROM (SELECT 1) AS always LEFT JOIN LATERAL (
    SELECT * FROM seal WHERE workspace_id = %(workspace)s ORDER BY number DESC LIMIT 1
) AS s ON true"""
UNSEALED_CAP = 10_000


def load_checks(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the last checks of the trail, the newest first."""
    return fetch(CHECKS, {"workspace": workspace_id})


def load_state(workspace_id: UUID) -> dict[str, Any]:
    """Return where the trail ends, how much waits to be sealed, and how anchoring stands."""
    (row,) = fetch(STATE, {"workspace": workspace_id, "most": UNSEALED_CAP + 1})
    return row
