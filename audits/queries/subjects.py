"""Whom a request is about: partitions and subjects found, what is kept about them counted.

Owns the statements. Inside a workspace scope of the whole workspace. Counts
stop at a bound, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain import canonical
from records.domain.terms import query_terms
from records.holds import COVERS

PAGE = 50
SUGGESTED = 10
FOUND_CAP = 10_000  # records that a request by subject may name
MENTIONS_SHOWN = 200
COUNT_CAP = 100_000

# By the index of names' own order; the name's beginning, in any case.
PARTITIONS = """SELECT id, name FROM partition
WHERE workspace_id = %(workspace)s AND (id = %(id)s OR starts_with(lower(name), lower(%(name)s)))
ORDER BY id <> %(id)s, length(name), name LIMIT %(most)s"""

# Every record that has all the words of the subject somewhere, and where it has them.
FOUND = """SELECT r.id, r.partition_id, p.name AS partition, r.subject, r.subject_key, r.predicate,
    r.value, r.content, r.status
FROM memconsole_search(%(terms)s, NULL, %(most)s) AS found (id)
JOIN memory_record r ON r.id = found.id JOIN partition p ON p.id = r.partition_id
WHERE r.workspace_id = %(workspace)s AND r.status <> 'erased'
  AND (%(partition)s::uuid IS NULL OR r.partition_id = %(partition)s)
ORDER BY r.id DESC"""
IN_PARTITION = """SELECT r.id, r.partition_id, p.name AS partition, r.subject, r.subject_key,
    r.predicate, r.value, r.content, r.status
FROM memory_record r JOIN partition p ON p.id = r.partition_id
WHERE r.partition_id = %(partition)s AND r.workspace_id = %(workspace)s
  AND r.subject_key = %(key)s AND r.status <> 'erased'
ORDER BY r.id DESC LIMIT %(most)s"""

BY_STATUS = """SELECT status, count(*) AS count FROM (
    SELECT r.status FROM memory_record r
    WHERE r.workspace_id = %(workspace)s AND {which} LIMIT %(cap)s) AS one
GROUP BY status ORDER BY status"""
BESIDE = """SELECT
    (SELECT count(*) FROM (SELECT 1 FROM claim c WHERE c.workspace_id = %(workspace)s
        AND {of_claim} LIMIT %(cap)s) AS o) AS claims,
    (SELECT count(*) FROM (SELECT DISTINCT c.session_id FROM claim c
        WHERE c.workspace_id = %(workspace)s AND {of_claim} LIMIT %(cap)s) AS o) AS sessions,
    (SELECT count(*) FROM (SELECT 1 FROM recall q WHERE q.workspace_id = %(workspace)s
        AND {of_recall} LIMIT %(cap)s) AS o) AS recalls,
    (SELECT count(*) FROM (SELECT 1 FROM serve v WHERE v.workspace_id = %(workspace)s
        AND {of_serve} LIMIT %(cap)s) AS o) AS serves,
    (SELECT count(*) FROM (SELECT 1 FROM feedback f WHERE f.workspace_id = %(workspace)s
        AND {of_feedback} LIMIT %(cap)s) AS o) AS feedback,
    (SELECT count(*) FROM (SELECT 1 FROM review_note n WHERE n.workspace_id = %(workspace)s
        AND {of_note} LIMIT %(cap)s) AS o)
        + (SELECT count(*) FROM (SELECT 1 FROM review_decision d
            WHERE d.workspace_id = %(workspace)s AND {of_decision} LIMIT %(cap)s) AS o) AS notes,
    (SELECT count(*) FROM (SELECT 1 FROM event e WHERE e.workspace_id = %(workspace)s
        AND {of_event} LIMIT %(cap)s) AS o) AS events"""

HELD = f"""SELECT h.id, h.kind, h.placed_by, h.placed_at, h.reason, count(*) AS records
FROM memory_record r CROSS JOIN legal_hold h
WHERE r.workspace_id = %(workspace)s AND {{which}} AND r.status <> 'erased'
  AND h.workspace_id = %(workspace)s AND {COVERS}
GROUP BY h.id, h.kind, h.placed_by, h.placed_at, h.reason ORDER BY h.id LIMIT 100"""

REQUESTS = """SELECT s.*, s.created_at + interval '1 month' AS due_at, o.state AS operation_state,
    o.total AS operation_total, o.changed AS operation_changed, a.decided_by AS approved_by
FROM subject_request s
LEFT JOIN operation o ON o.id = s.operation_id
LEFT JOIN approval a ON a.id = o.approval_id
WHERE s.workspace_id = %(workspace)s"""


@dataclass(slots=True)
class Found:
    """What the store has by a subject's name."""

    key: str
    own: list[dict[str, Any]] = field(default_factory=list)
    spellings: list[dict[str, Any]] = field(default_factory=list)  # subjects that hold the name
    mentions: list[dict[str, Any]] = field(default_factory=list)  # other subjects' facts
    is_cut: bool = False

    @property
    def partitions(self) -> list[tuple[str, int]]:
        """How many of its records each partition has."""
        counts: dict[str, int] = {}
        for row in self.own:
            counts[row["partition"]] = counts.get(row["partition"], 0) + 1
        return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def find_partitions(name: str, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the partition of that name first, then those whose names begin so."""
    return fetch(
        PARTITIONS,
        {
            "workspace": workspace_id,
            "id": canonical.partition_id(workspace_id, name),
            "name": name,
            "most": SUGGESTED,
        },
    )


def load_partition(partition_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return a partition, or ``None``."""
    found = fetch(
        """SELECT id, name, created_at FROM partition
           WHERE id = %(id)s AND workspace_id = %(workspace)s""",
        {"id": partition_id, "workspace": workspace_id},
    )
    return found[0] if found else None


def find_subject(subject: str, partition_id: UUID | None, *, workspace_id: UUID) -> Found:
    """Return the subject's own records, like-named subjects, and who else's facts mention it.

    Its own records are those under the same canonical key; the rest is for a
    person to decide. At most ``FOUND_CAP`` records are looked at.
    """
    key = canonical.identifier(subject)
    words = query_terms(subject)
    values = {
        "workspace": workspace_id,
        "partition": partition_id,
        "terms": list(words),
        "key": key,
        "most": FOUND_CAP + 1,
    }
    rows: dict[UUID, dict[str, Any]] = {}
    if words:
        rows = {row["id"]: row for row in fetch(FOUND, values)}
    if partition_id is not None:
        rows |= {row["id"]: row for row in fetch(IN_PARTITION, values)}
    return _sort(Found(key, is_cut=len(rows) > FOUND_CAP), rows.values())


def _sort(found: Found, rows: Any) -> Found:
    spelled: dict[tuple[UUID, str], dict[str, Any]] = {}
    words = set(found.key.split())
    for row in rows:
        if row["subject_key"] == found.key:
            found.own.append(row)
        elif words & set(row["subject_key"].split()):
            one = spelled.setdefault(
                (row["partition_id"], row["subject_key"]), {**row, "count": 0, "record_ids": []}
            )
            one["count"] += 1
            one["record_ids"].append(row["id"])
        elif len(found.mentions) < MENTIONS_SHOWN:
            found.mentions.append(row)
    found.spellings = sorted(spelled.values(), key=lambda one: (-one["count"], one["subject_key"]))
    return found


def count_kept(
    *, workspace_id: UUID, partition_id: UUID | None = None, record_ids: Sequence[UUID] = ()
) -> dict[str, Any]:
    """Count what is kept about a partition, or about these records: by status, and beside them."""
    values = {
        "workspace": workspace_id,
        "partition": partition_id,
        "ids": list(record_ids),
        "cap": COUNT_CAP + 1,
    }
    if partition_id is not None:
        which = "r.partition_id = %(partition)s"
        beside = {
            "of_claim": "c.partition_id = %(partition)s",
            "of_recall": "q.partition_id = %(partition)s",
            "of_serve": "v.partition_id = %(partition)s",
            "of_feedback": "f.partition_id = %(partition)s",
            "of_note": "n.partition_id = %(partition)s",
            "of_decision": "d.partition_id = %(partition)s",
            "of_event": "e.partition_id = %(partition)s",
        }
    else:
        which = "r.id = ANY(%(ids)s)"
        beside = {
            "of_claim": "c.record_id = ANY(%(ids)s)",
            "of_recall": """q.id IN (SELECT v.recall_id FROM serve v WHERE v.record_id = ANY(%(ids)s))""",
            "of_serve": "v.record_id = ANY(%(ids)s)",
            "of_feedback": "f.record_id = ANY(%(ids)s)",
            "of_note": "n.record_id = ANY(%(ids)s)",
            "of_decision": "d.record_id = ANY(%(ids)s)",
            "of_event": "e.target_id = ANY(%(ids)s)",
        }
    statuses = fetch(BY_STATUS.format(which=which), values)
    (around,) = fetch(BESIDE.format(**beside), values)
    return {
        "statuses": {row["status"]: row["count"] for row in statuses},
        "records": sum(row["count"] for row in statuses),
        "beside": around,
    }


def list_holds_over(
    *, workspace_id: UUID, partition_id: UUID | None = None, record_ids: Sequence[UUID] = ()
) -> list[dict[str, Any]]:
    """Return the standing holds that keep any of it, with how many records each keeps."""
    which = "r.partition_id = %(partition)s" if partition_id else "r.id = ANY(%(ids)s)"
    return fetch(
        HELD.format(which=which),
        {"workspace": workspace_id, "partition": partition_id, "ids": list(record_ids)},
    )


def list_requests(*, state: str | None, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of requests, the newest first. BadRequest: not a cursor of this list."""
    key = list_key("console.subjects", workspace_id, state)
    place = open_cursor(cursor, key=key)
    where = ["true"]
    if state == "open":
        where.append("s.state IN ('preview', 'waiting', 'running')")
    elif state:
        where.append("s.state = %(state)s")
    if place is not None:
        where.append("s.id < %(after)s")
    rows = fetch(
        f"{REQUESTS} AND {' AND '.join(where)} ORDER BY s.id DESC LIMIT %(limit)s",
        {
            "workspace": workspace_id,
            "state": state,
            "after": UUID(place[0]) if place else None,
            "limit": PAGE + 1,
        },
    )
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["id"]])


def load_request(request_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one request with its operation's state, or ``None``."""
    found = fetch(f"{REQUESTS} AND s.id = %(id)s", {"workspace": workspace_id, "id": request_id})
    return found[0] if found else None
