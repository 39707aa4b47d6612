"""What an eviction of a session would touch: groups, counts, a sample, and exactly which records.

Owns the statement. The groups add up to the total, and the ids named here are
the ids that run. Inside a workspace scope.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.domain.facts import Status

MOST = 50_000
SAMPLE = 20

# By record: what the session claims, and whether another session or source does too.
CLAIMED = """SELECT r.id, r.version, r.status, r.subject, r.predicate, r.value, r.hold_reason,
    EXISTS (SELECT 1 FROM claim o WHERE o.record_id = r.id AND o.state = 'live'
            AND o.session_id <> %(session)s) AS shared
FROM (SELECT DISTINCT record_id FROM claim WHERE session_id = %(session)s AND state <> 'dropped'
      ORDER BY record_id DESC LIMIT %(most)s) c
JOIN memory_record r ON r.id = c.record_id WHERE r.workspace_id = %(workspace)s
ORDER BY r.id DESC"""

GONE = frozenset({Status.EVICTED, Status.ERASED, Status.RETRACTED, Status.REJECTED})


@dataclass(frozen=True, slots=True)
class Preview:
    """What would run: the groups with their ids, and a digest of ids and versions."""

    evict: Sequence[UUID]
    shared: Sequence[UUID]
    gone: Sequence[UUID]
    superseded: int
    sample: Sequence[dict[str, Any]]
    digest: str
    is_cut: bool

    @property
    def total(self) -> int:
        """All records that the session claims."""
        return len(self.evict) + len(self.shared) + len(self.gone)

    @property
    def targets(self) -> Sequence[UUID]:
        """The ids that run: evicted, or with this session's claim dropped."""
        return [*self.evict, *self.shared]


def preview_eviction(session_id: UUID, *, workspace_id: UUID) -> Preview:
    """Return what evicting a session would do now."""
    rows = fetch(CLAIMED, {"session": session_id, "workspace": workspace_id, "most": MOST + 1})
    is_cut = len(rows) > MOST
    rows = rows[:MOST]
    evict: list[UUID] = []
    shared: list[UUID] = []
    gone: list[UUID] = []
    hasher = hashlib.sha256()
    for row in rows:
        group = gone if row["status"] in GONE else shared if row["shared"] else evict
        group.append(row["id"])
        row["group"] = "gone" if group is gone else "shared" if group is shared else "evict"
        hasher.update(f"{row['id']}:{row['version']}:{row['group']};".encode())
    return Preview(
        evict,
        shared,
        gone,
        sum(row["status"] == Status.SUPERSEDED for row in rows),
        [row for row in rows if row["group"] != "gone"][:SAMPLE],
        hasher.hexdigest()[:32],
        is_cut,
    )
