"""What a new incident would be about: the sessions, sources and records that a page points at.

Owns the look-up from what stood in a URL to parts of a scope with names. What
is unknown or foreign is left out, both alike. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.domain import inert
from audits.queries.rows import fetch

NAMED_MOST = 50
RULE_DAYS = 30

FOUND = """SELECT 'session' AS kind, s.id, s.external_id AS name, p.name AS partition, true AS ticked
FROM session s JOIN partition p ON p.id = s.partition_id
WHERE s.workspace_id = %(workspace)s AND s.id = ANY(%(sessions)s)
UNION ALL
SELECT 'source', so.id, so.name, '', true FROM source so
WHERE so.workspace_id = %(workspace)s AND so.id = ANY(%(sources)s)
UNION ALL
SELECT 'partition', p.id, p.name, '', true FROM partition p
WHERE p.workspace_id = %(workspace)s AND p.id = ANY(%(partitions)s)
UNION ALL
SELECT 'record', m.id, m.subject || ' · ' || m.predicate, p.name, true
FROM memory_record m JOIN partition p ON p.id = m.partition_id
WHERE m.workspace_id = %(workspace)s AND m.id = ANY(%(records)s)
UNION ALL
(SELECT DISTINCT 'session', s.id, s.external_id, p.name, true
 FROM claim c JOIN session s ON s.id = c.session_id JOIN partition p ON p.id = s.partition_id
 WHERE c.workspace_id = %(workspace)s AND c.record_id = ANY(%(records)s)
   AND c.state = 'live' AND s.id <> ALL(%(sessions)s) LIMIT %(most)s)"""

SERVED = """SELECT DISTINCT v.record_id FROM serve v
WHERE v.recall_id = %(recall)s AND v.workspace_id = %(workspace)s LIMIT %(most)s"""

# The sessions whose held facts the rule found, those with most of them first.
OF_RULE = """SELECT r.session_id FROM memory_record r
WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined'
  AND r.recorded_at > now() - make_interval(days => %(days)s)
  AND r.findings @> jsonb_build_array(jsonb_build_object('rule', %(rule)s::text))
GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %(most)s"""


@dataclass(slots=True)
class Origin:
    """What was pointed at: by ids, by a recall whose answer was wrong, or by a rule."""

    sessions: list[UUID] = field(default_factory=list)
    sources: list[UUID] = field(default_factory=list)
    partitions: list[UUID] = field(default_factory=list)
    records: list[UUID] = field(default_factory=list)
    recall: UUID | None = None
    rule: str = ""
    text: str = ""

    @property
    def kind(self) -> str:
        """Return what the incident was opened from; empty when from nothing."""
        for name in ("recall", "rule", "records", "sessions", "sources", "partitions", "text"):
            if getattr(self, name):
                return name.removesuffix("s")
        return ""

    @property
    def id(self) -> UUID | None:
        """Return the one thing that was pointed at, where it is one."""
        if self.recall is not None:
            return self.recall
        for found in (self.records, self.sessions, self.sources, self.partitions):
            if found:
                return found[0] if len(found) == 1 else None
        return None


def find_parts(origin: Origin, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the parts that an origin means: kind, id, name and partition of each."""
    records = list(origin.records)
    sessions = list(origin.sessions)
    if origin.recall is not None:
        records += _served(origin.recall, workspace_id)
    if origin.rule:
        rows = fetch(
            OF_RULE,
            {
                "workspace": workspace_id,
                "rule": origin.rule,
                "days": RULE_DAYS,
                "most": NAMED_MOST,
            },
        )
        sessions += [row["session_id"] for row in rows]
    values = {
        "workspace": workspace_id,
        "sessions": sessions,
        "sources": list(origin.sources),
        "partitions": list(origin.partitions),
        "records": records,
        "most": NAMED_MOST,
    }
    named = any(values[one] for one in ("sessions", "sources", "partitions", "records"))
    found = fetch(FOUND, values) if named else []
    order = {"session": 0, "source": 1, "record": 2, "partition": 3}
    found.sort(key=lambda row: (order[row["kind"]], row["name"], row["id"]))
    if origin.text:
        found.append({"kind": "text", "id": None, "name": origin.text, "partition": ""})
    return found


def prefilled_title(origin: Origin, parts: Collection[dict[str, Any]]) -> str:
    """Return a title to begin with: people change it."""
    sessions = [one for one in parts if one["kind"] == "session"]
    if origin.kind == "recall":
        return "Wrong answer served to an agent"
    if origin.kind == "rule":
        return f"Facts that rule {origin.rule} holds"
    if origin.kind == "record":
        return f"Wrong fact: {_name(parts, 'record')}"
    if origin.kind == "source":
        return f"Bad facts from source {_name(parts, 'source')}"
    if origin.kind == "partition":
        return f"Bad facts about {_name(parts, 'partition')}"
    if origin.kind == "text":
        return f"Agents say “{origin.text[:60]}”"
    if len(sessions) > 1:
        return f"Odd facts from {len(sessions)} sessions"
    return f"Odd facts from session {_name(parts, 'session')}" if sessions else ""


def _name(parts: Collection[dict[str, Any]], kind: str) -> str:
    """Return the first part's name as a field can hold it: what draws nothing is left out."""
    name = next((str(one["name"]) for one in parts if one["kind"] == kind), "")
    return "".join(piece.text for piece in inert.pieces(name[:80]) if not piece.label)


def _served(recall: UUID, workspace_id: UUID) -> list[UUID]:
    values = {"recall": recall, "workspace": workspace_id, "most": NAMED_MOST}
    return [row["record_id"] for row in fetch(SERVED, values)]


NAMED = {
    "session": """SELECT id FROM session WHERE workspace_id = %(workspace)s
        AND (id = %(id)s OR external_id = %(name)s) LIMIT %(most)s""",
    "source": """SELECT id FROM source WHERE workspace_id = %(workspace)s
        AND (id = %(id)s OR name = %(name)s) LIMIT %(most)s""",
    "partition": """SELECT id FROM partition WHERE workspace_id = %(workspace)s
        AND (id = %(id)s OR name = %(name)s) LIMIT %(most)s""",
    "record": """SELECT id FROM memory_record WHERE workspace_id = %(workspace)s
        AND id = %(id)s LIMIT %(most)s""",
}


def find_named(kind: str, wanted: str, *, workspace_id: UUID) -> list[UUID]:
    """Return the ids of what has this id or exactly this name; several sessions may share one."""
    try:
        as_id = UUID(wanted)
    except ValueError:
        as_id = None
    values = {"workspace": workspace_id, "id": as_id, "name": wanted, "most": NAMED_MOST}
    return [row["id"] for row in fetch(NAMED[kind], values)]
