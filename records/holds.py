"""Legal holds: which records must be kept as they are, whoever wants them gone.

Owns placing, releasing and the one condition that says what a hold covers
(``HELD``; the database's trigger in ``records/sql/holds.sql`` says the same).
A hold covers one record, or every record that a session, source or partition
ever asserted, dropped claims included. It keeps content from being destroyed;
it does not keep a fact in service: eviction and containment stay possible.
Whether a second person must agree to a release is ``audits.approvals``' matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import Conflict, NotFound
from records.queries import Row, cursor
from records.scope import retried, workspace_scope

REASON_LIMIT = 1_000

# The table that holds what each kind of hold is placed on.
TABLES = {
    "record": "memory_record",
    "session": "session",
    "source": "source",
    "partition": "partition",
}

# True for a record ``r`` and a hold ``h`` that stands and covers it. Workspaces are told apart by
# the policies, and by the condition on the workspace for whoever is not bound by them.
COVERS = """h.workspace_id = r.workspace_id AND h.released_at IS NULL
  AND (h.kind = 'record' AND h.target_id = r.id
       OR h.kind = 'partition' AND h.target_id = r.partition_id
       OR h.kind = 'session' AND (h.target_id = r.session_id OR EXISTS (
           SELECT 1 FROM claim hc WHERE hc.record_id = r.id AND hc.session_id = h.target_id))
       OR h.kind = 'source' AND (h.target_id = r.source_id OR EXISTS (
           SELECT 1 FROM claim hc WHERE hc.record_id = r.id AND hc.source_id = h.target_id)))"""
HELD = f"EXISTS (SELECT 1 FROM legal_hold h WHERE {COVERS})"

# Placing waits for erasures that are under way, and they for it: what is held is decided before
# anything is destroyed, never in between.
_LOCK = "hashtextextended('legal_hold:' || %s::text, 0)"


@retried
def place(
    kind: str, target_id: UUID, reason: str, *, access: Access, now: datetime | None = None
) -> UUID:
    """Place a hold on a record, session, source or partition; return its id.

    ``NotFound`` when there is no such thing here, ``Conflict`` when it is on
    hold already, ``ValueError`` for an unknown kind or a missing or over-long
    reason.
    """
    now = now or datetime.now(UTC)
    _check(reason)
    if kind not in TABLES:
        raise ValueError(f"kind: a {kind} cannot be put on legal hold")
    with workspace_scope(access.workspace_id), cursor() as cur:
        cur.execute(f"SELECT pg_advisory_xact_lock({_LOCK})", [access.workspace_id])
        partition_id = _partition_of(cur, kind, target_id, access.workspace_id)
        hold_id = uuid7(now)
        cur.execute(
            """INSERT INTO legal_hold (id, workspace_id, kind, target_id, reason, placed_by, placed_at)
               VALUES (%s, %s, %s, %s, %s, %s, %s)
               ON CONFLICT (workspace_id, kind, target_id) WHERE released_at IS NULL DO NOTHING""",
            [hold_id, access.workspace_id, kind, target_id, reason, str(access.actor), now],
        )
        if not cur.rowcount:
            raise Conflict(f"the {kind} is on legal hold already")
        events.append(
            [_happening("hold.placed", hold_id, kind, target_id, partition_id, reason)],
            access=access,
        )
    return hold_id


@retried
def release(hold_id: UUID, reason: str, *, access: Access, now: datetime | None = None) -> None:
    """End a hold; what it covered may be destroyed again.

    ``NotFound`` when there is no such hold here, ``Conflict`` when it was
    released before.
    """
    now = now or datetime.now(UTC)
    _check(reason)
    with workspace_scope(access.workspace_id), cursor() as cur:
        cur.execute(
            """UPDATE legal_hold SET released_at = %s, released_by = %s, release_reason = %s
               WHERE id = %s AND workspace_id = %s AND released_at IS NULL RETURNING kind, target_id""",
            [now, str(access.actor), reason, hold_id, access.workspace_id],
        )
        row = cur.fetchone()
        if row is None:
            cur.execute(
                "SELECT released_by FROM legal_hold WHERE id = %s AND workspace_id = %s",
                [hold_id, access.workspace_id],
            )
            before = cur.fetchone()
            if before is None:
                raise NotFound("legal hold")
            raise Conflict(f"the hold was released by {before[0]}")
        kind, target_id = row
        partition_id = _partition_of(cur, kind, target_id, access.workspace_id)
        events.append(
            [_happening("hold.released", hold_id, kind, target_id, partition_id, reason)],
            access=access,
        )


def held_among(
    cur: psycopg.Cursor[Row], record_ids: Iterable[UUID], workspace_id: UUID
) -> set[UUID]:
    """Return which of these records a standing hold covers."""
    cur.execute(
        f"SELECT r.id FROM memory_record r WHERE r.id = ANY(%s) AND r.workspace_id = %s AND {HELD}",
        [list(record_ids), workspace_id],
    )
    return {row[0] for row in cur}


def keep_still(cur: psycopg.Cursor[Row], workspace_id: UUID) -> None:
    """Let no hold be placed until this transaction, which destroys content, has ended."""
    cur.execute(f"SELECT pg_advisory_xact_lock_shared({_LOCK})", [workspace_id])


def _check(reason: str) -> None:
    if not reason.strip():
        raise ValueError("reason: a legal hold needs one")
    if len(reason) > REASON_LIMIT:
        raise ValueError(f"reason: at most {REASON_LIMIT:,} characters")


def _partition_of(
    cur: psycopg.Cursor[Row], kind: str, target_id: UUID, workspace_id: UUID
) -> UUID | None:
    """Return the partition a hold's target lies in, None for a source; ``NotFound`` without one."""
    column = {"source": "NULL::uuid", "partition": "id"}.get(kind, "partition_id")
    # kind is one of four literals: the column and the table are ours.
    cur.execute(
        f"SELECT {column} FROM {TABLES[kind]} WHERE id = %s AND workspace_id = %s",
        [target_id, workspace_id],
    )
    row = cur.fetchone()
    if row is None:
        raise NotFound(kind)
    found: UUID | None = row[0]
    return found


def _happening(
    action: str, hold_id: UUID, kind: str, target_id: UUID, partition_id: UUID | None, reason: str
) -> Happening:
    """Return a hold's event, aimed at what is held, so that its own history shows it."""
    return Happening(
        action,
        kind,
        target_id=target_id,
        partition_id=partition_id,
        session_id=target_id if kind == "session" else None,
        reason=reason,
        details={"hold": str(hold_id)},
    )
