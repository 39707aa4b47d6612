"""Places in a slot: putting records back, and bringing back what they had displaced.

Owns chains as acts change them; the decisions are the ledger's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import psycopg

from records import events, store
from records.access import Access
from records.curate.acting import Acted, Held, Restored, moved
from records.curate.doubting import recheck_dependents
from records.curate.fencing import fence_for_everyone
from records.domain.facts import Cardinality, Status
from records.domain.ledger import Ledger
from records.events import Happening
from records.queries import Row


def readmit(
    cur: psycopg.Cursor[Row],
    held: Sequence[Held],
    access: Access,
    now: datetime,
    *,
    action: str,
    reason: str,
    details: Mapping[str, Any] = MappingProxyType({}),
    taken: AbstractSet[tuple[UUID, str]] | None = None,
) -> Acted:
    """Put records back in their places through the ledger, and say what that displaced.

    ``taken`` are the facts that others state by now, where the caller has looked.
    """
    taken = set(taken_fingerprints(cur, held) if taken is None else taken)
    acted = Acted(matched=len(held))
    happenings: list[Happening] = []
    plain = list(_take_places(held, taken, acted))
    for one in plain:
        acted.changed.append(one.id)
        happenings.append(moved(action, one, reason, to=str(Status.ACTIVE), **details))
    _set_live(cur, [h.id for h in plain], now)
    rest = [h for h in held if not _is_plain(h)]
    if not rest:
        events.append(happenings, access=access)
        return acted
    addresses, held_by = _addresses_of(cur, rest)
    known = store.load_known(
        cur,
        fingerprints=[],
        slots=_earliest(rest),
        dependents=[],
        record_ids={*(h.id for h in rest), *held_by.values()},
    )
    store.load_voices(cur, {one: known[one] for one in held_by.values() if one in known})
    ledger = Ledger(known=known.values(), addresses=held_by, now=now)
    winners: list[UUID] = []
    for one in sorted(rest, key=lambda h: h.order_at):
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
        happenings.append(moved(action, one, reason, to=str(applied.status), **details))
        happenings += [
            Happening(
                "record.superseded",
                "record",
                target_id=old,
                partition_id=one.partition_id,
                details={"by": str(one.id), **details},
            )
            for old in applied.superseded
        ]
    # The row that makes room goes first: the unique index is not deferrable.
    every = list(ledger.known.values())
    store.save_known(cur, [k for k in every if k.status is Status.SUPERSEDED], now)
    store.save_known(cur, [k for k in every if k.status is not Status.SUPERSEDED], now)
    store.point_addresses(cur, {a: ledger.addresses[a] for a in sorted(ledger.moved_addresses)})
    happenings += recheck_dependents(cur, winners, access, now)
    events.append(happenings, access=access)
    return acted


def _is_plain(held: Held) -> bool:
    """Say whether nothing can stand in a record's way: its slot holds many, no address holds it."""
    return held.cardinality is Cardinality.MANY and held.source_key is None


def _take_places(
    held: Sequence[Held], taken: set[tuple[UUID, str]], acted: Acted
) -> Iterator[Held]:
    """Yield the plain records that come back; the same fact that stands already stays out."""
    for one in sorted((h for h in held if _is_plain(h)), key=lambda h: h.order_at):
        if (one.partition_id, one.fingerprint) in taken:
            acted.skipped.append((one.id, "the same fact is stored anew"))
            continue
        taken.add((one.partition_id, one.fingerprint))
        yield one


def _set_live(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], now: datetime) -> None:
    """Let plain records stand: the ledger could say nothing else of them, and costs more."""
    if not record_ids:
        return
    cur.execute(
        """UPDATE memory_record SET status = 'active', status_at = %s, superseded_by = NULL,
               superseded_at = NULL WHERE id = ANY(%s)""",
        [now, list(record_ids)],
    )


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


def taken_fingerprints(cur: psycopg.Cursor[Row], held: Sequence[Held]) -> set[tuple[UUID, str]]:
    """Return which of these facts another row states by now, live, held or merged elsewhere."""
    cur.execute(
        f"""SELECT r.partition_id, r.fingerprint FROM unnest(%s::uuid[], %s::text[]) AS w (p, f)
           JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
            AND {store.TAKEN} WHERE r.id <> ALL(%s)""",
        [
            [h.partition_id for h in held],
            [h.fingerprint for h in held],
            [h.id for h in held],
        ],
    )
    return {(row[0], row[1]) for row in cur}


def with_predecessors(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> list[UUID]:
    """Return the records and what they displaced, so that one lock order covers both."""
    cur.execute(
        "SELECT id FROM memory_record WHERE superseded_by = ANY(%s) AND status = 'superseded'",
        [list(record_ids)],
    )
    return [*record_ids, *(row[0] for row in cur)]


def restore_predecessors(
    cur: psycopg.Cursor[Row], going: Sequence[Held], now: datetime
) -> Restored:
    """Bring back what evicted records had displaced, where nothing newer stands there."""
    ids = [h.id for h in going]
    restored = _unlink(cur, ids, now)
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


def _unlink(cur: psycopg.Cursor[Row], ids: Sequence[UUID], now: datetime) -> Restored:
    """Take records out of their chains; return what has nothing newer before it now, live."""
    cur.execute(
        """SELECT EXISTS (SELECT 1 FROM memory_record
               WHERE superseded_by = ANY(%s) AND status = 'superseded')""",
        [list(ids)],
    )
    row = cur.fetchone()
    if row is None or not row[0]:
        return []  # most facts have displaced nothing
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
                 -- Another wording of what goes was not displaced by it: it goes with it.
                 AND r.merged_into IS NULL AND gone.superseded_by IS NULL
               ORDER BY CASE WHEN r.cardinality = 'one' THEN r.slot_id ELSE r.id END, r.order_at DESC, r.id DESC)
           UPDATE memory_record r SET status = 'active', status_at = %(now)s, superseded_by = NULL,
                                      superseded_at = NULL
           FROM candidate c WHERE r.id = c.id
             AND NOT (c.cardinality = 'one' AND EXISTS (
                 SELECT 1 FROM memory_record o WHERE o.slot_id = c.slot_id AND o.status = 'active'
                   AND o.cardinality = 'one'))
             AND NOT EXISTS (
                 SELECT 1 FROM memory_record o WHERE o.partition_id = c.partition_id
                   AND o.fingerprint = c.fingerprint AND (o.status IN ('active', 'quarantined')
                       OR o.status = 'superseded' AND o.merged_into IS NOT NULL))
           RETURNING r.id, r.partition_id""",
        {"ids": ids, "now": now},
    )
    return [(row[0], row[1]) for row in cur]


def fence_and_restore(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime, reason: str
) -> Restored:
    """Fence facts for everyone and bring back what they had displaced."""
    fence_for_everyone(cur, held, access, now, reason)
    return restore_predecessors(cur, held, now)
