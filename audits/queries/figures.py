"""What the charts count live: the backlog, bad facts served, what expires and has expired.

Each statement follows an index and is bounded; where the bound cuts, the answer
says from when on it counts. The lists behind the numbers are
``queries/figure_lists.py``'s, made of the same conditions. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.figures import Steps
from audits.queries.rows import fetch

CAP = 100_000
BAD_CAP = 20_000  # bad facts, the newest, whose serves are looked for
EXPIRED_CAP = 20_000  # expired facts, the last to expire, that are grouped
PREDICATES = 20

ZONE = "SELECT time_zone FROM workspace WHERE id = %(workspace)s"
# Of records ``r``.
BAD = "r.status IN ('rejected', 'evicted', 'retracted')"
EXPIRES = "r.status = 'active' AND r.valid_until IS NOT NULL"
SERVED_SINCE = "EXISTS (SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at >= r.valid_until)"
BAD_FACTS = f"""SELECT r.id, r.status_at FROM memory_record r
WHERE r.workspace_id = %(workspace)s AND {BAD} ORDER BY r.status_at DESC, r.id LIMIT {BAD_CAP}"""

BACKLOG = """SELECT b.n - 1 AS step, (SELECT count(*) FROM (
    SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s
        AND r.status = 'quarantined' AND r.status_at >= b.since AND r.status_at < b.until
    LIMIT %(cap)s) AS one) AS number
FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) WITH ORDINALITY
    AS b (since, until, n)"""
HARM = f"""WITH bad AS MATERIALIZED ({BAD_FACTS})
SELECT width_bucket(v.at, %(bounds)s::timestamptz[]) - 1 AS step, count(*) AS serves,
    count(DISTINCT v.record_id) AS facts,
    (SELECT count(*) FROM bad) AS bad, (SELECT min(status_at) FROM bad) AS since
FROM bad JOIN serve v ON v.record_id = bad.id
WHERE v.workspace_id = %(workspace)s AND v.at >= %(since)s AND v.at < %(until)s GROUP BY 1"""
AHEAD = f"""SELECT b.n - 1 AS step, (SELECT count(*) FROM (
    SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s AND {EXPIRES}
        AND r.valid_until >= b.since AND r.valid_until < b.until LIMIT %(cap)s) AS one) AS number
FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) WITH ORDINALITY
    AS b (since, until, n)"""
EXPIRED = f"""WITH gone AS MATERIALIZED (
    SELECT r.id, r.predicate, r.valid_until FROM memory_record r
    WHERE r.workspace_id = %(workspace)s AND {EXPIRES} AND r.valid_until < %(now)s
    ORDER BY r.valid_until DESC LIMIT {EXPIRED_CAP})
SELECT predicate, count(*) AS expired, count(*) FILTER (WHERE {SERVED_SINCE}) AS served,
    (SELECT min(valid_until) FROM gone) AS since, (SELECT count(*) FROM gone) AS total
FROM gone r GROUP BY predicate ORDER BY served DESC, expired DESC, predicate"""
SAID = """SELECT width_bucket(t.seen_count, %(steps)s::int[]) - 1 AS step, count(*) AS number
FROM tally t WHERE t.workspace_id = %(workspace)s AND t.seen_count > 1 GROUP BY 1"""
AGES = """SELECT b.n - 1 AS step, (SELECT count(*) FROM (
    SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s
        AND r.status = 'active' AND r.id >= b.since AND r.id < b.until LIMIT %(cap)s) AS one)
    AS number
FROM unnest(%(since)s::uuid[], %(until)s::uuid[]) WITH ORDINALITY AS b (since, until, n)"""


@dataclass(frozen=True, slots=True)
class Harm:
    """Serves of facts found bad since, step by step; ``since`` when older ones were left out."""

    serves: list[int]
    facts: list[int]
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Expired:
    """Expired facts by predicate: how many, and how many of them were served since."""

    rows: list[dict[str, Any]]
    since: datetime | None  # set when older ones were left out
    total: int


def load_zone(workspace_id: UUID) -> str:
    """Return the workspace's time zone."""
    found = fetch(ZONE, {"workspace": workspace_id})
    return str(found[0]["time_zone"]) if found else "UTC"


def count_backlog(edges: Sequence[tuple[datetime, datetime]], *, workspace_id: UUID) -> list[int]:
    """Count the held facts by when they were held."""
    return _by_step(BACKLOG, edges, workspace_id)


def count_expiring(edges: Sequence[tuple[datetime, datetime]], *, workspace_id: UUID) -> list[int]:
    """Count the active facts by when they expire."""
    return _by_step(AHEAD, edges, workspace_id)


def count_ages(edges: Sequence[tuple[datetime, datetime]], *, workspace_id: UUID) -> list[int]:
    """Count the active facts by when they were recorded; their ids follow that time."""
    return _by_step(AGES, [(id_at(start), id_at(end)) for start, end in edges], workspace_id)


def count_said(lows: Sequence[int], *, workspace_id: UUID) -> list[int]:
    """Count the facts that were said again, by how often; each bound begins a bucket."""
    found = [0] * len(lows)
    for row in fetch(SAID, {"workspace": workspace_id, "steps": list(lows)}):
        found[row["step"]] = row["number"]
    return found


def load_harm(steps: Steps, *, workspace_id: UUID) -> Harm:
    """Count the serves of facts that were rejected, evicted or retracted since."""
    values = {
        "workspace": workspace_id,
        "bounds": list(steps.bounds),
        "since": steps.bounds[0],
        "until": steps.bounds[-1],
    }
    serves, facts, since = [0] * steps.span.steps, [0] * steps.span.steps, None
    for row in fetch(HARM, values):
        serves[row["step"]], facts[row["step"]] = row["serves"], row["facts"]
        since = row["since"] if row["bad"] >= BAD_CAP else None
    return Harm(serves, facts, since)


def load_expired(*, workspace_id: UUID, now: datetime) -> Expired:
    """Count the expired facts by predicate, those that were served since first."""
    rows = fetch(EXPIRED, {"workspace": workspace_id, "now": now})
    total = rows[0]["total"] if rows else 0
    return Expired(rows, rows[0]["since"] if total >= EXPIRED_CAP else None, total)


def id_at(at: datetime) -> UUID:
    """Return the lowest id that is made from an instant on."""
    return UUID(int=max(int(at.timestamp() * 1000), 0) << 80)


def _by_step(statement: str, edges: Sequence[tuple[Any, Any]], workspace_id: UUID) -> list[int]:
    values = {
        "workspace": workspace_id,
        "cap": CAP + 1,
        "since": [start for start, _ in edges],
        "until": [end for _, end in edges],
    }
    found = [0] * len(edges)
    for row in fetch(statement, values):
        found[row["step"]] = row["number"]
    return found
