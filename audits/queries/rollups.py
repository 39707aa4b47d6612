"""The statements of the charts' counts: folding events and the log, and reading them exactly.

Kinds and labels: ``write`` by decision; ``flow``, facts put on ``held`` and
``decided``; ``hit`` by rule; ``recall`` by latency bucket; ``served``, facts in
answers; ``level``, samples of a standing number. What is read is what was folded
plus what was not yet, in one statement: no number lags behind its list, and a
fold in between changes none. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.figures import LATENCY_STEPS, Steps
from audits.queries.flows import HIT, INTO_HOLD, OUT_OF_HOLD, WRITE
from records import queries
from records.queries import Row

TAIL_CAP = 20_000  # events not folded yet that a page counts itself; a minute's worth is far less
LOG_KINDS = ("recall", "served")
BIN = "date_bin('15 minutes', {}, '2000-01-01 00:00:00+00'::timestamptz)"

# Of events ``e``: one row per quarter of an hour, kind and label.
EVENTS = f"""SELECT {BIN.format("e.at")} AS at, k.kind, k.label, sum(e.count)::bigint AS number
FROM {{source}} CROSS JOIN LATERAL (
    SELECT 'write' AS kind, substr(e.action, 8) AS label WHERE {WRITE}
    UNION ALL SELECT 'flow', 'held' WHERE {INTO_HOLD}
    UNION ALL SELECT 'flow', 'decided' WHERE {OUT_OF_HOLD}
    UNION ALL SELECT 'hit', rule FROM jsonb_array_elements_text(
        CASE WHEN {HIT} THEN e.details->'rules' ELSE '[]' END) AS rule) AS k
WHERE {{where}} GROUP BY 1, 2, 3"""
STEPS = f"ARRAY[{', '.join(f'{1000 * one}' for one in LATENCY_STEPS)}]::numeric[]"
LOG = f"""SELECT {BIN.format("c.at")} AS at, k.kind, k.label, sum(k.number)::bigint AS number
FROM recall c CROSS JOIN LATERAL (VALUES
    ('recall', width_bucket(c.micros::numeric, {STEPS})::text, 1),
    ('served', 'facts', c.served_count::int)) AS k (kind, label, number)
WHERE c.workspace_id = %(workspace)s AND c.at >= {{since}} AND c.at < {{until}} GROUP BY 1, 2, 3"""

BEGIN = "INSERT INTO rollup_progress (workspace_id, rules) VALUES (%s, '{}') ON CONFLICT DO NOTHING"
LOCK = """SELECT seal, log_through, pending_at, rules FROM rollup_progress
WHERE workspace_id = %s FOR UPDATE"""
NEXT = "SELECT first, last FROM seal WHERE workspace_id = %s AND number = %s"
SEALED = EVENTS.format(
    source="sealed_event d JOIN event e ON e.id = d.event_id",
    where="d.workspace_id = %(workspace)s AND d.position BETWEEN %(first)s AND %(last)s",
)
ADD = """INSERT INTO rollup AS t (workspace_id, kind, at, label, number)
SELECT %s, kind, at, label, number
FROM unnest(%s::text[], %s::timestamptz[], %s::text[], %s::bigint[]) AS u (kind, at, label, number)
WHERE number > 0 ORDER BY kind, at, label
ON CONFLICT (workspace_id, kind, at, label) DO UPDATE SET number = {number}"""
MOVE = """UPDATE rollup_progress SET seal = %s, rules = %s, at = clock_timestamp()
WHERE workspace_id = %s"""
# Transactions end in any order: what was running is waited for. Numbers of another cluster (a
# restored dump) mean nothing here, so the wait begins anew.
WAIT = """UPDATE rollup_progress SET pending_at = clock_timestamp(),
    pending_xmax = pg_snapshot_xmax(pg_current_snapshot())
WHERE workspace_id = %s AND (pending_xmax IS NULL
    OR pending_xmax <= pg_snapshot_xmin(pg_current_snapshot())
    OR pending_xmax > pg_snapshot_xmax(pg_current_snapshot()))"""
IS_OVER = """SELECT pending_xmax <= pg_snapshot_xmin(pg_current_snapshot()) FROM rollup_progress
WHERE workspace_id = %s"""
OLDEST = "SELECT at FROM recall WHERE workspace_id = %s ORDER BY at LIMIT 1"
REACH = """UPDATE rollup_progress SET log_through = %s, at = clock_timestamp()
WHERE workspace_id = %s"""
TIDY = "DELETE FROM rollup WHERE workspace_id = %s AND kind = ANY(%s) AND at < %s"
# Numbers that stand rather than happen: the first of each hour is kept.
SAMPLE = """INSERT INTO rollup (workspace_id, kind, at, label, number)
SELECT m.workspace_id, 'level', date_trunc('hour', m.at, 'UTC'), k.label, k.number
FROM measure m CROSS JOIN LATERAL (VALUES
    ('checked', (m.numbers->'duplicates'->>'checked')::bigint),
    ('repeats', (m.numbers->'duplicates'->>'repeats')::bigint),
    ('held', (m.numbers->'records'->>'quarantined')::bigint)) AS k (label, number)
WHERE m.workspace_id = %s AND k.number IS NOT NULL ON CONFLICT DO NOTHING"""

READ = f"""WITH p AS MATERIALIZED (
    SELECT g.at, coalesce(g.log_through, '-infinity') AS log_through, coalesce(s.last, 0) AS last,
        coalesce(s.horizon::text, '0')::xid8 AS horizon, coalesce(s.resume_id, 0) AS resume
    FROM (SELECT 1) AS one LEFT JOIN rollup_progress g ON g.workspace_id = %(workspace)s
    LEFT JOIN seal s ON s.workspace_id = g.workspace_id AND s.number = g.seal),
tail AS MATERIALIZED (
    SELECT e.at, e.action, e.count, e.details FROM event e
    WHERE %(has_events)s AND e.workspace_id = %(workspace)s
      AND (e.transaction, e.id) > ((SELECT horizon FROM p), (SELECT resume FROM p))
      AND NOT EXISTS (SELECT 1 FROM sealed_event d WHERE d.event_id = e.id
                      AND d.position <= (SELECT last FROM p))
    ORDER BY e.transaction, e.id LIMIT %(tail)s),
told AS (
    SELECT r.at, r.kind, r.label, r.number FROM rollup r
    WHERE r.workspace_id = %(workspace)s AND r.kind = ANY(%(kinds)s) AND r.at >= %(since)s
      AND r.at < %(until)s
      AND (r.kind NOT IN ('recall', 'served') OR r.at < (SELECT log_through FROM p))
    UNION ALL SELECT * FROM ({EVENTS.format(source="tail e", where="e.at >= %(since)s")}) AS fresh
    WHERE fresh.kind = ANY(%(kinds)s)
    UNION ALL SELECT * FROM ({
    LOG.format(
        since="greatest((SELECT log_through FROM p), %(since)s::timestamptz)",
        until="%(until)s",
    )
}) AS log WHERE %(has_log)s AND log.kind = ANY(%(kinds)s))
SELECT width_bucket(at, %(bounds)s::timestamptz[]) - 1, kind, label, sum(number)::bigint,
    max(number)::bigint
FROM told WHERE at >= %(since)s AND at < %(until)s GROUP BY 1, 2, 3
UNION ALL SELECT (SELECT count(*) FROM tail)::int, 'tail', coalesce(p.at::text, ''), 0, 0 FROM p"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the counting has come."""

    seal: int
    log_through: datetime | None
    pending_at: datetime | None
    rules: tuple[str, ...]


@dataclass(slots=True)
class Series:
    """Counts by kind and label, one number per step; ``is_cut`` when not all could be counted."""

    steps: Steps
    numbers: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    peaks: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    counted_at: str = ""
    is_cut: bool = False

    def of(self, kind: str, label: str) -> list[int]:
        """Return the counts of one label, step by step."""
        return self.numbers.get((kind, label)) or [0] * self.steps.span.steps

    def level(self, label: str) -> list[int | None]:
        """Return the highest sample of a standing number in each step; ``None`` where there was none."""
        found = self.peaks.get(("level", label)) or [-1] * self.steps.span.steps
        return [None if one < 0 else one for one in found]

    def labels(self, kind: str) -> list[str]:
        """Return the labels of a kind that have any, those with most first."""
        totals = {label: sum(n) for (one, label), n in self.numbers.items() if one == kind}
        return sorted(totals, key=lambda label: (-totals[label], label))


def load_series(
    kinds: Sequence[str], steps: Steps, *, workspace_id: UUID, tail: int = TAIL_CAP
) -> Series:
    """Return the counts of these kinds, step by step, up to this moment. One statement."""
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "kinds": list(kinds),
        "bounds": list(steps.bounds),
        "since": steps.bounds[0],
        "until": steps.bounds[-1],
        "has_events": any(one not in (*LOG_KINDS, "level") for one in kinds),
        "has_log": any(one in LOG_KINDS for one in kinds),
        "tail": tail + 1,
    }
    found = Series(steps)
    with connection.cursor() as cursor:
        cursor.execute(READ, values)
        for step, kind, label, number, peak in cursor.fetchall():
            if kind == "tail":
                found.counted_at, found.is_cut = label, step > tail
                continue
            counts = found.numbers.setdefault((kind, label), [0] * steps.span.steps)
            peaks = found.peaks.setdefault((kind, label), [-1] * steps.span.steps)
            counts[step], peaks[step] = int(number), int(peak)
    return found


def lock_progress(workspace_id: UUID) -> Progress:
    """Return how far the counting is, locked: two folds at once take turns."""
    with queries.cursor() as cursor:
        cursor.execute(BEGIN, [workspace_id])
        row = cursor.execute(LOCK, [workspace_id]).fetchone()
    assert row is not None
    return Progress(row[0], row[1], row[2], tuple(row[3]))


def next_seal(workspace_id: UUID, after: int) -> tuple[int, int] | None:
    """Return the first and last position of the seal after this one, where there is one."""
    with queries.cursor() as cursor:
        row = cursor.execute(NEXT, [workspace_id, after + 1]).fetchone()
    return (row[0], row[1]) if row else None


def count_sealed(workspace_id: UUID, first: int, last: int) -> list[Row]:
    """Count the events at these positions: (at, kind, label, number)."""
    with queries.cursor() as cursor:
        values = {"workspace": workspace_id, "first": first, "last": last}
        return cursor.execute(SEALED, values).fetchall()


def count_log(workspace_id: UUID, since: datetime, until: datetime) -> list[Row]:
    """Count the recalls of a range: (at, kind, label, number)."""
    statement = LOG.format(since="%(since)s", until="%(until)s")
    with queries.cursor() as cursor:
        values = {"workspace": workspace_id, "since": since, "until": until}
        return cursor.execute(statement, values).fetchall()


def add(workspace_id: UUID, rows: Sequence[Row], *, is_whole: bool) -> None:
    """Keep counts: added to those that are there, or, ``is_whole``, in their place."""
    number = "excluded.number" if is_whole else "t.number + excluded.number"
    with queries.cursor() as cursor:
        cursor.execute(
            ADD.format(number=number),
            [
                workspace_id,
                [row[1] for row in rows],
                [row[0] for row in rows],
                [row[2] for row in rows],
                [row[3] for row in rows],
            ],
        )


def move(workspace_id: UUID, seal: int, rules: Sequence[str]) -> None:
    """Note that the events up to a seal are counted."""
    with queries.cursor() as cursor:
        cursor.execute(MOVE, [seal, list(rules), workspace_id])


def wait_for_writers(workspace_id: UUID) -> None:
    """Note the time and what is running, unless that is noted and still runs."""
    with queries.cursor() as cursor:
        cursor.execute(BEGIN, [workspace_id])
        cursor.execute(WAIT, [workspace_id])


def are_writers_done(workspace_id: UUID) -> bool:
    """Say whether everything that ran when the time was noted has ended."""
    with queries.cursor() as cursor:
        row = cursor.execute(IS_OVER, [workspace_id]).fetchone()
    return bool(row and row[0])


def oldest_recall(workspace_id: UUID) -> datetime | None:
    """Return when the first recall was, where the log holds any."""
    with queries.cursor() as cursor:
        row = cursor.execute(OLDEST, [workspace_id]).fetchone()
    return row[0].astimezone(UTC) if row else None


def reach(workspace_id: UUID, through: datetime) -> None:
    """Note that the log is counted up to an instant."""
    with queries.cursor() as cursor:
        cursor.execute(REACH, [through, workspace_id])


def sample(workspace_id: UUID, now: datetime, kept: timedelta) -> None:
    """Keep this hour's sample of the standing numbers, and let go of counts that are too old."""
    with queries.cursor() as cursor:
        cursor.execute(SAMPLE, [workspace_id])
        kinds = ["write", "flow", "hit", "recall", "served", "level"]
        cursor.execute(TIDY, [workspace_id, kinds, now - kept])
