"""Decisions on many held facts at once: exactly those that were previewed, each at its version.

Owns the running, the counts and the undo; what would run is ``queries/queue_bulk.py``'s.
Every decision is an ordinary one (``audits.review``), under a key made of the operation and
the record: repeating an operation decides nothing twice, and undo finds what it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid4

from audits import leases, review
from audits.domain.review import BY_CODE, Verb, missing
from audits.leases import Leased, Reviewer
from audits.models import ReviewDecision
from audits.review import AlreadyDecided, Owes, Wish
from records import curate, events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import Conflict, NotFound
from records.models import Event
from records.scope import workspace_scope

BATCH = 500
UNDO_MOST = 1_000  # in one request, each through its slot; the receipt offers the rest
WITH_COLLEAGUES = "open with a colleague"
CHANGED_SINCE = "has changed since the preview"
DECIDED, UNDONE = "review.decided_in_bulk", "review.undone_in_bulk"


@dataclass(slots=True)
class Receipt:
    """What ran: counts that add up to what was asked for, and why some were left."""

    asked: int = 0
    changed: int = 0
    repeated: int = 0  # of those changed, by an earlier run of the same operation
    skipped: Counter[str] = field(default_factory=Counter)


def decide_many(
    items: Sequence[tuple[UUID, int]],
    *,
    operation: UUID,
    verb: Verb,
    reason: str,
    note: str,
    reviewer: Reviewer,
    access: Access,
    now: datetime,
) -> Receipt:
    """Approve or reject facts, each at the version that was previewed; others are left, and why.

    Commits as it goes. The same ``operation`` again decides only what it had not.
    Raises ``Owes`` when the reason is missing; then nothing has changed.
    """
    receipt = Receipt(asked=len(items))
    for batch in _batches(items):
        if verb is Verb.REJECT:
            _reject(batch, receipt, operation, reason, note, reviewer, access, now)
        else:
            for record_id, version in batch:
                wish = Wish(
                    record_id=record_id,
                    version=version,
                    token=uuid4(),
                    verb=verb,
                    key=key_of(operation, record_id),
                    reason=reason,
                    note=note,
                    may_ask=False,
                )
                _decide_one(wish, receipt, reviewer, access, now)
    if receipt.changed == 0 or receipt.changed > receipt.repeated:
        _tell(DECIDED, operation, receipt, f"{verb}: {reason or note or 'no reason'}", access)
    return receipt


def undo_many(
    operation: UUID, *, reviewer: Reviewer, access: Access, now: datetime
) -> tuple[Receipt, int]:
    """Take back what an operation of this reviewer decided; return the counts and serves meanwhile.

    At most ``UNDO_MOST`` at once, the last first. ``NotFound`` when it is nobody's, or another's.
    """
    with workspace_scope(access.workspace_id):
        mine = decisions_of(operation, reviewer, access)
        if not mine:
            raise NotFound("operation")
        wanted = [one.id for one in mine if one.undone_at is None][:UNDO_MOST]
    receipt = Receipt(asked=len(wanted))
    served = 0
    for decision_id in wanted:
        try:
            undone = review.undo(reviewer=reviewer, access=access, now=now, decision_id=decision_id)
        except (Conflict, NotFound) as error:
            receipt.skipped[str(error)] += 1
        else:
            receipt.changed += 1
            served += undone.serves_meanwhile
    _tell(UNDONE, operation, receipt, "undone", access)
    return receipt, served


def key_of(operation: UUID, record_id: UUID) -> str:
    """Return the key under which an operation decides one record."""
    return f"bulk:{operation}:{record_id}"


def operation_of(key: str) -> UUID | None:
    """Return the operation whose decision a key belongs to."""
    kind, _, rest = key.partition(":")
    return UUID(rest.partition(":")[0]) if kind == "bulk" else None


def decisions_of(operation: UUID, reviewer: Reviewer, access: Access) -> list[ReviewDecision]:
    """Return an operation's decisions, the last first; inside a scope."""
    return list(
        ReviewDecision.objects.filter(
            workspace_id=access.workspace_id,
            user_id=reviewer.id,
            idempotency_key__startswith=f"bulk:{operation}:",
        ).order_by("-id")
    )


def told_of(operation: UUID, access: Access) -> list[Event]:
    """Return what the trail says of an operation, the first first; inside a scope."""
    return list(
        Event.objects.filter(
            workspace_id=access.workspace_id, target_id=operation, action__in=(DECIDED, UNDONE)
        ).order_by("id")
    )


def _decide_one(
    wish: Wish, receipt: Receipt, reviewer: Reviewer, access: Access, now: datetime
) -> None:
    try:
        with workspace_scope(access.workspace_id):
            lease = leases.take(wish.record_id, reviewer, access=access, now=now)
        # Without a lease it is decided; asking all the same says by whom, or repeats our own.
        asked = replace(wish, token=lease.token) if lease else wish
        decided = review.decide(asked, reviewer=reviewer, access=access, now=now)
    except Leased:
        receipt.skipped[WITH_COLLEAGUES] += 1
    except AlreadyDecided as first:
        is_held = first.status == "quarantined"
        receipt.skipped[CHANGED_SINCE if is_held else f"is {first.status} already"] += 1
    except Owes:
        if receipt.changed == 0:
            raise
        receipt.skipped["owes a reason"] += 1
    except (Conflict, NotFound) as error:
        receipt.skipped[str(error)] += 1
    else:
        receipt.changed += 1
        receipt.repeated += decided.repeated


def _reject(
    batch: Sequence[tuple[UUID, int]],
    receipt: Receipt,
    operation: UUID,
    reason: str,
    note: str,
    reviewer: Reviewer,
    access: Access,
    now: datetime,
) -> None:
    """Turn a batch away in one transaction."""
    if owed := missing(Verb.REJECT, risk=0, reason=reason, note=note):
        raise Owes(owed)
    versions = dict(batch)
    words = ": ".join(part for part in (BY_CODE[reason].label, note.strip()) if part)
    with workspace_scope(access.workspace_id):
        before = ReviewDecision.objects.filter(
            workspace_id=access.workspace_id,
            user_id=reviewer.id,
            idempotency_key__in=[key_of(operation, one) for one in versions],
        )
        done = set(before.values_list("record_id", flat=True))
        open_ones = [one for one in sorted(versions) if one not in done]
        token, mine = leases.take_many(open_ones, reviewer, access=access, now=now)
        acted = curate.reject(mine, words, access=access, versions=versions, now=now)
        ReviewDecision.objects.bulk_create(
            ReviewDecision(
                id=uuid7(now),
                workspace_id=access.workspace_id,
                partition_id=mine[record_id],
                record_id=record_id,
                user_id=reviewer.id,
                user=reviewer.name,
                verb=Verb.REJECT,
                reason=reason,
                note=note,
                idempotency_key=key_of(operation, record_id),
                version=versions[record_id],
                answer={"changed": [str(record_id)], "restored": [], "superseded": []},
                decided_at=now,
            )
            for record_id in acted.changed
        )
        leases.release_many(token)
        rest = [one for one in open_ones if one not in mine]
        states = leases.states_of(rest)
    receipt.changed += len(acted.changed) + len(done)
    receipt.repeated += len(done)
    receipt.skipped.update(
        CHANGED_SINCE if why == "has changed since" else why for _, why in acted.skipped
    )
    receipt.skipped.update(
        WITH_COLLEAGUES if states.get(one) == "quarantined" else f"is {states.get(one)} already"
        for one in rest
    )


def _batches(items: Sequence[tuple[UUID, int]]) -> Iterator[Sequence[tuple[UUID, int]]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def _tell(action: str, operation: UUID, receipt: Receipt, reason: str, access: Access) -> None:
    """Put the operation on record, with the counts that the receipt shows."""
    with workspace_scope(access.workspace_id):
        events.append(
            [
                Happening(
                    action,
                    "operation",
                    target_id=operation,
                    reason=reason,
                    count=receipt.changed,
                    details={
                        "asked": receipt.asked,
                        "changed": receipt.changed,
                        "skipped": dict(receipt.skipped),
                    },
                )
            ],
            access=access,
        )
