"""How the facts of an incident's scope stand right now: served, suspended, held or out.

Owns the statement that counts, for each part of a scope and for all of it, what
a recall that starts now may answer with: the same rule as
``records/retrieve/statement.py`` (a record is withheld when every live claim on
it is a suspended session's or source's). A session's or source's part counts
what it asserts still: a claim that an eviction dropped is out, though others
keep the record. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.incidents import Standing
from audits.queries.rows import fetch
from records.domain.terms import query_terms

CAP = 50_000
LOOKED = 5_000  # served facts whose other sayers are looked for

PARTS = """SELECT i.id, i.kind, i.target_id, i.text, i.added_by, i.added_at,
    coalesce(s.external_id, so.name, p.name, m.subject) AS name,
    coalesce(sp.name, mp.name) AS partition, s.agent, m.predicate, m.value, m.status,
    coalesce(s.suspended_at, so.suspended_at) AS suspended_at,
    coalesce(s.suspended_by, so.suspended_by) AS suspended_by
FROM incident_scope i
LEFT JOIN session s ON i.kind = 'session' AND s.id = i.target_id
LEFT JOIN partition sp ON sp.id = s.partition_id
LEFT JOIN source so ON i.kind = 'source' AND so.id = i.target_id
LEFT JOIN partition p ON i.kind = 'partition' AND p.id = i.target_id
LEFT JOIN memory_record m ON i.kind = 'record' AND m.id = i.target_id
LEFT JOIN partition mp ON mp.id = m.partition_id
WHERE i.incident_id = %(incident)s AND i.workspace_id = %(workspace)s AND i.removed_at IS NULL
ORDER BY i.added_at, i.id"""

# Each record of each part; ``asserted`` where the part still says it.
NAMED = """part AS MATERIALIZED (
    SELECT i.id, i.kind, i.target_id FROM incident_scope i
    WHERE i.incident_id = %(incident)s AND i.workspace_id = %(workspace)s
      AND i.removed_at IS NULL),
named AS (
    SELECT p.id AS part, c.record_id, bool_or(c.state = 'live') AS asserted
    FROM part p CROSS JOIN LATERAL (
        SELECT one.record_id, one.state FROM claim one WHERE one.session_id = p.target_id
            AND one.workspace_id = %(workspace)s LIMIT %(most)s) c
    WHERE p.kind = 'session' GROUP BY 1, 2
    UNION ALL
    SELECT p.id, c.record_id, bool_or(c.state = 'live')
    FROM part p CROSS JOIN LATERAL (
        SELECT one.record_id, one.state FROM claim one WHERE one.source_id = p.target_id
            AND one.workspace_id = %(workspace)s LIMIT %(most)s) c
    WHERE p.kind = 'source' GROUP BY 1, 2
    UNION ALL
    SELECT p.id, r.id, true
    FROM part p CROSS JOIN LATERAL (
        SELECT one.id FROM memory_record one WHERE one.partition_id = p.target_id
            AND one.workspace_id = %(workspace)s LIMIT %(most)s) r
    WHERE p.kind = 'partition'
    UNION ALL
    SELECT p.id, p.target_id, true FROM part p WHERE p.kind = 'record'
    {texts})"""
TEXT = """UNION ALL
    SELECT %(part{place})s::uuid, found, true
    FROM memconsole_search(%(terms{place})s, NULL, %(most)s) found"""

# How each of them stands. Looked up one by one and never joined: the planner cannot know how
# many facts a scope names, and a nested loop over fifty thousand of them does not end.
STOOD = """no_session AS MATERIALIZED (
    SELECT coalesce(array_agg(id), '{{}}') AS ids FROM session
    WHERE workspace_id = %(workspace)s AND suspended_at IS NOT NULL),
no_source AS MATERIALIZED (
    SELECT coalesce(array_agg(id), '{{}}') AS ids FROM source
    WHERE workspace_id = %(workspace)s AND suspended_at IS NOT NULL),
stood AS MATERIALIZED (
    SELECT n.part, n.record_id, r.status = 'active' AND n.asserted AS is_live,
        r.status = 'quarantined' AND n.asserted AS is_held,
        CASE WHEN r.status = 'active' AND n.asserted THEN coalesce(l.is_free, true)
             ELSE false END AS is_served
    FROM named n CROSS JOIN LATERAL (
        SELECT one.status FROM memory_record one WHERE one.id = n.record_id
            AND one.workspace_id = %(workspace)s OFFSET 0) r
    CROSS JOIN LATERAL (
        SELECT bool_or(c.session_id <> ALL (d.ids) AND c.source_id <> ALL (e.ids)) AS is_free
        FROM claim c, no_session d, no_source e
        WHERE c.record_id = n.record_id AND c.state = 'live' OFFSET 0) l)"""

STANDING = f"""WITH {NAMED}, {STOOD}
SELECT part, count(*) AS facts, count(*) FILTER (WHERE is_served) AS served,
    count(*) FILTER (WHERE is_live AND NOT is_served) AS withheld,
    count(*) FILTER (WHERE is_held) AS held
FROM stood GROUP BY part
UNION ALL
SELECT NULL, count(*), count(*) FILTER (WHERE is_served),
    count(*) FILTER (WHERE is_live AND NOT is_served), count(*) FILTER (WHERE is_held)
FROM (SELECT bool_or(is_served) AS is_served, bool_or(is_live) AS is_live,
        bool_or(is_held) AS is_held FROM stood GROUP BY record_id) AS one"""

# What is served of the scope, by the session that says it and is not of the scope itself.
BEHIND = f"""WITH {NAMED}, {STOOD},
served AS MATERIALIZED (
    SELECT DISTINCT record_id FROM stood WHERE is_served LIMIT %(looked)s),
saying AS (
    SELECT c.session_id, count(DISTINCT c.record_id) AS facts
    FROM served s CROSS JOIN LATERAL (
        SELECT one.session_id, one.record_id FROM claim one, no_session d
        WHERE one.record_id = s.record_id AND one.state = 'live'
          AND one.session_id <> ALL (d.ids) OFFSET 0) c
    GROUP BY 1)
SELECT se.id, se.external_id AS session, p.name AS partition, y.facts
FROM saying y JOIN session se ON se.id = y.session_id JOIN partition p ON p.id = se.partition_id
WHERE y.session_id NOT IN (SELECT target_id FROM part WHERE kind = 'session')
ORDER BY y.facts DESC, se.id LIMIT %(listed)s"""


@dataclass(slots=True)
class Part:
    """One part of a scope: what it names, and how its facts stand."""

    id: UUID
    kind: str
    target_id: UUID | None
    text: str
    name: str
    partition: str
    row: dict[str, Any]
    standing: Standing = field(default_factory=Standing)

    @property
    def suspended_at(self) -> datetime | None:
        """Since when the session or source is suspended."""
        found: datetime | None = self.row["suspended_at"]
        return found


@dataclass(frozen=True, slots=True)
class Scope:
    """What an incident is about: its parts, and how all their facts stand together."""

    parts: list[Part]
    total: Standing

    @property
    def containable(self) -> list[Part]:
        """The sessions and sources."""
        return [one for one in self.parts if one.kind in ("session", "source")]

    @property
    def serving(self) -> list[Part]:
        """The sessions and sources that are not suspended."""
        return [one for one in self.containable if one.suspended_at is None]


def list_parts(incident_id: UUID, *, workspace_id: UUID) -> list[Part]:
    """Return the parts of a scope by name, in the order they were added."""
    rows = fetch(PARTS, {"incident": incident_id, "workspace": workspace_id})
    return [
        Part(
            row["id"],
            row["kind"],
            row["target_id"],
            row["text"],
            row["name"] or row["text"],
            row["partition"] or "",
            row,
        )
        for row in rows
    ]


def load_scope(incident_id: UUID, *, workspace_id: UUID) -> Scope:
    """Return a scope with the counts of each part and of all: two statements."""
    parts = list_parts(incident_id, workspace_id=workspace_id)
    by_id = {part.id: part for part in parts}
    total = Standing()
    if parts:
        for row in fetch(*_filled(STANDING, parts, incident_id, workspace_id)):
            standing = _standing(row)
            if row["part"] is None:
                total = standing
            elif row["part"] in by_id:
                by_id[row["part"]].standing = standing
    return Scope(parts, total)


def list_behind(incident_id: UUID, *, workspace_id: UUID, most: int = 20) -> list[dict[str, Any]]:
    """Return the sessions outside the scope that keep facts of it being served."""
    parts = list_parts(incident_id, workspace_id=workspace_id)
    if not parts:
        return []
    statement, values = _filled(BEHIND, parts, incident_id, workspace_id)
    return fetch(statement, {**values, "listed": most, "looked": LOOKED})


def _filled(
    statement: str, parts: list[Part], incident_id: UUID, workspace_id: UUID
) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {"incident": incident_id, "workspace": workspace_id, "most": CAP}
    texts = []
    named = [(part.id, query_terms(part.text)) for part in parts if part.kind == "text"]
    for place, (part_id, terms) in enumerate(one for one in named if one[1]):
        texts.append(TEXT.format(place=place))
        values |= {f"part{place}": part_id, f"terms{place}": list(terms)}
    return statement.format(texts=" ".join(texts)), values


def _standing(row: dict[str, Any]) -> Standing:
    inside = row["served"] + row["withheld"] + row["held"]
    return Standing(
        row["facts"],
        row["served"],
        row["withheld"],
        row["held"],
        row["facts"] - inside,
        is_capped=row["facts"] >= CAP,
    )
