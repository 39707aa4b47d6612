"""Other incidents that share something with one: parts of the scope, facts, rules.

Owns one statement over the newest incidents of the workspace. Facts are
compared by fingerprint, the same fact in whichever partition; each scope is
sampled up to a bound. Inside a workspace scope.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.rows import fetch

COMPARED = 50  # other incidents looked at
SAMPLED = 1_000  # facts of this one
SAMPLED_OTHERS = 300  # facts of each of the others

SIMILAR = """WITH others AS MATERIALIZED (
    SELECT id, number, title, severity, state, opened_at FROM incident
    WHERE workspace_id = %(workspace)s AND id <> %(incident)s AND merged_into IS NULL
    ORDER BY number DESC LIMIT %(compared)s),
part AS MATERIALIZED (
    SELECT x.incident_id, x.kind, x.target_id, x.text FROM incident_scope x
    WHERE x.workspace_id = %(workspace)s AND x.removed_at IS NULL
      AND (x.incident_id = %(incident)s OR x.incident_id IN (SELECT id FROM others))),
shared AS (
    SELECT o.incident_id, count(*) FILTER (WHERE o.kind = 'session') AS sessions,
        count(*) FILTER (WHERE o.kind = 'source') AS sources,
        count(*) FILTER (WHERE o.kind NOT IN ('session', 'source')) AS others
    FROM part o JOIN part m ON m.incident_id = %(incident)s AND m.kind = o.kind
        AND (m.target_id = o.target_id OR m.kind = 'text' AND lower(m.text) = lower(o.text))
    WHERE o.incident_id <> %(incident)s GROUP BY 1),
fact AS MATERIALIZED (
    SELECT DISTINCT i.id AS incident_id, r.fingerprint, r.findings
    FROM (SELECT id, %(sampled_others)s AS most FROM others
          UNION ALL SELECT %(incident)s::uuid, %(sampled)s) i
    CROSS JOIN LATERAL (
        SELECT c.record_id FROM part p JOIN claim c ON c.session_id = p.target_id
        WHERE p.incident_id = i.id AND p.kind = 'session'
        UNION ALL
        SELECT c.record_id FROM part p JOIN claim c ON c.source_id = p.target_id
        WHERE p.incident_id = i.id AND p.kind = 'source'
        UNION ALL
        SELECT p.target_id FROM part p WHERE p.incident_id = i.id AND p.kind = 'record'
        LIMIT i.most) f
    JOIN memory_record r ON r.id = f.record_id AND r.workspace_id = %(workspace)s),
mine AS MATERIALIZED (
    SELECT fingerprint, findings FROM fact WHERE incident_id = %(incident)s),
rule AS MATERIALIZED (
    SELECT DISTINCT f.incident_id, one->>'rule' AS rule
    FROM fact f CROSS JOIN LATERAL jsonb_array_elements(f.findings) one
    WHERE one->>'rule' IS NOT NULL),
-- A filter over a list, which is hashed, and no join: the planner cannot know how many there are.
same AS (
    SELECT incident_id, count(DISTINCT fingerprint)
        FILTER (WHERE fingerprint IN (SELECT fingerprint FROM mine)) AS facts
    FROM fact WHERE incident_id <> %(incident)s GROUP BY 1),
ruled AS (
    SELECT incident_id, array_agg(rule ORDER BY rule) FILTER (WHERE rule IN (
        SELECT m.rule FROM rule m WHERE m.incident_id = %(incident)s)) AS rules
    FROM rule WHERE incident_id <> %(incident)s GROUP BY 1)
SELECT o.*, coalesce(h.sessions, 0) AS sessions, coalesce(h.sources, 0) AS sources,
    coalesce(h.others, 0) AS others, coalesce(a.facts, 0) AS facts,
    coalesce(u.rules, '{}') AS rules
FROM others o LEFT JOIN shared h ON h.incident_id = o.id LEFT JOIN same a ON a.incident_id = o.id
LEFT JOIN ruled u ON u.incident_id = o.id
WHERE h.incident_id IS NOT NULL OR a.facts > 0 OR cardinality(u.rules) > 0
ORDER BY coalesce(h.sessions, 0) + coalesce(h.sources, 0) + coalesce(h.others, 0) DESC,
    coalesce(a.facts, 0) DESC, o.number DESC LIMIT 10"""


def list_similar(incident_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return other incidents with what they share, the most alike first."""
    values = {
        "incident": incident_id,
        "workspace": workspace_id,
        "compared": COMPARED,
        "sampled": SAMPLED,
        "sampled_others": SAMPLED_OTHERS,
    }
    return fetch(SIMILAR, values)
