"""Leases: one held fact is before one person at a time.

Owns hand-out. The next item is chosen and leased by one statement: candidates
are locked with SKIP LOCKED, and the upsert's condition looks at the latest
row, so that two who ask in the same instant never get the same one. Call
inside ``workspace_scope``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from audits.domain.review import LEASE
from records.access import Access
from records.jobs.runs import Run
from records.queries import cursor

TRIES = 50  # each failed try means that a colleague got the item in between


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The person in front of the queue."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as its holder sees it."""

    record_id: UUID
    token: UUID
    expires_at: datetime


class Leased(Exception):
    """Somebody else has the item open."""

    def __init__(self, by: str, until: datetime) -> None:
        super().__init__(f"leased by {by}")
        self.by = by
        self.until = until


TAKE = """
INSERT INTO review_item AS i (record_id, workspace_id, partition_id, lease_user_id, lease_user, lease_token,
                              lease_expires_at)
SELECT c.id, c.workspace_id, c.partition_id, %(user)s, %(name)s, %(token)s, %(until)s FROM candidate c
ON CONFLICT (record_id) DO UPDATE SET lease_user_id = excluded.lease_user_id, lease_user = excluded.lease_user,
    lease_token = excluded.lease_token, lease_expires_at = excluded.lease_expires_at
WHERE i.lease_token IS NULL OR i.lease_expires_at <= %(now)s OR i.lease_user_id = excluded.lease_user_id
RETURNING i.record_id, i.lease_token, i.lease_expires_at"""

# A snoozed item sleeps until its date, or until it is served again, whichever it was given.
AWAKE = """(i.snoozed_at IS NULL
    OR (i.snoozed_until IS NOT NULL AND i.snoozed_until <= %(now)s)
    OR (i.snoozed_until_served AND EXISTS (
        SELECT 1 FROM serve v WHERE v.record_id = r.id AND v.at > i.snoozed_at)))"""


def take_next(
    reviewer: Reviewer,
    *,
    access: Access,
    now: datetime,
    where: str = "true",
    parameters: Mapping[str, Any] | None = None,
    skip: Sequence[UUID] = (),
) -> Lease | None:
    """Lease the riskiest, oldest open item that passes ``where`` (on ``r`` and ``i``).

    ``skip`` are items the reviewer has just left. ``None``: nothing is open.
    """
    statement = f"""
        WITH candidate AS (
            SELECT r.id, r.workspace_id, r.partition_id
            FROM memory_record r LEFT JOIN review_item i ON i.record_id = r.id
            WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined' AND ({where})
              AND r.id <> ALL(%(skip)s)
              AND (i.lease_token IS NULL OR i.lease_expires_at <= %(now)s) AND {AWAKE}
            ORDER BY r.risk DESC, r.id LIMIT 1 FOR UPDATE OF r SKIP LOCKED)
        {TAKE}"""
    exists = f"""
        SELECT EXISTS (
            SELECT 1 FROM memory_record r LEFT JOIN review_item i ON i.record_id = r.id
            WHERE r.workspace_id = %(workspace)s AND r.status = 'quarantined' AND ({where})
              AND r.id <> ALL(%(skip)s)
              AND (i.lease_token IS NULL OR i.lease_expires_at <= %(now)s) AND {AWAKE})"""
    values = {
        **(parameters or {}),
        "workspace": access.workspace_id,
        "skip": list(skip),
        "user": reviewer.id,
        "name": reviewer.name,
        "token": uuid4(),
        "now": now,
        "until": now + LEASE,
    }
    with cursor() as cur:
        for _ in range(TRIES):
            cur.execute(statement, values)
            row = cur.fetchone()
            if row is not None:
                return Lease(*row)
            cur.execute(exists, values)
            found = cur.fetchone()
            if found is None or not found[0]:
                return None
    return None


def take(record_id: UUID, reviewer: Reviewer, *, access: Access, now: datetime) -> Lease | None:
    """Lease one item; ``Leased`` says who has it, ``None`` that it is not held any more."""
    values = {
        "id": record_id,
        "workspace": access.workspace_id,
        "user": reviewer.id,
        "name": reviewer.name,
        "token": uuid4(),
        "now": now,
        "until": now + LEASE,
    }
    with cursor() as cur:
        cur.execute(
            f"""WITH candidate AS (
                    SELECT r.id, r.workspace_id, r.partition_id FROM memory_record r
                    WHERE r.workspace_id = %(workspace)s AND r.id = %(id)s AND r.status = 'quarantined')
                {TAKE}""",
            values,
        )
        row = cur.fetchone()
        if row is not None:
            return Lease(*row)
        cur.execute(
            """SELECT i.lease_user, i.lease_expires_at FROM review_item i JOIN memory_record r ON r.id = i.record_id
               WHERE i.record_id = %(id)s AND r.status = 'quarantined' AND i.lease_token IS NOT NULL""",
            values,
        )
        holder = cur.fetchone()
    if holder is not None:
        raise Leased(holder[0], holder[1])
    return None


def take_many(
    record_ids: Sequence[UUID], reviewer: Reviewer, *, access: Access, now: datetime
) -> tuple[UUID, dict[UUID, UUID]]:
    """Lease what is held and free of these, under one token; return it, and partitions by record.

    Rows are taken in the order of their ids, so that two who take many cannot wait for each other.
    """
    token = uuid4()
    values = {
        "ids": sorted(record_ids),
        "workspace": access.workspace_id,
        "user": reviewer.id,
        "name": reviewer.name,
        "token": token,
        "now": now,
        "until": now + LEASE,
    }
    with cursor() as cur:
        cur.execute(
            f"""WITH candidate AS MATERIALIZED (
                    SELECT r.id, r.workspace_id, r.partition_id FROM memory_record r
                    WHERE r.workspace_id = %(workspace)s AND r.id = ANY(%(ids)s::uuid[])
                      AND r.status = 'quarantined' ORDER BY r.id)
                {TAKE}, i.partition_id""",
            values,
        )
        return token, {row[0]: row[3] for row in cur.fetchall()}


def release_many(token: UUID) -> int:
    """Give back all that was leased under one token."""
    with cursor() as cur:
        cur.execute(f"UPDATE review_item SET {FREE} WHERE lease_token = %s", [token])
        return cur.rowcount


def states_of(record_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the statuses of these records."""
    with cursor() as cur:
        cur.execute(
            "SELECT id, status FROM memory_record WHERE id = ANY(%s::uuid[])", [list(record_ids)]
        )
        return {row[0]: row[1] for row in cur.fetchall()}


def renew(record_id: UUID, token: UUID, *, now: datetime) -> datetime | None:
    """Extend a lease that is still its holder's; ``None`` when it is lost."""
    with cursor() as cur:
        cur.execute(
            """UPDATE review_item SET lease_expires_at = %s
               WHERE record_id = %s AND lease_token = %s AND lease_expires_at > %s
               RETURNING lease_expires_at""",
            [now + LEASE, record_id, token, now],
        )
        row = cur.fetchone()
    return row[0] if row else None


FREE = """lease_token = NULL, lease_user_id = NULL, lease_user = '', lease_expires_at = NULL"""


def release(record_id: UUID, token: UUID) -> bool:
    """Give an item back; False when the lease was lost already."""
    with cursor() as cur:
        cur.execute(
            f"UPDATE review_item SET {FREE} WHERE record_id = %s AND lease_token = %s",
            [record_id, token],
        )
        return cur.rowcount > 0


def give_back(record_ids: Sequence[UUID], reviewer: Reviewer) -> int:
    """Give back items that are the reviewer's, whichever tab has them; return how many."""
    with cursor() as cur:
        cur.execute(
            f"UPDATE review_item SET {FREE} WHERE record_id = ANY(%s) AND lease_user_id = %s",
            [list(record_ids), reviewer.id],
        )
        return cur.rowcount


def release_all(reviewer: Reviewer) -> int:
    """Give back everything a person has open, at log-out."""
    with cursor() as cur:
        cur.execute(f"UPDATE review_item SET {FREE} WHERE lease_user_id = %s", [reviewer.id])
        return cur.rowcount


def free(run: Run, now: datetime) -> None:
    """Tidy leases that have run out; hand-out counts them as free already."""
    with run.step(), cursor() as cur:
        cur.execute(f"UPDATE review_item SET {FREE} WHERE lease_expires_at <= %s", [now])
        run.count(freed=cur.rowcount)
