"""One fact at a time: hand it out, take the verdict, take it back.

Owns the items' rows until a verdict is carried out. A second look is blind: the
person never sees the first verdict and is never the one who gave it. Inside a
workspace scope.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.sampling import Verdict
from audits.leases import Reviewer
from audits.queries.rows import fetch
from records import events
from records.access import Access
from records.events import Happening
from records.items import VALUE_LIMIT, BadRequest, Conflict, FieldError, NotFound
from records.queries import cursor

LEASE = timedelta(minutes=10)
REGRET = timedelta(seconds=60)  # a verdict can be taken back, and is carried out after this

# First what nobody has looked at, then second looks that this person may give.
TAKE = """UPDATE sample_item i SET lease_user_id = %(user)s, lease_expires_at = %(until)s
WHERE i.id = (
    SELECT c.id FROM sample_item c JOIN sample_batch b ON b.id = c.batch_id
    WHERE c.batch_id = %(batch)s AND b.closed_at IS NULL
      AND (c.lease_expires_at IS NULL OR c.lease_expires_at <= %(now)s
           OR c.lease_user_id = %(user)s)
      AND (c.verdict = '' OR c.verdict <> 'gone' AND c.is_recheck AND c.second_verdict = ''
           AND c.answered_by_id <> %(user)s AND c.applied_at IS NULL)
      AND c.id <> ALL(%(skip)s)
    ORDER BY c.verdict <> '', c.place LIMIT 1 FOR UPDATE OF c SKIP LOCKED)
RETURNING i.id"""
# A fact that is no longer live when its turn comes says nothing of the live ones.
GONE = """UPDATE sample_item i SET verdict = 'gone', applied_at = %(now)s, outcome = 'gone'
FROM memory_record r WHERE r.id = i.record_id AND r.status <> 'active'
  AND i.batch_id = %(batch)s AND i.verdict = ''"""
ITEM = """SELECT i.id, i.batch_id, i.place, i.record_id, i.served, i.is_recheck,
    i.verdict <> '' AS is_second, i.answered_by_id, i.second_verdict, i.lease_user_id,
    i.lease_expires_at, b.number, b.size, r.subject, r.predicate, r.value, r.content, r.version,
    r.status, r.confidence, r.valid_until, r.last_seen, r.recorded_at, r.corroboration,
    r.source_key, r.session_id, r.cardinality, s.external_id AS session, s.agent, o.name AS source,
    o.tier, p.name AS partition, c.evidence
FROM sample_item i JOIN sample_batch b ON b.id = i.batch_id
JOIN memory_record r ON r.id = i.record_id JOIN session s ON s.id = r.session_id
JOIN source o ON o.id = r.source_id JOIN partition p ON p.id = r.partition_id
LEFT JOIN LATERAL (SELECT evidence FROM claim WHERE record_id = r.id AND evidence <> ''
                   ORDER BY last_at DESC LIMIT 1) c ON true
WHERE i.id = %(item)s AND i.workspace_id = %(workspace)s"""
FIRST = """UPDATE sample_item SET verdict = %(verdict)s, value = %(value)s, answered_by = %(name)s,
    answered_by_id = %(user)s, answered_at = %(now)s, lease_user_id = NULL, lease_expires_at = NULL
WHERE id = %(item)s AND workspace_id = %(workspace)s AND verdict = '' RETURNING batch_id"""
SECOND = """UPDATE sample_item SET second_verdict = %(verdict)s, second_by = %(name)s,
    second_by_id = %(user)s, second_at = %(now)s, lease_user_id = NULL, lease_expires_at = NULL
WHERE id = %(item)s AND workspace_id = %(workspace)s AND is_recheck AND second_verdict = ''
  AND verdict NOT IN ('', 'gone') AND answered_by_id <> %(user)s RETURNING batch_id"""
UNDO = """UPDATE sample_item i SET
    verdict = CASE WHEN l.is_second THEN i.verdict ELSE '' END,
    value = CASE WHEN l.is_second THEN i.value ELSE '' END,
    answered_by = CASE WHEN l.is_second THEN i.answered_by ELSE '' END,
    answered_by_id = CASE WHEN l.is_second THEN i.answered_by_id END,
    answered_at = CASE WHEN l.is_second THEN i.answered_at END,
    second_verdict = '', second_by = '', second_by_id = NULL, second_at = NULL
FROM (SELECT id, second_by_id = %(user)s AS is_second,
             CASE WHEN second_by_id = %(user)s THEN second_at ELSE answered_at END AS at
      FROM sample_item WHERE workspace_id = %(workspace)s AND applied_at IS NULL
        AND (second_by_id = %(user)s OR answered_by_id = %(user)s AND second_by_id IS NULL)
        AND verdict NOT IN ('', 'gone')
      ORDER BY 3 DESC LIMIT 1 FOR UPDATE) AS l
WHERE i.id = l.id AND l.at > %(since)s RETURNING i.id, i.batch_id"""
SETTLE = """UPDATE sample_item SET settled = %(verdict)s, settled_by = %(name)s
WHERE id = %(item)s AND workspace_id = %(workspace)s AND applied_at IS NULL AND settled = ''
  AND second_verdict <> '' AND second_verdict <> verdict RETURNING batch_id"""


def take_next(
    batch_id: UUID, reviewer: Reviewer, *, access: Access, now: datetime, skip: list[UUID]
) -> UUID | None:
    """Hand out the next item of a batch for ten minutes; ``None``: nothing is left for them."""
    cur = cursor()
    cur.execute(GONE, {"batch": batch_id, "now": now})
    cur.execute(
        TAKE,
        {
            "batch": batch_id,
            "user": reviewer.id,
            "until": now + LEASE,
            "now": now,
            "skip": skip,
        },
    )
    row = cur.fetchone()
    return row[0] if row else None


def open_item(item_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return an item with its fact; never the first verdict, only that there is one."""
    found = fetch(ITEM, {"item": item_id, "workspace": workspace_id})
    return found[0] if found else None


def answer(
    item_id: UUID,
    verdict: Verdict,
    *,
    reviewer: Reviewer,
    access: Access,
    now: datetime,
    value: str = "",
) -> UUID:
    """Take a verdict, the first or the second; return the batch.

    Conflict: it was answered meanwhile. BadRequest: a new value where none belongs.
    """
    value = value.strip()
    if value and verdict not in (Verdict.STALE, Verdict.FALSE):
        raise BadRequest(FieldError("value", "belongs to a fact that is stale or false", "extra"))
    if len(value) > VALUE_LIMIT:
        raise BadRequest(
            FieldError("value", f"is longer than {VALUE_LIMIT} characters", "too_long", VALUE_LIMIT)
        )
    values = {
        "item": item_id,
        "workspace": access.workspace_id,
        "verdict": str(verdict),
        "value": value,
        "name": reviewer.name,
        "user": reviewer.id,
        "now": now,
    }
    cur = cursor()
    for which, statement in (("first", FIRST), ("second", SECOND)):
        cur.execute(statement, values)
        row = cur.fetchone()
        if row is not None:
            _say("sample.answered", item_id, access, batch=row[0], verdict=verdict, which=which)
            return UUID(str(row[0]))
    if open_item(item_id, workspace_id=access.workspace_id) is None:
        raise NotFound("sample item")
    raise Conflict("the item was answered meanwhile")


def undo_last(*, reviewer: Reviewer, access: Access, now: datetime) -> UUID | None:
    """Take back the person's last verdict, if it is not carried out yet; return the item."""
    cur = cursor()
    cur.execute(
        UNDO, {"user": reviewer.id, "workspace": access.workspace_id, "since": now - REGRET}
    )
    row = cur.fetchone()
    if row is None:
        return None
    _say("sample.taken_back", row[0], access, batch=row[1])
    return UUID(str(row[0]))


def settle(item_id: UUID, verdict: Verdict, *, reviewer: Reviewer, access: Access) -> UUID:
    """Decide between two verdicts that differ. Conflict: they do not, or it was decided."""
    cur = cursor()
    cur.execute(
        SETTLE,
        {
            "item": item_id,
            "workspace": access.workspace_id,
            "verdict": str(verdict),
            "name": reviewer.name,
        },
    )
    row = cur.fetchone()
    if row is None:
        raise Conflict("the verdicts do not differ, or it was decided already")
    _say("sample.settled", item_id, access, batch=row[0], verdict=verdict)
    return UUID(str(row[0]))


def _say(action: str, item_id: UUID, access: Access, **details: Any) -> None:
    told = {name: str(value) for name, value in details.items()}
    events.append([Happening(action, "sample_item", item_id, details=told)], access=access)
