"""What one write does to the facts that are already there.

Owns the decision table (docs/policy.md) as one pure function, ``decide``.
Likeness plays no part: only identity (fingerprint), the slot, the address and
fences do. ``ledger.py`` applies decisions in order and keeps the books.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from .facts import Cardinality, Decision, HoldReason, Outcome, Status
from .validity import is_expired


class Incoming(NamedTuple):
    """A write in canonical form, after the gate, as reconcile sees it.

    ``seen_at`` is when its writer saw it hold; ``order_at`` places it in its
    slot's time. ``confidence`` is capped by the source's tier already.
    ``dependent_slots`` go stale when this fact replaces another.
    """

    id: UUID
    fingerprint: str
    slot_id: UUID
    session_id: UUID
    source_id: UUID
    cardinality: Cardinality
    confidence: float
    seen_at: datetime
    order_at: datetime
    content: str = ""
    sentence: str = ""  # the value, folded: is it a whole sentence that was served?
    valid_until: datetime | None = None
    valid_until_given: bool = False
    address_id: UUID | None = None
    partition_id: UUID | None = None
    derived: bool = False
    negated: bool = False
    immutable: bool = False
    outcome: Outcome = Outcome.ALLOW
    needs_review: bool = False
    trust: int = 1
    dependent_slots: tuple[UUID, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the fact had ended, by its writer's own word, when it was seen."""
        return self.valid_until_given and is_expired(self.valid_until, at=self.seen_at)


@dataclass(slots=True)
class Known:
    """A record of the store as reconcile sees it; changed only by the ledger."""

    id: UUID
    fingerprint: str
    slot_id: UUID
    status: Status
    cardinality: Cardinality
    confidence: float
    order_at: datetime
    last_seen: datetime
    source_id: UUID
    hold_reason: str = ""
    content: str = ""
    valid_until: datetime | None = None
    valid_until_given: bool = False
    derived: bool = False
    trust: int = 1
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    recheck_at: datetime | None = None
    unlisted_at: datetime | None = None
    # The record that a person has said is the same fact in other words.
    merged_into: UUID | None = None
    seen_count: int = 1
    claimants: set[tuple[UUID, UUID]] = field(default_factory=set)
    # Whose word on it a person has taken out of service.
    dropped: set[tuple[UUID, UUID]] = field(default_factory=set)
    # Who says it now: sessions that observed it, addresses that hold it.
    voices: set[UUID] = field(default_factory=set)
    is_new: bool = False
    changed: set[str] = field(default_factory=set)

    @property
    def is_live(self) -> bool:
        """Whether the record counts as its slot's present."""
        return self.status == Status.ACTIVE

    @property
    def is_alias(self) -> bool:
        """Whether the record's fingerprint means another record: a person has merged it there."""
        return self.merged_into is not None and self.status == Status.SUPERSEDED


class FenceReach(StrEnum):
    """Whom a fence that stands around a fingerprint keeps out."""

    OPEN = "open"
    HELD = "held"  # evicted for another provenance: a person decides
    CLOSED = "closed"


class Surroundings(NamedTuple):
    """Everything about the store that the decision on one write depends on."""

    same: Known | None = None
    rejected: Known | None = None
    incumbent: Known | None = None
    addressed: Known | None = None
    is_shared: bool = False  # others than the address say what it held, too
    past: Known | None = None  # the same fact where ``new`` belongs in the slot's past
    fence: FenceReach = FenceReach.OPEN
    is_merged: bool = False  # ``same`` was said in a wording that was merged into it
    is_dropped: bool = False  # this origin's word on a merged wording was taken out
    was_served: bool = False
    echo_of: Known | None = None  # another fact whose very sentence was served to this session


class Plan(NamedTuple):
    """What to do: claim ``target``, or add a record with ``status``.

    ``supersede`` are the records the new one replaces; ``behind`` is the live
    record a late arrival lines up behind.
    """

    decision: Decision
    target: Known | None = None
    status: Status | None = None
    hold_reason: HoldReason | None = None
    supersede: tuple[Known, ...] = ()
    behind: Known | None = None


def decide(new: Incoming, around: Surroundings) -> Plan:
    """Decide what ``new`` does; the same inputs always give the same plan."""
    if new.outcome is Outcome.REJECT:
        return _rejected(around)
    if around.fence is FenceReach.CLOSED:
        return Plan(Decision.FENCED)
    if around.is_dropped or (
        around.same is not None and (new.session_id, new.source_id) in around.same.dropped
    ):
        # The fact stays, for others say it; this word on it was taken out, and stays out.
        return Plan(Decision.FENCED)
    if around.same is not None:
        return _restated(new, around.same, around)
    if around.past is not None:
        is_allowed = new.outcome is Outcome.ALLOW
        return Plan(Decision.REINFORCED if is_allowed else Decision.QUARANTINED, target=around.past)
    if around.echo_of is not None and not new.derived:
        return Plan(Decision.ECHOED, target=around.echo_of)
    hold = _hold_reason(new, around)
    if hold is not None:
        return _held(Decision.QUARANTINED, hold)
    return _placed(new, around)


def _rejected(around: Surroundings) -> Plan:
    """Keep one record of a rejected fact, however often it is tried."""
    if around.rejected is not None:
        return Plan(Decision.REJECTED, target=around.rejected)
    return Plan(Decision.REJECTED, status=Status.REJECTED)


def _restated(new: Incoming, same: Known, around: Surroundings) -> Plan:
    """Handle a fingerprint that is active or quarantined already."""
    if same.status is Status.QUARANTINED:
        contested = same.hold_reason == HoldReason.CONTEST
        return Plan(Decision.CONTESTED if contested else Decision.QUARANTINED, target=same)
    if new.outcome is Outcome.QUARANTINE:
        # The fact is known, this wording of it is not trusted: keep the claim, don't count it.
        return Plan(Decision.QUARANTINED, target=same)
    if around.was_served and not new.derived:
        # Before expiry: an agent repeating what it was just told renews nothing.
        return Plan(Decision.ECHOED, target=same)
    if is_expired(same.valid_until, at=new.seen_at) and not around.is_merged:
        return Plan(Decision.UPDATED, status=Status.ACTIVE, supersede=_replaced(same, around))
    return Plan(Decision.REINFORCED, target=same)


def _hold_reason(new: Incoming, around: Surroundings) -> HoldReason | None:
    if new.outcome is Outcome.QUARANTINE:
        return HoldReason.GATE
    if around.fence is FenceReach.HELD:
        return HoldReason.FENCE
    if new.needs_review:
        return HoldReason.POLICY
    return None


def _held(decision: Decision, reason: HoldReason) -> Plan:
    return Plan(decision, status=Status.QUARANTINED, hold_reason=reason)


def _placed(new: Incoming, around: Surroundings) -> Plan:
    """Place an allowed, unknown fact in its slot and at its address."""
    incumbent = around.incumbent if new.cardinality is Cardinality.ONE else None
    if incumbent is not None:
        if new.immutable:
            return _held(Decision.CONTESTED, HoldReason.CONTEST)
        if new.order_at < incumbent.order_at:
            return Plan(Decision.LATE, status=Status.SUPERSEDED, behind=incumbent)
        expired = is_expired(incumbent.valid_until, at=new.seen_at)
        if new.is_over and not expired and incumbent.last_seen > new.order_at:
            # What had ended before the live value was last seen is history.
            return Plan(Decision.LATE, status=Status.SUPERSEDED, behind=incumbent)
        if new.confidence < incumbent.confidence and not expired:
            return _held(Decision.CONTESTED, HoldReason.CONTEST)
    addressed = around.addressed
    if addressed is not None and new.order_at < addressed.order_at:
        return Plan(Decision.LATE, status=Status.SUPERSEDED, behind=addressed)
    replaced = _replaced(incumbent, around)
    decision = Decision.UPDATED if replaced else Decision.ADDED
    return Plan(decision, status=Status.ACTIVE, supersede=replaced)


def _replaced(first: Known | None, around: Surroundings) -> tuple[Known, ...]:
    """Return what a new record replaces: its predecessor, and its address's former fact.

    What others say too stays: the address alone has moved on.
    """
    found = [first] if first is not None else []
    former = around.addressed
    if former is not None and not around.is_shared and all(k.id != former.id for k in found):
        found.append(former)
    return tuple(found)
