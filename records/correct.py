"""Corrections: a wrong fact becomes a tombstone that links to the right one.

Owns the order: the right fact goes in by the one way in, through the gate like
any other; only when it is live is the wrong one retracted. A correction that
is held leaves the old fact in service until a person has decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from records import curate
from records.access import Access
from records.domain.facts import Status
from records.items import BadRequest, Conflict, FieldError, NotFound, Refused, WriteItem, Written
from records.models import MemoryRecord, Partition
from records.scope import partition_scope, retried, workspace_scope
from records.write import write_fact


@dataclass(frozen=True, slots=True)
class Correction:
    """The new fact as written, and whether the old one became a tombstone."""

    written: Written
    retracted: bool


@retried
def correct(
    record_id: UUID,
    *,
    value: str,
    access: Access,
    content: str | None = None,
    session: str | None = None,
    reason: str = "",
    evidence: str = "",
    confidence: float | None = None,
    version: int | None = None,
    now: datetime | None = None,
) -> Correction:
    """Replace what a record says by ``value``: the old is retracted, fenced and linked.

    Raises ``NotFound`` for a record out of reach, ``Conflict`` for one that is
    gone already or has moved on from ``version``, ``BadRequest`` when the value is malformed or says the same.
    One transaction.
    """
    now = now or datetime.now(UTC)
    old, partition = _find(record_id, access)
    partition_id = access.partition_id(partition)
    with partition_scope(access.workspace_id, [partition_id]):
        if version is not None and old.version != version:
            raise Conflict(f"the record is at version {old.version}, not {version}")
        if old.status not in (Status.ACTIVE, Status.SUPERSEDED, Status.QUARANTINED):
            raise Conflict(f"the record is {old.status}")
        item = WriteItem(
            partition=partition,
            subject=old.subject,
            predicate=old.predicate,
            value=value,
            content=content,
            session=session,
            evidence=evidence,
            # The word of whoever corrects weighs at least as much as what it corrects.
            confidence=max(old.confidence, confidence or 0.0),
            tags=tuple(old.tags),
            **_times(old),
        )
        written = write_fact(item, access=access, now=now)
        if isinstance(written, Refused):
            raise BadRequest(*written.errors)
        if written.id == old.id:
            raise BadRequest(FieldError("value", "says the same as the record", "same"))
        # What mends a past fact is past as well, and leaves the present as it is.
        in_service = {Status.ACTIVE, old.status} - {Status.QUARANTINED}
        if written.status not in in_service or written.id is None:
            return Correction(written, retracted=False)
        narrowed = replace(access, partition=partition)
        acted = curate.retract([old.id], reason or "corrected", access=narrowed, now=now)
        MemoryRecord.objects.filter(id=old.id, status=Status.RETRACTED).update(
            superseded_by=written.id, superseded_at=now
        )
        return Correction(written, retracted=bool(acted.changed))


def _times(old: MemoryRecord) -> dict[str, Any]:
    """Return the times that a correction of a past fact takes over: it was true when that was."""
    if old.status != Status.SUPERSEDED:
        return {}
    return {
        "written_at": old.written_at,
        "observed_at": old.observed_at,
        "valid_from": old.valid_from,
        "valid_until": old.valid_until if old.valid_until_given else None,
    }


def _find(record_id: UUID, access: Access) -> tuple[MemoryRecord, str]:
    """Return the record and its partition's name, if this access reaches it."""
    if access.partition is not None:
        scope = partition_scope(access.workspace_id, [access.partition_id(access.partition)])
    else:
        scope = workspace_scope(access.workspace_id)
    with scope:
        old = MemoryRecord.objects.filter(id=record_id).first()
        if old is None:
            raise NotFound("record")
        return old, Partition.objects.values_list("name", flat=True).get(id=old.partition_id)
