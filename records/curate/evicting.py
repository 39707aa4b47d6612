"""Taking facts out of service by provenance or one by one, kept and undoable.

Putting them back is ``restoring.py``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
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
from records.curate.doubting import recheck_dependents
from records.curate.fencing import fence
from records.curate.placing import restore_predecessors, with_predecessors
from records.domain.facts import Shared, Status
from records.events import Happening
from records.queries import Row
from records.scope import retried

ClaimKey = tuple[UUID, UUID]  # (session, source)
OUT = frozenset({Status.EVICTED, Status.ERASED, Status.RETRACTED, Status.REJECTED})
SHARED = "also asserted by others"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Whose claims an eviction drops: of each record named here, these and no others.

    A record of the eviction that is not named is evicted whoever asserts it.
    The fence keeps out the claims' sessions, or their sources.
    """

    claims: Mapping[UUID, Sequence[ClaimKey]]
    is_by_source: bool = False

    def session_of(self, record_id: UUID) -> UUID | None:
        """Return the session whose claim on a record is dropped, the first of several."""
        return next((session for session, _ in self.claims.get(record_id, ())), None)

    def fences(self, record_id: UUID) -> list[tuple[UUID | None, UUID | None]]:
        """Return whom the record's fences keep out: (session, source); both None is everyone."""
        if record_id not in self.claims:
            return [(None, None)]
        if self.is_by_source:
            return [(None, one) for one in dict.fromkeys(s for _, s in self.claims[record_id])]
        return [(one, None) for one in dict.fromkeys(s for s, _ in self.claims[record_id])]


@retried
def evict(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    session_id: UUID | None = None,
    source_id: UUID | None = None,
    provenance: Provenance | None = None,
    operation_id: UUID | None = None,
    shared: Shared = Shared.DROP,
    version: int | None = None,
    versions: Mapping[UUID, int] | None = None,
    now: datetime | None = None,
) -> Acted:
    """Take facts out of service, kept and undoable.

    With a session or source, or a ``provenance`` of several, the eviction is by
    provenance: its claims are dropped, a fact that others assert too is treated
    as ``shared`` says, and the fence keeps out that provenance alone. What an
    evicted fact had displaced is live again. One transaction; call it in batches.
    With ``version``, for one record: ``Conflict`` when it has moved on; one of
    several that has moved on from its place in ``versions`` is skipped.
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
        if versions is not None:
            moved_on = [h for h in targets if versions.get(h.id) != h.version]
            acted.skipped += [(h.id, "has changed since") for h in moved_on]
            targets = [h for h in targets if versions.get(h.id) == h.version]
        if provenance is None and (session_id or source_id):
            provenance = _provenance_of(cur, targets, session_id, source_id)
        dropped, others = _drop_claims(cur, targets, provenance, shared, operation_id)
        going = list(_going(targets, provenance, dropped, others, shared, acted))
        acted.dropped = dropped
        acted.dropped_claims = len(dropped)
        gone = {h.id for h in going}
        kept = [h for h in targets if h.id in dropped and h.id not in gone]
        details: dict[str, Any] = {"operation": str(operation_id)} if operation_id else {}

        def told(action: str, held: Held) -> Happening:
            mine = provenance.session_of(held.id) if provenance else None
            return moved(action, held, reason, session_id=session_id or mine, **details)

        if going:
            acted.changed = [h.id for h in going]
            # What it was held for is kept, so that it can be held for that again.
            set_status(cur, acted.changed, Status.EVICTED, now, hold_reason=None)
            restored = restore_predecessors(cur, going, now)
            acted.restored = [one for one, _ in restored]
            fence(cur, _fences(going, provenance, session_id, source_id), access, now, reason)
            events.append(
                [
                    *(told("record.evicted", h) for h in going),
                    *restorations(restored, "what displaced it was evicted", **details),
                    *recheck_dependents(cur, acted.restored, access, now),
                ],
                access=access,
            )
        # What goes is out of every answer: its counts matter again when it comes back, and each
        # rewriting of a row costs all its indexes.
        store.refresh_tallies(cur, sorted(h.id for h in kept), lower=True)
        events.append([told("claim.dropped", h) for h in kept], access=access)
        return acted


def _going(
    targets: Sequence[Held],
    provenance: Provenance | None,
    dropped: set[UUID],
    others: set[UUID],
    shared: Shared,
    acted: Acted,
) -> Iterable[Held]:
    """Yield what leaves service; say of the rest why it stays."""
    for held in targets:
        by_claim = provenance is not None and held.id in provenance.claims
        if held.status in OUT:
            acted.skipped.append((held.id, f"is {held.status}"))
        elif by_claim and held.id in others and shared is not Shared.EVICT:
            its = "; its claim is dropped" if held.id in dropped else ""
            acted.skipped.append((held.id, SHARED + its))
        elif by_claim and held.id not in dropped:
            acted.skipped.append((held.id, "its claim is dropped already"))
        else:
            yield held


def _provenance_of(
    cur: psycopg.Cursor[Row],
    targets: Sequence[Held],
    session_id: UUID | None,
    source_id: UUID | None,
) -> Provenance:
    """Return the standing claims of one session or one source on these records."""
    cur.execute(
        """SELECT record_id, session_id, source_id FROM claim
           WHERE record_id = ANY(%s) AND state <> 'dropped' AND (session_id = %s OR source_id = %s)""",
        [[h.id for h in targets], session_id, source_id],
    )
    claims: dict[UUID, list[ClaimKey]] = {}
    for record_id, session, source in cur.fetchall():
        claims.setdefault(record_id, []).append((session, source))
    return Provenance(claims, is_by_source=session_id is None)


def _drop_claims(
    cur: psycopg.Cursor[Row],
    held: Sequence[Held],
    provenance: Provenance | None,
    shared: Shared,
    operation_id: UUID | None,
) -> tuple[set[UUID], set[UUID]]:
    """Drop a provenance's claims; return the records touched, and those that others assert."""
    if provenance is None or not held:
        return set(), set()
    ids = [h.id for h in held if h.id in provenance.claims]
    # Writers wait for the slots' locks, so what this finds stays so until the commit. A word
    # that counts at another record since a merge is still a word on this one.
    cur.execute(
        """SELECT record_id, session_id, source_id FROM claim
           WHERE record_id = ANY(%s) AND state IN ('live', 'moved')""",
        [ids],
    )
    named = {(one, *key) for one in ids for key in provenance.claims[one]}
    others = {row[0] for row in cur.fetchall() if row not in named}
    if shared is Shared.KEEP:
        named = {key for key in named if key[0] not in others}
    cur.execute(
        """UPDATE claim c SET state = 'dropped', dropped_by = %s
           FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[]) AS k (record, session, source)
           WHERE c.record_id = k.record AND c.session_id = k.session AND c.source_id = k.source
             AND c.state <> 'dropped' RETURNING c.record_id""",
        [operation_id, *([key[i] for key in named] for i in range(3))],
    )
    return {row[0] for row in cur}, others


def _fences(
    going: Sequence[Held],
    provenance: Provenance | None,
    session_id: UUID | None,
    source_id: UUID | None,
) -> list[tuple[Held, UUID | None, UUID | None]]:
    if session_id or source_id or provenance is None:
        return [(h, session_id, source_id) for h in going]
    return [(h, *whom) for h in going for whom in provenance.fences(h.id)]
