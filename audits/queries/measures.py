"""The statements that measure a workspace's memory: rollups, and counts up to a bound.

Owns which numbers there are (``load_numbers``). Nothing here reads a whole large
table: what can be large is counted along an index up to ``CAP``, and says so.
Inside a workspace scope.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from records import queries
from records.domain.facts import Status
from records.domain.risk import Risk

CAP = 100_000
UNSEALED_CAP = 10_000
WINDOW = 5_000  # live facts compared with each other in one run: a part of a pass over all
RULES_CAP = 200  # rules with a number of their own; the rest are added up

COUNTS = """SELECT
    (SELECT jsonb_object_agg(s.status, (SELECT count(*) FROM (
        SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s AND r.status = s.status
        LIMIT %(cap)s) AS one)) FROM unnest(%(statuses)s::text[]) AS s (status)),
    (SELECT jsonb_object_agg(k.risk, (SELECT count(*) FROM (
        SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s
            AND r.status = 'quarantined' AND r.risk = k.risk LIMIT %(cap)s) AS one))
     FROM unnest(%(risks)s::int[]) AS k (risk)),
    (SELECT status_at FROM memory_record WHERE workspace_id = %(workspace)s
        AND status = 'quarantined' ORDER BY status_at LIMIT 1),
    (SELECT count(*) FROM (SELECT 1 FROM standing WHERE workspace_id = %(workspace)s
        AND validity = 'expired' LIMIT %(cap)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM session WHERE workspace_id = %(workspace)s
        AND suspended_at IS NOT NULL LIMIT %(cap)s) AS one),
    (SELECT count(*) FROM (SELECT 1 FROM source WHERE workspace_id = %(workspace)s
        AND suspended_at IS NOT NULL LIMIT %(cap)s) AS one)"""

WORK = """SELECT f.live, f.attempts, i.open, i.unanswered, i.oldest, a.waiting, a.oldest, o.states
FROM (SELECT count(*) AS live, coalesce(sum(attempts), 0)::bigint AS attempts
      FROM (SELECT attempts FROM fence WHERE workspace_id = %(workspace)s AND lifted_at IS NULL
            LIMIT %(cap)s) AS one) AS f,
     (SELECT count(*) AS open, count(*) FILTER (WHERE acknowledged_at IS NULL) AS unanswered,
             min(opened_at) FILTER (WHERE acknowledged_at IS NULL) AS oldest
      FROM (SELECT acknowledged_at, opened_at FROM incident WHERE workspace_id = %(workspace)s
            AND state = 'open' LIMIT %(cap)s) AS one) AS i,
     (SELECT count(*) AS waiting, min(requested_at) AS oldest
      FROM (SELECT requested_at FROM approval WHERE workspace_id = %(workspace)s
            AND state = 'waiting' AND expires_at > now() LIMIT %(cap)s) AS one) AS a,
     (SELECT jsonb_object_agg(state, number) AS states FROM (
        SELECT state, count(*) AS number FROM (SELECT state FROM operation
            WHERE workspace_id = %(workspace)s AND state <> 'preview'
            ORDER BY id DESC LIMIT %(few)s) AS recent GROUP BY state) AS one) AS o"""

# One newest run per job, along its index; a job that never ran in this workspace is not there.
JOBS = """SELECT j.job, newest.state, newest.seconds, done.at
FROM unnest(%(jobs)s::text[]) AS j (job)
CROSS JOIN LATERAL (SELECT state, extract(epoch FROM coalesce(finished_at, now()) - started_at)
                           AS seconds
                    FROM job_run WHERE workspace_id = %(workspace)s AND job = j.job
                    ORDER BY started_at DESC LIMIT 1) AS newest
LEFT JOIN LATERAL (SELECT finished_at AS at FROM job_run WHERE workspace_id = %(workspace)s
                   AND job = j.job AND state = 'done' ORDER BY finished_at DESC LIMIT 1)
          AS done ON true"""

TRAIL = """SELECT s.last, s.sealed_at, lag.number, lag.oldest, checked.at, checked.is_whole
FROM (SELECT 1) AS one
LEFT JOIN LATERAL (SELECT last, sealed_at, horizon, resume_id FROM seal
                   WHERE workspace_id = %(workspace)s ORDER BY number DESC LIMIT 1) AS s ON true
LEFT JOIN LATERAL (SELECT count(*) AS number, min(e.at) AS oldest FROM (
        SELECT e.id, e.at FROM event e WHERE e.workspace_id = %(workspace)s
            AND (e.transaction, e.id) > (coalesce(s.horizon::text, '0')::xid8,
                                         coalesce(s.resume_id, 0))
        ORDER BY e.transaction, e.id LIMIT %(unsealed)s) AS e
    WHERE NOT EXISTS (SELECT 1 FROM sealed_event d WHERE d.event_id = e.id)) AS lag ON true
LEFT JOIN LATERAL (SELECT finished_at AS at, (cursor->'report'->>'whole')::boolean AS is_whole
                   FROM job_run WHERE workspace_id = %(workspace)s AND job = 'verification'
                   AND state = 'done' ORDER BY started_at DESC LIMIT 1) AS checked ON true"""

GATE = """SELECT rule, sum(hits)::bigint, sum(held)::bigint, max(last_at) FROM gate_tally
WHERE workspace_id = %(workspace)s GROUP BY rule ORDER BY rule"""

# Along the unique index that makes the number 0: a repeat would be its neighbour there.
REPEATS = """SELECT partition_id, fingerprint FROM memory_record
WHERE workspace_id = %(workspace)s AND status IN ('active', 'quarantined')
  AND (partition_id, fingerprint) > (%(partition)s, %(fingerprint)s)
ORDER BY partition_id, fingerprint LIMIT %(window)s"""

SAVE = """INSERT INTO measure (workspace_id, at, numbers) VALUES (%s, %s, %s)
ON CONFLICT (workspace_id) DO UPDATE SET at = excluded.at, numbers = excluded.numbers
WHERE measure.at <= excluded.at"""


def load_numbers(workspace_id: UUID, *, jobs: list[str]) -> dict[str, Any]:
    """Measure a workspace: everything but the repeats, in five statements."""
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "cap": CAP,
        "few": 1_000,
        "unsealed": UNSEALED_CAP,
        "statuses": [str(one) for one in Status],
        "risks": [int(one) for one in Risk],
        "jobs": jobs,
    }
    with queries.cursor() as cursor:
        counts = _one(cursor.execute(COUNTS, values))
        work = _one(cursor.execute(WORK, values))
        trail = _one(cursor.execute(TRAIL, values))
        ran = cursor.execute(JOBS, values).fetchall()
        rules = cursor.execute(GATE, values).fetchall()
    return {
        "records": _json(counts[0]),
        "held": {Risk(int(risk)).name.lower(): n for risk, n in _json(counts[1]).items()},
        "held_oldest_at": _text(counts[2]),
        "expired": counts[3],
        "suspended": {"session": counts[4], "source": counts[5]},
        "fences": work[0],
        "fence_attempts": work[1],
        "incidents": {"open": work[2], "unacknowledged": work[3], "oldest_at": _text(work[4])},
        "approvals": {"waiting": work[5], "oldest_at": _text(work[6])},
        "operations": _json(work[7]) if work[7] else {},
        "jobs": {
            job: {"state": state, "seconds": round(float(seconds), 3), "done_at": _text(at)}
            for job, state, seconds, at in ran
        },
        "trail": {
            "sealed": trail[0] or 0,
            "unsealed": trail[2],
            "oldest_at": _text(trail[3]),
            "checked_at": _text(trail[4]),
            "whole": trail[5],
        },
        "gate": _rules(rules),
    }


def load_window(
    workspace_id: UUID, after: tuple[UUID, str], window: int = WINDOW
) -> list[tuple[UUID, str]]:
    """Return the next live fingerprints of a pass over all, in order."""
    with queries.cursor() as cursor:
        cursor.execute(
            REPEATS,
            {
                "workspace": workspace_id,
                "partition": after[0],
                "fingerprint": after[1],
                "window": window,
            },
        )
        return [(row[0], row[1]) for row in cursor.fetchall()]


def save(workspace_id: UUID, numbers: dict[str, Any], *, now: datetime) -> None:
    """Keep the numbers; those of an older run do not replace newer ones."""
    with queries.cursor() as cursor:
        cursor.execute(SAVE, [workspace_id, now, Jsonb(numbers)])


def load_all() -> list[tuple[str, datetime, dict[str, Any]]]:
    """Return every workspace's name, when it was measured, and its numbers. Needs no scope."""
    with queries.cursor() as cursor:
        cursor.execute("SELECT workspace, at, numbers FROM memconsole_measures()")
        return [(name, at, _json(numbers)) for name, at, numbers in cursor.fetchall()]


def load_sizes() -> dict[str, int]:
    """Return the bytes of the logs on disk with their indexes, by table. Needs no scope."""
    with queries.cursor() as cursor:
        cursor.execute(
            """SELECT t.name, (SELECT sum(pg_total_relation_size(p.relid))
                               FROM pg_partition_tree(t.name::regclass) AS p)::bigint
               FROM unnest(ARRAY['recall', 'serve']) AS t (name)
               UNION ALL SELECT name, pg_total_relation_size(name::regclass)
               FROM unnest(ARRAY['event', 'memory_record']) AS t (name)"""
        )
        return {str(name): int(size or 0) for name, size in cursor.fetchall()}


def load_connections() -> tuple[int, int]:
    """Return how many connections the database has, and how many it may have."""
    with queries.cursor() as cursor:
        cursor.execute(
            """SELECT numbackends, current_setting('max_connections')::int
               FROM pg_stat_database WHERE datname = current_database()"""
        )
        row = _one(cursor)
        return int(row[0]), int(row[1])


def _rules(rows: list[queries.Row]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, (rule, hits, held, _) in enumerate(rows):
        name = rule if place < RULES_CAP else "other"
        before = found.get(name, [0, 0])
        found[name] = [before[0] + hits, before[1] + held]
    return found


def _one(cursor: Any) -> queries.Row:
    row = cursor.fetchone()
    assert row is not None
    return tuple(row)


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
