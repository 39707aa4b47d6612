"""What the settings pages list: keys, policies with what is observed, members, invitations.

Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch

SEEN_CAP = 1_000
TOUCHED_CAP = 100_000
LISTED = 500

KEYS = """SELECT id, name, prefix, scopes, partition_name, created_at, created_by, last_used_at,
    expires_at,
    revoked_at, revoked_by, expires_at <= now() AS is_expired
FROM api_key WHERE workspace_id = %(workspace)s ORDER BY revoked_at IS NOT NULL, id DESC
    LIMIT %(most)s"""

MEMBERS = """SELECT m.user_id, u.username, m.role, m.created_at, m.created_by, u.last_login,
    u.is_active
FROM membership m JOIN audits_user u ON u.id = m.user_id
WHERE m.workspace_id = %(workspace)s AND m.removed_at IS NULL ORDER BY u.username LIMIT %(most)s"""

INVITATIONS = """SELECT id, invited, role, created_at, created_by, expires_at, accepted_at,
    accepted_by,
    revoked_at, expires_at <= now() AS is_expired
FROM invitation WHERE workspace_id = %(workspace)s ORDER BY created_at DESC LIMIT 50"""

# Every predicate that has a live policy or a record; the second by skipping through its index.
POLICIES = """WITH RECURSIVE seen AS (
    (SELECT predicate, 1 AS place FROM memory_record WHERE workspace_id = %(workspace)s
     ORDER BY predicate LIMIT 1)
    UNION ALL
    SELECT (SELECT r.predicate FROM memory_record r WHERE r.workspace_id = %(workspace)s
              AND r.predicate > seen.predicate ORDER BY r.predicate LIMIT 1), place + 1
    FROM seen WHERE seen.predicate IS NOT NULL AND place < %(most)s),
named AS (
    SELECT predicate FROM seen WHERE predicate IS NOT NULL
    UNION
    SELECT predicate FROM predicate_policy WHERE workspace_id = %(workspace)s
    AND retired_at IS NULL)
SELECT n.predicate, y.version, y.cardinality, y.normaliser, y.ttl_days, y.half_life_days,
    y.immutable,
    y.protected, y.sensitive, y.needs_review, y.time_series, y.description,
    y.created_at, y.created_by,
    (SELECT count(*) FROM (SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s
        AND r.predicate = n.predicate AND r.status = 'active' LIMIT %(cap)s + 1) AS one) AS active,
    (SELECT count(*) FROM (SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s
        AND r.predicate = n.predicate AND r.status = 'quarantined'
        LIMIT %(cap)s + 1) AS one) AS held
FROM named n LEFT JOIN predicate_policy y
    ON y.workspace_id = %(workspace)s AND y.predicate = n.predicate AND y.retired_at IS NULL
ORDER BY y.version IS NOT NULL, n.predicate"""

VERSIONS = """SELECT version, cardinality, normaliser, ttl_days, half_life_days, reason,
    created_by, created_at,
    retired_at
FROM predicate_policy WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s
ORDER BY version DESC LIMIT 50"""

TOUCHED = """SELECT count(*) AS facts, count(*) FILTER (WHERE status = 'active') AS active,
    count(*) FILTER (WHERE status = 'quarantined') AS held,
    count(*) FILTER (WHERE status = 'active' AND nth = 2) AS crowded,
    count(DISTINCT slot_id) AS slots
FROM (SELECT status, slot_id, row_number() OVER (PARTITION BY slot_id, status) AS nth FROM (
    SELECT status, slot_id FROM memory_record WHERE workspace_id = %(workspace)s
      AND predicate = %(predicate)s AND status IN ('active', 'quarantined')
      LIMIT %(most)s) AS one) AS two"""

VALUES = """SELECT value, count(*) AS records FROM (
    SELECT value FROM memory_record WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s
      AND status = 'active' ORDER BY id DESC LIMIT %(cap)s) AS one
GROUP BY value ORDER BY count(*) DESC, value LIMIT 10"""


@dataclass(frozen=True, slots=True)
class Touched:
    """How many stored facts a policy is about; ``crowded`` slots hold several live values."""

    facts: int
    active: int
    held: int
    crowded: int
    slots: int


def list_keys(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the workspace's keys, the live ones first."""
    return fetch(KEYS, {"workspace": workspace_id, "most": LISTED})


def list_members(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return who works here."""
    return fetch(MEMBERS, {"workspace": workspace_id, "most": LISTED})


def list_invitations(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the last invitations, whatever has become of them."""
    return fetch(INVITATIONS, {"workspace": workspace_id})


def list_policies(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return every predicate with its policy and how often it is met; those without one first."""
    return fetch(POLICIES, {"workspace": workspace_id, "most": LISTED, "cap": SEEN_CAP})


def list_versions(predicate: str, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return a policy's versions, the newest first."""
    return fetch(VERSIONS, {"workspace": workspace_id, "predicate": predicate})


def load_touched(predicate: str, *, workspace_id: UUID) -> Touched:
    """Count the live and held facts of a predicate."""
    (row,) = fetch(
        TOUCHED, {"workspace": workspace_id, "predicate": predicate, "most": TOUCHED_CAP}
    )
    return Touched(**row)


def list_values(predicate: str, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the commonest values among the newest live facts of a predicate."""
    return fetch(VALUES, {"workspace": workspace_id, "predicate": predicate, "cap": SEEN_CAP})
