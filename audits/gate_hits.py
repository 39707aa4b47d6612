"""How often each rule of the gate hits, and what reviewers make of it: folded from sealed events.

Owns ``gate_tally`` and how far it has come (``gate_folded``). Follows the seals
because their positions are dense and final: nothing is missed, nothing is
counted twice. The write path keeps no counter, so writers never wait for each
other here. A hit is one record's, when it is written or when a rescan holds it;
a fact said again is none. Read
``queries/gate.py`` for what is shown.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import psycopg

from records import queries
from records.jobs.runs import Run
from records.scans.judging import NOTE

BATCH = 2_000  # events folded in one step

# A write's own event carries its rules; a rescan's hold and a person's decision are about the
# record's findings.
DUE = """SELECT s.position, e.action, e.outcome, e.at, e.details->'rules', e.details->>'from',
       e.details ? 'ruleset', r.findings
FROM sealed_event s JOIN event e ON e.id = s.event_id
LEFT JOIN memory_record r ON NOT e.details ? 'ruleset' AND r.id = e.target_id
     AND r.workspace_id = e.workspace_id
     AND (e.action IN ('record.approved', 'record.rejected', 'record.reopened')
          OR (e.action = 'record.held' AND (e.reason = %(rescanned)s OR e.details ? 'scan')))
WHERE s.workspace_id = %(workspace)s AND s.position > %(after)s
ORDER BY s.position LIMIT %(batch)s"""
FOLDED = "SELECT position FROM gate_folded WHERE workspace_id = %s FOR UPDATE"
BEGIN = "INSERT INTO gate_folded (workspace_id, position) VALUES (%s, 0) ON CONFLICT DO NOTHING"
MOVE = "UPDATE gate_folded SET position = %s WHERE workspace_id = %s"
ADD = """INSERT INTO gate_tally AS t (workspace_id, day, rule, hits, held, approved, rejected, last_at)
SELECT %s, day, rule, hits, held, approved, rejected, last_at
FROM unnest(%s::date[], %s::text[], %s::int[], %s::int[], %s::int[], %s::int[], %s::timestamptz[])
    AS u (day, rule, hits, held, approved, rejected, last_at)
ORDER BY rule, day
ON CONFLICT (workspace_id, rule, day) DO UPDATE SET
    hits = t.hits + excluded.hits, held = t.held + excluded.held,
    approved = t.approved + excluded.approved, rejected = t.rejected + excluded.rejected,
    last_at = greatest(t.last_at, excluded.last_at)"""


@dataclass(slots=True)
class Count:
    """What one rule gains on one day."""

    hits: int = 0
    held: int = 0
    approved: int = 0
    rejected: int = 0
    last_at: datetime | None = None


def fold_hits(run: Run, now: datetime) -> None:
    """Fold what was sealed since the last time, one step per batch."""
    assert run.workspace_id is not None
    while True:
        with run.step():
            folded = fold_once(run.workspace_id)
            run.count(folded=folded)
        if folded < BATCH:
            return


def fold_once(workspace_id: UUID) -> int:
    """Fold one batch in the transaction at hand; return how many events it was."""
    with queries.cursor() as cursor:
        cursor.execute(BEGIN, [workspace_id])
        cursor.execute(FOLDED, [workspace_id])
        row = cursor.fetchone()
        assert row is not None
        cursor.execute(
            DUE,
            {"workspace": workspace_id, "after": row[0], "batch": BATCH, "rescanned": NOTE},
        )
        found = cursor.fetchall()
        if found:
            _add(cursor, workspace_id, count(found))
            cursor.execute(MOVE, [found[-1][0], workspace_id])
        return len(found)


def count(rows: Iterable[queries.Row]) -> dict[tuple[str, date], Count]:
    """Return what rows of ``DUE`` add, by rule and day (UTC)."""
    counts: dict[tuple[str, date], Count] = defaultdict(Count)
    for _, action, outcome, at, rules, came_from, is_write, findings in rows:
        day = at.date()
        if is_write:
            _hit(counts, _json(rules) or (), at, held=outcome == "held")
        elif action == "record.held":
            _hit(counts, _holding(findings), at, held=True)
        else:
            approved, rejected = _decided(action, came_from)
            for rule in _holding(findings) if approved or rejected else ():
                counts[rule, day].approved += approved
                counts[rule, day].rejected += rejected
    return counts


def _hit(
    counts: dict[tuple[str, date], Count], rules: Iterable[str], at: datetime, *, held: bool
) -> None:
    for rule in rules:
        one = counts[rule, at.date()]
        one.hits += 1
        one.held += held
        one.last_at = at if one.last_at is None else max(one.last_at, at)


def _decided(action: str, came_from: str | None) -> tuple[int, int]:
    """Return what a person's act adds to approvals and rejections; an undo takes it back."""
    if action == "record.approved":
        return 1, 0
    if action == "record.rejected":
        return 0, 1
    if action == "record.reopened":
        return (0, -1) if came_from == "rejected" else (-1, 0)
    return 0, 0


def _holding(findings: Any) -> set[str]:
    """Return the rules that held a record; what is only noted was not judged by the reviewer."""
    return {one["rule"] for one in _json(findings) or () if one.get("outcome") != "allow"}


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _add(
    cursor: psycopg.Cursor[queries.Row],
    workspace_id: UUID,
    counts: dict[tuple[str, date], Count],
) -> None:
    keys = sorted(counts)
    ones = [counts[key] for key in keys]
    cursor.execute(
        ADD,
        [
            workspace_id,
            [day for _, day in keys],
            [rule for rule, _ in keys],
            [one.hits for one in ones],
            [one.held for one in ones],
            [one.approved for one in ones],
            [one.rejected for one in ones],
            [one.last_at for one in ones],
        ],
    )
