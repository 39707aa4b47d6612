"""The habits job: how often a predicate's facts are seen again, and which are silent for longer.

Owns ``predicate_habit`` and ``unseen_fact``. One predicate after the other, its
records in batches, each a step; what nothing has changed for is not written.
The page compares each fact's last sighting again when it lists it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from audits.domain.freshness import FEWEST, late_after
from audits.queries.rows import fetch
from records.jobs.runs import Run
from records.queries import cursor

NEWEST = 5_000  # facts of a predicate whose sightings make its habit
BATCH = 5_000
START = UUID(int=0)

PREDICATES = """WITH RECURSIVE seen AS (
    (SELECT predicate FROM memory_record WHERE workspace_id = %(workspace)s
     ORDER BY predicate LIMIT 1)
    UNION ALL
    SELECT (SELECT r.predicate FROM memory_record r WHERE r.workspace_id = %(workspace)s
              AND r.predicate > seen.predicate ORDER BY r.predicate LIMIT 1)
    FROM seen WHERE seen.predicate IS NOT NULL)
SELECT predicate FROM seen WHERE predicate > %(after)s ORDER BY predicate LIMIT 1"""
# Two sightings within a day are one conversation, and no habit.
GAPS = """SELECT count(*) AS facts, percentile_cont(0.5) WITHIN GROUP (ORDER BY gap) AS usual,
    percentile_cont(0.9) WITHIN GROUP (ORDER BY gap) AS wide
FROM (SELECT extract(epoch FROM t.last_seen - t.first_seen)::float8 / 86400 / (t.seen_count - 1)
          AS gap
      FROM (SELECT id FROM memory_record WHERE workspace_id = %(workspace)s
              AND predicate = %(predicate)s AND status = 'active' ORDER BY id DESC
              LIMIT %(newest)s) AS r
      JOIN tally t ON t.record_id = r.id
      WHERE t.seen_count > 1 AND t.last_seen - t.first_seen >= interval '1 day') AS one"""
KEEP = """INSERT INTO predicate_habit AS h (id, workspace_id, predicate, facts, usual_days, late_days)
VALUES (%(id)s, %(workspace)s, %(predicate)s, %(facts)s, %(usual)s, %(late)s)
ON CONFLICT (workspace_id, predicate) DO UPDATE SET facts = excluded.facts,
    usual_days = excluded.usual_days, late_days = excluded.late_days
WHERE (h.facts, h.usual_days, h.late_days)
    IS DISTINCT FROM (excluded.facts, excluded.usual_days, excluded.late_days)"""
DROP = (
    "DELETE FROM predicate_habit WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s"
)
DROP_UNSEEN = (
    "DELETE FROM unseen_fact WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s"
)
WINDOW = """SELECT r.id, r.partition_id, greatest(r.last_seen, t.last_seen) AS last_seen
FROM (SELECT id, partition_id, last_seen FROM memory_record WHERE workspace_id = %(workspace)s
        AND predicate = %(predicate)s AND status = 'active' AND id > %(after)s
      ORDER BY id LIMIT %(batch)s) AS r LEFT JOIN tally t ON t.record_id = r.id ORDER BY r.id"""
NOTE = """INSERT INTO unseen_fact AS u (record_id, workspace_id, partition_id, predicate, last_seen)
SELECT id, %(workspace)s, partition_id, %(predicate)s, last_seen
FROM unnest(%(ids)s::uuid[], %(partitions)s::uuid[], %(seen)s::timestamptz[])
    AS w (id, partition_id, last_seen) ORDER BY id
ON CONFLICT (record_id) DO UPDATE SET predicate = excluded.predicate, last_seen = excluded.last_seen
WHERE (u.predicate, u.last_seen) IS DISTINCT FROM (excluded.predicate, excluded.last_seen)"""
SETTLED = """DELETE FROM unseen_fact u WHERE u.workspace_id = %(workspace)s
  AND u.predicate = %(predicate)s AND NOT EXISTS (
    SELECT 1 FROM memory_record r LEFT JOIN tally t ON t.record_id = r.id
    WHERE r.id = u.record_id AND r.status = 'active' AND r.predicate = u.predicate
      AND greatest(r.last_seen, t.last_seen) < %(before)s)"""


def measure_habits(run: Run, now: datetime) -> None:
    """Measure every predicate's habit and note what is silent beyond it."""
    while _measure_next(run, now):
        pass


def _measure_next(run: Run, now: datetime) -> bool:
    """Do one step: measure a predicate, or go on through its records. False: all are done."""
    with run.step():
        predicate = run.cursor.get("predicate")
        if predicate is None:
            found = fetch(
                PREDICATES, {"workspace": run.workspace_id, "after": run.cursor.get("done", "")}
            )
            if not found:
                run.cursor = {}
                return False
            _measure(run, found[0]["predicate"])
        else:
            _look(run, predicate, now)
        return True


def _measure(run: Run, predicate: str) -> None:
    values = {"workspace": run.workspace_id, "predicate": predicate, "newest": NEWEST}
    (gaps,) = fetch(GAPS, values)
    cur = cursor()
    if gaps["facts"] < FEWEST:
        for statement in (DROP_UNSEEN, DROP):
            cur.execute(statement, values)
            run.count(forgotten=cur.rowcount)
        run.cursor = {"done": predicate}
        return
    late = late_after(gaps["usual"], gaps["wide"])
    kept = {"id": uuid4(), "facts": gaps["facts"], "usual": gaps["usual"], "late": late}
    cur.execute(KEEP, values | kept)
    run.count(habits=cur.rowcount)
    run.cursor = {
        "done": run.cursor.get("done", ""),
        "predicate": predicate,
        "late": late,
        "after": str(START),
    }


def _look(run: Run, predicate: str, now: datetime) -> None:
    """Note what is silent among the next records of the predicate; at its end, tidy."""
    before = now - timedelta(days=run.cursor["late"])
    values = {"workspace": run.workspace_id, "predicate": predicate, "batch": BATCH}
    rows = fetch(WINDOW, values | {"after": UUID(run.cursor["after"])})
    late = [row for row in rows if row["last_seen"] < before]
    cur = cursor()
    if late:
        cur.execute(
            NOTE,
            values
            | {
                "ids": [row["id"] for row in late],
                "partitions": [row["partition_id"] for row in late],
                "seen": [row["last_seen"] for row in late],
            },
        )
        run.count(unseen=cur.rowcount)
    if len(rows) == BATCH:
        run.cursor = {**run.cursor, "after": str(rows[-1]["id"])}
        return
    cur.execute(SETTLED, values | {"before": before})
    run.count(settled=cur.rowcount)
    run.cursor = {"done": predicate}
