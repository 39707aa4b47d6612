"""Carrying verdicts out: true strengthens, stale ends or is replaced, false goes.

Owns the order and the outcome of each item; the moves are ``records.curate``'s and
the write path's. Every item is a transaction of its own: one that has moved on
meanwhile says so and keeps no other waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.sampling import Verdict
from audits.queries.rows import fetch
from audits.sampling.answering import REGRET
from records import curate
from records.access import Access, Actor, ActorKind
from records.correct import correct
from records.domain.facts import Status
from records.items import BadRequest, Conflict, NotFound, Refused, WriteItem
from records.jobs.runs import Run
from records.models import MemoryRecord
from records.queries import cursor
from records.scope import workspace_scope
from records.write import write_fact

SESSION = "verification"  # where a person's new value comes from

# Two who differ wait for a third word; a second look that never came is not waited for once
# the batch is closed.
DUE = """SELECT i.id, i.record_id, i.value, i.answered_by, b.number,
    CASE WHEN i.settled <> '' THEN i.settled ELSE i.verdict END AS verdict,
    r.subject, r.predicate, r.confidence, r.tags, p.name AS partition
FROM sample_item i JOIN sample_batch b ON b.id = i.batch_id
JOIN memory_record r ON r.id = i.record_id JOIN partition p ON p.id = i.partition_id
WHERE i.workspace_id = %(workspace)s AND i.verdict NOT IN ('', 'gone') AND i.applied_at IS NULL
  AND i.answered_at <= %(before)s
  AND (NOT i.is_recheck OR i.settled <> ''
       OR i.second_verdict = i.verdict AND i.second_at <= %(before)s
       OR i.second_verdict = '' AND b.closed_at IS NOT NULL)
ORDER BY i.answered_at, i.id LIMIT %(limit)s FOR UPDATE OF i SKIP LOCKED"""
DONE = """UPDATE sample_item SET applied_at = %(now)s, outcome = %(outcome)s, value = ''
WHERE id = %(item)s AND applied_at IS NULL"""


def carry_out(run: Run, now: datetime) -> None:
    """Carry out every verdict that nobody can take back any more."""
    assert run.workspace_id is not None
    while True:
        with run.step():
            done = carry_out_due(run.workspace_id, now)
            run.count(**{f"verdicts_{outcome}": number for outcome, number in done.items()})
        if not done:
            return


def carry_out_due(workspace_id: UUID, now: datetime, *, limit: int = 1) -> dict[str, int]:
    """Carry out up to ``limit`` verdicts; return how many ended in which way. Inside a scope."""
    items = fetch(DUE, {"workspace": workspace_id, "before": now - REGRET, "limit": limit})
    done: dict[str, int] = {}
    for item in items:
        actor = Actor(ActorKind.USER, item["answered_by"])
        access = Access(workspace_id, actor)
        try:
            outcome = ACTS[Verdict(item["verdict"])](item, access, now)
        except (Conflict, NotFound):
            outcome = "moved on"
        except BadRequest as error:
            outcome = f"not written: {error.errors[0].field} {error.errors[0].message}"
        # The acts above open narrower scopes, whose settings outlast them in a transaction.
        with workspace_scope(workspace_id):
            cur = cursor()
            cur.execute(DONE, {"item": item["id"], "now": now, "outcome": outcome[:200]})
            assert cur.rowcount == 1, "the item is locked and was not carried out before"
        word = outcome.partition(":")[0].replace(" ", "_")
        done[word] = done.get(word, 0) + 1
    return done


def _true(item: dict[str, Any], access: Access, now: datetime) -> str:
    curate.confirm(item["record_id"], _why(item), access=access, now=now)
    return "confirmed"


def _stale(item: dict[str, Any], access: Access, now: datetime) -> str:
    """Replace what was true by what is; without a new value, end it now."""
    outcome = "ended"
    if item["value"]:
        written = write_fact(
            WriteItem(
                partition=item["partition"],
                subject=item["subject"],
                predicate=item["predicate"],
                value=item["value"],
                session=SESSION,
                agent="console",
                confidence=max(item["confidence"], 0.95),
                tags=tuple(item["tags"]),
            ),
            access=access,
            now=now,
        )
        if isinstance(written, Refused):
            raise BadRequest(*written.errors)
        if written.status != Status.ACTIVE:
            return f"new value {written.decision}"
        outcome = "replaced"
    record = MemoryRecord.objects.get(id=item["record_id"])
    if record.status == Status.ACTIVE:
        curate.extend(record.id, now, _why(item), access=access, now=now)
    elif outcome == "ended":
        raise Conflict(f"the record is {record.status}")
    return outcome


def _false(item: dict[str, Any], access: Access, now: datetime) -> str:
    if item["value"]:
        done = correct(
            item["record_id"], value=item["value"], access=access, session=SESSION,
            reason=_why(item), confidence=0.95, now=now,
        )  # fmt: skip
        return "corrected" if done.retracted else f"new value {done.written.decision}"
    acted = curate.retract([item["record_id"]], _why(item), access=access, now=now)
    if not acted.changed:
        raise Conflict(acted.skipped[0][1])
    return "retracted"


def _unknown(item: dict[str, Any], access: Access, now: datetime) -> str:
    return "nothing"


ACTS: dict[Verdict, Callable[[dict[str, Any], Access, datetime], str]] = {
    Verdict.TRUE: _true,
    Verdict.STALE: _stale,
    Verdict.FALSE: _false,
    Verdict.UNKNOWN: _unknown,
}


def _why(item: dict[str, Any]) -> str:
    return f"verified as {item['verdict']} in sample {item['number']}"


def carry_out_now(workspace_id: UUID, now: datetime) -> dict[str, int]:
    """Carry out what is due outside a job; for the command line and tests."""
    with workspace_scope(workspace_id):
        return carry_out_due(workspace_id, now, limit=10_000)
