"""What every act on facts shares: its scope, its locks, its answer, its events.

Owns the frame of an act. Which moves there are is told by the modules beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import psycopg

from records import events, store
from records.access import Access
from records.curate.doubting import recheck_dependents
from records.domain.facts import Cardinality, Status
from records.domain.risk import risk_of
from records.events import Happening
from records.items import Conflict, NotFound
from records.queries import Row, cursor
from records.scope import partition_scope, workspace_scope

REASON_LIMIT = 1_000


@dataclass(slots=True)
class Acted:
    """What an act matched, changed and skipped; ``restored`` came back into service by it."""

    matched: int = 0
    changed: list[UUID] = field(default_factory=list)
    skipped: list[tuple[UUID, str]] = field(default_factory=list)
    restored: list[UUID] = field(default_factory=list)
    superseded: list[UUID] = field(default_factory=list)
    dropped: set[UUID] = field(default_factory=set)  # records that lost a claim
    revived: set[UUID] = field(default_factory=set)  # records of which a claim counts again
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
    merged_into: UUID | None


Restored = list[tuple[UUID, UUID]]  # (record, partition)


After = Callable[[psycopg.Cursor[Row], Sequence[Held], Access, datetime, str], Restored]


@contextmanager
def acting(access: Access) -> Iterator[psycopg.Cursor[Row]]:
    """Open the widest scope this access has: its partition, or its workspace."""
    if access.partition is not None:
        scope = partition_scope(access.workspace_id, [access.partition_id(access.partition)])
    else:
        scope = workspace_scope(access.workspace_id)
    with scope, cursor() as cur:
        yield cur


def lock(
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
    return read(cur, wanted, is_locked=True)


def read(
    cur: psycopg.Cursor[Row], record_ids: Iterable[UUID], *, is_locked: bool = False
) -> dict[UUID, Held]:
    """Read records as they stand; without a lock only for a preview."""
    cur.execute(
        f"""SELECT id, partition_id, slot_id, fingerprint, status, version, order_at, cardinality, session_id,
                  source_id, source_key, prior_status, superseded_by, hold_reason, findings, override,
                  merged_into
           FROM memory_record WHERE id = ANY(%s) ORDER BY id {"FOR UPDATE" if is_locked else ""}""",
        [sorted(set(record_ids))],
    )
    return {row[0]: _held(row) for row in cur}


def _held(row: Row) -> Held:
    """Return one row of ``lock``; Django leaves jsonb undecoded on its connections."""
    values = list(row)
    values[4] = Status(row[4])
    values[7] = Cardinality(row[7])
    values[14] = json.loads(row[14])
    values[15] = json.loads(row[15]) if row[15] else None
    return Held(*values)


def the_one(found: dict[UUID, Held], record_id: UUID, version: int | None) -> Held:
    """Return the one record an act is about, unless it is gone or has moved on."""
    held = found.get(record_id)
    if held is None:
        raise NotFound("record")
    if version is not None and held.version != version:
        raise Conflict(f"the record is at version {held.version}, not {version}")
    return held


def moved(
    action: str, held: Held, reason: str, *, session_id: UUID | None = None, **details: Any
) -> Happening:
    """Return the event of one record's move, with where it came from."""
    return Happening(
        action,
        "record",
        target_id=held.id,
        partition_id=held.partition_id,
        session_id=session_id or held.session_id,
        reason=reason,
        details={"from": str(held.status), **details},
    )


def set_status(
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


def grade(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> None:
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


def restorations(restored: Restored, because: str, **details: Any) -> list[Happening]:
    """Say of each record that came back into service why it did."""
    return [
        Happening(
            "record.restored",
            "record",
            target_id=one,
            partition_id=partition_id,
            reason=because,
            details=details,
        )
        for one, partition_id in restored
    ]


def leave(
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
    details: Mapping[str, Any] = MappingProxyType({}),
) -> Acted:
    """Move records that stand in one of ``leaving`` to ``status``, and say so."""
    now = now or datetime.now(UTC)
    wanted = list(record_ids)
    with acting(access) as cur:
        found = lock(cur, wanted, access.workspace_id)
        if len(wanted) == 1:
            the_one(found, wanted[0], version)
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
            set_status(cur, acted.changed, status, now, hold_reason=hold_reason)
            restored = after(cur, movable, access, now, reason)
            acted.restored = [one for one, _ in restored]
            events.append(
                [
                    *(moved(action, h, reason, **details) for h in movable),
                    *restorations(restored, "what displaced it was rejected"),
                    *recheck_dependents(cur, acted.restored, access, now),
                ],
                access=access,
            )
        return acted
