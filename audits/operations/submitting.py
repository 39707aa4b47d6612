"""From a preview to the queue: the reason, the count, the second person; cancel and retry.

Owns what must be true before an operation runs, and its first state changes.
What runs is ``running.py``'s; the second person's answer is
``audits/approvals.py``'s.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from audits import approvals
from audits.domain.operations import (
    GOING,
    RETRIABLE,
    State,
    needs_count,
    needs_second,
)
from audits.jobs import OPERATIONS
from audits.models import Approval, Operation
from audits.operations.previewing import check_incident, happening, lock_preview
from audits.operations.reading import acted_of, asked, load
from audits.operations.refusing import refuse
from records import events, queries
from records.access import Access
from records.items import Conflict
from records.models import Workspace
from records.scope import retried, workspace_scope
from records.tasks import queue

REASON_LIMIT = 1_000
NOTE_LIMIT = 2_000
APPROVAL = "operation"


@retried
def submit(
    operation_id: UUID,
    *,
    digest: str,
    reason: str,
    note: str = "",
    incident_id: UUID | None = None,
    typed_count: int | None = None,
    access: Access,
    user_id: UUID | None,
    now: datetime | None = None,
) -> Operation:
    """Let a preview run: queue it, or ask a second person where one must agree.

    Conflict: the preview is not the one that ``digest`` was shown for, or runs
    already. Refused: the reason, the count or a target is missing.
    """
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        operation = lock_preview(operation_id, access=access)
        if operation.digest != digest:
            raise Conflict("the preview has changed since it was shown")
        total = asked(operation)
        _check(operation, total, reason, note, typed_count)
        if incident_id is not None:
            check_incident(incident_id, workspace_id=access.workspace_id)
        operation.reason = reason.strip()
        operation.note = note.strip()
        operation.incident_id = incident_id or operation.incident_id
        operation.requested_by = access.actor.name
        operation.requested_by_id = user_id
        operation.requested_at = now
        operation.options = {**operation.options, "actor": _actor(access), "asked": total}
        why = needs_second(operation.kind, total, settings_of(access.workspace_id))
        operation.state = State.QUEUED
        if why is not None:
            if user_id is None:
                raise refuse("user", f"a person must ask for this: {why}")
            asked_for = approvals.ask(
                APPROVAL,
                target_kind="operation",
                target_id=operation.id,
                summary=f"{operation.title} ({total:,} facts)"[:500],
                payload={"digest": operation.digest, "total": total, "why": why},
                reason=operation.reason,
                access=access,
                user_id=user_id,
                now=now,
            )
            operation.state = State.WAITING
            operation.approval_id = asked_for.id
        operation.save()
        events.append(
            [happening("operation.requested", operation, asked=total, state=operation.state)],
            access=access,
        )
        if operation.state == State.QUEUED:
            wake_on_commit(access.workspace_id)
        return operation


@retried
def cancel(operation_id: UUID, *, access: Access, now: datetime | None = None) -> Operation:
    """Stop an operation: at once while it waits, after its batch while it runs.

    What was done stays done and is told by the receipt. Conflict: it has ended.
    """
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        operation = _lock(operation_id, access=access)
        if operation.state == State.WAITING:
            assert operation.approval_id is not None
            approvals.withdraw(operation.approval_id, access=access, now=now)
            operation.refresh_from_db()
        elif operation.state == State.QUEUED:
            _stop(operation, State.CANCELLED, access, now)
        elif operation.state == State.RUNNING:
            operation.cancel_asked_at = operation.cancel_asked_at or now
            operation.cancelled_by = operation.cancelled_by or access.actor.name
            operation.save(update_fields=["cancel_asked_at", "cancelled_by"])
        else:
            raise Conflict(f"the operation is {operation.state}")
        return operation


@retried
def retry(
    operation_id: UUID, *, access: Access, user_id: UUID | None, now: datetime | None = None
) -> Operation:
    """Go on with what failed or was not reached; what is done is not done again.

    Conflict: there is nothing left to do, or it was undone meanwhile.
    """
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        operation = _lock(operation_id, access=access)
        began = operation.started_at is not None
        if operation.state not in RETRIABLE or not (began or operation.state == State.FAILED):
            raise Conflict(f"the operation is {operation.state}")
        if Operation.objects.filter(
            workspace_id=access.workspace_id, undoes=operation.id, state__in=[*GOING, State.DONE]
        ).exists():
            raise Conflict("the operation has been taken back")
        with queries.cursor() as cur:
            cur.execute(
                """UPDATE operation_target SET outcome = '', why = ''
                   WHERE operation_id = %s AND outcome = 'failed'""",
                [operation.id],
            )
            cur.execute(
                """SELECT count(*) FROM operation_target
                   WHERE operation_id = %s AND is_ticked AND outcome = '' AND grp = ANY(%s)""",
                [operation.id, list(acted_of(operation))],
            )
            row = cur.fetchone()
        if row is None or not row[0]:
            raise Conflict("nothing is left to do")
        operation.state = State.QUEUED
        operation.failed = 0
        operation.error = ""
        operation.finished_at = None
        operation.cancel_asked_at = None
        operation.cancelled_by = ""
        operation.options = {**operation.options, "resumed": began}
        operation.save()
        events.append(
            [happening("operation.requested", operation, asked=row[0], retried=True)],
            access=access,
        )
        wake_on_commit(access.workspace_id)
        return operation


def settings_of(workspace_id: UUID) -> dict[str, Any]:
    """Return the workspace's settings; inside its scope."""
    found: dict[str, Any] = Workspace.objects.values_list("settings", flat=True).get(
        id=workspace_id
    )
    return found


def wake_on_commit(workspace_id: UUID) -> None:
    """Send a worker to the workspace's queue when the transaction commits; the beat also looks."""
    transaction.on_commit(partial(queue, OPERATIONS, workspace_id))


def _check(
    operation: Operation, total: int, reason: str, note: str, typed_count: int | None
) -> None:
    if total == 0:
        raise refuse("scope", "has nothing to change")
    if not reason.strip():
        raise refuse("reason", "must be given")
    if len(reason) > REASON_LIMIT:
        raise refuse(
            "reason", f"may have at most {REASON_LIMIT:,} characters", "length", REASON_LIMIT
        )
    if len(note) > NOTE_LIMIT:
        raise refuse("note", f"may have at most {NOTE_LIMIT:,} characters", "length", NOTE_LIMIT)
    if needs_count(operation.kind, total) and typed_count != total:
        raise refuse("typed_count", "must be the number of facts that will change", "count")


def _lock(operation_id: UUID, *, access: Access) -> Operation:
    load(operation_id, workspace_id=access.workspace_id)
    return Operation.objects.select_for_update().get(
        id=operation_id, workspace_id=access.workspace_id
    )


def _actor(access: Access) -> dict[str, str]:
    """Return who asked, as the events of the run will name them."""
    return {
        "kind": str(access.actor.kind),
        "name": access.actor.name,
        "role": access.actor.role,
        "request": access.request_id,
    }


def _stop(operation: Operation, state: str, access: Access, now: datetime) -> None:
    """End an operation that has not begun."""
    operation.state = state
    operation.finished_at = now
    operation.cancelled_by = access.actor.name if state == State.CANCELLED else ""
    operation.save(update_fields=["state", "finished_at", "cancelled_by"])
    if state == State.CANCELLED:
        events.append([happening("operation.cancelled", operation)], access=access)


def _agreed(approval: Approval, access: Access) -> None:
    """Queue the operation that a second person has agreed to."""
    operation = _of(approval)
    if operation.state != State.WAITING or operation.digest != approval.payload.get("digest"):
        raise Conflict(f"the operation is {operation.state}")
    operation.state = State.QUEUED
    operation.save(update_fields=["state"])
    wake_on_commit(approval.workspace_id)


def _not_agreed(approval: Approval, access: Access) -> None:
    """End the operation that nobody has agreed to."""
    operation = _of(approval)
    if operation.state == State.WAITING:
        state = State.CANCELLED if approval.state == "withdrawn" else State(approval.state)
        _stop(operation, state, access, approval.decided_at or datetime.now(UTC))


def _of(approval: Approval) -> Operation:
    assert approval.target_id is not None
    return Operation.objects.select_for_update().get(
        id=approval.target_id, workspace_id=approval.workspace_id
    )


approvals.register(APPROVAL, "Bulk operation", _agreed, _not_agreed)
