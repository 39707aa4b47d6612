"""Taking a session's facts out, and putting them back: in batches, counted, undoable.

Owns the running and the receipt; what would run is ``queries/eviction.py``'s,
the move of one batch ``records.curate``'s. Every batch commits, so that others
never wait long; the counts say what was done however far it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.queries.eviction import preview_eviction
from audits.queries.rows import fetch
from records import curate, events
from records.access import Access
from records.curate import Acted
from records.events import Happening
from records.items import Conflict
from records.models import Event
from records.scope import workspace_scope

BATCH = 1_000


@dataclass(slots=True)
class Receipt:
    """What ran: counts that add up to what was asked for, and why some were left."""

    asked: int = 0
    changed: int = 0
    restored: int = 0
    dropped_claims: int = 0
    restored_claims: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    event_id: int | None = None

    def add(self, acted: Acted) -> None:
        """Count one batch."""
        self.changed += len(acted.changed)
        self.restored += len(acted.restored)
        self.dropped_claims += acted.dropped_claims
        self.restored_claims += acted.restored_claims
        self.skipped.update(why for _, why in acted.skipped)


def evict_session(session_id: UUID, reason: str, *, digest: str, access: Access) -> Receipt:
    """Evict what a session alone asserts, and drop its claim on what others assert too.

    Conflict: what would run is no longer what ``digest`` was made of; nothing
    has changed then.
    """
    with workspace_scope(access.workspace_id):
        found = preview_eviction(session_id, workspace_id=access.workspace_id)
    if found.digest != digest:
        raise Conflict("the session's facts have changed since the preview")
    receipt = Receipt(asked=len(found.targets))
    for batch in _batches(found.targets):
        receipt.add(curate.evict(batch, reason, access=access, session_id=session_id))
    receipt.event_id = _tell("session.evicted", session_id, reason, receipt, access)
    return receipt


def restore_session(session_id: UUID, reason: str, *, access: Access) -> Receipt:
    """Undo the evictions of a session: what is evicted comes back, and its claims count again."""
    with workspace_scope(access.workspace_id):
        wanted = taken_from(session_id, access=access)
    receipt = Receipt(asked=len(wanted))
    for batch in _batches([row["id"] for row in wanted]):
        receipt.add(curate.restore(batch, reason, access=access, session_id=session_id))
    receipt.event_id = _tell("session.restored", session_id, reason, receipt, access)
    return receipt


def taken_from(session_id: UUID, *, access: Access) -> list[dict[str, Any]]:
    """Return the records on which this session's claim was dropped and can count again.

    Evicted ones come back by it; those that others assert too have stayed.
    """
    return fetch(
        """SELECT DISTINCT r.id, r.status FROM claim c JOIN memory_record r ON r.id = c.record_id
           WHERE c.session_id = %(session)s AND c.state = 'dropped'
             AND r.status IN ('evicted', 'active', 'superseded')
             AND r.workspace_id = %(workspace)s ORDER BY r.id""",
        {"session": session_id, "workspace": access.workspace_id},
    )


def _batches(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _tell(
    action: str, session_id: UUID, reason: str, receipt: Receipt, access: Access
) -> int | None:
    """Put the operation on record, and return its event: the receipt's place in the trail."""
    with workspace_scope(access.workspace_id):
        events.append(
            [
                Happening(
                    action,
                    "session",
                    target_id=session_id,
                    session_id=session_id,
                    reason=reason,
                    count=receipt.changed,
                    details={
                        "asked": receipt.asked,
                        "changed": receipt.changed,
                        "restored": receipt.restored,
                        "dropped_claims": receipt.dropped_claims,
                        "restored_claims": receipt.restored_claims,
                        "skipped": dict(receipt.skipped),
                    },
                )
            ],
            access=access,
        )
        newest = Event.objects.filter(target_id=session_id, action=action).order_by("-id").first()
    return newest.id if newest else None
