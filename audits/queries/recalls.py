"""One recall: who asked what, what was answered, and who stands behind each fact of the answer.

Owns the statements of the recall page. Unknown, foreign and out of reach are
one ``None``. Inside a workspace scope. The question is personal data and
hostile text: templates draw it with ``memory_block``.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.rows import fetch

BEHIND = 5  # sessions shown behind one fact

RECALL = """SELECT r.id, r.at, r.partition_id, p.name AS partition, r.session_id,
    coalesce(s.external_id, r.parameters->>'session') AS session, s.id IS NOT NULL AS has_written,
    s.agent, r.actor, r.query, r.parameters, r.served_count, r.micros
FROM recall r JOIN partition p ON p.id = r.partition_id
LEFT JOIN session s ON s.id = r.session_id
WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s"""

SERVED = f"""SELECT v.rank, v.score, v.current, v.record_id, m.subject, m.predicate, m.value,
    m.content, m.status, m.hold_reason, m.status_at, so.name AS source,
    coalesce((SELECT jsonb_agg(jsonb_build_object('id', b.id, 'name', b.external_id,
                               'suspended', b.suspended_at IS NOT NULL) ORDER BY b.place)
        FROM (SELECT s.id, s.external_id, s.suspended_at,
                  row_number() OVER (ORDER BY min(c.first_at), s.id) AS place
              FROM claim c JOIN session s ON s.id = c.session_id WHERE c.record_id = m.id
              GROUP BY s.id LIMIT {BEHIND + 1}) b), '[]') AS behind
FROM serve v JOIN memory_record m ON m.id = v.record_id
JOIN source so ON so.id = m.source_id
WHERE v.recall_id = %(id)s AND v.workspace_id = %(workspace)s
ORDER BY v.rank"""


def load_recall(recall_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one recall, or ``None``."""
    found = fetch(RECALL, {"id": recall_id, "workspace": workspace_id})
    return found[0] if found else None


def load_answer(recall_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return what the recall answered, the first first, each with the sessions that assert it.

    ``behind`` has at most ``BEHIND`` of them; ``more`` says that there are others.
    """
    rows = fetch(SERVED, {"id": recall_id, "workspace": workspace_id})
    for row in rows:
        row["more"] = len(row["behind"]) > BEHIND
        row["behind"] = row["behind"][:BEHIND]
    return rows
