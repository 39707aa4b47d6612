"""What auditors draw and review: a seeded sample of events, and who has access to a workspace.

Owns the statements. The sample is a simple random one that anybody can draw
again: the events in the order of SHA-256(seed, a space, number), the first few
of them. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from audits.queries.trail import BESIDE, SHOWN, TrailFilter, conditions

RANGE_LIMIT = 1_000_000  # numbers that one sample may be drawn from: about two seconds
SIZE_LIMIT = 500
LISTED = 500

IN_RANGE = """t.workspace_id = %(workspace)s AND t.position BETWEEN %(from)s AND %(to)s"""
# Without a filter the events themselves are not read: the numbers alone decide.
DRAWN = """WITH population AS MATERIALIZED (
    SELECT t.position, t.event_id FROM sealed_event t {join} WHERE {where}),
drawn AS (
    SELECT event_id, row_number() OVER (ORDER BY key, position) AS place FROM (
        SELECT position, event_id,
            sha256(convert_to(%(seed)s || ' ' || position, 'UTF8')) AS key
        FROM population ORDER BY key, position LIMIT %(size)s) AS one)
SELECT d.place, (SELECT count(*) FROM population) AS population, {shown}
FROM drawn d JOIN event e ON e.id = d.event_id {beside} ORDER BY d.place"""
LAST = """SELECT coalesce((SELECT last FROM seal WHERE workspace_id = %(workspace)s
    ORDER BY number DESC LIMIT 1), 0) AS last"""

MEMBERS = """SELECT u.username, m.role, m.created_at, m.created_by, m.removed_at, u.is_active,
    u.last_login, acted.at AS last_act, false AS is_everywhere, u.is_active AND m.removed_at IS NULL
    AND greatest(u.last_login, acted.at, m.created_at) < now() - interval '90 days' AS is_idle
FROM membership m JOIN audits_user u ON u.id = m.user_id
LEFT JOIN LATERAL (
    SELECT e.at FROM event e WHERE e.workspace_id = %(workspace)s AND e.actor_kind <> 'key'
      AND e.actor_kind = 'user' AND e.actor = u.username ORDER BY e.at DESC, e.id DESC LIMIT 1
) AS acted ON true
WHERE m.workspace_id = %(workspace)s
UNION ALL
SELECT u.username, 'administrator', u.date_joined, '', NULL, u.is_active, u.last_login, NULL, true,
    u.is_active AND greatest(u.last_login, u.date_joined) < now() - interval '90 days'
FROM audits_user u WHERE u.is_superuser
ORDER BY 5 NULLS FIRST, 1 LIMIT %(most)s"""
KEYS = """SELECT name, prefix, scopes, partition_name, created_at, created_by, last_used_at,
    expires_at, revoked_at, revoked_by, expires_at <= now() AS is_expired,
    revoked_at IS NULL AND coalesce(expires_at > now(), true)
      AND coalesce(last_used_at, created_at) < now() - interval '90 days' AS is_idle
FROM api_key WHERE workspace_id = %(workspace)s
ORDER BY revoked_at NULLS FIRST, id DESC LIMIT %(most)s"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample, and what it was drawn from."""

    rows: list[dict[str, Any]]
    population: int
    first: int
    last: int


def draw_sample(
    wanted: TrailFilter, *, seed: str, size: int, first: int, last: int, workspace_id: UUID
) -> Sample:
    """Draw a sample of the events that a filter shows between two numbers.

    The same seed, range, filter and size draw the same events again: events
    never change, and only sealed ones are drawn from.
    """
    parts, values = conditions(wanted)
    rest = [f"({text})" for name, text in parts.items() if name not in ("first", "last")]
    join = "JOIN event e ON e.id = t.event_id AND e.workspace_id = t.workspace_id" if rest else ""
    statement = DRAWN.format(
        join=join, where=" AND ".join([IN_RANGE, *rest]), shown=SHOWN, beside=BESIDE
    )
    rows = fetch(
        statement,
        {
            **values,
            "workspace": workspace_id,
            "from": first,
            "to": last,
            "seed": seed,
            "size": size,
        },
    )
    return Sample(rows, rows[0]["population"] if rows else 0, first, last)


def last_position(workspace_id: UUID) -> int:
    """Return the newest number of the trail; 0 when nothing is sealed."""
    (row,) = fetch(LAST, {"workspace": workspace_id})
    return int(row["last"])


def list_members(workspace_id: UUID, *, most: int = LISTED) -> list[dict[str, Any]]:
    """Return everybody who has or had access, those who left at the end."""
    return fetch(MEMBERS, {"workspace": workspace_id, "most": most})


def list_keys(workspace_id: UUID, *, most: int = LISTED) -> list[dict[str, Any]]:
    """Return every key there is or was, the revoked ones at the end."""
    return fetch(KEYS, {"workspace": workspace_id, "most": most})
