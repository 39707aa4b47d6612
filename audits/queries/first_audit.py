"""What the first audit counts, and the lists behind its numbers.

Owns the statements. The audit itself reads the whole store, once, in the
background; the lists read what they show. Each number and its list have one
condition. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.categories import Category, found_condition
from audits.queries.rows import fetch
from audits.queries.settings import list_policies
from records.domain.facts import Status

SLOTS_KEPT = 2_000
SIDES = 6  # values of one slot that are shown side by side
PREDICATES = 60  # without a policy, the busiest first, that are looked at closely
NEWEST = 1_000  # facts of one such predicate that are looked at

# Every record has at least one claim; what is beyond the first one, once, was collapsed.
COLLAPSED = """SELECT coalesce(sum(count), 0)::bigint AS said, count(*) AS claims,
    count(DISTINCT record_id) AS facts, coalesce(sum(echoes), 0)::bigint AS echoes,
    count(*) FILTER (WHERE wording <> '') AS reworded
FROM claim WHERE workspace_id = %(workspace)s"""
AGAIN = """SELECT count(*) AS n FROM tally WHERE workspace_id = %(workspace)s AND seen_count > 1"""
LIVE_TWICE = """SELECT coalesce(sum(n - 1), 0)::bigint AS n FROM (
    SELECT count(*) AS n FROM memory_record WHERE workspace_id = %(workspace)s
      AND status IN ('active', 'quarantined') GROUP BY partition_id, fingerprint
    HAVING count(*) > 1) AS twice"""

# A slot for one value in which several were stated: settled when the last took the place of
# those before it, open while one waits beside the other for a person.
STATED = """status IN ('active', 'superseded')
    OR status = 'quarantined' AND hold_reason = 'contest'"""
CONTRADICTIONS = f"""SELECT slot_id, bool_or(status = 'quarantined') AS is_open
FROM memory_record WHERE workspace_id = %(workspace)s AND cardinality = 'one' AND ({STATED})
GROUP BY slot_id HAVING count(DISTINCT fingerprint) > 1
ORDER BY 2 DESC, count(DISTINCT fingerprint) DESC, slot_id"""
SIDE_BY_SIDE = f"""SELECT w.place, r.slot_id, r.id, r.partition_id, p.name AS partition, r.subject,
    r.predicate, r.value, r.status, r.order_at, r.confidence, r.session_id,
    s.external_id AS session
FROM unnest(%(slots)s::uuid[]) WITH ORDINALITY AS w (slot_id, place)
JOIN LATERAL (SELECT * FROM memory_record m WHERE m.slot_id = w.slot_id AND ({STATED})
    ORDER BY m.status = 'active' DESC, m.order_at DESC, m.id DESC LIMIT {SIDES}) r ON true
JOIN partition p ON p.id = r.partition_id JOIN session s ON s.id = r.session_id
WHERE r.workspace_id = %(workspace)s ORDER BY w.place, r.status = 'active' DESC, r.order_at DESC"""

EXPIRED = """SELECT count(*) AS expired, count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at > r.valid_until)) AS served
FROM memory_record r WHERE r.workspace_id = %(workspace)s AND r.status = 'active'
  AND r.valid_until <= now()"""
HELD = (
    "SELECT {} FROM memory_record r WHERE r.workspace_id = %(workspace)s AND r.status = %(status)s"
)
SESSIONS = """SELECT count(*) AS sessions, count(*) FILTER (WHERE c.score >= %(odd)s) AS odd
FROM session s LEFT JOIN session_suspicion c ON c.session_id = s.id
WHERE s.workspace_id = %(workspace)s"""

# How many values a subject has under a predicate nobody has described yet.
OBSERVED = """SELECT n.predicate, o.* FROM unnest(%(predicates)s::text[]) AS n (predicate)
LEFT JOIN LATERAL (
    SELECT count(*) AS subjects, sum(held)::bigint AS facts, max(held) AS most,
        count(*) FILTER (WHERE held > 1) AS crowded, sum(spells)::bigint AS spells,
        max(reach) AS reach
    FROM (SELECT slot_id, count(DISTINCT fingerprint) AS held,
                 count(DISTINCT date_trunc('day', order_at)) AS spells,
                 max(order_at) - min(order_at) AS reach
          FROM (SELECT slot_id, fingerprint, order_at FROM memory_record
                WHERE workspace_id = %(workspace)s AND predicate = n.predicate
                  AND status = 'active' ORDER BY id DESC LIMIT %(newest)s) AS newest
          GROUP BY slot_id) AS slot) AS o ON true"""


def count_collapsed(workspace_id: UUID) -> dict[str, int]:
    """Count how often facts were said, in which ways, and into how many they collapsed."""
    values = {"workspace": workspace_id}
    (found,) = fetch(COLLAPSED, values)
    (again,) = fetch(AGAIN, values)
    (twice,) = fetch(LIVE_TWICE, values)
    return {
        "said": found["said"] + found["echoes"],
        "facts": found["facts"],
        "said_again_by_one": found["said"] - found["claims"],
        "said_by_others": found["claims"] - found["facts"],
        "echoed": found["echoes"],
        "reworded": found["reworded"],
        "facts_said_again": again["n"],
        "live_duplicates": twice["n"],
    }


def find_contradictions(workspace_id: UUID) -> tuple[int, int, list[UUID]]:
    """Return how many slots are settled and open, and the slots, the open ones first."""
    with connection.cursor() as cursor:
        cursor.execute(CONTRADICTIONS, {"workspace": workspace_id})
        rows = cursor.fetchall()
    is_open = sum(row[1] for row in rows)
    return len(rows) - is_open, is_open, [row[0] for row in rows[:SLOTS_KEPT]]


def list_sides(slots: Sequence[UUID], *, workspace_id: UUID) -> list[list[dict[str, Any]]]:
    """Return what was stated in each slot, the present value first."""
    rows = fetch(SIDE_BY_SIDE, {"slots": list(slots), "workspace": workspace_id})
    sides: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        sides.setdefault(row["place"], []).append(row)
    return list(sides.values())


def count_expired(workspace_id: UUID) -> dict[str, int]:
    """Count the live facts past their validity, and those served since."""
    (row,) = fetch(EXPIRED, {"workspace": workspace_id})
    return {"expired": row["expired"], "served_since_expiry": row["served"]}


def count_held(workspace_id: UUID) -> dict[str, int]:
    """Count held and rejected records by what the gate found in them; one may count in several."""
    numbers: dict[str, int] = {}
    for word, status in (("held", Status.QUARANTINED), ("rejected", Status.REJECTED)):
        columns = [f"count(*) AS {word}"] + [
            f"count(*) FILTER (WHERE {found_condition(one)}) AS {word}_{one}" for one in Category
        ]
        statement = HELD.format(", ".join(columns))
        (row,) = fetch(statement, {"workspace": workspace_id, "status": str(status)})
        numbers |= row
    return numbers


def count_sessions(workspace_id: UUID, *, odd: int) -> dict[str, int]:
    """Count the sessions, and those that stand out with a score of at least ``odd``."""
    (row,) = fetch(SESSIONS, {"workspace": workspace_id, "odd": odd})
    return {"sessions": row["sessions"], "odd_sessions": row["odd"]}


def list_unknown(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the predicates without a policy, the busiest first, with how their values lie.

    The first ``PREDICATES`` of them are looked at by their newest facts; the others have no
    ``subjects``.
    """
    rows = [row for row in list_policies(workspace_id) if row["version"] is None]
    rows.sort(key=lambda row: (-row["active"], row["predicate"]))
    near = [row["predicate"] for row in rows[:PREDICATES]]
    observed = fetch(OBSERVED, {"predicates": near, "workspace": workspace_id, "newest": NEWEST})
    by_name = {row["predicate"]: row for row in observed}
    return [row | by_name.get(row["predicate"], {}) for row in rows]
