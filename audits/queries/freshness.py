"""The lists of what goes stale: their rows, their counts, and the facts that an act is about.

Owns the statements. Each list walks an index in its own order; a count and its
list have one condition, and counts stop at a bound. Inside a workspace scope.
Rows carry memory text: templates draw it with ``memory_text``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.freshness import Tab, habit_words
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
COUNT_CAP = 1_000
SERVES_CAP = 1_000
MOST = 1_000  # facts that one act changes at once
BACK_FOR = timedelta(days=30)  # what came back is news for a month

LAST_SEEN = "greatest(r.last_seen, t.last_seen)"
LATE = "make_interval(secs => h.late_days * 86400)"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a list comes from: its tables, condition, order, and since when serves count."""

    tables: str
    where: str
    at: str
    mark: str


SOURCES: dict[Tab, Source] = {
    Tab.EXPIRED: Source(
        "memory_record r",
        "r.workspace_id = %(workspace)s AND r.status = 'active' AND r.valid_until <= %(now)s",
        "r.valid_until",
        "r.valid_until",
    ),
    Tab.ENDING: Source(
        "memory_record r",
        "r.workspace_id = %(workspace)s AND r.status = 'active' AND r.valid_until > %(now)s"
        " AND r.valid_until <= %(now)s + make_interval(days => %(within)s)",
        "r.valid_until",
        "%(now)s - interval '30 days'",
    ),
    Tab.UNSEEN: Source(
        "unseen_fact u JOIN memory_record r ON r.id = u.record_id"
        " JOIN predicate_habit h ON h.workspace_id = u.workspace_id AND h.predicate = u.predicate"
        " LEFT JOIN tally t ON t.record_id = r.id",
        "u.workspace_id = %(workspace)s AND r.status = 'active'"
        f" AND {LAST_SEEN} + {LATE} < %(now)s",
        "u.last_seen",
        f"u.last_seen + {LATE}",
    ),
    Tab.RECHECK: Source(
        "memory_record r",
        "r.workspace_id = %(workspace)s AND r.status = 'active' AND r.recheck_at IS NOT NULL",
        "r.recheck_at",
        "r.recheck_at",
    ),
    Tab.UNLISTED: Source(
        "memory_record r",
        "r.workspace_id = %(workspace)s AND r.status = 'active' AND r.unlisted_at IS NOT NULL",
        "r.unlisted_at",
        "r.unlisted_at",
    ),
    Tab.RELISTED: Source(
        "address a JOIN memory_record r ON r.id = a.record_id",
        "a.workspace_id = %(workspace)s AND a.relisted_at > %(back)s AND r.status = 'active'"
        " AND r.unlisted_at IS NULL",
        "a.relisted_at",
        "a.relisted_at",
    ),
}

ROW = """SELECT page.at, page.mark, r.id, r.version, p.name AS partition, r.subject, r.predicate,
    r.value, r.valid_until, r.recheck_at, r.recheck_reason, r.unlisted_at, r.source_id,
    so.name AS source, greatest(r.last_seen, t.last_seen) AS last_seen, h.usual_days, h.late_days,
    (SELECT count(*) FROM (SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at > page.mark
                           LIMIT {cap}) AS one) AS serves,
    c.id AS cause_id, c.subject AS cause_subject, c.predicate AS cause_predicate,
    c.value AS cause_value
FROM page JOIN memory_record r ON r.id = page.id
JOIN partition p ON p.id = r.partition_id JOIN source so ON so.id = r.source_id
LEFT JOIN tally t ON t.record_id = r.id
LEFT JOIN predicate_habit h ON h.workspace_id = r.workspace_id AND h.predicate = r.predicate
LEFT JOIN LATERAL (
    SELECT e.details->>'by' AS by FROM event e WHERE %(with_cause)s AND e.target_id = r.id
      AND e.action = 'record.recheck' AND r.recheck_reason = 'dependent'
    ORDER BY e.id DESC LIMIT 1) AS why ON true
LEFT JOIN memory_record c ON c.id = why.by::uuid
ORDER BY page.at, page.id"""


@dataclass(frozen=True, slots=True)
class FreshnessFilter:
    """Which list, and which of its facts; what is ``None`` filters nothing."""

    tab: Tab = Tab.EXPIRED
    within: int = 30
    predicate: str | None = None
    partition_id: UUID | None = None
    source_id: UUID | None = None
    is_served: bool = False

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the list itself is asked for."""
        return self.is_served or any((self.predicate, self.partition_id, self.source_id))


def list_facts(
    wanted: FreshnessFilter, *, cursor: str | None, workspace_id: UUID, now: datetime
) -> Page:
    """Return a page of one list. BadRequest: a cursor of another list."""
    key = list_key("console.freshness", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values = _values(wanted, workspace_id, now) | {"limit": PAGE + 1}
    after = ""
    if place is not None:
        at = SOURCES[wanted.tab].at
        after = f" AND ({at}, r.id) > (%(after_at)s::timestamptz, %(after_id)s::uuid)"
        values |= {"after_at": place[0], "after_id": place[1]}
    values["with_cause"] = wanted.tab is Tab.RECHECK
    rows = fetch(
        f"WITH page AS MATERIALIZED ({_ids(wanted)}{after} ORDER BY 2, 1 LIMIT %(limit)s)\n"
        + ROW.format(cap=SERVES_CAP + 1),
        values,
    )
    for row in rows:
        row["overdue"] = now - row["mark"] if row["mark"] < now else None
        if row["usual_days"] is not None:
            row["habit"] = habit_words(row["usual_days"], row["last_seen"], now)
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["at"], row["id"]])


def count_lists(wanted: FreshnessFilter, *, workspace_id: UUID, now: datetime) -> dict[str, int]:
    """Count every list under the same filters, each up to the bound and one more."""
    parts = []
    for tab in Tab:
        here = FreshnessFilter(**{**asdict(wanted), "tab": tab})
        parts.append(f"(SELECT count(*) FROM ({_ids(here)} LIMIT %(most)s) AS one) AS {tab}")
    values = _values(wanted, workspace_id, now) | {"most": COUNT_CAP + 1}
    (row,) = fetch(f"SELECT {', '.join(parts)}", values)
    return row


def list_ids(
    wanted: FreshnessFilter, *, workspace_id: UUID, now: datetime, most: int = MOST
) -> list[UUID]:
    """Return the facts of a list in its order; one more than ``most`` says that there are more."""
    rows = fetch(
        f"SELECT id FROM ({_ids(wanted)} ORDER BY 2, 1 LIMIT %(most)s) AS one",
        _values(wanted, workspace_id, now) | {"most": most + 1},
    )
    return list(dict.fromkeys(row["id"] for row in rows))


CHOSEN = """SELECT r.id, r.version, r.status, r.subject, r.predicate, r.value, r.valid_until,
    p.name AS partition
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS w (id, place)
JOIN memory_record r ON r.id = w.id JOIN partition p ON p.id = r.partition_id
WHERE r.workspace_id = %(workspace)s ORDER BY w.place"""


def load_chosen(ids: Sequence[UUID], *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the facts that an act is about, as they stand; what is foreign is not among them."""
    return fetch(CHOSEN, {"ids": list(ids), "workspace": workspace_id})


def _values(wanted: FreshnessFilter, workspace_id: UUID, now: datetime) -> dict[str, Any]:
    return {
        "workspace": workspace_id,
        "now": now,
        "back": now - BACK_FOR,
        "within": wanted.within,
        "predicate": wanted.predicate,
        "partition": wanted.partition_id,
        "source": wanted.source_id,
    }


def _ids(wanted: FreshnessFilter) -> str:
    """Return the statement of the matching ids, each with its place and since when serves count."""
    source = SOURCES[wanted.tab]
    where = [source.where]
    if wanted.predicate is not None:
        where.append("r.predicate = %(predicate)s")
    if wanted.partition_id is not None:
        where.append("r.partition_id = %(partition)s")
    if wanted.source_id is not None:
        where.append(
            "EXISTS (SELECT 1 FROM claim k WHERE k.record_id = r.id AND k.source_id = %(source)s)"
        )
    if wanted.is_served:
        where.append(
            f"EXISTS (SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at > {source.mark})"
        )
    return (
        f"SELECT r.id, {source.at} AS at, {source.mark} AS mark FROM {source.tables}"
        f" WHERE {' AND '.join(where)}"
    )
