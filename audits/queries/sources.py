"""Sources with what they say now, and one source's runs and what it no longer emits.

Owns the statements. Counts stop at a bound: a source may hold millions of facts.
Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
COUNTED = 1_000  # facts of a source that the list counts
CAP = 20_000  # and that its own page counts
STATES = ("serving", "suspended", "overdue")
TIERS = ("untrusted", "standard", "trusted")

ROW = """SELECT s.id, s.name, s.tier, s.created_at, s.expected_every, s.last_run_at,
    s.overdue_since, s.suspended_at, s.suspended_by, s.suspended_reason, f.facts, f.sessions
FROM source s
LEFT JOIN LATERAL (
    SELECT count(DISTINCT record_id) AS facts, count(DISTINCT session_id) AS sessions
    FROM (SELECT record_id, session_id FROM claim WHERE source_id = s.id
          ORDER BY record_id DESC LIMIT %(most)s) AS newest) AS f ON true"""
ONE = f"""SELECT mine.*, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('status', status, 'count', count)
                              ORDER BY count DESC, status), '[]')
    FROM (SELECT r.status, count(*) AS count FROM (
              SELECT DISTINCT record_id FROM (SELECT record_id FROM claim WHERE source_id = %(id)s
              ORDER BY record_id DESC LIMIT %(most)s) AS newest) AS said
          JOIN memory_record r ON r.id = said.record_id WHERE r.workspace_id = %(workspace)s
          GROUP BY r.status) AS counted) AS statuses
FROM ({ROW} WHERE s.id = %(id)s AND s.workspace_id = %(workspace)s) AS mine"""

RUNS = """SELECT r.id, r.external_id, r.started_at, r.finished_at, r.seen_count, r.unlisted_count,
    r.relisted_count, p.name AS partition
FROM source_run r LEFT JOIN partition p ON p.id = r.partition_id
WHERE r.source_id = %(id)s AND r.workspace_id = %(workspace)s
ORDER BY r.started_at DESC, r.id LIMIT 20"""

UNLISTED = """SELECT r.id, r.subject, r.predicate, r.value, r.status, a.source_key, a.unlisted_at,
    p.name AS partition
FROM address a JOIN memory_record r ON r.id = a.record_id JOIN partition p ON p.id = a.partition_id
WHERE a.source_id = %(id)s AND a.workspace_id = %(workspace)s AND a.unlisted_at IS NOT NULL
ORDER BY a.unlisted_at DESC, a.id LIMIT 50"""


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """Which sources to list; what is ``None`` filters nothing."""

    name: str | None = None
    state: str | None = None
    tier: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything."""
        return not any(value is not None for value in asdict(self).values())


CONDITIONS = {
    "serving": "s.suspended_at IS NULL",
    "suspended": "s.suspended_at IS NOT NULL",
    "overdue": "s.overdue_since IS NOT NULL",
}


def list_sources(wanted: SourceFilter, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of sources by name. BadRequest: a cursor of another list."""
    key = list_key("console.sources", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    where = ["s.workspace_id = %(workspace)s"]
    values: dict[str, Any] = {"workspace": workspace_id, "limit": PAGE + 1, "most": COUNTED + 1}
    if wanted.name is not None:
        where.append("s.name = %(name)s")
        values["name"] = wanted.name
    if wanted.tier is not None:
        where.append("s.tier = %(tier)s")
        values["tier"] = wanted.tier
    if wanted.state is not None:
        where.append(CONDITIONS[wanted.state])
    if place is not None:
        where.append("s.name > %(after)s")
        values["after"] = place[0]
    rows = fetch(f"{ROW} WHERE {' AND '.join(where)} ORDER BY s.name LIMIT %(limit)s", values)
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["name"]])


def load_source(source_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one source and how its facts stand; ``None`` for unknown and foreign alike."""
    found = fetch(
        ONE,
        {"id": source_id, "workspace": workspace_id, "most": CAP + 1},
    )
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Details:
    """What a source's page shows below its head."""

    runs: list[dict[str, Any]]
    unlisted: list[dict[str, Any]]


def load_details(source_id: UUID, *, workspace_id: UUID) -> Details:
    """Return a source's runs and what it no longer emits."""
    values = {"id": source_id, "workspace": workspace_id}
    return Details(
        fetch(RUNS, values),
        fetch(UNLISTED, values),
    )
