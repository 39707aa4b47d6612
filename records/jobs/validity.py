"""The validity job: a fact that passes into fading, stale or expired changes its standing.

Owns the intake of new records into ``standing`` too. Expiry itself is exact
without it: recall compares ``valid_until`` with the clock. Read ``standings.py``
for how a look is done.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import psycopg

from records import queries
from records.domain.ids import uuid7
from records.domain.standing import Look, look_at_validity
from records.jobs.decay import AGE
from records.jobs.runs import Run
from records.jobs.standings import BATCH, TIMES, Side, Times, look_again, next_look

# Ids follow the clock, but a transaction may commit after a younger one: intake
# reads the last minutes again. What is later still, and what came back into
# service, is found by the daily pass over everything.
LATE_COMMIT = timedelta(minutes=5)
FULL_PASS_EVERY = timedelta(days=1)
START = UUID(int=0)

INTAKE = """INSERT INTO standing AS s (record_id, workspace_id, partition_id, since,
                                      validity_next_at, age_next_at)
SELECT u.id, %s, u.partition_id, %s, u.validity_due, u.age_due
FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[])
    AS u (id, partition_id, validity, age, validity_due, age_due)
ORDER BY u.id
ON CONFLICT (record_id) DO NOTHING"""
# A standing whose band is no longer what the record's times say is due at once.
NOTICE = """UPDATE standing s SET
    validity_next_at = CASE WHEN s.validity <> u.validity THEN %s ELSE s.validity_next_at END,
    age_next_at = CASE WHEN s.age <> u.age THEN %s ELSE s.age_next_at END
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS u (id, validity, age)
WHERE s.record_id = u.id AND (s.validity <> u.validity OR s.age <> u.age)"""


def _look(times: Times, now: datetime) -> Look:
    """Count validity from when it was given: by a TTL since the fact was last seen."""
    since = (
        times.valid_from or min(times.order_at, times.recorded_at)
        if times.valid_until_given
        else times.last_seen
    )
    return look_at_validity(since=since, valid_until=times.valid_until, now=now)


VALIDITY = Side("validity", "validity", _look)


def update_validity(run: Run, now: datetime) -> None:
    """Take in new records, then look at every standing whose validity is due."""
    _take_in(run, now)
    look_again(run, VALIDITY, now)


def _take_in(run: Run, now: datetime) -> None:
    """Give records that have none a standing, from where the last run stopped."""
    last_full = run.cursor.get("full_pass_at")
    if last_full is None or datetime.fromisoformat(last_full) <= now - FULL_PASS_EVERY:
        run.cursor = {"after": str(START), "full_pass_at": now.isoformat()}
    horizon = UUID(int=uuid7(now - LATE_COMMIT).int & ~((1 << 80) - 1))
    after = UUID(run.cursor["after"])
    while True:
        with run.step(), queries.cursor() as cursor:
            cursor.execute(
                f"""SELECT r.id, r.partition_id, {TIMES} FROM memory_record r
                    LEFT JOIN tally t ON t.record_id = r.id
                    WHERE r.workspace_id = %s AND r.status = 'active' AND r.id > %s
                    ORDER BY r.id LIMIT %s""",
                [run.workspace_id, after, BATCH],
            )
            rows = cursor.fetchall()
            if not rows:
                return
            after = rows[-1][0]
            run.cursor["after"] = str(min(after, horizon))
            _save(run, cursor, rows, now)


def _save(
    run: Run, cursor: psycopg.Cursor[queries.Row], rows: list[queries.Row], now: datetime
) -> None:
    ids, partitions = [row[0] for row in rows], [row[1] for row in rows]
    validity = [VALIDITY.look(Times(*row[2:]), now) for row in rows]
    age = [AGE.look(Times(*row[2:]), now) for row in rows]
    bands = [str(look.band) for look in validity], [str(look.band) for look in age]
    cursor.execute(
        INTAKE,
        [
            run.workspace_id,
            now,
            ids,
            partitions,
            *bands,
            # A record that comes in past fresh is due now: the look tells it as a change.
            [
                now if look.band != "fresh" else next_look(look, now, fresh="fresh")
                for look in validity
            ],
            [now if look.band != "fresh" else next_look(look, now, fresh="fresh") for look in age],
        ],
    )
    run.count(new=cursor.rowcount)
    cursor.execute(NOTICE, [now, now, ids, *bands])
