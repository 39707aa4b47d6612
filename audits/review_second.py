"""High-risk facts that two people let in: the request, the second yes, the way back to the queue.

Applies where the workspace's setting says so (``thresholds``). The item sleeps
while a second person is asked; a no, or no answer, wakes it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from audits import approvals, thresholds
from audits.domain.review import ACTIVATION_DELAY, Verb
from audits.models import Approval, ReviewItem
from records import curate
from records.access import Access
from records.domain.risk import Risk
from records.items import Conflict
from records.models import MemoryRecord
from records.scope import workspace_scope

KIND = "high_risk_approval"
ALONE = "a high-risk fact needs a second person here: approve it in the queue, which asks one"
LETTING_IN = frozenset({Verb.APPROVE, Verb.SUPERSEDE, Verb.EDIT})


def applies(record: MemoryRecord, verb: Verb) -> bool:
    """Say whether letting this record in takes a second person. Inside a workspace scope."""
    return (
        verb in LETTING_IN
        and record.risk >= Risk.HIGH
        and thresholds.load(record.workspace_id).high_risk
    )


def forbid_alone(record_id: UUID, *, access: Access) -> None:
    """Raise Conflict where approving a record outside the queue would go round the second person."""
    with workspace_scope(access.workspace_id):
        record = MemoryRecord.objects.filter(workspace_id=access.workspace_id, id=record_id).first()
        if record is not None and applies(record, Verb.APPROVE):
            raise Conflict(ALONE)


def ask(
    record: MemoryRecord,
    *,
    verb: Verb,
    valid_until: datetime | None,
    reason: str,
    access: Access,
    user_id: UUID,
    now: datetime,
) -> dict[str, Any]:
    """Ask a second person to let a record in; it leaves the queue until the answer."""
    asked = approvals.ask(
        KIND,
        target_kind="record",
        target_id=record.id,
        summary=f"{verb.value.capitalize()} a high-risk fact",
        payload={
            "verb": str(verb),
            "version": record.version,
            "valid_until": valid_until.isoformat() if valid_until else None,
        },
        reason=reason[: approvals.REASON_LIMIT],
        access=access,
        user_id=user_id,
        now=now,
    )
    ReviewItem.objects.filter(record_id=record.id).update(
        snoozed_until=asked.expires_at, snoozed_at=now, snoozed_by=str(access.actor)
    )
    return {"asked": str(asked.id)}


def take_back(asked: str, *, access: Access, now: datetime) -> bool:
    """Withdraw a request that waits; False when it was approved, so that there is more to undo."""
    approval = approvals.load(UUID(asked), workspace_id=access.workspace_id)
    if approval.state == "waiting":
        approvals.withdraw(approval.id, access=access, now=now)
        return True
    if approval.state == "approved":
        return False
    raise Conflict(f"the request was {approval.state}; it is held again already")


def _perform(approval: Approval, access: Access) -> None:
    """Let the record in, as it was when it was asked."""
    assert approval.target_id is not None
    until = approval.payload.get("valid_until")
    acted = curate.approve(
        approval.target_id,
        access=access,
        version=approval.payload["version"],
        reason=approval.reason,
        valid_until=datetime.fromisoformat(until) if until else None,
        activation_delay=ACTIVATION_DELAY,
        as_current=approval.payload["verb"] == Verb.SUPERSEDE,
        now=approval.decided_at,
    )
    if not acted.changed:
        raise Conflict("; ".join(why for _, why in acted.skipped) or "the record has moved on")
    _wake(approval)


def _refused(approval: Approval, access: Access) -> None:
    _wake(approval)


def _wake(approval: Approval) -> None:
    assert approval.target_id is not None
    ReviewItem.objects.filter(record_id=approval.target_id).update(
        snoozed_until=None, snoozed_until_served=False, snoozed_at=None, snoozed_by=""
    )


approvals.register(KIND, "High-risk fact", _perform, refuse=_refused)
