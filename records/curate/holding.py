"""Decisions on held facts: approve, reject, hold, and taking a decision back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from records import events, signals
from records.access import Access
from records.curate.acting import (
    Acted,
    Held,
    Restored,
    acting,
    grade,
    leave,
    lock,
    moved,
    restorations,
    set_status,
    the_one,
)
from records.curate.doubting import recheck_dependents
from records.curate.fencing import lift_fences
from records.curate.placing import (
    fence_and_restore,
    readmit,
    restore_predecessors,
    taken_fingerprints,
    with_predecessors,
)
from records.domain.facts import HoldReason, Status
from records.items import Conflict
from records.queries import Row
from records.scope import retried


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
    with acting(access) as cur:
        held = the_one(lock(cur, [record_id], access.workspace_id), record_id, version)
        if held.status is not Status.QUARANTINED:
            raise Conflict(f"the record is {held.status}, not quarantined")
        lift_fences(cur, [held], access, now)
        stood_at = held.order_at
        if as_current and held.order_at < now:
            held = replace(held, order_at=now)
            cur.execute("UPDATE memory_record SET order_at = %s WHERE id = %s", [now, held.id])
        acted = readmit(cur, [held], access, now, action="record.approved", reason=reason)
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
        signals.touch(cur, [held.id], now)
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
    return leave(
        record_ids,
        Status.REJECTED,
        frozenset({Status.QUARANTINED}),
        "record.rejected",
        reason,
        access=access,
        version=version,
        versions=versions,
        now=now,
        after=_turn_away,
        hold_reason=None,
    )


@retried
def hold(
    record_ids: Iterable[UUID],
    reason: HoldReason,
    *,
    access: Access,
    note: str = "",
    version: int | None = None,
    versions: Mapping[UUID, int] | None = None,
    findings: dict[UUID, Sequence[dict[str, Any]]] | None = None,
    ruleset: str = "",
    details: Mapping[str, Any] = MappingProxyType({}),
    now: datetime | None = None,
) -> Acted:
    """Take live records out of service until a person decides.

    ``findings`` (by record) and ``ruleset`` replace what the gate said when a
    rescan holds. One of several that has moved on from its place in ``versions``
    is skipped.
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
        grade(cur, [h.id for h in held])
        return []

    return leave(
        record_ids,
        Status.QUARANTINED,
        frozenset({Status.ACTIVE}),
        "record.held",
        note or str(reason),
        access=access,
        version=version,
        versions=versions,
        now=now,
        after=note_findings,
        hold_reason=str(reason),
        details=details,
    )


@retried
def release_held(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    operation_id: UUID | None = None,
    versions: Mapping[UUID, int] | None = None,
    now: datetime | None = None,
) -> Acted:
    """Take back what a rescan held: each record is in service again, reconciled as of now.

    No approval: the next rescan that finds the same holds it again. What was
    decided or changed since, or is stored anew, is skipped.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(record_ids))
    details = {"operation": str(operation_id)} if operation_id else {}
    with acting(access) as cur:
        found = lock(cur, wanted, access.workspace_id)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        coming: list[Held] = []
        for held in found.values():
            if held.status is not Status.QUARANTINED or held.hold_reason != HoldReason.RESCAN:
                acted.skipped.append((held.id, f"is {held.status}, not held by a rescan"))
            elif versions is not None and versions.get(held.id) != held.version:
                acted.skipped.append((held.id, "has changed since"))
            else:
                coming.append(held)
        if not coming:
            return acted
        placed = readmit(
            cur, coming, access, now, action="record.restored", reason=reason, details=details
        )
        cur.execute(
            "UPDATE memory_record SET hold_reason = '' WHERE id = ANY(%s)", [placed.changed]
        )
        signals.touch(cur, placed.changed, now)
        acted.changed += placed.changed
        acted.skipped += placed.skipped
        acted.superseded += placed.superseded
        return acted


@retried
def reopen(record_id: UUID, reason: str, *, access: Access, now: datetime | None = None) -> Acted:
    """Undo a person's decision: an approved or rejected record is held again.

    What an approval had displaced is live again; what a rejection had fenced
    is not fenced any more. Raises ``Conflict`` when the record has moved on
    since (superseded, evicted ...) or was never decided by a person.
    """
    now = now or datetime.now(UTC)
    with acting(access) as cur:
        found = lock(cur, with_predecessors(cur, [record_id]), access.workspace_id)
        held = the_one(found, record_id, None)
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
        if (held.partition_id, held.fingerprint) in taken_fingerprints(cur, [held]):
            raise Conflict("the same fact is stored anew")
        if held.status is Status.REJECTED:
            cur.execute(
                "UPDATE fence SET lifted_at = %s, lifted_by = %s WHERE record_id = %s AND lifted_at IS NULL",
                [now, str(access.actor), held.id],
            )
        set_status(cur, [held.id], Status.QUARANTINED, now, hold_reason=hold_reason)
        stood_at = (held.override or {}).get("order_at")
        cur.execute(
            """UPDATE memory_record SET serve_after = NULL, override = NULL,
                   order_at = coalesce(%s::timestamptz, order_at) WHERE id = %s""",
            [stood_at, held.id],
        )
        grade(cur, [held.id])
        restored = restore_predecessors(cur, [held], now)
        cur.execute(
            "UPDATE memory_record SET superseded_by = NULL, superseded_at = NULL WHERE id = %s",
            [held.id],
        )
        acted.restored = [one for one, _ in restored]
        acted.changed = [held.id]
        signals.touch(cur, [held.id], now)
        events.append(
            [
                moved("record.reopened", held, reason),
                *restorations(restored, "what displaced it was reopened"),
                *recheck_dependents(cur, acted.restored, access, now),
            ],
            access=access,
        )
        return acted


def _turn_away(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime, reason: str
) -> Restored:
    """Fence what was rejected; its sessions look different now."""
    signals.touch(cur, [h.id for h in held], now)
    return fence_and_restore(cur, held, access, now, reason)
