"""The lists behind the charts' numbers: keyset pages, by the conditions that were counted.

Each list goes by one time, the latest first, and ends ties by id. Inside a workspace scope. Rows carry memory text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.queries.figures import BAD_FACTS, EXPIRES, SERVED_SINCE, id_at
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
FACT = "r.id AS record_id, r.subject, r.predicate, r.value, r.status"
OF_PREDICATE = "(%(predicate)s::text IS NULL OR r.predicate = %(predicate)s)"
GONE = f"""SELECT r.valid_until AS at, r.id, {FACT}, r.valid_until AS until
    FROM memory_record r WHERE r.workspace_id = %(workspace)s AND {EXPIRES} AND {OF_PREDICATE}
      AND r.valid_until >= %(since)s AND r.valid_until < %(until)s"""


@dataclass(frozen=True, slots=True)
class FigureList:
    """One kind of list: what it is called, how its time is called, and its statement."""

    title: str
    time: str
    statement: str
    is_recall: bool = False
    is_by_id: bool = False  # ids follow the time here, and an index has their order


LISTS: Mapping[str, FigureList] = {
    "held": FigureList(
        "Held facts, by when they were held",
        "Held",
        f"""SELECT r.status_at AS at, r.id, {FACT} FROM memory_record r
            WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined'
              AND r.status_at >= %(since)s AND r.status_at < %(until)s""",
    ),
    "bad-serves": FigureList(
        "Serves of facts that were found bad since",
        "Served",
        # A recall serves a fact once: the two ids make one, in which no two serves meet.
        f"""SELECT v.at, md5(v.recall_id::text || v.record_id::text)::uuid AS id, {FACT},
                v.recall_id
            FROM ({BAD_FACTS}) AS bad JOIN serve v ON v.record_id = bad.id
            JOIN memory_record r ON r.id = bad.id
            WHERE v.workspace_id = %(workspace)s AND v.at >= %(since)s AND v.at < %(until)s""",
    ),
    "expiring": FigureList("Facts by when they expire", "Expires", GONE),
    "expired": FigureList("Facts past their validity", "Expired", GONE),
    "expired-served": FigureList(
        "Expired facts that were served since", "Expired", f"{GONE} AND {SERVED_SINCE}"
    ),
    "recorded": FigureList(
        "Facts in service, by when they were recorded",
        "Recorded",
        f"""SELECT r.recorded_at AS at, r.id, {FACT} FROM memory_record r
            WHERE r.workspace_id = %(workspace)s AND r.status = 'active'
              AND r.id >= %(since_id)s AND r.id < %(until_id)s""",
        is_by_id=True,
    ),
    "recalls": FigureList(
        "Recalls",
        "Asked",
        """SELECT c.at, c.id, c.id AS recall_id, c.served_count, c.micros, c.actor
            FROM recall c WHERE c.workspace_id = %(workspace)s
              AND c.at >= %(since)s AND c.at < %(until)s""",
        is_recall=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which list, of which time, of which predicate."""

    about: str
    since: datetime
    until: datetime
    predicate: str | None = None


def list_behind(wanted: Wanted, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of what a number counted. BadRequest: the cursor is not one of this list."""
    key = list_key("console.figures", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "limit": PAGE + 1,
        "since": wanted.since,
        "until": wanted.until,
        "since_id": id_at(wanted.since),
        "until_id": id_at(wanted.until),
        "predicate": wanted.predicate,
    }
    which = LISTS[wanted.about]
    order = "id DESC" if which.is_by_id else "at DESC, id DESC"
    beyond = ""
    if place is not None:
        beyond = (
            "WHERE id < %(id)s::uuid"
            if which.is_by_id
            else "WHERE (at, id) < (%(at)s::timestamptz, %(id)s::uuid)"
        )
        values |= {"at": place[0], "id": place[1]}
    rows = fetch(
        f"SELECT * FROM ({which.statement}) AS one {beyond} ORDER BY {order} LIMIT %(limit)s",
        values,
    )
    return make_page(
        rows, limit=PAGE, key=key, place=lambda row: [row["at"].isoformat(), str(row["id"])]
    )
