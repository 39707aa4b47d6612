"""The outbox emptied: claim some notices, send each, write down what became of it.

Owns the states of ``notice`` and the table ``notice_attempt``. No transaction is
open while something is sent. A notice is claimed for two minutes; a worker that
dies meanwhile leaves it to the next one, so it may arrive twice, under the same
id. What is not taken goes again with growing pauses, and is given up with an
event after ``ATTEMPTS``.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from audits.domain.notices import ATTEMPTS, Channel, pause_after
from audits.notices import channels, secrets, watching
from audits.notices.channels import Delivery
from audits.notices.outgoing import UnreachableError
from audits.notices.raising import tell_kept
from audits.queries.notices import as_json
from records import events, queries
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.scope import workspace_scope

CLAIMED_FOR = timedelta(minutes=2)
BATCH = 10
RUN_SECONDS = 40  # a silent run is taken for dead after 60

# Chosen once, in a step of its own: a plan that chose again for each row would claim them all.
CLAIM = """WITH due AS MATERIALIZED (
    SELECT id FROM notice WHERE workspace_id = %(workspace)s AND (%(only)s::uuid IS NULL OR id = %(only)s)
      AND (state = 'waiting' AND next_at <= %(now)s
           OR state = 'sending' AND claimed_at < clock_timestamp() - %(lost)s)
    ORDER BY next_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED)
UPDATE notice n SET state = 'sending', claimed_at = clock_timestamp(), attempts = n.attempts + 1
FROM due, notice_channel c, workspace w
WHERE n.id = due.id AND c.id = n.channel_id AND w.id = n.workspace_id
RETURNING n.id, n.kind, n.target_kind, n.target, n.numbers, n.more, n.is_test, n.created_at,
    n.attempts, c.kind, c.secret, c.is_active AND c.removed_at IS NULL, w.name"""
SENT = """UPDATE notice SET state = 'sent', sent_at = clock_timestamp(), fault = ''
WHERE id = %s AND state = 'sending' AND attempts = %s"""
AGAIN = """UPDATE notice SET state = %s, next_at = %s, fault = %s
WHERE id = %s AND state = 'sending' AND attempts = %s"""
NOTE = """INSERT INTO notice_attempt (id, workspace_id, notice_id, millis, fault)
VALUES (%s, %s, %s, %s, %s)"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """One notice that this worker has to send, and by which channel."""

    delivery: Delivery
    attempt: int
    channel: Channel
    secret: bytes
    is_open: bool  # whether the channel still is


def work(run: Run, now: datetime) -> None:
    """Look at what is measured, tell what was kept back, and empty the outbox."""
    assert run.workspace_id is not None
    with run.step():
        run.count(raised=watching.look(run.workspace_id, run.cursor, now))
        run.count(told=tell_kept(run.workspace_id, now))
    until = time.monotonic() + RUN_SECONDS
    while time.monotonic() < until:
        with run.step():
            claimed = claim(run.workspace_id, now=timezone.now())
        for one in claimed:
            fault = attempt(one, access=access_of(run))
            with run.step():
                run.count(sent=not fault, not_sent=bool(fault))
        if len(claimed) < BATCH:
            return


def claim(
    workspace_id: UUID, *, now: datetime, only: UUID | None = None, batch: int = BATCH
) -> list[Claimed]:
    """Take notices that are due; no other worker gets them for two minutes. Inside the scope."""
    values = {
        "workspace": workspace_id,
        "now": now,
        "lost": CLAIMED_FOR,
        "batch": batch,
        "only": only,
    }
    with queries.cursor() as cursor:
        cursor.execute(CLAIM, values)
        return [_claimed(row) for row in cursor.fetchall()]


def attempt(one: Claimed, *, access: Access) -> str:
    """Send one notice and write down what became of it; return what was wrong."""
    started = time.perf_counter()
    fault = _send(one)
    millis = int((time.perf_counter() - started) * 1000)
    now = timezone.now()
    with workspace_scope(access.workspace_id), queries.cursor() as cursor:
        notice_id = one.delivery.id
        cursor.execute(NOTE, [uuid7(now), access.workspace_id, notice_id, millis, fault])
        if not fault:
            cursor.execute(SENT, [notice_id, one.attempt])
            return ""
        is_over = one.attempt >= ATTEMPTS or one.delivery.is_test or not one.is_open
        pause = pause_after(one.attempt, chance=random.random())  # noqa: S311 - spreads, hides nothing
        cursor.execute(
            AGAIN,
            ["failed" if is_over else "waiting", now + pause, fault, notice_id, one.attempt],
        )
        if is_over and cursor.rowcount:
            events.append(
                [
                    Happening(
                        "notice.failed",
                        "notice",
                        notice_id,
                        outcome="failed",
                        reason=fault,
                        details={"kind": one.delivery.kind, "attempts": one.attempt},
                    )
                ],
                access=access,
            )
    return fault


def _send(one: Claimed) -> str:
    if not one.is_open:
        return "the channel is switched off"
    try:
        channels.send(one.channel, secrets.unseal(one.secret), one.delivery)
    except (UnreachableError, secrets.SealedError) as error:
        return str(error)[:200]
    return ""


def _claimed(row: Any) -> Claimed:
    delivery = Delivery(
        id=row[0],
        workspace=row[12],
        kind=row[1],
        target_kind=row[2],
        target=row[3],
        numbers=as_json(row[4]),
        more=row[5],
        is_test=row[6],
        raised_at=row[7],
    )
    return Claimed(delivery, row[8], Channel(row[9]), bytes(row[10]), row[11])
