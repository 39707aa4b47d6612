"""Small care of live facts: how long they hold, and that they hold today."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from records import events
from records.access import Access
from records.curate.acting import Acted, acting, lock, moved, the_one
from records.domain.facts import Status
from records.items import Conflict
from records.scope import retried


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
    with acting(access) as cur:
        held = the_one(lock(cur, [record_id], access.workspace_id), record_id, version)
        if held.status not in (Status.ACTIVE, Status.QUARANTINED):
            raise Conflict(f"the record is {held.status}")
        cur.execute(
            """UPDATE memory_record SET valid_until = %s, valid_until_given = true, version = version + 1,
                   recheck_at = NULL, recheck_reason = NULL WHERE id = %s""",
            [valid_until, held.id],
        )
        until = valid_until.isoformat() if valid_until else None
        events.append([moved("record.extended", held, reason, until=until)], access=access)
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
    with acting(access) as cur:
        held = the_one(lock(cur, [record_id], access.workspace_id), record_id, version)
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
        events.append([moved("record.confirmed", held, reason)], access=access)
        return Acted(matched=1, changed=[held.id])
