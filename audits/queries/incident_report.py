"""What only an incident's report reads: the facts worst served, and the evidence in the trail.

Inside a workspace scope. The facts carry memory text.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.incident_timeline import TARGETS
from audits.queries.radius_sets import Facts, bound, way
from audits.queries.rows import fetch

FACTS = """{way},
top AS MATERIALIZED (SELECT record_id, count(*) AS serves FROM served0 GROUP BY 1
    ORDER BY 2 DESC, 1 LIMIT %(listed)s),
rest AS MATERIALIZED (SELECT f.id, 0::bigint FROM facts f
    WHERE f.id NOT IN (SELECT record_id FROM served0) LIMIT %(listed)s),
page AS MATERIALIZED (SELECT * FROM top UNION ALL SELECT * FROM rest
    ORDER BY 2 DESC, 1 LIMIT %(listed)s)
SELECT m.id, m.subject, m.predicate, m.value, m.status, s.external_id AS session,
    p.name AS partition, page.serves
FROM page JOIN memory_record m ON m.id = page.record_id
JOIN session s ON s.id = m.session_id JOIN partition p ON p.id = m.partition_id
ORDER BY page.serves DESC, m.id"""

EVIDENCE = f"""WITH {TARGETS},
named AS (SELECT e.id, s.position FROM targets t
    JOIN event e ON e.target_id = t.id AND e.workspace_id = %(workspace)s
    LEFT JOIN sealed_event s ON s.event_id = e.id),
span AS (SELECT count(*) AS events, count(*) - count(position) AS unsealed,
    min(position) AS first, max(position) AS last FROM named)
SELECT span.*, seal.number AS seal, seal.first AS seal_first, seal.last AS seal_last,
    seal.sealed_at, encode(seal.root, 'hex') AS root, seal.key_id
FROM span LEFT JOIN seal ON seal.workspace_id = %(workspace)s
    AND span.last BETWEEN seal.first AND seal.last"""

TAKEN = """SELECT e.at, e.actor, e.role, e.details FROM event e
WHERE e.target_id = %(incident)s AND e.workspace_id = %(workspace)s
  AND e.action = 'exposure.exported' ORDER BY e.id LIMIT %(listed)s"""


def list_worst(facts: Facts, *, workspace_id: UUID, most: int) -> list[dict[str, Any]]:
    """Return the facts of a set that were served most."""
    return fetch(FACTS.format(way=way(facts)), bound(facts, workspace_id=workspace_id, listed=most))


def load_evidence(incident_id: UUID, *, workspace_id: UUID) -> dict[str, Any]:
    """Return where in the trail the incident's events are, and the seal over the last of them."""
    return fetch(EVIDENCE, {"incident": incident_id, "workspace": workspace_id})[0]


def list_taken(incident_id: UUID, *, workspace_id: UUID, most: int = 50) -> list[dict[str, Any]]:
    """Return who took the list of people to notify, and when."""
    return fetch(TAKEN, {"incident": incident_id, "workspace": workspace_id, "listed": most})
