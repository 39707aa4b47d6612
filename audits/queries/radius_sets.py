"""Sets of facts whose radius is asked for, and the steps of the way from facts to taint, as SQL.

Owns the common table expressions that ``radius.py`` and ``radius_taint.py``
put together; runs nothing but the look-up of an incident's scope. Inside a
workspace scope.

How each step finds its rows is settled here, since the planner guesses the
sizes of steps badly. The serves of the set come by one array: a scan of the
log's index steps through it month by month, where a loop over 5,000 facts and
13 months would go down 65,000 times. Later steps loop over few rows, each with
a time before which no month is looked at; ``OFFSET 0`` keeps them loops.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.domain.radius import CAP, DEPTH
from audits.queries.rows import fetch
from records.domain.terms import query_terms


@dataclass(frozen=True, slots=True)
class Facts:
    """A set of records as a SELECT of their ids, written by code, with its values.

    Names of values begin with ``f_``, so that they meet no others. ``most``
    bounds the set.
    """

    sql: str
    values: Mapping[str, Any] = field(default_factory=dict)
    most: int = CAP


def of_sessions(session_ids: Collection[UUID]) -> Facts:
    """Return what these sessions claimed, dropped claims included: it went out all the same."""
    return Facts(
        "SELECT c.record_id FROM claim c WHERE c.session_id = ANY(%(f_sessions)s)",
        {"f_sessions": list(session_ids)},
    )


def of_source(source_id: UUID) -> Facts:
    """Return what was claimed through a source."""
    return Facts(
        "SELECT c.record_id FROM claim c WHERE c.source_id = %(f_source)s", {"f_source": source_id}
    )


def of_records(record_ids: Collection[UUID]) -> Facts:
    """Return these records, where they are records of the workspace at hand."""
    return Facts(
        "SELECT m.id FROM memory_record m WHERE m.id = ANY(%(f_records)s)",
        {"f_records": list(record_ids)},
    )


INCIDENT = """SELECT kind, target_id, text FROM incident_scope
WHERE incident_id = %(incident)s AND workspace_id = %(workspace)s AND removed_at IS NULL"""

SCOPES = {
    "session": "SELECT c.record_id FROM claim c WHERE c.session_id = ANY(%(f_session)s)",
    "source": "SELECT c.record_id FROM claim c WHERE c.source_id = ANY(%(f_source)s)",
    "partition": "SELECT m.id FROM memory_record m WHERE m.partition_id = ANY(%(f_partition)s)",
    "record": "SELECT m.id FROM memory_record m WHERE m.id = ANY(%(f_record)s)",
}


def of_incident(incident_id: UUID, *, workspace_id: UUID) -> Facts:
    """Return what an incident is about: everything that its scope names, whichever part names it.

    Texts find what the list of records would find.
    """
    rows = fetch(INCIDENT, {"incident": incident_id, "workspace": workspace_id})
    parts: list[str] = []
    values: dict[str, Any] = {}
    for kind, statement in SCOPES.items():
        named = [row["target_id"] for row in rows if row["kind"] == kind]
        if named:
            parts.append(statement)
            values[f"f_{kind}"] = named
    texts = [row["text"] for row in rows if row["kind"] == "text"]
    for place, found in enumerate(terms for text in texts if (terms := query_terms(text))):
        parts.append(f"SELECT found FROM memconsole_search(%(f_text{place})s, NULL, {CAP}) found")
        values[f"f_text{place}"] = list(found)
    nothing = "SELECT id FROM memory_record WHERE false"
    return Facts(" UNION ALL ".join(parts) or nothing, values)


# What was asked, the set itself, and the serves of it. A record that left the workspace's
# reach is no fact of the set.
SERVED = """wanted AS MATERIALIZED (
    SELECT DISTINCT one.id FROM ({facts}) AS one (id)
    JOIN memory_record m ON m.id = one.id AND m.workspace_id = %(workspace)s
    LIMIT %(f_most)s + 1),
facts AS MATERIALIZED (SELECT id FROM wanted LIMIT %(f_most)s),
served0 AS MATERIALIZED (
    SELECT v.recall_id, v.at, v.record_id, v.session_id, v.partition_id FROM serve v
    WHERE v.record_id = ANY ((SELECT array_agg(id) FROM facts)::uuid[])
        AND v.workspace_id = %(workspace)s AND v.at <= %(f_until)s)"""

# Who was exposed at one depth, and what they wrote after they first were. A claim cannot be
# older than the record it is on, whatever time its writer gave.
WROTE = """exposed{above} AS MATERIALIZED (
    SELECT session_id, min(at) AS since FROM served{above}
    WHERE session_id IS NOT NULL GROUP BY session_id),
wrote{depth} AS MATERIALIZED (
    SELECT DISTINCT ON (w.record_id) w.record_id, e.session_id, w.at
    FROM exposed{above} e CROSS JOIN LATERAL (
        SELECT c.record_id, greatest(c.first_at, m.recorded_at) AS at
        FROM claim c JOIN memory_record m ON m.id = c.record_id
        WHERE c.session_id = e.session_id AND c.workspace_id = %(workspace)s
            AND greatest(c.first_at, m.recorded_at) > e.since OFFSET 0) w
    WHERE {fresh}
    ORDER BY w.record_id, w.at, e.session_id
    LIMIT %(f_most)s)"""

SERVED_AGAIN = """served{depth} AS MATERIALIZED (
    SELECT v.recall_id, v.at, v.record_id, v.session_id, v.partition_id
    FROM wrote{depth} w CROSS JOIN LATERAL (
        SELECT * FROM serve s WHERE s.record_id = w.record_id AND s.workspace_id = %(workspace)s
            AND s.at > w.at AND s.at <= %(f_until)s OFFSET 0) v)"""

# A write is compared with the facts that its session got most often; more say nothing new.
COMPARED = 10
# Cosine of two embeddings. Of pairs of real facts taken at random 1 in 1,000 reaches 0.56;
# the same said in other words measured 0.76 to 0.92.
ALIKE = 0.70
# Where a vector is missing, more than two thirds of the terms count as alike.
# A value shorter than this ("yes", "42") says nothing by occurring in another fact.
TELLING = 5

# Of a write ``a`` (its texts in small letters already) and a fact ``b`` that was served.
EVIDENCE = f"""CASE
    WHEN a.low = b.low AND (char_length(a.low) >= {TELLING} OR a.predicate = b.predicate) THEN 0
    WHEN char_length(b.low) >= {TELLING} AND position(b.low IN a.said) > 0 THEN 0
    WHEN char_length(a.low) >= {TELLING}
        AND position(a.low IN b.low || ' ' || lower(b.content)) > 0 THEN 0
    WHEN a.embedding IS NOT NULL AND b.embedding IS NOT NULL
        AND a.embedding_model = b.embedding_model THEN
        CASE WHEN 1 - (a.embedding <=> b.embedding) >= {ALIKE} THEN 1 ELSE 2 END
    WHEN 3 * (SELECT count(*) FROM (SELECT unnest(a.terms) INTERSECT SELECT unnest(b.terms)) x)
        > 2 * greatest(cardinality(a.terms), cardinality(b.terms), 1) THEN 1
    ELSE 2 END"""

# What each session heard is one row, so that no wrong guess of the planner can make it compare
# everything with everything.
LINKED = f"""heard{{above}} AS MATERIALIZED (
    SELECT session_id, array_agg(record_id ORDER BY place) AS records,
        array_agg(since ORDER BY place) AS times
    FROM (SELECT session_id, record_id, min(at) AS since, row_number() OVER (
              PARTITION BY session_id ORDER BY count(*) DESC, min(at), record_id) AS place
          FROM served{{above}} WHERE session_id IS NOT NULL GROUP BY session_id, record_id) p
    WHERE place <= {COMPARED} GROUP BY session_id),
linked{{depth}} AS MATERIALIZED (
    SELECT w.record_id, {{depth}} AS depth, w.session_id, w.at, best.via,
        coalesce(best.evidence, 2) AS evidence
    FROM wrote{{depth}} w JOIN heard{{above}} h ON h.session_id = w.session_id
    CROSS JOIN LATERAL (
        SELECT lower(value) AS low, lower(value || ' ' || content) AS said, predicate, embedding,
            embedding_model, terms
        FROM memory_record WHERE id = w.record_id OFFSET 0) a
    LEFT JOIN LATERAL (
        SELECT one.id AS via, {EVIDENCE} AS evidence
        FROM unnest(h.records, h.times) AS one (id, since)
        CROSS JOIN LATERAL (
            SELECT lower(r.value) AS low, r.content, r.predicate, r.embedding, r.embedding_model,
                r.terms
            FROM memory_record r WHERE r.id = one.id OFFSET 0) b
        WHERE one.since < w.at ORDER BY 2, one.since DESC LIMIT 1) best ON true)"""


def way(facts: Facts, *, depth: int = 0, linked: bool = False) -> str:
    """Return the steps from a set of facts to what was written at each depth up to ``depth``.

    Makes ``facts``, ``served0`` and for each depth ``exposed``, ``wrote`` and
    ``served``; with ``linked`` also ``linked1``..., which say by which serve and
    how strongly.
    """
    steps = [SERVED.format(facts=facts.sql)]
    for level in range(1, min(depth, DEPTH) + 1):
        earlier = ["SELECT id FROM facts"]
        earlier += [f"SELECT record_id FROM wrote{one}" for one in range(1, level)]
        fresh = " AND ".join(f"w.record_id NOT IN ({one})" for one in earlier)
        steps.append(WROTE.format(above=level - 1, depth=level, fresh=fresh))
        if linked:
            steps.append(LINKED.format(above=level - 1, depth=level))
        if level < depth:
            steps.append(SERVED_AGAIN.format(depth=level))
    return "WITH " + ",\n".join(steps)


def bound(facts: Facts, *, workspace_id: UUID, until: Any = None, **more: Any) -> dict[str, Any]:
    """Return the values of a statement that begins with ``way``."""
    return {
        **facts.values,
        "workspace": workspace_id,
        "f_most": facts.most,
        "f_until": until or "infinity",
        **more,
    }
