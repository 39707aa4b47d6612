"""Containment: a session or a source that is not served, at once and reversibly."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from records import events
from records.access import Access
from records.curate.acting import REASON_LIMIT, Acted, acting
from records.events import Happening
from records.items import NotFound
from records.scope import retried


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
    with acting(access) as cur:
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
