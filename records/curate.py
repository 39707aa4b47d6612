"""Acts on facts that are there already: approve, reject, hold, evict, restore, retract, erase.

Owns the moves of a record between statuses that people, feedback and jobs
make; new facts come in through ``write.py``. Every act locks the slots it
touches, opens its own scope, writes its events in the same transaction, and
answers what it matched, changed and skipped, with reasons: nothing changed is
never plain success.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from records import events, store
from records.access import Access
from records.domain import canonical
from records.domain.facts import Cardinality, HoldReason, Status
from records.domain.ids import uuid7
from records.domain.ledger import Ledger
from records.domain.risk import risk_of
from records.events import Happening
from records.fences import fence_key, keyed_fingerprint
from records.items import Conflict, NotFound
from records.policies import book
from records.queries import Row, cursor
from records.scope import partition_scope, retried, workspace_scope

REASON_LIMIT = 1_000


@dataclass(slots=True)
class Acted:
    """What an act matched, changed and skipped; ``restored`` came back into service by it."""

    matched: int = 0
    changed: list[UUID] = field(default_factory=list)
    skipped: list[tuple[UUID, str]] = field(default_factory=list)
    restored: list[UUID] = field(default_factory=list)
    superseded: list[UUID] = field(default_factory=list)
    dropped_claims: int = 0
    restored_claims: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """One record under an act: locked, as it stands."""

    id: UUID
    partition_id: UUID
    slot_id: UUID
    fingerprint: str
    status: Status
    version: int
    order_at: datetime
    cardinality: Cardinality
    session_id: UUID
    source_id: UUID
    source_key: str | None
    prior_status: str
    superseded_by: UUID | None
    hold_reason: str
    findings: Any
    override: Any


@contextmanager
def _acting(access: Access) -> Iterator[psycopg.Cursor[Row]]:
    """Open the widest scope this access has: its partition, or its workspace."""
    if access.partition is not None:
        scope = partition_scope(access.workspace_id, [access.partition_id(access.partition)])
    else:
        scope = workspace_scope(access.workspace_id)
    with scope, cursor() as cur:
        yield cur


def _lock(
    cur: psycopg.Cursor[Row], record_ids: Iterable[UUID], workspace_id: UUID
) -> dict[UUID, Held]:
    """Lock the slots of these records, then read the records as they stand."""
    wanted = sorted(set(record_ids))
    cur.execute(
        "SELECT DISTINCT slot_id, partition_id FROM memory_record WHERE id = ANY(%s)", [wanted]
    )
    slots = {row[0]: row[1] for row in cur}
    if slots:
        store.lock_slots(cur, workspace_id, slots)
    cur.execute(
        """SELECT id, partition_id, slot_id, fingerprint, status, version, order_at, cardinality, session_id,
                  source_id, source_key, prior_status, superseded_by, hold_reason, findings, override
           FROM memory_record WHERE id = ANY(%s) ORDER BY id FOR UPDATE""",
        [wanted],
    )
    return {row[0]: _held(row) for row in cur}


def _held(row: Row) -> Held:
    """Return one row of ``_lock``; Django leaves jsonb undecoded on its connections."""
    values = list(row)
    values[4] = Status(row[4])
    values[7] = Cardinality(row[7])
    values[14] = json.loads(row[14])
    values[15] = json.loads(row[15]) if row[15] else None
    return Held(*values)


def _one(found: dict[UUID, Held], record_id: UUID, version: int | None) -> Held:
    """Return the one record an act is about, unless it is gone or has moved on."""
    held = found.get(record_id)
    if held is None:
        raise NotFound("record")
    if version is not None and held.version != version:
        raise Conflict(f"the record is at version {held.version}, not {version}")
    return held


def _moved(
    action: str, held: Held, reason: str, *, session_id: UUID | None = None, **details: Any
) -> Happening:
    return Happening(
        action,
        "record",
        target_id=held.id,
        partition_id=held.partition_id,
        session_id=session_id or held.session_id,
        reason=reason,
        details={"from": str(held.status), **details},
    )


def _set_status(
    cur: psycopg.Cursor[Row],
    record_ids: Sequence[UUID],
    status: Status,
    now: datetime,
    *,
    hold_reason: str | None = "",
) -> None:
    """Move rows to ``status``; a ``hold_reason`` of ``None`` keeps what they were held for."""
    cur.execute(
        """UPDATE memory_record SET prior_status = status, status = %s, status_at = %s,
                                    hold_reason = coalesce(%s, hold_reason)
           WHERE id = ANY(%s)""",
        [str(status), now, hold_reason, list(record_ids)],
    )


@retried
def approve(
    record_id: UUID,
    *,
    access: Access,
    version: int | None = None,
    reason: str = "",
    valid_until: datetime | None = None,
    activation_delay: timedelta = timedelta(0),
    as_current: bool = False,
    now: datetime | None = None,
) -> Acted:
    """Let a held record into service: same row, same id, reconciled as of now.

    ``as_current``: it replaces what holds the slot even when that is newer.

    The approval is bound to the record's version and its findings. Standing
    fences around the fact are lifted. With a delay the record is served only
    after it, so that an undo inside it guarantees that nobody was served.
    Raises ``Conflict`` when the record is not held, or not at ``version``.
    """
    now = now or datetime.now(UTC)
    with _acting(access) as cur:
        held = _one(_lock(cur, [record_id], access.workspace_id), record_id, version)
        if held.status is not Status.QUARANTINED:
            raise Conflict(f"the record is {held.status}, not quarantined")
        _lift_fences(cur, [held], access, now)
        stood_at = held.order_at
        if as_current and held.order_at < now:
            held = replace(held, order_at=now)
            cur.execute("UPDATE memory_record SET order_at = %s WHERE id = %s", [now, held.id])
        acted = _readmit(cur, [held], access, now, action="record.approved", reason=reason)
        cur.execute(
            """UPDATE memory_record SET hold_reason = '', serve_after = %s,
                   override = %s || jsonb_build_object('to', status),
                   valid_until = coalesce(%s, valid_until),
                   valid_until_given = valid_until_given OR %s::timestamptz IS NOT NULL
               WHERE id = %s""",
            [
                now + activation_delay if activation_delay else None,
                Jsonb(
                    {
                        "by": str(access.actor),
                        "at": now.isoformat(),
                        "version": held.version,
                        "findings": findings_digest(held.findings),
                        "held_for": held.hold_reason,
                        "order_at": stood_at.isoformat(),
                    }
                ),
                valid_until,
                valid_until,
                held.id,
            ],
        )
        return acted


def findings_digest(findings: Sequence[dict[str, Any]]) -> str:
    """Return what an approval was about: the rules and places, not the wording of reasons."""
    return "|".join(sorted(f"{f['rule']}@{f['field']}:{f['view']}:{f['span']}" for f in findings))


@retried
def reject(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    version: int | None = None,
    versions: Mapping[UUID, int] | None = None,
    now: datetime | None = None,
) -> Acted:
    """Turn held records away for good: they are fenced for everyone.

    What a record had displaced before it was held is live again. One of several that
    has moved on from its place in ``versions`` is skipped.
    """
    return _leave(
        record_ids,
        Status.REJECTED,
        frozenset({Status.QUARANTINED}),
        "record.rejected",
        reason,
        access=access,
        version=version,
        versions=versions,
        now=now,
        after=_fence_and_restore,
        hold_reason=None,
    )


@retried
def retract(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Mark facts wrong: a tombstone stays, and the fact is fenced for everyone.

    What a retracted fact had displaced does not come back: it ended when it
    was replaced, whether or not its successor was right.
    """
    return _leave(
        record_ids,
        Status.RETRACTED,
        frozenset({Status.ACTIVE, Status.QUARANTINED, Status.SUPERSEDED}),
        "record.retracted",
        reason,
        access=access,
        version=version,
        now=now,
        after=_fence_for_everyone,
    )


@retried
def hold(
    record_ids: Iterable[UUID],
    reason: HoldReason,
    *,
    access: Access,
    note: str = "",
    version: int | None = None,
    findings: dict[UUID, Sequence[dict[str, Any]]] | None = None,
    ruleset: str = "",
    now: datetime | None = None,
) -> Acted:
    """Take live records out of service until a person decides.

    ``findings`` (by record) and ``ruleset`` replace what the gate said when a
    rescan holds.
    """

    def note_findings(
        cur: psycopg.Cursor[Row], held: Sequence[Held], acc: Access, at: datetime, why: str
    ) -> Restored:
        for one in held:
            if findings and one.id in findings:
                cur.execute(
                    """UPDATE memory_record SET findings = %s, ruleset = %s, verdict = 'quarantine'
                       WHERE id = %s""",
                    [Jsonb(list(findings[one.id])), ruleset, one.id],
                )
        _grade(cur, [h.id for h in held])
        return []

    return _leave(
        record_ids,
        Status.QUARANTINED,
        frozenset({Status.ACTIVE}),
        "record.held",
        note or str(reason),
        access=access,
        version=version,
        now=now,
        after=note_findings,
        hold_reason=str(reason),
    )


def _grade(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> None:
    """Give records that are held now the risk that orders the review queue."""
    cur.execute(
        """SELECT r.id, r.hold_reason, array(SELECT f->>'severity' FROM jsonb_array_elements(r.findings) f)
           FROM memory_record r WHERE r.id = ANY(%s)""",
        [list(record_ids)],
    )
    grades = [(row[0], int(risk_of(row[1], row[2]))) for row in cur.fetchall()]
    cur.execute(
        """UPDATE memory_record r SET risk = u.risk FROM unnest(%s::uuid[], %s::int2[]) AS u (id, risk)
           WHERE r.id = u.id""",
        [[one for one, _ in grades], [risk for _, risk in grades]],
    )


Restored = list[tuple[UUID, UUID]]  # (record, partition)
After = Callable[[psycopg.Cursor[Row], Sequence[Held], Access, datetime, str], Restored]


def _restorations(restored: Restored, because: str) -> list[Happening]:
    """Say of each record that came back into service why it did."""
    return [
        Happening(
            "record.restored", "record", target_id=one, partition_id=partition_id, reason=because
        )
        for one, partition_id in restored
    ]


def _leave(
    record_ids: Iterable[UUID],
    status: Status,
    leaving: frozenset[Status],
    action: str,
    reason: str,
    *,
    access: Access,
    version: int | None,
    now: datetime | None,
    after: After,
    hold_reason: str | None = "",
    versions: Mapping[UUID, int] | None = None,
) -> Acted:
    """Move records that stand in one of ``leaving`` to ``status``, and say so."""
    now = now or datetime.now(UTC)
    wanted = list(record_ids)
    with _acting(access) as cur:
        found = _lock(cur, wanted, access.workspace_id)
        if len(wanted) == 1:
            _one(found, wanted[0], version)
        acted = Acted(matched=len(found))
        movable: list[Held] = []
        for held in found.values():
            if held.status not in leaving:
                acted.skipped.append((held.id, f"is {held.status}"))
            elif versions is not None and versions.get(held.id) != held.version:
                acted.skipped.append((held.id, "has changed since"))
            else:
                movable.append(held)
        acted.skipped += [(one, "not found") for one in set(wanted) - set(found)]
        if movable:
            acted.changed = [h.id for h in movable]
            _set_status(cur, acted.changed, status, now, hold_reason=hold_reason)
            restored = after(cur, movable, access, now, reason)
            acted.restored = [one for one, _ in restored]
            events.append(
                [
                    *(_moved(action, h, reason) for h in movable),
                    *_restorations(restored, "what displaced it was rejected"),
                ],
                access=access,
            )
        return acted


def _fence_for_everyone(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime, reason: str
) -> Restored:
    _fence(cur, [(h, None, None) for h in held], access, now, reason)
    return []


def _fence_and_restore(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime, reason: str
) -> Restored:
    _fence_for_everyone(cur, held, access, now, reason)
    return _restore_predecessors(cur, held, now)


def _fence(
    cur: psycopg.Cursor[Row],
    around: Sequence[tuple[Held, UUID | None, UUID | None]],
    access: Access,
    now: datetime,
    reason: str,
) -> None:
    """Fence facts: (record, session, source); both ``None`` fences for everyone."""
    cur.execute(
        """INSERT INTO fence (id, workspace_id, partition_id, fingerprint, record_id, session_id, source_id,
                              reason, created_at, created_by)
           SELECT n.id, %(workspace)s, n.partition_id, n.fingerprint, n.record_id, n.session_id, n.source_id,
                  %(reason)s, %(now)s, %(actor)s
           FROM unnest(%(id)s::uuid[], %(partition)s::uuid[], %(fingerprint)s::text[], %(record)s::uuid[],
                       %(session)s::uuid[], %(source)s::uuid[])
               AS n (id, partition_id, fingerprint, record_id, session_id, source_id)
           WHERE NOT EXISTS (
               SELECT 1 FROM fence f WHERE f.partition_id = n.partition_id AND f.fingerprint = n.fingerprint
                 AND f.lifted_at IS NULL AND f.session_id IS NOT DISTINCT FROM n.session_id
                 AND f.source_id IS NOT DISTINCT FROM n.source_id)""",
        {
            "workspace": access.workspace_id,
            "reason": reason[:REASON_LIMIT],
            "now": now,
            "actor": str(access.actor),
            "id": [uuid7(now) for _ in around],
            "partition": [h.partition_id for h, _, _ in around],
            "fingerprint": [h.fingerprint for h, _, _ in around],
            "record": [h.id for h, _, _ in around],
            "session": [session for _, session, _ in around],
            "source": [source for _, _, source in around],
        },
    )


def _lift_fences(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime
) -> None:
    cur.execute(
        """UPDATE fence f SET lifted_at = %s, lifted_by = %s
           FROM unnest(%s::uuid[], %s::text[]) AS w (p, f)
           WHERE f.partition_id = w.p AND f.fingerprint = w.f AND f.lifted_at IS NULL""",
        [
            now,
            str(access.actor),
            [h.partition_id for h in held],
            [h.fingerprint for h in held],
        ],
    )


def _readmit(
    cur: psycopg.Cursor[Row],
    held: Sequence[Held],
    access: Access,
    now: datetime,
    *,
    action: str,
    reason: str,
) -> Acted:
    """Put records back in their places through the ledger, and say what that displaced."""
    addresses, held_by = _addresses_of(cur, held)
    known = store.load_known(
        cur,
        fingerprints=[],
        slots=_earliest(held),
        dependents=[],
        record_ids={*(h.id for h in held), *held_by.values()},
    )
    taken = _taken_fingerprints(cur, held)
    ledger = Ledger(known=known.values(), addresses=held_by, now=now)
    acted = Acted(matched=len(held))
    happenings: list[Happening] = []
    winners: list[UUID] = []
    for one in sorted(held, key=lambda h: h.order_at):
        if (one.partition_id, one.fingerprint) in taken:
            acted.skipped.append((one.id, "the same fact is stored anew"))
            continue
        applied = ledger.readmit(known[one.id], address_id=addresses.get(one.id))
        if applied.status is Status.ACTIVE:
            taken.add((one.partition_id, one.fingerprint))
        if applied.superseded:
            winners.append(one.id)
        acted.changed.append(one.id)
        acted.superseded += applied.superseded
        happenings.append(_moved(action, one, reason, to=str(applied.status)))
        happenings += [
            Happening(
                "record.superseded",
                "record",
                target_id=old,
                partition_id=one.partition_id,
                details={"by": str(one.id)},
            )
            for old in applied.superseded
        ]
    # The row that makes room goes first: the unique index is not deferrable.
    every = list(ledger.known.values())
    store.save_known(cur, [k for k in every if k.status is Status.SUPERSEDED], now)
    store.save_known(cur, [k for k in every if k.status is not Status.SUPERSEDED], now)
    store.point_addresses(cur, {a: ledger.addresses[a] for a in sorted(ledger.moved_addresses)})
    happenings += _recheck_dependents(cur, winners, access, now)
    events.append(happenings, access=access)
    return acted


def _recheck_dependents(
    cur: psycopg.Cursor[Row], winners: Sequence[UUID], access: Access, now: datetime
) -> list[Happening]:
    """Mark what depends on facts that have just replaced others, as a write would."""
    if not winners:
        return []
    policies = book(access.workspace_id)
    cur.execute(
        """SELECT id, partition_id, subject_key, predicate FROM memory_record
           WHERE id = ANY(%s) AND status = 'active'""",
        [list(winners)],
    )
    causes = {
        canonical.slot_id(access.workspace_id, partition_id, subject_key, dependent): winner
        for winner, partition_id, subject_key, predicate in cur.fetchall()
        for dependent in policies.resolve(predicate).dependents
    }
    if not causes:
        return []
    cur.execute(
        """UPDATE memory_record SET recheck_at = %s, recheck_reason = 'dependent'
           WHERE slot_id = ANY(%s) AND status = 'active' AND recheck_at IS NULL AND id <> ALL(%s)
           RETURNING id, partition_id, slot_id""",
        [now, list(causes), list(winners)],
    )
    return [
        Happening(
            "record.recheck",
            "record",
            target_id=row[0],
            partition_id=row[1],
            reason="dependent",
            details={"by": str(causes[row[2]])},
        )
        for row in cur.fetchall()
    ]


def _earliest(held: Sequence[Held]) -> dict[UUID, datetime]:
    """Return each slot's earliest time among these records."""
    found: dict[UUID, datetime] = {}
    for one in held:
        found[one.slot_id] = min(found.get(one.slot_id, one.order_at), one.order_at)
    return found


def _addresses_of(
    cur: psycopg.Cursor[Row], held: Sequence[Held]
) -> tuple[dict[UUID, UUID], dict[UUID, UUID]]:
    """Return each derived record's address, and which record each address holds now."""
    derived = [h for h in held if h.source_key is not None]
    if not derived:
        return {}, {}
    cur.execute(
        """SELECT w.record, a.id, a.record_id
           FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::text[]) AS w (record, source, partition, key)
           JOIN address a ON a.source_id = w.source AND a.partition_id = w.partition AND a.source_key = w.key
           ORDER BY a.id FOR UPDATE OF a""",
        [
            [h.id for h in derived],
            [h.source_id for h in derived],
            [h.partition_id for h in derived],
            [h.source_key for h in derived],
        ],
    )
    rows = cur.fetchall()
    return {r[0]: r[1] for r in rows}, {r[1]: r[2] for r in rows if r[2] is not None}


def _taken_fingerprints(cur: psycopg.Cursor[Row], held: Sequence[Held]) -> set[tuple[UUID, str]]:
    """Return which of these facts another live or held row states by now."""
    cur.execute(
        """SELECT r.partition_id, r.fingerprint FROM unnest(%s::uuid[], %s::text[]) AS w (p, f)
           JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
            AND r.status IN ('active', 'quarantined') WHERE r.id <> ALL(%s)""",
        [
            [h.partition_id for h in held],
            [h.fingerprint for h in held],
            [h.id for h in held],
        ],
    )
    return {(row[0], row[1]) for row in cur}


@retried
def evict(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    session_id: UUID | None = None,
    source_id: UUID | None = None,
    keep_shared: bool = True,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Take facts out of service, kept and undoable.

    With a session or source the eviction is by provenance: its claims are
    dropped, a fact that others assert too stays (unless ``keep_shared`` is
    off), and the fence keeps out that provenance alone. What an evicted fact
    had displaced is live again. One transaction; call it in batches.
    With ``version``, for one record: ``Conflict`` when it has moved on.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(record_ids))
    with _acting(access) as cur:
        found = _lock(cur, _with_predecessors(cur, wanted), access.workspace_id)
        if version is not None:
            _one(found, wanted[0], version)
        targets = [found[one] for one in wanted if one in found]
        acted = Acted(matched=len(targets))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        shared = (
            _drop_claims(cur, targets, session_id, source_id) if session_id or source_id else {}
        )
        going: list[Held] = []
        for held in targets:
            if held.status in (Status.EVICTED, Status.ERASED, Status.RETRACTED, Status.REJECTED):
                acted.skipped.append((held.id, f"is {held.status}"))
            elif keep_shared and shared.get(held.id):
                acted.skipped.append((held.id, "also asserted by others; its claim is dropped"))
            else:
                going.append(held)
        acted.dropped_claims = len(shared)
        if not going:
            _note_dropped(targets, shared, reason, access, session_id)
            store.refresh_tallies(cur, sorted(shared), lower=True)
            return acted
        acted.changed = [h.id for h in going]
        _set_status(cur, acted.changed, Status.EVICTED, now)
        restored = _restore_predecessors(cur, going, now)
        acted.restored = [one for one, _ in restored]
        _fence(cur, [(h, session_id, source_id) for h in going], access, now, reason)
        # What goes is out of every answer: its counts matter again when it comes back, and each
        # rewriting of a row costs all its indexes.
        staying = shared.keys() - set(acted.changed)
        store.refresh_tallies(cur, sorted(staying), lower=True)
        events.append(
            [
                *(_moved("record.evicted", h, reason, session_id=session_id) for h in going),
                *_restorations(restored, "what displaced it was evicted"),
            ],
            access=access,
        )
        gone = set(acted.changed)
        kept = [h for h in targets if h.id not in gone]
        _note_dropped(kept, shared, reason, access, session_id)
        return acted


def _with_predecessors(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> list[UUID]:
    """Return the records and what they displaced, so that one lock order covers both."""
    cur.execute(
        "SELECT id FROM memory_record WHERE superseded_by = ANY(%s) AND status = 'superseded'",
        [list(record_ids)],
    )
    return [*record_ids, *(row[0] for row in cur)]


def _drop_claims(
    cur: psycopg.Cursor[Row],
    held: Sequence[Held],
    session_id: UUID | None,
    source_id: UUID | None,
) -> dict[UUID, bool]:
    """Drop one provenance's claims; say of each record touched whether others assert it."""
    cur.execute(
        """WITH dropped AS (
               UPDATE claim SET state = 'dropped'
               WHERE record_id = ANY(%(ids)s) AND state <> 'dropped'
                 AND (session_id = %(session)s OR source_id = %(source)s)
               RETURNING record_id)
           SELECT d.record_id, EXISTS (
               SELECT 1 FROM claim c WHERE c.record_id = d.record_id AND c.state = 'live'
                 AND c.session_id IS DISTINCT FROM %(session)s AND c.source_id IS DISTINCT FROM %(source)s)
           FROM (SELECT DISTINCT record_id FROM dropped) d""",
        {"ids": [h.id for h in held], "session": session_id, "source": source_id},
    )
    return {row[0]: row[1] for row in cur}


def _note_dropped(
    held: Sequence[Held],
    shared: dict[UUID, bool],
    reason: str,
    access: Access,
    session_id: UUID | None,
) -> None:
    events.append(
        [_moved("claim.dropped", h, reason, session_id=session_id) for h in held if h.id in shared],
        access=access,
    )


def _restore_predecessors(
    cur: psycopg.Cursor[Row], going: Sequence[Held], now: datetime
) -> Restored:
    """Bring back what evicted records had displaced, where nothing newer stands there."""
    ids = [h.id for h in going]
    # First the gaps close: what pointed to an evicted record points past it, as far as the
    # chain goes. What still points to one then has nothing newer before it.
    cur.execute(
        """WITH RECURSIVE walk (id, at, depth) AS (
               SELECT r.id, r.superseded_by, 1 FROM memory_record r
               WHERE r.superseded_by = ANY(%s) AND r.status = 'superseded'
               UNION ALL
               SELECT w.id, gone.superseded_by, w.depth + 1
               FROM walk w JOIN memory_record gone ON gone.id = w.at
               WHERE gone.status IN ('evicted', 'quarantined', 'rejected')
                 AND gone.superseded_by IS NOT NULL AND w.depth < 10000),
           last AS (SELECT DISTINCT ON (id) id, at FROM walk ORDER BY id, depth DESC)
           UPDATE memory_record r SET superseded_by = last.at FROM last
           WHERE r.id = last.id AND r.superseded_by <> last.at AND last.at <> r.id""",
        [ids],
    )
    cur.execute(
        """WITH candidate AS (
               SELECT DISTINCT ON (CASE WHEN r.cardinality = 'one' THEN r.slot_id ELSE r.id END)
                      r.id, r.slot_id, r.cardinality, r.partition_id, r.fingerprint
               FROM memory_record r JOIN memory_record gone ON gone.id = r.superseded_by
               WHERE r.superseded_by = ANY(%(ids)s) AND r.status = 'superseded'
                 AND gone.superseded_by IS NULL
               ORDER BY CASE WHEN r.cardinality = 'one' THEN r.slot_id ELSE r.id END, r.order_at DESC, r.id DESC)
           UPDATE memory_record r SET status = 'active', status_at = %(now)s, superseded_by = NULL,
                                      superseded_at = NULL
           FROM candidate c WHERE r.id = c.id
             AND NOT (c.cardinality = 'one' AND EXISTS (
                 SELECT 1 FROM memory_record o WHERE o.slot_id = c.slot_id AND o.status = 'active'
                   AND o.cardinality = 'one'))
             AND NOT EXISTS (
                 SELECT 1 FROM memory_record o WHERE o.partition_id = c.partition_id
                   AND o.fingerprint = c.fingerprint AND o.status IN ('active', 'quarantined'))
           RETURNING r.id, r.partition_id""",
        {"ids": ids, "now": now},
    )
    restored = [(row[0], row[1]) for row in cur]
    # An address that held an evicted fact holds again what it held before, or nothing.
    cur.execute(
        """UPDATE address a SET record_id = (
               SELECT r.id FROM memory_record r WHERE r.source_id = a.source_id
                 AND r.partition_id = a.partition_id AND r.source_key = a.source_key AND r.id = ANY(%s)
               ORDER BY r.order_at DESC LIMIT 1)
           WHERE a.record_id = ANY(%s)""",
        [[one for one, _ in restored], ids],
    )
    return restored


@retried
def restore(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    session_id: UUID | None = None,
    source_id: UUID | None = None,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Undo evictions: each record returns to where it stood, reconciled as of now.

    Its fences are lifted and its dropped claims count again. One that was past
    is live again when all that came after it is out of service. A record of a
    fact that has been stored anew since is skipped, and says so. With a session
    or source, its dropped claims on records that stayed count again, too. With
    ``version``, for one record: ``Conflict`` when it has moved on.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(record_ids))
    with _acting(access) as cur:
        found = _lock(cur, wanted, access.workspace_id)
        if version is not None:
            _one(found, wanted[0], version)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        revived = _revive_claims(cur, found.values(), session_id, source_id)
        acted.restored_claims = len(revived)
        if revived:
            store.refresh_tallies(cur, sorted(revived))
            dropped = [h for h in found.values() if h.id in revived]
            events.append(
                [_moved("claim.restored", h, reason, session_id=session_id) for h in dropped],
                access=access,
            )
        coming: list[Held] = []
        for held in found.values():
            if held.status is not Status.EVICTED:
                if held.id in revived:
                    acted.skipped.append((held.id, "stayed in service; its claim counts again"))
                    continue
                acted.skipped.append((held.id, f"is {held.status}, not evicted"))
            else:
                coming.append(held)
        if not coming:
            return acted
        ids = [h.id for h in coming]
        _lift_fences(cur, coming, access, now)
        cur.execute(
            "UPDATE claim SET state = 'live' WHERE record_id = ANY(%s) AND state = 'dropped'", [ids]
        )
        by_prior = defaultdict(list)
        for held in coming:
            by_prior[held.prior_status or str(Status.ACTIVE)].append(held)
        past = by_prior.pop(str(Status.SUPERSEDED), [])
        ends = _successors(cur, past, coming)
        live = by_prior.pop(str(Status.ACTIVE), []) + [h for h in past if h.id not in ends]
        placed = _readmit(cur, live, access, now, action="record.restored", reason=reason)
        acted.changed += placed.changed
        acted.skipped += placed.skipped
        acted.superseded += placed.superseded
        if ends:
            by_prior[str(Status.SUPERSEDED)] = [h for h in past if h.id in ends]
            cur.execute(
                """UPDATE memory_record r SET superseded_by = u.successor
                   FROM unnest(%s::uuid[], %s::uuid[]) AS u (id, successor)
                   WHERE r.id = u.id AND r.superseded_by <> u.successor""",
                [list(ends), list(ends.values())],
            )
        held_before = by_prior.pop(str(Status.QUARANTINED), [])
        taken = _taken_fingerprints(cur, held_before) if held_before else set()
        for one in held_before:
            if (one.partition_id, one.fingerprint) in taken:
                acted.skipped.append((one.id, "the same fact is stored anew"))
            else:
                taken.add((one.partition_id, one.fingerprint))
                by_prior[str(Status.QUARANTINED)].append(one)
        for prior, several in by_prior.items():
            hold_reason = str(HoldReason.MANUAL) if prior == Status.QUARANTINED else ""
            _set_status(cur, [h.id for h in several], Status(prior), now, hold_reason=hold_reason)
            events.append(
                [_moved("record.restored", h, reason, to=prior) for h in several], access=access
            )
            acted.changed += [h.id for h in several]
        store.refresh_tallies(cur, sorted(acted.changed))
        return acted


def _revive_claims(
    cur: psycopg.Cursor[Row],
    held: Iterable[Held],
    session_id: UUID | None,
    source_id: UUID | None,
) -> set[UUID]:
    """Let one provenance's dropped claims on records that stayed count again; return those."""
    stayed = [h.id for h in held if h.status in (Status.ACTIVE, Status.SUPERSEDED)]
    if not stayed or not (session_id or source_id):
        return set()
    cur.execute(
        """UPDATE claim SET state = 'live' WHERE record_id = ANY(%s) AND state = 'dropped'
             AND (session_id = %s OR source_id = %s) RETURNING record_id""",
        [stayed, session_id, source_id],
    )
    return {row[0] for row in cur}


def _successors(
    cur: psycopg.Cursor[Row], past: Sequence[Held], coming: Sequence[Held]
) -> dict[UUID, UUID]:
    """Return what now follows each past record, past what is evicted; none: it is in no answer."""
    if not past:
        return {}
    cur.execute(
        """WITH RECURSIVE walk (id, at, next, is_out, depth) AS (
               SELECT r.id, n.id, n.superseded_by, n.status = 'evicted' AND n.id <> ALL(%(coming)s), 1
               FROM memory_record r JOIN memory_record n ON n.id = r.superseded_by
               WHERE r.id = ANY(%(past)s)
               UNION ALL
               SELECT w.id, n.id, n.superseded_by, n.status = 'evicted' AND n.id <> ALL(%(coming)s),
                      w.depth + 1
               FROM walk w JOIN memory_record n ON n.id = w.next WHERE w.is_out AND w.depth < 10000)
           SELECT id, at FROM walk WHERE NOT is_out""",
        {"past": [h.id for h in past], "coming": [h.id for h in coming]},
    )
    return {row[0]: row[1] for row in cur}


@retried
def erase(
    record_ids: Iterable[UUID], reason: str, *, access: Access, now: datetime | None = None
) -> Acted:
    """Destroy the content of records for good; the trail still verifies.

    Subject, value, content, vector, terms, findings, claims' texts and the
    salt that keyed the digests are gone; a fence with a keyed digest keeps the
    fact from coming back with the next import.
    """
    now = now or datetime.now(UTC)
    wanted = list(record_ids)
    with _acting(access) as cur:
        found = _lock(cur, wanted, access.workspace_id)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        going = [h for h in found.values() if h.status is not Status.ERASED]
        acted.skipped += [(h.id, "is erased") for h in found.values() if h.status is Status.ERASED]
        if not going:
            return acted
        ids = acted.changed = [h.id for h in going]
        key = fence_key(access.workspace_id)
        _fence_for_everyone(cur, going, access, now, reason)
        cur.execute(
            """UPDATE fence f SET fingerprint = u.digest, keyed = true
               FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS u (partition_id, fingerprint, digest)
               WHERE f.partition_id = u.partition_id AND f.fingerprint = u.fingerprint""",
            [
                [h.partition_id for h in going],
                [h.fingerprint for h in going],
                [keyed_fingerprint(key, h.fingerprint) for h in going],
            ],
        )
        cur.execute(
            """UPDATE memory_record SET status = 'erased', prior_status = status, status_at = %s,
                   hold_reason = '', subject = '', subject_key = '', value = '', content = '',
                   fingerprint = 'fp_' || left(encode(sha256(id::text::bytea), 'hex'), 24),
                   embedding = NULL, embedding_model = NULL, terms = '{}', more_terms = NULL,
                   findings = '[]', metadata = '{}', tags = '{}', labels = '{}', external_id = NULL,
                   source_key = CASE WHEN derived THEN 'erased:' || id END, override = NULL, salt = NULL
               WHERE id = ANY(%s)""",
            [now, ids],
        )
        cur.execute("UPDATE claim SET evidence = '', wording = '' WHERE record_id = ANY(%s)", [ids])
        cur.execute("UPDATE address SET record_id = NULL WHERE record_id = ANY(%s)", [ids])
        events.append([_moved("record.erased", h, reason) for h in going], access=access)
        return acted


@retried
def reopen(record_id: UUID, reason: str, *, access: Access, now: datetime | None = None) -> Acted:
    """Undo a person's decision: an approved or rejected record is held again.

    What an approval had displaced is live again; what a rejection had fenced
    is not fenced any more. Raises ``Conflict`` when the record has moved on
    since (superseded, evicted ...) or was never decided by a person.
    """
    now = now or datetime.now(UTC)
    with _acting(access) as cur:
        found = _lock(cur, _with_predecessors(cur, [record_id]), access.workspace_id)
        held = _one(found, record_id, None)
        acted = Acted(matched=1)
        # An approval that lined up behind a newer present is in the past, and still undoable.
        is_where_approved = held.override is not None and held.status == held.override.get(
            "to", Status.ACTIVE
        )
        if held.override is not None and is_where_approved:
            hold_reason = held.override.get("held_for") or str(HoldReason.MANUAL)
        elif held.status is Status.REJECTED:
            hold_reason = held.hold_reason or str(HoldReason.MANUAL)
        else:
            raise Conflict(f"the record is {held.status} and was not decided by a person")
        if (held.partition_id, held.fingerprint) in _taken_fingerprints(cur, [held]):
            raise Conflict("the same fact is stored anew")
        if held.status is Status.REJECTED:
            cur.execute(
                "UPDATE fence SET lifted_at = %s, lifted_by = %s WHERE record_id = %s AND lifted_at IS NULL",
                [now, str(access.actor), held.id],
            )
        _set_status(cur, [held.id], Status.QUARANTINED, now, hold_reason=hold_reason)
        stood_at = (held.override or {}).get("order_at")
        cur.execute(
            """UPDATE memory_record SET serve_after = NULL, override = NULL,
                   order_at = coalesce(%s::timestamptz, order_at) WHERE id = %s""",
            [stood_at, held.id],
        )
        _grade(cur, [held.id])
        restored = _restore_predecessors(cur, [held], now)
        cur.execute(
            "UPDATE memory_record SET superseded_by = NULL, superseded_at = NULL WHERE id = %s",
            [held.id],
        )
        acted.restored = [one for one, _ in restored]
        acted.changed = [held.id]
        events.append(
            [
                _moved("record.reopened", held, reason),
                *_restorations(restored, "what displaced it was reopened"),
            ],
            access=access,
        )
        return acted


@retried
def extend(
    record_id: UUID,
    valid_until: datetime | None,
    reason: str,
    *,
    access: Access,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Set until when a record is valid (``None``: for good); expired facts may come back."""
    now = now or datetime.now(UTC)
    with _acting(access) as cur:
        held = _one(_lock(cur, [record_id], access.workspace_id), record_id, version)
        if held.status not in (Status.ACTIVE, Status.QUARANTINED):
            raise Conflict(f"the record is {held.status}")
        cur.execute(
            """UPDATE memory_record SET valid_until = %s, valid_until_given = true, version = version + 1,
                   recheck_at = NULL, recheck_reason = NULL WHERE id = %s""",
            [valid_until, held.id],
        )
        until = valid_until.isoformat() if valid_until else None
        events.append([_moved("record.extended", held, reason, until=until)], access=access)
        return Acted(matched=1, changed=[held.id])


@retried
def confirm(
    record_id: UUID,
    reason: str,
    *,
    access: Access,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Say, as a person, that a live record holds today: seen now, doubts cleared."""
    now = now or datetime.now(UTC)
    with _acting(access) as cur:
        held = _one(_lock(cur, [record_id], access.workspace_id), record_id, version)
        if held.status is not Status.ACTIVE:
            raise Conflict(f"the record is {held.status}")
        cur.execute(
            """UPDATE memory_record SET last_seen = greatest(last_seen, %(now)s), recheck_at = NULL,
                   recheck_reason = NULL, unlisted_at = NULL,
                   valid_until = CASE WHEN valid_until IS NULL OR valid_until_given THEN valid_until
                                      ELSE %(now)s + (valid_until - last_seen) END
               WHERE id = %(id)s""",
            {"now": now, "id": held.id},
        )
        events.append([_moved("record.confirmed", held, reason)], access=access)
        return Acted(matched=1, changed=[held.id])


@retried
def suspend(
    kind: str, target_id: UUID, reason: str, *, access: Access, now: datetime | None = None
) -> Acted:
    """Stop serving what only this session or source asserts, at once and reversibly.

    ``kind`` is ``session`` or ``source``. Holds for every recall that starts
    after the commit.
    """
    return _contain(kind, target_id, reason, access=access, now=now, suspended=True)


@retried
def release(
    kind: str, target_id: UUID, reason: str, *, access: Access, now: datetime | None = None
) -> Acted:
    """End a suspension."""
    return _contain(kind, target_id, reason, access=access, now=now, suspended=False)


def _contain(
    kind: str,
    target_id: UUID,
    reason: str,
    *,
    access: Access,
    now: datetime | None,
    suspended: bool,
) -> Acted:
    if kind not in ("session", "source"):
        raise ValueError(f"cannot suspend a {kind}")
    now = now or datetime.now(UTC)
    with _acting(access) as cur:
        # kind is one of two literals, checked above.
        cur.execute(f"SELECT suspended_at FROM {kind} WHERE id = %s FOR UPDATE", [target_id])
        row = cur.fetchone()
        if row is None:
            raise NotFound(kind)
        if (row[0] is not None) == suspended:
            state = "suspended already" if suspended else "not suspended"
            return Acted(matched=1, skipped=[(target_id, f"is {state}")])
        cur.execute(
            f"""UPDATE {kind} SET suspended_at = %s, suspended_by = %s, suspended_reason = %s WHERE id = %s""",
            [
                now if suspended else None,
                str(access.actor) if suspended else None,
                reason[:REASON_LIMIT] if suspended else None,
                target_id,
            ],
        )
        events.append(
            [
                Happening(
                    f"{kind}.{'suspended' if suspended else 'released'}",
                    kind,
                    target_id=target_id,
                    session_id=target_id if kind == "session" else None,
                    reason=reason,
                )
            ],
            access=access,
        )
        return Acted(matched=1, changed=[target_id])
