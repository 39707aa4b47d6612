"""Was a record used while it was wrong: its serves told apart, and what happened to it meanwhile.

Owns the statements of the record's exposure. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.radius import Radius, Use
from audits.queries.rows import fetch

CHANGES_LIMIT = 30  # marks on a chart; a record with more is read in its history

# Without a successor nothing is overtaken; a successor is true from when its writer says.
USE = """SELECT r.status, r.status_at, r.valid_until, w.time_zone, count(v.recall_id) AS serves,
    count(DISTINCT v.recall_id) AS recalls, count(DISTINCT v.session_id) AS sessions,
    count(v.recall_id) FILTER (WHERE v.session_id IS NULL) AS unnamed,
    count(v.recall_id) FILTER (WHERE NOT v.current) AS not_current,
    count(v.recall_id) FILTER (WHERE v.at > n.order_at) AS overtaken,
    count(v.recall_id) FILTER (WHERE v.at > r.status_at) AS after,
    min(v.at) AS first_at, max(v.at) AS last_at
FROM memory_record r JOIN workspace w ON w.id = r.workspace_id
LEFT JOIN memory_record n ON n.id = r.superseded_by
LEFT JOIN serve v ON v.record_id = r.id AND v.workspace_id = r.workspace_id
WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s
GROUP BY r.id, n.id, w.id"""

CHANGES = """SELECT e.at, e.action FROM event e
WHERE e.target_id = %(id)s AND e.workspace_id = %(workspace)s AND e.outcome = 'done'
    AND e.action = ANY(%(actions)s)
ORDER BY e.id DESC LIMIT %(limit)s"""

# How each change of state is called on the chart, and what kind of news it is.
WORDS: dict[str, tuple[str, str]] = {
    "record.added": ("written", "good"),
    "record.updated": ("written", "good"),
    "record.late": ("written", "quiet"),
    "record.quarantined": ("held", "warn"),
    "record.contested": ("held", "warn"),
    "record.held": ("held", "warn"),
    "record.reopened": ("held", "warn"),
    "record.approved": ("approved", "good"),
    "record.superseded": ("superseded", "quiet"),
    "record.rejected": ("rejected", "bad"),
    "record.retracted": ("retracted", "bad"),
    "record.evicted": ("evicted", "bad"),
    "record.restored": ("restored", "good"),
    "record.merged": ("merged", "quiet"),
    "record.parted": ("parted", "good"),
    "record.erased": ("erased", "bad"),
}


@dataclass(frozen=True, slots=True)
class RecordUse:
    """What the record's exposure is made of."""

    use: Use
    radius: Radius
    zone: str
    valid_until: datetime | None


def load_use(record_id: UUID, *, workspace_id: UUID) -> RecordUse | None:
    """Count a record's serves and tell them apart; ``None`` for unknown and foreign alike."""
    found = fetch(USE, {"id": record_id, "workspace": workspace_id})
    if not found:
        return None
    row = found[0]
    use = Use(
        row["status"],
        row["serves"],
        row["sessions"],
        row["not_current"],
        row["overtaken"],
        row["after"],
    )
    radius = Radius(
        facts=1,
        served_facts=int(row["serves"] > 0),
        serves=row["serves"],
        recalls=row["recalls"],
        sessions=row["sessions"],
        partitions=int(row["serves"] > 0),
        unnamed=row["unnamed"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        is_capped=False,
    )
    return RecordUse(use, radius, row["time_zone"], row["valid_until"])


def list_changes(record_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the record's changes of state, the first first: when, in which word, what kind."""
    rows = fetch(
        CHANGES,
        {
            "id": record_id,
            "workspace": workspace_id,
            "actions": list(WORDS),
            "limit": CHANGES_LIMIT,
        },
    )
    return [
        {"at": row["at"], "word": WORDS[row["action"]][0], "kind": WORDS[row["action"]][1]}
        for row in reversed(rows)
    ]
