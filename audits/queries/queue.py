"""The review queue: held facts by risk, then age, at the cost of the page alone.

Owns the filter and the list's statements. The partial index ``memory_record_queue``
gives the order; nothing grows with an offset, and every count is capped. Hand-out is
``audits.leases``', the open item ``queue_item.py``'s. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.review import DUE
from audits.leases import AWAKE
from audits.queries.rows import fetch
from audits.queries.saved import VIEWS
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain.risk import Risk
from records.domain.terms import query_terms

PAGE = 50
COUNT_CAP = 1_000  # counted with the page; what is more comes after it
ARRIVALS_CAP = 99
SERVES_CAP = 99
HOLDERS = 5

# Who has it, as conditions on the item's row.
LEASES = {
    "free": "(i.lease_token IS NULL OR i.lease_expires_at <= %(now)s)",
    "mine": "(i.lease_user_id = %(me)s::uuid AND i.lease_expires_at > %(now)s)",
    "colleagues": "(i.lease_user_id <> %(me)s::uuid AND i.lease_expires_at > %(now)s)",
}
# A person's patience with each grade, as an expression on the record.
DUE_AT = "(r.status_at + CASE r.risk {} END)".format(
    " ".join(
        f"WHEN {int(risk)} THEN interval '{int(span.total_seconds())} seconds'"
        for risk, span in DUE.items()
    )
)
DUES = {"overdue": "interval '0'", "1h": "interval '1 hour'", "8h": "interval '8 hours'"}
LIVE = """SELECT {} FROM memory_record l WHERE l.slot_id = r.slot_id AND r.cardinality = 'one'
    AND l.status = 'active' AND l.cardinality = 'one'"""


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which held facts; what is ``None`` filters nothing."""

    risk: int | None = None
    hold_reason: str | None = None
    rule: str | None = None
    partition_id: UUID | None = None
    session_id: UUID | None = None
    predicate: str | None = None
    writer: str | None = None
    conflict: bool | None = None
    served: bool | None = None
    due: str | None = None
    lease: str | None = None
    snoozed: str | None = None  # None: only what is awake; "only", "too"
    text: str | None = None
    ids: tuple[UUID, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether this is the whole queue."""
        return not any(value is not None for value in asdict(self).values())


@dataclass(frozen=True, slots=True)
class Asking:
    """Who looks at the queue, where and when."""

    workspace_id: UUID
    user_id: UUID
    now: datetime


def conditions(wanted: QueueFilter, *, is_handout: bool = False) -> tuple[str, dict[str, Any]]:
    """Return a filter as conditions on ``r`` and ``i``, with their values.

    For a hand-out, which has its own say about leases and snoozes, those are left out.
    """
    where: list[str] = []
    values: dict[str, Any] = {}
    for column, kind in (
        ("risk", "int"),
        ("hold_reason", "text"),
        ("partition_id", "uuid"),
        ("predicate", "text"),
    ):
        value = getattr(wanted, column)
        if value is not None:
            where.append(f"r.{column} = %({column})s::{kind}")
            values[column] = value
    if wanted.writer is not None:
        where.append("r.extracted_by = %(writer)s::text")
        values["writer"] = wanted.writer
    if wanted.rule is not None:
        where.append("r.findings @> jsonb_build_array(jsonb_build_object('rule', %(rule)s::text))")
        values["rule"] = wanted.rule
    if wanted.session_id is not None:
        where.append(
            "r.id IN (SELECT c.record_id FROM claim c WHERE c.session_id = %(session)s::uuid"
            " AND c.state <> 'dropped')"
        )
        values["session"] = wanted.session_id
    if wanted.conflict is not None:
        where.append(f"{'' if wanted.conflict else 'NOT '}EXISTS ({LIVE.format(1)})")
    if wanted.served is not None:
        where.append(
            f"{'' if wanted.served else 'NOT '}EXISTS (SELECT 1 FROM serve v"
            " WHERE v.record_id = r.id AND v.at <= r.status_at)"
        )
    if wanted.text is not None:
        where.append("r.terms || coalesce(r.more_terms, '{}') @> %(terms)s::int[]")
        values["terms"] = list(query_terms(wanted.text))
    if wanted.due is not None:
        where.append(f"{DUE_AT} <= %(now)s::timestamptz + {DUES[wanted.due]}")
    if wanted.ids is not None:
        where.append("r.id = ANY(%(ids)s::uuid[])")
        values["ids"] = list(wanted.ids)
    if not is_handout:
        if wanted.lease is not None:
            where.append(LEASES[wanted.lease])
        if wanted.snoozed is None:
            where.append(AWAKE)
        elif wanted.snoozed == "only":
            where.append(f"NOT {AWAKE}")
    return " AND ".join(where) or "true", values


def filtered(wanted: QueueFilter, asking: Asking) -> tuple[str, dict[str, Any]]:
    """Return the statement of what a filter keeps, without order or limit, and its values."""
    where, values = conditions(wanted)
    values |= {"workspace": asking.workspace_id, "me": asking.user_id, "now": asking.now}
    statement = f"""SELECT r.id, r.risk FROM memory_record r
        LEFT JOIN review_item i ON i.record_id = r.id
        WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined' AND {where}"""
    return statement, values


# One look-up a row, by LATERAL: joined freely, the planner may begin with every session.
ROW = f"""SELECT r.id, r.risk, r.subject, r.predicate, r.value, r.findings, r.hold_reason,
    r.session_id, se.session, r.extracted_by, r.confidence, r.status, r.status_at,
    {DUE_AT} AS due_at, r.version, i.lease_user_id, i.lease_user, i.lease_expires_at,
    i.snoozed_until, i.snoozed_until_served, i.snoozed_at,
    live.value AS live_value, served.n AS served, coalesce(t.writes, 0) AS session_writes,
    coalesce(t.quarantined, 0) + coalesce(t.contested, 0) AS session_held
FROM page JOIN memory_record r ON r.id = page.id
LEFT JOIN LATERAL (SELECT s.external_id AS session FROM session s WHERE s.id = r.session_id
    LIMIT 1) AS se ON true
LEFT JOIN review_item i ON i.record_id = r.id
LEFT JOIN LATERAL ({LIVE.format("l.value")} LIMIT 1) AS live ON true
LEFT JOIN LATERAL (SELECT count(*) AS n FROM (
    SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at >= r.recorded_at
        AND v.at <= r.status_at LIMIT {SERVES_CAP + 1}) AS one) AS served ON true
LEFT JOIN session_totals t ON t.session_id = r.session_id
ORDER BY r.risk DESC, r.id"""


def list_queue(
    wanted: QueueFilter, *, cursor: str | None, asking: Asking, limit: int = PAGE
) -> Page:
    """Return a page of held facts. BadRequest: the cursor is not one of this list."""
    key = list_key("console.queue", asking.workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    ids, values = filtered(wanted, asking)
    values["limit"] = limit + 1
    order = "ORDER BY r.risk DESC, r.id LIMIT %(limit)s"
    if place is None:
        ids = f"{ids} {order}"
    else:
        # Two walks of the index, each from where it must begin: one comparison over a
        # descending and an ascending column would read from the top every time.
        values |= {"after_risk": int(place[0]), "after": UUID(place[1])}
        ids = f"""SELECT id, risk FROM (
            ({ids} AND r.risk = %(after_risk)s AND r.id > %(after)s {order})
            UNION ALL ({ids} AND r.risk < %(after_risk)s {order})) AS two
            ORDER BY risk DESC, id LIMIT %(limit)s"""
    rows = fetch(f"WITH page AS MATERIALIZED ({ids})\n{ROW}", values)
    for row in rows:
        finish_row(row, asking)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["risk"], row["id"]])


def finish_row(row: dict[str, Any], asking: Asking) -> None:
    """Add what the clock and the reader make of a row: whose it is, what is marked, what is late."""
    is_leased = row["lease_expires_at"] is not None and row["lease_expires_at"] > asking.now
    row["lease"] = (
        "free"
        if not is_leased
        else "mine"
        if row["lease_user_id"] == asking.user_id
        else "colleague"
    )
    row["grade"] = Risk(row["risk"]).name.lower()
    left = row["due_at"] - asking.now
    row["due_in"] = left if left > timedelta(0) else None
    row["says"] = _says(row)
    row["rules"] = list(dict.fromkeys(one["rule"] for one in row["findings"] or ()))
    row["spans"] = [tuple(one["span"]) for one in row["findings"] or () if is_on_value(one)]


def _says(row: dict[str, Any]) -> str:
    """Say who has a fact, or how long it sleeps."""
    if row["lease"] == "mine":
        return "yours"
    if row["lease"] == "colleague":
        return str(row["lease_user"])
    if row["snoozed_until_served"]:
        return "snoozed until served"
    return f"snoozed until {row['snoozed_until']:%Y-%m-%d}" if row["snoozed_until"] else ""


def is_on_value(finding: dict[str, Any]) -> bool:
    """Say whether a finding points to a place in the value."""
    return finding["field"] == "value" and bool(finding.get("span"))


def count_queue(
    wanted: QueueFilter, *, asking: Asking, most: int = COUNT_CAP
) -> tuple[int, UUID | None, list[dict[str, Any]]]:
    """Count the matches, name the newest held fact, and list the person's saved views.

    What is written after the newest has arrived since.

    ``most`` + 1 means that there are more than ``most``.
    """
    ids, values = filtered(wanted, asking)
    counted = fetch(
        f"""SELECT (SELECT count(*) FROM ({ids} LIMIT %(most)s) AS one) AS n,
                   (SELECT id FROM memory_record WHERE workspace_id = %(workspace)s
                    AND status = 'quarantined' ORDER BY id DESC LIMIT 1) AS newest,
                   {VIEWS} AS views""",
        {**values, "most": most + 1, "saved_page": "queue"},
    )
    return int(counted[0]["n"]), counted[0]["newest"], counted[0]["views"]


def count_statement(wanted: QueueFilter, *, asking: Asking) -> tuple[str, dict[str, Any]]:
    """Return the count of matches, up to one over the cap, as part of another statement."""
    ids, values = filtered(wanted, asking)
    return f"SELECT count(*) FROM ({ids} LIMIT {COUNT_CAP + 1}) AS one", values


@dataclass(frozen=True, slots=True)
class Why:
    """Why a list has nothing to take: how much is held, who has it, when that ends soonest."""

    held: int
    holders: Sequence[str]
    soonest: datetime | None


def explain(wanted: QueueFilter, *, asking: Asking) -> Why:
    """Say what stands behind an empty or a wholly leased list."""
    ids, values = filtered(wanted, asking)
    rows = fetch(
        f"""WITH page AS MATERIALIZED ({ids} LIMIT {COUNT_CAP})
            SELECT (SELECT count(*) FROM page) AS held, i.lease_user, min(i.lease_expires_at) AS soonest
            FROM (SELECT 1) AS always LEFT JOIN review_item i ON i.record_id IN (SELECT id FROM page)
                AND i.lease_expires_at > %(now)s AND i.lease_user_id <> %(me)s
            GROUP BY i.lease_user ORDER BY soonest LIMIT {HOLDERS}""",
        values,
    )
    soonest = [row["soonest"] for row in rows if row["soonest"] is not None]
    return Why(
        held=int(rows[0]["held"]),
        holders=[row["lease_user"] for row in rows if row["lease_user"]],
        soonest=min(soonest) if soonest else None,
    )


STATES = """SELECT r.id, r.status, r.version, r.status_at, i.lease_user_id, i.lease_user, i.lease_token,
    i.lease_expires_at, d.user AS decided_by, d.user_id AS decided_by_id, d.verb, d.reason,
    d.decided_at
FROM memory_record r LEFT JOIN review_item i ON i.record_id = r.id
LEFT JOIN LATERAL (SELECT * FROM review_decision d WHERE d.record_id = r.id AND d.undone_at IS NULL
    AND d.verb <> 'snooze' ORDER BY d.id DESC LIMIT 1) d ON r.status <> 'quarantined'
WHERE r.workspace_id = %(workspace)s AND r.id = ANY(%(ids)s::uuid[])"""


def load_states(ids: Sequence[UUID], *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return where these facts stand and who has them now."""
    return fetch(STATES, {"ids": list(ids), "workspace": workspace_id})


def count_arrivals(wanted: QueueFilter, *, since: UUID, asking: Asking) -> int:
    """Count what matches and was written and held after ``since``; capped."""
    ids, values = filtered(wanted, asking)
    counted = fetch(
        f"SELECT count(*) AS n FROM ({ids} AND r.id > %(since)s LIMIT %(most)s) AS one",
        {**values, "since": since, "most": ARRIVALS_CAP + 1},
    )
    return int(counted[0]["n"])


AGEING_CAP = 5_000
AGEING = f"""SELECT count(*) FILTER (WHERE due_at <= %(now)s) AS overdue,
    count(*) FILTER (WHERE due_at > %(now)s AND due_at <= %(now)s + interval '1 hour') AS hour,
    count(*) FILTER (WHERE due_at > %(now)s + interval '1 hour'
                     AND due_at <= %(now)s + interval '8 hours') AS shift,
    count(*) FILTER (WHERE due_at > %(now)s + interval '8 hours') AS later
FROM (SELECT {DUE_AT} AS due_at FROM memory_record r WHERE r.workspace_id = %(workspace)s
      AND r.status = 'quarantined' ORDER BY r.risk DESC, r.id LIMIT {AGEING_CAP}) AS held"""


def count_ageing(*, workspace_id: UUID, now: datetime) -> dict[str, int]:
    """Count the riskiest held facts by when they are due."""
    return fetch(AGEING, {"workspace": workspace_id, "now": now})[0]
