"""Small care of live facts: how long they hold, that they hold today, that somebody must look."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from records import events
from records.access import Access
from records.curate.acting import Acted, Held, acting, lock, moved, the_one
from records.domain.facts import Status
from records.items import Conflict
from records.queries import Row
from records.scope import retried

BY_PERSON = "person"  # why a record is marked: a person asked for a look
CONFIRM = """UPDATE memory_record SET last_seen = greatest(last_seen, %(now)s), recheck_at = NULL,
    recheck_reason = NULL, unlisted_at = NULL,
    valid_until = CASE WHEN valid_until IS NULL OR valid_until_given THEN valid_until
                       ELSE %(now)s + (valid_until - last_seen) END
WHERE id = ANY(%(ids)s)"""


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
        events.append([_validity_set(held, valid_until, reason, now)], access=access)
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
        cur.execute(CONFIRM, {"now": now, "ids": [held.id]})
        events.append([moved("record.confirmed", held, reason)], access=access)
        return Acted(matched=1, changed=[held.id])


@retried
def extend_several(
    until: Mapping[UUID, datetime | None],
    reason: str,
    *,
    access: Access,
    versions: Mapping[UUID, int],
    now: datetime | None = None,
) -> Acted:
    """Set until when each of several live records is valid; one that is over by then ends now.

    One transaction. What has moved on from its place in ``versions`` is skipped, by name.
    """
    now = now or datetime.now(UTC)
    with acting(access) as cur:
        acted, live = _live(cur, until, access, versions)
        cur.execute(
            """UPDATE memory_record r SET valid_until = u.until, valid_until_given = true,
                   version = version + 1, recheck_at = NULL, recheck_reason = NULL
               FROM unnest(%s::uuid[], %s::timestamptz[]) AS u (id, until) WHERE r.id = u.id""",
            [[held.id for held in live], [until[held.id] for held in live]],
        )
        events.append(
            [_validity_set(held, until[held.id], reason, now) for held in live], access=access
        )
        return acted


@retried
def confirm_several(
    reason: str, *, access: Access, versions: Mapping[UUID, int], now: datetime | None = None
) -> Acted:
    """Say, as a person, that several live records hold today; as ``confirm`` does of one.

    One transaction. What has moved on from its place in ``versions`` is skipped, by name.
    """
    now = now or datetime.now(UTC)
    with acting(access) as cur:
        acted, live = _live(cur, versions, access, versions)
        cur.execute(CONFIRM, {"now": now, "ids": acted.changed})
        events.append([moved("record.confirmed", held, reason) for held in live], access=access)
        return acted


@retried
def mark_recheck(
    reason: str, *, access: Access, versions: Mapping[UUID, int], now: datetime | None = None
) -> Acted:
    """Mark live records for a recheck: ranked low until a person or a new write settles them.

    One transaction. What is marked already, or has moved on from its place in
    ``versions``, is skipped, by name.
    """
    now = now or datetime.now(UTC)
    with acting(access) as cur:
        acted, live = _live(cur, versions, access, versions)
        cur.execute(
            """UPDATE memory_record SET recheck_at = %s, recheck_reason = %s
               WHERE id = ANY(%s) AND recheck_at IS NULL RETURNING id""",
            [now, BY_PERSON, acted.changed],
        )
        marked = {row[0] for row in cur}
        acted.skipped += [(one, "is marked already") for one in acted.changed if one not in marked]
        acted.changed = [one for one in acted.changed if one in marked]
        events.append(
            [
                moved("record.recheck", held, reason, why=BY_PERSON)
                for held in live
                if held.id in marked
            ],
            access=access,
        )
        return acted


def _live(
    cur: psycopg.Cursor[Row],
    wanted: Mapping[UUID, Any],
    access: Access,
    versions: Mapping[UUID, int],
) -> tuple[Acted, list[Held]]:
    """Lock records; return those that are live as they were seen, and why the others are not."""
    found = lock(cur, wanted, access.workspace_id)
    acted = Acted(matched=len(found))
    acted.skipped += [(one, "not found") for one in wanted if one not in found]
    live = []
    for held in found.values():
        if held.status is not Status.ACTIVE:
            acted.skipped.append((held.id, f"is {held.status}"))
        elif versions.get(held.id) != held.version:
            acted.skipped.append((held.id, "has changed since"))
        else:
            live.append(held)
    acted.changed = [held.id for held in live]
    return acted, live


def _validity_set(
    held: Held, until: datetime | None, reason: str, now: datetime
) -> events.Happening:
    """Return the event of a new end: an end that has passed is told as one."""
    action = "record.ended" if until is not None and until <= now else "record.extended"
    return moved(action, held, reason, until=until.isoformat() if until else None)
