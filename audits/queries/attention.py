"""What needs a person now: late decisions, open questions, failures, unanswered incidents, oddities.

Each kind brings its first few and whether there are more; the list that has
them all is the row's. Inside a workspace scope. Rows carry memory text.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.first_audit import ODD
from audits.leases import AWAKE
from audits.queries.gate import SHOWN_FROM
from audits.queries.queue import DUE_AT
from audits.queries.rows import fetch

SHOWN = 3  # of each kind
POOR = 0.5  # a rule whose holds are let in more often than not costs more than it saves
FAILED_FOR = timedelta(days=7)  # how long a failed operation is told

NEEDS = f"""(SELECT 1 AS rank, 'held' AS kind, r.id, r.subject AS what, r.predicate AS about,
        {DUE_AT} AS at,
        CASE WHEN i.lease_expires_at > %(now)s THEN i.lease_user ELSE '' END AS owner
    FROM memory_record r LEFT JOIN review_item i ON i.record_id = r.id
    WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined' AND {DUE_AT} <= %(now)s
      AND {AWAKE} ORDER BY r.risk DESC, r.status_at LIMIT %(most)s)
UNION ALL (SELECT 0, 'incident', id, title, number::text, opened_at, owner FROM incident
    WHERE workspace_id = %(workspace)s AND state = 'open' AND acknowledged_at IS NULL
    ORDER BY opened_at LIMIT %(most)s)
UNION ALL (SELECT 2, 'approval', id, summary, kind, requested_at, requested_by FROM approval
    WHERE workspace_id = %(workspace)s AND state = 'waiting' AND expires_at > %(now)s
    ORDER BY requested_at LIMIT %(most)s)
UNION ALL (SELECT 3, 'operation', id, title, kind, coalesce(finished_at, requested_at), requested_by
    FROM operation WHERE workspace_id = %(workspace)s AND id > %(floor)s
      AND (state IN ('failed', 'drifted') OR failed > 0) AND state <> 'preview' ORDER BY id DESC LIMIT %(most)s)
UNION ALL (SELECT 4, 'session', s.id, s.external_id, c.score::text, c.computed_at, ''
    FROM session_suspicion c JOIN session s ON s.id = c.session_id
    WHERE c.workspace_id = %(workspace)s AND c.score >= %(odd)s AND s.suspended_at IS NULL
    ORDER BY c.score DESC, c.session_id LIMIT %(most)s)
UNION ALL (SELECT 5, 'rule', NULL, t.rule, t.approved || ' of ' || t.approved + t.rejected, t.last_at, ''
    FROM (SELECT rule, greatest(sum(approved), 0) AS approved, greatest(sum(rejected), 0) AS rejected,
              max(last_at) AS last_at
          FROM gate_tally WHERE workspace_id = %(workspace)s GROUP BY rule) AS t
    WHERE t.approved + t.rejected >= {SHOWN_FROM} AND t.rejected < {POOR} * (t.approved + t.rejected)
    ORDER BY t.rejected / (t.approved + t.rejected), t.rule LIMIT %(most)s)
ORDER BY rank"""


def list_needs(*, workspace_id: UUID, now: datetime) -> list[dict[str, Any]]:
    """Return what needs a person, the most urgent kind first; at most ``SHOWN`` + 1 of a kind."""
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "now": now,
        "most": SHOWN + 1,
        "odd": ODD,
        "floor": UUID(int=int((now - FAILED_FOR).timestamp() * 1000) << 80),
    }
    return fetch(NEEDS, values)
