"""Taking facts out of service by provenance or one by one, kept and undoable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from records import events, store
from records.access import Access
from records.curate.acting import (
    Acted,
    Held,
    acting,
    lock,
    moved,
    restorations,
    set_status,
    the_one,
)
from records.curate.fencing import fence, lift_fences
from records.curate.placing import (
    readmit,
    restore_predecessors,
    taken_fingerprints,
    with_predecessors,
)
from records.domain.facts import HoldReason, Status
from records.queries import Row
from records.scope import retried


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
    with acting(access) as cur:
        found = lock(cur, with_predecessors(cur, wanted), access.workspace_id)
        if version is not None:
            the_one(found, wanted[0], version)
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
        set_status(cur, acted.changed, Status.EVICTED, now)
        restored = restore_predecessors(cur, going, now)
        acted.restored = [one for one, _ in restored]
        fence(cur, [(h, session_id, source_id) for h in going], access, now, reason)
        # What goes is out of every answer: its counts matter again when it comes back, and each
        # rewriting of a row costs all its indexes.
        staying = shared.keys() - set(acted.changed)
        store.refresh_tallies(cur, sorted(staying), lower=True)
        events.append(
            [
                *(moved("record.evicted", h, reason, session_id=session_id) for h in going),
                *restorations(restored, "what displaced it was evicted"),
            ],
            access=access,
        )
        gone = set(acted.changed)
        kept = [h for h in targets if h.id not in gone]
        _note_dropped(kept, shared, reason, access, session_id)
        return acted


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
        [moved("claim.dropped", h, reason, session_id=session_id) for h in held if h.id in shared],
        access=access,
    )


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
    with acting(access) as cur:
        found = lock(cur, wanted, access.workspace_id)
        if version is not None:
            the_one(found, wanted[0], version)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        revived = _revive_claims(cur, found.values(), session_id, source_id)
        acted.restored_claims = len(revived)
        if revived:
            store.refresh_tallies(cur, sorted(revived))
            dropped = [h for h in found.values() if h.id in revived]
            events.append(
                [moved("claim.restored", h, reason, session_id=session_id) for h in dropped],
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
        lift_fences(cur, coming, access, now)
        cur.execute(
            "UPDATE claim SET state = 'live' WHERE record_id = ANY(%s) AND state = 'dropped'", [ids]
        )
        by_prior = defaultdict(list)
        for held in coming:
            by_prior[held.prior_status or str(Status.ACTIVE)].append(held)
        past = by_prior.pop(str(Status.SUPERSEDED), [])
        ends = _successors(cur, past, coming)
        live = by_prior.pop(str(Status.ACTIVE), []) + [h for h in past if h.id not in ends]
        placed = readmit(cur, live, access, now, action="record.restored", reason=reason)
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
        taken = taken_fingerprints(cur, held_before) if held_before else set()
        for one in held_before:
            if (one.partition_id, one.fingerprint) in taken:
                acted.skipped.append((one.id, "the same fact is stored anew"))
            else:
                taken.add((one.partition_id, one.fingerprint))
                by_prior[str(Status.QUARANTINED)].append(one)
        for prior, several in by_prior.items():
            hold_reason = str(HoldReason.MANUAL) if prior == Status.QUARANTINED else ""
            set_status(cur, [h.id for h in several], Status(prior), now, hold_reason=hold_reason)
            events.append(
                [moved("record.restored", h, reason, to=prior) for h in several], access=access
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
