"""What validity and decay share: looking again at the standings that are due.

Owns the table ``standing`` and the events of its changes. Reads only what is
due (``..._next_at``), so a run costs what changes, not what there is. Recall
never reads a standing. Read ``validity.py`` and ``decay.py`` for the two bands,
``domain/standing.py`` for where they begin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from records import events, queries
from records.access import Access, Actor, ActorKind
from records.domain.standing import Look
from records.events import Happening
from records.jobs.runs import Run

BATCH = 1_000
# From here on a run writes one event per batch with the records' ids, not one per record.
EVENTS_LIMIT = 1_000

# A band can end early (the fact is seen again, a person extends it) without anybody
# telling us, so one that is not fresh is looked at again before the clock ends it.
SOONEST_AGAIN = timedelta(hours=1)
LATEST_AGAIN = timedelta(days=1)

TIMES = """r.valid_from, r.valid_until, r.valid_until_given, r.order_at, r.recorded_at,
    greatest(r.last_seen, t.last_seen), r.half_life_days"""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of one record that put it into a band."""

    valid_from: datetime | None
    valid_until: datetime | None
    valid_until_given: bool
    order_at: datetime
    recorded_at: datetime
    last_seen: datetime
    half_life_days: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two bands a standing holds: its column, and how a record gets its band."""

    column: str
    subject: str  # the middle of the event's action: record.validity.expired
    look: Callable[[Times, datetime], Look]

    @property
    def due(self) -> str:
        """The column that says when to look again."""
        return f"{self.column}_next_at"


def access_of(run: Run) -> Access:
    """Return the access under which a run's events are written."""
    assert run.workspace_id is not None
    return Access(run.workspace_id, Actor(ActorKind.JOB, run.job), request_id=str(run.id))


def look_again(run: Run, side: Side, now: datetime) -> None:
    """Bring every standing that is due to its band of now, in batches, with events."""
    grouped = _is_mass(run, side, now)
    while _look_at_batch(run, side, now, grouped=grouped):
        pass


def next_look(band: Look, now: datetime, *, fresh: str) -> datetime | None:
    """Return when to look again: when the band ends, or earlier where it may end early."""
    if band.band == fresh:
        return band.until
    soon = LATEST_AGAIN
    if band.until is not None:
        soon = min(LATEST_AGAIN, max(SOONEST_AGAIN, (band.until - now) / 8))
        return min(band.until, now + soon)
    return now + soon


def _is_mass(run: Run, side: Side, now: datetime) -> bool:
    with run.step(), queries.cursor() as cursor:
        cursor.execute(
            f"""SELECT count(*) FROM (SELECT 1 FROM standing WHERE workspace_id = %s
                AND {side.due} <= %s LIMIT %s) AS due""",
            [run.workspace_id, now, EVENTS_LIMIT],
        )
        row = cursor.fetchone()
        return row is not None and row[0] >= EVENTS_LIMIT


def _look_at_batch(run: Run, side: Side, now: datetime, *, grouped: bool) -> int:
    with run.step(), queries.cursor() as cursor:
        cursor.execute(
            f"""SELECT s.record_id, s.partition_id, s.{side.column}, r.status, {TIMES}
                FROM standing s LEFT JOIN memory_record r ON r.id = s.record_id
                LEFT JOIN tally t ON t.record_id = s.record_id
                WHERE s.workspace_id = %s AND s.{side.due} <= %s
                ORDER BY s.{side.due} LIMIT %s FOR UPDATE OF s""",
            [run.workspace_id, now, BATCH],
        )
        rows = cursor.fetchall()
        live = [row for row in rows if row[3] == "active"]
        gone = [row[0] for row in rows if row[3] != "active"]
        if gone:
            # Out of service: the clock no longer matters. Back in service, intake sees it.
            cursor.execute("DELETE FROM standing WHERE record_id = ANY(%s)", [gone])
        looks = [(row, side.look(Times(*row[4:]), now)) for row in live]
        cursor.execute(
            f"""UPDATE standing s SET {side.column} = u.band, {side.due} = u.due,
                    since = CASE WHEN s.{side.column} <> u.band THEN %s ELSE s.since END
                FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[]) AS u (id, band, due)
                WHERE s.record_id = u.id""",
            [
                now,
                [row[0] for row, _ in looks],
                [str(band.band) for _, band in looks],
                [next_look(band, now, fresh="fresh") for _, band in looks],
            ],
        )
        moved = [(row[0], row[1], row[2], str(b.band)) for row, b in looks if b.band != row[2]]
        events.append(_happenings(side, moved, grouped=grouped), access=access_of(run))
        for _, _, _, band in moved:
            run.count(**{f"to_{band}": 1})
        return len(rows)


def _happenings(
    side: Side, moved: Iterable[tuple[UUID, UUID, str, str]], *, grouped: bool
) -> Iterator[Happening]:
    """Tell each change by its record, or all alike of one partition in one event."""
    if not grouped:
        for record_id, partition_id, was, band in moved:
            yield Happening(
                f"record.{side.subject}.{band}",
                "record",
                record_id,
                partition_id,
                details={"from": was, "to": band},
            )
        return
    alike: dict[tuple[UUID, str, str], list[UUID]] = defaultdict(list)
    for record_id, partition_id, was, band in moved:
        alike[partition_id, was, band].append(record_id)
    for (partition_id, was, band), ids in alike.items():
        yield Happening(
            f"record.{side.subject}.{band}",
            "partition",
            partition_id,
            partition_id,
            count=len(ids),
            details={"from": was, "to": band, "records": [str(one) for one in ids]},
        )
