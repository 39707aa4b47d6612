"""What exposed sessions wrote after they had been served a set of facts: the taint.

Owns the list of tainted records with the serve that links each, its depth and
how strong the evidence is, and the counts of that. "Wrote it afterwards" is a
fact about time; only what repeats or resembles what was served points at a
cause, and it comes first. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.domain.radius import DEPTH, Evidence
from audits.queries.radius_sets import Facts, bound, way
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50

# The counts and the page in one statement: what is compared is compared once.
TAINTED = """{way},
tainted AS MATERIALIZED ({tainted}),
weighed AS (
    SELECT coalesce(jsonb_agg(jsonb_build_array(g.depth, g.evidence, g.records)), '[]') AS counts,
        (SELECT count(DISTINCT session_id) FROM tainted) AS sessions
    FROM (SELECT depth, evidence, count(*) AS records FROM tainted GROUP BY 1, 2) g),
page AS MATERIALIZED (
    SELECT * FROM tainted t WHERE {where}
    ORDER BY t.evidence, t.depth, t.at, t.record_id LIMIT %(limit)s)
SELECT weighed.counts, weighed.sessions, page.*, m.subject, m.predicate, m.value, m.status,
    m.hold_reason, p.name AS partition, s.external_id AS session, s.agent,
    b.subject AS via_subject, b.predicate AS via_predicate, b.value AS via_value,
    b.status AS via_status, v.recall_id, v.at AS linked_at, v.rank
FROM weighed LEFT JOIN (page JOIN memory_record m ON m.id = page.record_id
                        JOIN partition p ON p.id = m.partition_id
                        LEFT JOIN session s ON s.id = page.session_id
                        LEFT JOIN memory_record b ON b.id = page.via) ON true
LEFT JOIN LATERAL (
    SELECT one.recall_id, one.at, one.rank FROM serve one
    WHERE one.record_id = page.via AND one.session_id = page.session_id AND one.at < page.at
    ORDER BY one.at DESC LIMIT 1) v ON true
ORDER BY page.evidence, page.depth, page.at, page.record_id"""


@dataclass(frozen=True, slots=True)
class Weight:
    """How many records are tainted, by depth and evidence, and how many sessions wrote them."""

    counts: Mapping[tuple[int, Evidence], int]
    sessions: int
    depth: int

    @property
    def records(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def by_evidence(self, evidence: Evidence) -> int:
        """Those of one strength, at any depth."""
        return sum(count for (_, one), count in self.counts.items() if one == evidence)

    def by_depth(self) -> tuple[int, ...]:
        """Those of each depth, the first first."""
        return tuple(
            sum(count for (one, _), count in self.counts.items() if one == level)
            for level in range(1, self.depth + 1)
        )


def list_tainted(
    facts: Facts,
    *,
    cursor: str | None,
    workspace_id: UUID,
    depth: int = DEPTH,
    evidence: Evidence | None = None,
    limit: int = PAGE,
) -> Page:
    """Return a page of records written after a serve, the strongest evidence first.

    Each names the record that was served (``via``), the recall that served it
    last before the writing, and the session that wrote. BadRequest: a cursor
    of another list.
    """
    return survey(
        facts,
        cursor=cursor,
        workspace_id=workspace_id,
        depth=depth,
        evidence=evidence,
        limit=limit,
    )[0]


def weigh(facts: Facts, *, workspace_id: UUID, depth: int = DEPTH) -> Weight:
    """Count the tainted records by depth and evidence."""
    return survey(facts, cursor=None, workspace_id=workspace_id, depth=depth, limit=1)[1]


def survey(
    facts: Facts,
    *,
    cursor: str | None,
    workspace_id: UUID,
    depth: int = DEPTH,
    evidence: Evidence | None = None,
    limit: int = PAGE,
) -> tuple[Page, Weight]:
    """Return a page of ``list_tainted`` and what ``weigh`` counts, for the price of one."""
    key = list_key("console.tainted", workspace_id, facts.sql, dict(facts.values), depth, evidence)
    place = open_cursor(cursor, key=key)
    conditions = ["true"]
    values: dict[str, Any] = {"limit": limit + 1}
    if evidence is not None:
        conditions.append("t.evidence = %(evidence)s")
        values["evidence"] = int(evidence)
    if place is not None:
        conditions.append(
            "(t.evidence, t.depth, t.at, t.record_id)"
            " > (%(after0)s::int, %(after1)s::int, %(after2)s::timestamptz, %(after3)s::uuid)"
        )
        values |= {f"after{number}": one for number, one in enumerate(place)}
    statement = TAINTED.format(
        way=way(facts, depth=depth, linked=True),
        tainted=_tainted(depth),
        where=" AND ".join(conditions),
    )
    found = fetch(statement, bound(facts, workspace_id=workspace_id, **values))
    counts = {(level, Evidence(one)): count for level, one, count in found[0]["counts"]}
    weight = Weight(counts, found[0]["sessions"], depth)
    rows = [row for row in found if row["record_id"] is not None]
    for row in rows:
        row["evidence"] = Evidence(row["evidence"])
    return make_page(rows, limit=limit, key=key, place=_place), weight


def _tainted(depth: int) -> str:
    return " UNION ALL ".join(f"SELECT * FROM linked{one}" for one in range(1, depth + 1))


def _place(row: dict[str, Any]) -> list[Any]:
    return [int(row["evidence"]), row["depth"], row["at"].isoformat(), row["record_id"]]
