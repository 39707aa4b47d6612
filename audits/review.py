"""Decisions on held facts: checked, made once, undoable.

Owns the rules of deciding (lease and version, idempotency, what a decision
owes) and undo. The moves themselves are ``records.curate``'s. Refusals carry
what a panel needs: who decided, when, why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits import leases, review_second
from audits.domain.review import (
    ACTIVATION_DELAY,
    BY_CODE,
    NOTE_LIMIT,
    RECENT_DECISIONS,
    Verb,
    missing,
)
from audits.leases import Leased, Reviewer
from audits.models import ReviewDecision, ReviewItem, ReviewNote
from records import curate, events
from records.access import Access
from records.domain.canonical import session_id
from records.domain.facts import Status
from records.domain.ids import uuid7
from records.events import Happening
from records.items import BadRequest, Conflict, NotFound, Refused, WriteItem, Written
from records.models import MemoryRecord, Partition, Serve
from records.scope import workspace_scope
from records.write import write_fact


@dataclass(frozen=True, slots=True)
class Wish:
    """What a reviewer asks for: the item as they saw it, and what to do with it."""

    record_id: UUID
    version: int
    token: UUID
    verb: Verb
    key: str
    reason: str = ""
    note: str = ""
    value: str = ""
    valid_until: datetime | None = None
    snooze_until: datetime | None = None
    snooze_until_served: bool = False
    may_ask: bool = True  # a second person, where the fact needs one


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision did; ``repeated`` when its key had been used for it before."""

    decision_id: UUID
    record_id: UUID
    verb: str
    answer: dict[str, Any] = field(default_factory=dict)
    repeated: bool = False


class AlreadyDecided(Conflict):
    """A colleague (or another tab) was first; ``by`` is None when no decision is on record."""

    def __init__(self, status: str, by: ReviewDecision | None) -> None:
        super().__init__(f"is {status}")
        self.status = status
        self.by = by


class Erased(Conflict):
    """There is nothing left to decide on."""


class Owes(BadRequest):
    """The decision lacks a reason or a note; ``message`` says which."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message


def decide(wish: Wish, *, reviewer: Reviewer, access: Access, now: datetime) -> Decided:
    """Make one decision: needs the lease and the version, happens once per key.

    Raises ``Leased``, ``AlreadyDecided``, ``Erased``, ``Owes``, ``Conflict`` or
    ``NotFound``; then nothing has changed.
    """
    with workspace_scope(access.workspace_id):
        # The lease's row serialises deciders. Not the record's: writers lock its slot first,
        # as the act below does, and two orders of locking would meet in a circle.
        item = ReviewItem.objects.select_for_update().filter(record_id=wish.record_id).first()
        before = ReviewDecision.objects.filter(
            workspace_id=access.workspace_id, user_id=reviewer.id, idempotency_key=wish.key
        ).first()
        if before is not None:
            if before.record_id != wish.record_id or before.verb != wish.verb:
                raise Conflict("this key was used for another decision")
            return Decided(before.id, before.record_id, before.verb, before.answer, repeated=True)
        record = MemoryRecord.objects.filter(
            workspace_id=access.workspace_id, id=wish.record_id
        ).first()
        if record is None:
            raise NotFound("record")
        _require_held(record, wish)
        _require_lease(item, wish, reviewer, now)
        owed = missing(wish.verb, risk=record.risk, reason=wish.reason, note=wish.note)
        if owed:
            raise Owes(owed)
        if review_second.applies(record, wish.verb):
            answer = _ask_second(wish, record, reviewer, access, now)
        else:
            answer = _do(wish, record, access, now)
        decision = ReviewDecision.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            partition_id=record.partition_id,
            record_id=record.id,
            user_id=reviewer.id,
            user=reviewer.name,
            verb=wish.verb,
            reason=wish.reason,
            note=wish.note,
            idempotency_key=wish.key,
            version=wish.version,
            answer=answer,
            decided_at=now,
        )
        leases.release(record.id, wish.token)
        return Decided(decision.id, record.id, wish.verb, answer)


def _require_held(record: MemoryRecord, wish: Wish) -> None:
    if record.status == Status.ERASED:
        raise Erased("is erased")
    if record.status != Status.QUARANTINED or record.version != wish.version:
        last = ReviewDecision.objects.filter(record_id=record.id, undone_at=None).order_by("-id")
        raise AlreadyDecided(record.status, last.first())


def _require_lease(item: ReviewItem | None, wish: Wish, reviewer: Reviewer, now: datetime) -> None:
    """Insist on the reviewer's own lease; one that has run out untaken still serves."""
    if item is None or item.lease_token is None or item.lease_expires_at is None:
        raise Conflict("the lease has ended; open the item again")
    if item.lease_token != wish.token:
        if item.lease_user_id == reviewer.id or item.lease_expires_at <= now:
            raise Conflict("the item is open in another tab of yours")
        raise Leased(item.lease_user, item.lease_expires_at)


def _do(wish: Wish, record: MemoryRecord, access: Access, now: datetime) -> dict[str, Any]:
    reason = _reason_text(wish)
    if wish.verb is Verb.REJECT:
        acted = curate.reject([record.id], reason, access=access, version=wish.version, now=now)
        return _answer(acted)
    if wish.verb is Verb.SNOOZE:
        return _snooze(wish, record, access, now)
    if wish.verb is Verb.EDIT:
        return _edit(wish, record, access, reason, now)
    acted = curate.approve(
        record.id,
        access=access,
        version=wish.version,
        reason=reason,
        valid_until=wish.valid_until,
        activation_delay=ACTIVATION_DELAY,
        as_current=wish.verb is Verb.SUPERSEDE,
        now=now,
    )
    if not acted.changed:
        raise Conflict("; ".join(why for _, why in acted.skipped))
    return _answer(acted) | {"served_from": (now + ACTIVATION_DELAY).isoformat()}


def _ask_second(
    wish: Wish, record: MemoryRecord, reviewer: Reviewer, access: Access, now: datetime
) -> dict[str, Any]:
    """Ask whether a high-risk fact may be let in; nothing else happens until the answer."""
    if not wish.may_ask:
        raise Conflict("needs a second person: decide it by itself")
    if wish.verb is Verb.EDIT:
        raise Owes(
            "High-risk facts need a second person here, who must see what was written: approve or"
            " reject it as it is."
        )
    return review_second.ask(
        record,
        verb=wish.verb,
        valid_until=wish.valid_until,
        reason=_reason_text(wish),
        access=access,
        user_id=reviewer.id,
        now=now,
    )


def _reason_text(wish: Wish) -> str:
    label = BY_CODE[wish.reason].label if wish.reason in BY_CODE else ""
    return ": ".join(part for part in (label, wish.note.strip()) if part)


def _answer(acted: curate.Acted) -> dict[str, Any]:
    return {
        "changed": [str(one) for one in acted.changed],
        "superseded": [str(one) for one in acted.superseded],
        "restored": [str(one) for one in acted.restored],
        "skipped": [[str(one), why] for one, why in acted.skipped],
    }


def _edit(
    wish: Wish, record: MemoryRecord, access: Access, reason: str, now: datetime
) -> dict[str, Any]:
    """Store the reviewer's wording as a new fact and turn the held one away."""
    partition = Partition.objects.values_list("name", flat=True).get(id=record.partition_id)
    item = WriteItem(
        partition=partition,
        subject=record.subject,
        predicate=record.predicate,
        value=wish.value,
        session=_session_of(record.id),
        agent="console",
        extracted_by=str(access.actor),
        confidence=record.confidence,
        observed_at=record.observed_at,
        valid_from=record.valid_from,
        valid_until=wish.valid_until or (record.valid_until if record.valid_until_given else None),
        tags=tuple(record.tags),
    )
    written = write_fact(item, access=replace(access, partition=None), now=now)
    if isinstance(written, Refused):
        raise Owes("; ".join(f"{e.field} {e.message}" for e in written.errors))
    if written.id == record.id:
        raise Owes("The wording says the same as the held fact: approve it, or change it.")
    if written.status == Status.QUARANTINED and written.id is not None:
        # The reviewer's own words are judged by the reviewer.
        curate.approve(
            written.id,
            access=access,
            reason=reason or "edited",
            activation_delay=ACTIVATION_DELAY,
            now=now,
        )
    elif written.status != Status.ACTIVE:
        raise Conflict(_why_not(written))
    acted = curate.reject(
        [record.id], reason or "edited", access=access, version=wish.version, now=now
    )
    return _answer(acted) | {"edited_into": str(written.id)}


def _why_not(written: Written) -> str:
    if written.decision == "fenced":
        return "that wording is fenced: it was rejected, retracted or evicted before"
    return f"that wording cannot be stored: {written.decision}"


def _snooze(wish: Wish, record: MemoryRecord, access: Access, now: datetime) -> dict[str, Any]:
    if wish.snooze_until is None and not wish.snooze_until_served:
        raise Owes("Say until when it is snoozed.")
    if wish.snooze_until is not None and wish.snooze_until <= now:
        raise Owes("The date to snooze until has passed.")
    ReviewItem.objects.filter(record_id=record.id).update(
        snoozed_until=wish.snooze_until,
        snoozed_until_served=wish.snooze_until_served,
        snoozed_at=now,
        snoozed_by=str(access.actor),
    )
    until = wish.snooze_until.isoformat() if wish.snooze_until else "served"
    events.append(
        [
            Happening(
                "record.snoozed",
                "record",
                target_id=record.id,
                partition_id=record.partition_id,
                reason=wish.note,
                details={"until": until},
            )
        ],
        access=access,
    )
    return {"snoozed_until": until}


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo put back, and how often the fact was served meanwhile."""

    decision_id: UUID
    record_id: UUID
    verb: str
    serves_meanwhile: int


def undo(
    *,
    reviewer: Reviewer,
    access: Access,
    now: datetime,
    decision_id: UUID | None = None,
) -> Undone:
    """Take back a decision of this reviewer, by default their last one.

    Inside the activation delay nobody has been served. Raises ``NotFound``
    when there is none, ``Conflict`` when the record has moved on since.
    """
    with workspace_scope(access.workspace_id):
        mine = ReviewDecision.objects.select_for_update().filter(
            workspace_id=access.workspace_id, user_id=reviewer.id, undone_at=None
        )
        if decision_id is not None:
            mine = mine.filter(id=decision_id)
        decision = mine.order_by("-id").first()
        if decision is None:
            raise NotFound("decision")
        asked = decision.answer.get("asked")
        if decision.verb == Verb.SNOOZE:
            _wake(decision, access)
        elif asked and review_second.take_back(asked, access=access, now=now):
            pass
        else:
            curate.reopen(decision.record_id, "undone", access=access, now=now)
            _take_back_edit(decision, access, now)
        decision.undone_at = now
        decision.save(update_fields=["undone_at"])
        meanwhile = Serve.objects.filter(
            record_id=UUID(decision.answer.get("edited_into") or str(decision.record_id)),
            at__gte=decision.decided_at,
            at__lte=now + timedelta(seconds=1),
        ).count()
        return Undone(decision.id, decision.record_id, decision.verb, meanwhile)


def _take_back_edit(decision: ReviewDecision, access: Access, now: datetime) -> None:
    """Evict what an edit had stored, which brings back what that had displaced."""
    edited = decision.answer.get("edited_into")
    if edited is None:
        return
    session = session_id(
        access.workspace_id, decision.partition_id, _session_of(decision.record_id)
    )
    curate.evict([UUID(edited)], "edit undone", access=access, session_id=session, now=now)


def _session_of(record_id: UUID) -> str:
    """Return the session in which a reviewer's wording of a record is stored."""
    return f"review:{record_id}"


def _wake(decision: ReviewDecision, access: Access) -> None:
    ReviewItem.objects.filter(record_id=decision.record_id).update(
        snoozed_until=None, snoozed_until_served=False, snoozed_at=None, snoozed_by=""
    )
    events.append(
        [
            Happening(
                "record.woken",
                "record",
                target_id=decision.record_id,
                partition_id=decision.partition_id,
                reason="undone",
            )
        ],
        access=access,
    )


def recent(*, reviewer: Reviewer, access: Access) -> list[ReviewDecision]:
    """Return this reviewer's last decisions, newest first; call inside a scope."""
    mine = ReviewDecision.objects.filter(workspace_id=access.workspace_id, user_id=reviewer.id)
    return list(mine.order_by("-id")[:RECENT_DECISIONS])


def add_note(record_id: UUID, text: str, *, access: Access, now: datetime) -> ReviewNote:
    """Leave a note on a record; held or not."""
    text = text.strip()
    if not text or len(text) > NOTE_LIMIT or "\x00" in text:
        raise Owes(f"A note has 1 to {NOTE_LIMIT:,} characters.")
    with workspace_scope(access.workspace_id):
        record = MemoryRecord.objects.filter(workspace_id=access.workspace_id, id=record_id).first()
        if record is None:
            raise NotFound("record")
        note = ReviewNote.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            partition_id=record.partition_id,
            record_id=record.id,
            user=access.actor.name,
            text=text,
            written_at=now,
        )
        events.append(
            [
                Happening(
                    "record.noted",
                    "record",
                    target_id=record.id,
                    partition_id=record.partition_id,
                    details={"note": str(note.id)},
                )
            ],
            access=access,
        )
        return note
