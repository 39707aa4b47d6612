"""The books of one transaction: decisions applied one after the other, in memory.

Owns the order of effects, so that a batch gives what single writes would. The
store fills a ``Ledger`` with the rows that the writes can touch, applies every
write, and saves what changed in a constant number of statements. No database
here: the property tests run whole histories against it.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from .facts import Cardinality, Decision, Outcome, Status
from .reconcile import FenceReach, Incoming, Known, Plan, Surroundings, decide
from .validity import is_expired


@dataclass(slots=True)
class FenceView:
    """One standing fence: whom it keeps out, and how often it was tried here."""

    id: UUID
    fingerprint: str
    session_id: UUID | None = None
    source_id: UUID | None = None
    partition_id: UUID | None = None
    attempts: int = 0

    def reach(self, new: Incoming) -> FenceReach:
        """Say what the fence means for ``new``'s provenance."""
        if self.session_id is None and self.source_id is None:
            return FenceReach.CLOSED
        if self.session_id == new.session_id or self.source_id == new.source_id:
            return FenceReach.CLOSED
        return FenceReach.HELD


@dataclass(slots=True)
class ClaimDelta:
    """What one session's writes add to its claim on one record."""

    record_id: UUID
    session_id: UUID
    source_id: UUID
    first_at: datetime
    last_at: datetime
    confidence: float
    derived: bool = False
    count: int = 0
    echoes: int = 0
    held: bool = False
    items: list[int] = field(default_factory=list)


class Applied(NamedTuple):
    """What one write did: the plan's decision, on which record, at which count."""

    decision: Decision
    record: Known | None
    superseded: tuple[UUID, ...] = ()
    rechecked: tuple[UUID, ...] = ()
    status: Status | None = None
    seen_count: int = 0


class Ledger:
    """The records, fences and serves that a set of writes can meet.

    ``served`` holds (session id, record id) pairs of the last 24 hours, and
    ``sentences`` maps (session id, folded sentence) to the record served with it.
    """

    def __init__(
        self,
        *,
        known: Iterable[Known] = (),
        fences: Iterable[FenceView] = (),
        served: Iterable[tuple[UUID, UUID]] = (),
        sentences: Mapping[tuple[UUID, str], UUID] | None = None,
        addresses: Mapping[UUID, UUID] | None = None,
        now: datetime,
    ) -> None:
        self.now = now
        self.addresses: dict[UUID, UUID] = dict(addresses or {})
        self.moved_addresses: set[UUID] = set()
        self.known: dict[UUID, Known] = {}
        self.claims: dict[tuple[UUID, UUID, UUID, bool], ClaimDelta] = {}
        # A fingerprint is a fact's identity within one partition only, and a batch may
        # write to several: the slot, whose id holds the partition, is part of each key.
        self._same: dict[tuple[UUID, str], Known] = {}
        self._rejected: dict[tuple[UUID, str], Known] = {}
        self._live: dict[UUID, list[Known]] = defaultdict(list)
        self._chain: dict[UUID, list[Known]] = defaultdict(list)
        self._past: dict[tuple[UUID, str], list[Known]] = defaultdict(list)
        self._merged: dict[tuple[UUID, str], Known] = {}
        self._fences: dict[tuple[UUID | None, str], list[FenceView]] = defaultdict(list)
        self._served = set(served)
        self._sentences = dict(sentences or {})
        for one in sorted(known, key=lambda k: k.id):
            self._enter(one)
        for fence in fences:
            self._fences[fence.partition_id, fence.fingerprint].append(fence)

    def apply(self, new: Incoming, *, item: int = 0) -> Applied:
        """Decide on ``new``, book the effects, and say what was done."""
        alias = self._merged.get((new.slot_id, new.fingerprint)) if self._merged else None
        if alias is not None and new.outcome is not Outcome.REJECT:
            return self._apply_merged(new, alias, item)
        return self._carry_out(new, decide(new, self._around(new)), item, (new.fingerprint,))

    def _apply_merged(self, new: Incoming, alias: Known, item: int) -> Applied:
        """Let a wording that was merged away mean the record it was merged into.

        Every fence around either wording holds. While the kept record is out of
        service, or over by its writer's own word, the wording is a fact of its own
        again: the alias ends where that fact is stored.
        """
        wordings, kept = self._merged_into(alias)
        prints = (*(one.fingerprint for one in wordings), *((kept.fingerprint,) if kept else ()))
        reach = max(
            (self._fence_reach(new._replace(fingerprint=one)) for one in prints),
            key=_SEVERITY.__getitem__,
        )
        if kept is None or not _stands(kept, new):
            plan = decide(new, self._around(new)._replace(fence=reach))
            if plan.status in (Status.ACTIVE, Status.QUARANTINED):
                self._merged.pop((alias.slot_id, alias.fingerprint))
                _change(alias, "merged_into", None)
            return self._carry_out(new, plan, item, prints)
        origin = (new.session_id, new.source_id)
        spoken = new._replace(
            fingerprint=kept.fingerprint,
            slot_id=kept.slot_id,
            cardinality=kept.cardinality,
            content=kept.content,
        )
        around = self._around(spoken)._replace(
            fence=reach,
            is_merged=True,
            is_dropped=any(origin in one.dropped for one in wordings),
        )
        return self._carry_out(spoken, decide(spoken, around), item, prints)

    def _merged_into(self, alias: Known) -> tuple[list[Known], Known | None]:
        """Return the merged wordings from ``alias`` on, and the record at the end."""
        wordings = [alias]
        found = self.known.get(alias.merged_into) if alias.merged_into else None
        while found is not None and found.is_alias and found not in wordings:
            wordings.append(found)
            found = self.known.get(found.merged_into) if found.merged_into else None
        return wordings, found

    def _carry_out(self, new: Incoming, plan: Plan, item: int, prints: tuple[str, ...]) -> Applied:
        """Book what was decided; an attempt counts at each fence around ``prints``."""
        if plan.decision is Decision.FENCED:
            for one in prints:
                for fence in self._fences[new.partition_id, one]:
                    if fence.reach(new) is FenceReach.CLOSED:
                        fence.attempts += 1
            return Applied(plan.decision, None)
        if plan.target is not None:
            return self._claim(new, plan, plan.target, item)
        return self._add(new, plan, item)

    def readmit(self, one: Known, *, address_id: UUID | None = None) -> Applied:
        """Put a record that was held or taken out back in its place, as of now.

        A person has decided that it is true, so confidence does not matter:
        it takes its slot and its address, unless what stands there is newer,
        which it then lines up behind. What others than the address say, too,
        stays beside it.
        """
        assert one.status not in (Status.ACTIVE, Status.ERASED)
        self._same.pop((one.slot_id, one.fingerprint), None)
        incumbent = None
        if one.cardinality is Cardinality.ONE:
            incumbent = next(
                (k for k in self._live[one.slot_id] if k.cardinality is Cardinality.ONE), None
            )
        holder = (
            self.known.get(self.addresses[address_id]) if address_id in self.addresses else None
        )
        if holder is not None and (not holder.is_live or holder.id == one.id):
            holder = None
        for newer in (incumbent, holder):
            if newer is not None and one.order_at < newer.order_at:
                self._line_up(one, newer)
                one.changed |= {"superseded_by", "superseded_at"}
                _change(one, "status", Status.SUPERSEDED)
                self._enter(one)
                return _applied(Decision.LATE, one)
        replaced = [incumbent] if incumbent is not None else []
        if (
            holder is not None
            and holder not in replaced
            and not holder.voices - ({address_id} if address_id else set())
        ):
            replaced.append(holder)
        for old in replaced:
            self._supersede(old, one)
        _change(one, "status", Status.ACTIVE)
        _change(one, "superseded_by", None)
        _change(one, "superseded_at", None)
        self._enter(one)
        if address_id is not None and self.addresses.get(address_id) != one.id:
            self.addresses[address_id] = one.id
            self.moved_addresses.add(address_id)
        decision = Decision.UPDATED if replaced else Decision.ADDED
        return _applied(decision, one, tuple(k.id for k in replaced))

    @property
    def tried_fences(self) -> list[FenceView]:
        """Return the fences that kept something out."""
        return [f for fences in self._fences.values() for f in fences if f.attempts]

    def _around(self, new: Incoming) -> Surroundings:
        fact = (new.slot_id, new.fingerprint)
        same = self._same.get(fact)
        incumbent = self._incumbent(new) if new.cardinality is Cardinality.ONE else None
        addressed = self._addressed(new) if new.address_id else None
        return Surroundings(
            same=same,
            rejected=self._rejected.get(fact) if self._rejected else None,
            incumbent=incumbent,
            addressed=addressed,
            is_shared=addressed is not None and _is_shared(addressed, new),
            past=self._past_of(new, incumbent, addressed),
            fence=self._fence_reach(new) if self._fences else FenceReach.OPEN,
            was_served=same is not None and (new.session_id, same.id) in self._served,
            echo_of=self._echo_of(new),
        )

    def _incumbent(self, new: Incoming) -> Known | None:
        """Return the other fact that is its one-valued slot's present."""
        for known in self._live[new.slot_id]:
            if known.cardinality is Cardinality.ONE and known.fingerprint != new.fingerprint:
                return known
        return None

    def _fence_reach(self, new: Incoming) -> FenceReach:
        """Return what the severest fence around the fact means for ``new``."""
        fences = self._fences.get((new.partition_id, new.fingerprint), ())
        reaches = [fence.reach(new) for fence in fences]
        return max(reaches, key=_SEVERITY.__getitem__, default=FenceReach.OPEN)

    def _echo_of(self, new: Incoming) -> Known | None:
        """Return the live record whose sentence the session was told and now repeats."""
        if not self._sentences:
            return None
        found = self._sentences.get((new.session_id, new.sentence))
        record = self.known.get(found) if found else None
        return record if record is not None and record.is_live else None

    def _addressed(self, new: Incoming) -> Known | None:
        """Return the other live fact that ``new``'s address holds now."""
        holder = self.addresses.get(new.address_id) if new.address_id else None
        found = self.known.get(holder) if holder else None
        if found is None or not found.is_live or found.fingerprint == new.fingerprint:
            return None
        return found

    def _past_of(
        self, new: Incoming, incumbent: Known | None, addressed: Known | None
    ) -> Known | None:
        """Return the superseded record of this fact that ``new`` only says again, if any.

        A late one stands at the same time; or, in a one-valued slot, nothing else is known
        to have been true between the two. One that was seen no later than its record, at the
        very time that its writer gave, is that assertion once more: of several values with
        one time the last stays. An import that is repeated so leaves no second past.
        """
        is_late = any(k is not None and new.order_at < k.order_at for k in (incumbent, addressed))
        found = self._past.get((new.slot_id, new.fingerprint), ())
        exact = next((k for k in found if k.order_at == new.order_at), None)
        if exact is not None and not is_late:
            is_repeat = new.order_at != self.now and new.seen_at <= exact.last_seen
            return exact if is_repeat else None
        if exact is not None or not is_late or new.cardinality is not Cardinality.ONE:
            return exact
        others = [k.order_at for k in self._chain[new.slot_id] if k.fingerprint != new.fingerprint]
        return next((k for k in found if not _parted(k.order_at, new.order_at, others)), None)

    def _point(self, new: Incoming, record: Known) -> None:
        """Let ``new``'s address hold ``record`` from now on."""
        if not new.derived:
            record.voices.add(new.session_id)
        if new.address_id and record.is_live and self.addresses.get(new.address_id) != record.id:
            former = self.known.get(self.addresses.get(new.address_id, record.id))
            if former is not None:
                former.voices.discard(new.address_id)
            record.voices.add(new.address_id)
            self.addresses[new.address_id] = record.id
            self.moved_addresses.add(new.address_id)

    def _claim(self, new: Incoming, plan: Plan, target: Known, item: int) -> Applied:
        is_settled = target.status in (Status.ACTIVE, Status.SUPERSEDED)
        held = is_settled and new.outcome is not Outcome.ALLOW
        echo = plan.decision is Decision.ECHOED
        self._count_claim(new, target, item, held=held, echo=echo)
        if held or echo:
            return _applied(plan.decision, target)
        is_first = (new.session_id, new.source_id) not in target.claimants
        target.claimants.add((new.session_id, new.source_id))
        target.seen_count += 1
        if plan.decision is not Decision.REINFORCED:
            return _applied(plan.decision, target)
        if not target.is_live:
            if new.seen_at > target.last_seen:
                _change(target, "last_seen", new.seen_at)
            return _applied(plan.decision, target)
        self._reinforce(new, target, is_first=is_first)
        former = self._addressed(new)
        if former is not None and _is_shared(former, new):
            former = None
        if former is not None:
            self._supersede(former, target)
        self._point(new, target)
        return _applied(plan.decision, target, (former.id,) if former else ())

    def _reinforce(self, new: Incoming, target: Known, *, is_first: bool) -> None:
        if new.seen_at > target.last_seen:
            _change(target, "last_seen", new.seen_at)
        if new.valid_until_given:
            if _outweighs(new, target):
                _change(target, "valid_until_given", True)
                _change(target, "valid_until", new.valid_until)
        elif not target.valid_until_given and (
            new.valid_until is None
            or target.valid_until is None
            or new.valid_until > target.valid_until
        ):
            _change(target, "valid_until", new.valid_until)
        if is_first and new.confidence > target.confidence:
            _change(target, "confidence", new.confidence)
        if new.trust > target.trust:
            _change(target, "trust", new.trust)
        if new.derived and new.source_id == target.source_id and new.content != target.content:
            _change(target, "content", new.content)
        _change(target, "recheck_at", None)
        _change(target, "unlisted_at", None)

    def _add(self, new: Incoming, plan: Plan, item: int) -> Applied:
        assert plan.status is not None
        record = Known(
            id=new.id,
            fingerprint=new.fingerprint,
            slot_id=new.slot_id,
            status=plan.status,
            cardinality=new.cardinality,
            confidence=new.confidence,
            order_at=new.order_at,
            last_seen=new.seen_at,
            source_id=new.source_id,
            hold_reason=str(plan.hold_reason or ""),
            content=new.content,
            valid_until=new.valid_until,
            valid_until_given=new.valid_until_given,
            derived=new.derived,
            trust=new.trust,
            claimants={(new.session_id, new.source_id)},
            is_new=True,
        )
        for old in plan.supersede:
            self._supersede(old, record)
        if plan.behind is not None:
            self._line_up(record, plan.behind)
        self._enter(record)
        self._point(new, record)
        self._count_claim(new, record, item)
        rechecked = self._recheck(new, record) if plan.decision is Decision.UPDATED else ()
        return _applied(plan.decision, record, tuple(k.id for k in plan.supersede), rechecked)

    def _supersede(self, old: Known, successor: Known) -> None:
        self._leave(old)
        _change(old, "status", Status.SUPERSEDED)
        _change(old, "superseded_by", successor.id)
        _change(old, "superseded_at", self.now)
        self._remember(old)

    def _line_up(self, record: Known, incumbent: Known) -> None:
        """Put a late arrival into the past: before the next newer, after the last older.

        One that is newer than the incumbent, and over by its own word, stands beside it: it
        parts the incumbent from nothing.
        """
        chain = [k for k in self._chain[record.slot_id] if k.order_at > record.order_at]
        after = chain[0] if chain else incumbent
        record.superseded_by = after.id
        record.superseded_at = self.now
        if after.order_at < record.order_at:
            return
        before = [
            k
            for k in self._chain[record.slot_id]
            if k.order_at <= record.order_at and k.superseded_by == after.id
        ]
        if before:
            _change(before[-1], "superseded_by", record.id)

    def _recheck(self, new: Incoming, record: Known) -> tuple[UUID, ...]:
        live = [k for slot in new.dependent_slots for k in self._live[slot]]
        found = [k for k in live if k.id != record.id]
        for k in found:
            if k.recheck_at is None:
                _change(k, "recheck_at", self.now)
        return tuple(k.id for k in found)

    def _count_claim(
        self, new: Incoming, record: Known, item: int, *, held: bool = False, echo: bool = False
    ) -> None:
        key = (record.id, new.session_id, new.source_id, held)
        claim = self.claims.get(key)
        if claim is None:
            claim = self.claims[key] = ClaimDelta(
                record.id,
                new.session_id,
                new.source_id,
                first_at=new.seen_at,
                last_at=new.seen_at,
                confidence=new.confidence,
                derived=new.derived,
                held=held,
            )
        claim.items.append(item)
        if echo:
            claim.echoes += 1
            return
        claim.count += 1
        claim.first_at = min(claim.first_at, new.seen_at)
        claim.last_at = max(claim.last_at, new.seen_at)

    def _enter(self, one: Known) -> None:
        self.known[one.id] = one
        if one.status in (Status.ACTIVE, Status.QUARANTINED):
            self._same[one.slot_id, one.fingerprint] = one
        if one.status is Status.REJECTED:
            self._rejected[one.slot_id, one.fingerprint] = one
        if one.status is Status.ACTIVE:
            self._live[one.slot_id].append(one)
        if one.status is Status.SUPERSEDED:
            self._remember(one)
            if one.is_alias:
                self._merged[one.slot_id, one.fingerprint] = one

    def _leave(self, one: Known) -> None:
        self._same.pop((one.slot_id, one.fingerprint), None)
        live = self._live[one.slot_id]
        live[:] = [k for k in live if k.id != one.id]

    def _remember(self, one: Known) -> None:
        self._past[one.slot_id, one.fingerprint].append(one)
        insort(self._chain[one.slot_id], one, key=lambda k: k.order_at)


def _stands(kept: Known, new: Incoming) -> bool:
    """Say whether a merged wording means ``kept``: it is in service, or can be again by this."""
    if kept.status not in (Status.ACTIVE, Status.QUARANTINED):
        return False
    return not (kept.valid_until_given and is_expired(kept.valid_until, at=new.seen_at))


def _is_shared(former: Known, new: Incoming) -> bool:
    """Say whether others than ``new``'s address assert what the address held."""
    return bool(former.voices - {new.address_id})


def _parted(one: datetime, late: datetime, others: Iterable[datetime]) -> bool:
    """Say whether something else was true between a record and a late arrival."""
    if one < late:
        return any(one < at <= late for at in others)
    return any(late < at < one for at in others)


def _outweighs(new: Incoming, target: Known) -> bool:
    """Say whether a writer's word on when a fact ends counts against what is known of it."""
    return new.trust >= target.trust and new.confidence >= target.confidence


_SEVERITY = {FenceReach.OPEN: 0, FenceReach.HELD: 1, FenceReach.CLOSED: 2}


def _change(record: Known, name: str, value: object) -> None:
    """Set a field and remember that the row must be saved."""
    if getattr(record, name) != value:
        setattr(record, name, value)
        record.changed.add(name)


def _applied(
    decision: Decision,
    record: Known,
    superseded: tuple[UUID, ...] = (),
    rechecked: tuple[UUID, ...] = (),
) -> Applied:
    """Say what was done, as of this write: a later one of the batch may change the record."""
    return Applied(
        decision, record, superseded, rechecked, status=record.status, seen_count=record.seen_count
    )
