"""What happened in an incident, newest first: events, notes and milestones, in keyset pages.

Owns the merging. Events are found by their targets (the incident and those
merged into it, its operations and approvals, the sessions, sources and records
of its scope): an index walk each, and never the thousands of records that an
operation changed, whose events name the record. A cursor holds the place in
the events and the place in the rest, so that pages neither repeat nor skip.
Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from audits.domain.incident_words import words
from audits.queries.rows import fetch
from records.cursors import SIGNER, Page, list_key, open_cursor

PAGE = 50
END = datetime(9999, 1, 1, tzinfo=UTC)

TARGETS = """targets AS MATERIALIZED (
    SELECT i.id FROM incident i WHERE i.workspace_id = %(workspace)s
        AND (i.id = %(incident)s OR i.merged_into = %(incident)s)
    UNION SELECT o.id FROM operation o WHERE o.incident_id = %(incident)s
        AND o.workspace_id = %(workspace)s
    UNION SELECT o.approval_id FROM operation o WHERE o.incident_id = %(incident)s
        AND o.workspace_id = %(workspace)s AND o.approval_id IS NOT NULL
    UNION SELECT x.target_id FROM incident_scope x WHERE x.incident_id = %(incident)s
        AND x.workspace_id = %(workspace)s AND x.kind IN ('session', 'source', 'record'))"""

# A note is shown itself, not the event of it.
EVENTS = f"""WITH {TARGETS},
page AS (SELECT e.id FROM targets t CROSS JOIN LATERAL (
        SELECT one.id FROM event one WHERE one.target_id = t.id
            AND one.workspace_id = %(workspace)s AND one.id < %(before)s
            AND one.action <> 'incident.noted'
        ORDER BY one.id DESC LIMIT %(limit)s) e
    ORDER BY e.id DESC LIMIT %(limit)s)
SELECT e.id, e.at, e.action, e.outcome, e.actor_kind, e.actor, e.role, e.target_kind, e.target_id,
    e.reason, e.count, e.details, e.request_id, s.position, se.external_id AS session,
    so.name AS source, o.kind AS operation_kind
FROM page JOIN event e ON e.id = page.id
LEFT JOIN sealed_event s ON s.event_id = e.id
LEFT JOIN session se ON e.target_kind = 'session' AND se.id = e.target_id
LEFT JOIN source so ON e.target_kind = 'source' AND so.id = e.target_id
LEFT JOIN operation o ON e.target_kind = 'operation' AND o.id = e.target_id
ORDER BY e.id DESC"""

OTHERS = """WITH scoped AS MATERIALIZED (
    SELECT s.id, s.external_id, s.first_write_at, t.last_write_at, t.writes
    FROM incident_scope x JOIN session s ON s.id = x.target_id
    LEFT JOIN session_totals t ON t.session_id = s.id
    WHERE x.incident_id = %(incident)s AND x.workspace_id = %(workspace)s
      AND x.kind = 'session' AND x.removed_at IS NULL),
other AS (
    SELECT n.written_at AS at, 'note' AS kind, n.id::text AS key, n."user" AS actor, n.text,
        n.is_pinned, NULL::uuid AS session_id, NULL::integer AS count
    FROM incident_note n WHERE n.incident_id = %(incident)s AND n.workspace_id = %(workspace)s
    UNION ALL
    SELECT first_write_at, 'first_write', id::text, '', external_id, false, id, NULL FROM scoped
    UNION ALL
    SELECT last_write_at, 'last_write', id::text, '', external_id, false, id, writes
    FROM scoped WHERE last_write_at > first_write_at)
SELECT * FROM other
WHERE (at, kind || key) < (%(at)s, %(key)s)
ORDER BY at DESC, kind || key DESC LIMIT %(limit)s"""


@dataclass(slots=True)
class Entry:
    """One line of a timeline; ``kind`` is ``event``, ``note`` or a milestone."""

    at: datetime
    kind: str
    row: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    session_id: UUID | None = None

    @property
    def words(self) -> str:
        """Return what happened, in words."""
        if self.kind != "event":
            return words(self.kind)
        return words(self.row["action"], self.row["details"], self.row["count"])


def list_timeline(
    incident_id: UUID,
    *,
    cursor: str | None,
    workspace_id: UUID,
    serves: tuple[datetime | None, datetime | None] = (None, None),
    limit: int = PAGE,
) -> Page:
    """Return a page of entries. BadRequest: a cursor of another list.

    ``serves`` are the first and the last time that facts of the scope were
    served, as the radius counts them.
    """
    key = list_key("console.incident_timeline", workspace_id, incident_id)
    place = open_cursor(cursor, key=key)
    before = int(place[0]) if place else 2**62
    at, last = (datetime.fromisoformat(place[1]), place[2]) if place else (END, "")
    values = {
        "incident": incident_id,
        "workspace": workspace_id,
        "before": before,
        "at": at,
        "key": last,
        "limit": limit + 1,
    }
    events = fetch(EVENTS, values)
    others = [(row["at"], row["kind"] + row["key"], row) for row in fetch(OTHERS, values)]
    for kind, moment in zip(("first_serve", "last_serve"), serves, strict=True):
        if moment is not None and (moment, kind) < (at, last):
            others.append((moment, kind, {"at": moment, "kind": kind}))
    others.sort(key=lambda one: one[:2], reverse=True)
    shown: list[Entry] = []
    for kind, one in _merged(events, others):
        if len(shown) == limit:
            return Page(shown, SIGNER.sign_object([key, [str(before), at.isoformat(), last]]))
        if kind == "event":
            before = one["id"]
            shown.append(Entry(one["at"], "event", one))
        else:
            at, last = one[0], one[1]
            row = one[2]
            shown.append(
                Entry(row["at"], row["kind"], row, row.get("text", ""), row.get("session_id"))
            )
    return Page(shown, None)


def _merged(
    events: list[dict[str, Any]], others: list[tuple[datetime, str, dict[str, Any]]]
) -> Iterator[tuple[str, Any]]:
    """Yield both lists as one, newest first; each keeps its own order."""
    left, right = 0, 0
    while left < len(events) or right < len(others):
        if right == len(others) or (left < len(events) and events[left]["at"] >= others[right][0]):
            yield "event", events[left]
            left += 1
        else:
            yield "other", others[right]
            right += 1
