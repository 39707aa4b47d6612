"""Receipts: what an operation did, in numbers that add up, and where the trail says so.

Owns the first and the last word of a run. Called inside the run's step.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.operations import Kind, State, undo_lasts
from audits.models import Incident, Operation
from audits.operations import probing
from audits.operations.previewing import happening
from audits.operations.reading import acted_of, reasons
from audits.operations.scoping import choose_for
from audits.queries.rows import fetch
from records import events, policies
from records.access import Access
from records.domain import canonical
from records.models import Workspace

DEPENDENTS_READ = 10_000  # facts whose dependents are looked up for the receipt

OF_THIS_TRANSACTION = """SELECT min(id) AS first, max(id) AS last FROM event
WHERE workspace_id = %(workspace)s AND transaction = pg_current_xact_id()"""

ARRIVED = """SELECT count(*) AS n FROM ({rows}) AS today
WHERE today.grp = ANY(%(acted)s) AND NOT EXISTS (
    SELECT 1 FROM operation_target t WHERE t.operation_id = %(operation)s AND t.record_id = today.id)"""

# One by one: with the statistics of before a large eviction the planner would join the whole tables.
STANDING = """SELECT coalesce(sum(around.n), 0) AS n FROM operation_target t CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM fence f WHERE f.record_id = t.record_id AND f.lifted_at IS NULL) AS around
WHERE t.operation_id = %(operation)s AND t.workspace_id = %(workspace)s
  AND t.outcome IN ('evicted', 'erased')"""
TRIED = """SELECT coalesce(sum(f.attempts), 0) AS attempts, max(f.last_attempt_at) AS last_attempt_at
FROM fence f WHERE f.workspace_id = %(workspace)s AND f.attempts > 0 AND f.record_id IS NOT NULL
  AND f.last_attempt_at >= %(since)s AND f.created_at >= %(since)s AND (
    SELECT t.outcome FROM operation_target t
    WHERE t.operation_id = %(operation)s AND t.record_id = f.record_id) IN ('evicted', 'erased')"""
COUNTED_LIVE = 2_000  # targets up to which standing fences are counted each time they are shown


def begin(operation: Operation, *, access: Access, now: datetime) -> None:
    """Set an operation going."""
    is_first = operation.started_at is None
    operation.state = State.RUNNING
    operation.started_at = operation.started_at or now
    events.append([happening("operation.started", operation)], access=access)
    if is_first:
        operation.first_event = _own_events(operation)[0]
    operation.save(update_fields=["state", "started_at", "first_event"])


def finish(
    operation_id: UUID,
    state: State,
    residue: dict[str, Any] | None,
    *,
    access: Access,
    now: datetime,
) -> None:
    """End an operation: its receipt, its events, how long it can be undone."""
    operation = Operation.objects.select_for_update().get(
        id=operation_id, workspace_id=access.workspace_id
    )
    told = reasons(operation.id, workspace_id=access.workspace_id)
    receipt: dict[str, Any] = {
        **operation.receipt,
        "digest": operation.digest,
        "outcomes": [[one["outcome"], one["why"], one["count"]] for one in told],
        "asked": operation.options.get("asked", 0),
        "done": sum(one["count"] for one in told),
    }
    if residue is not None:
        receipt["residue"] = residue
        receipt["residue_total"] = probing.total(residue)
        receipt["arrived"] = _arrived(operation)
        receipt["fences"] = _standing(operation)
        receipt["derived"] = len(derived_of(operation))
    operation.receipt = receipt
    operation.state = state
    operation.finished_at = now
    if operation.kind in (Kind.EVICT, Kind.HOLD) and operation.changed + operation.dropped_claims:
        operation.undo_until = now + undo_lasts(_settings(access.workspace_id))
    action = {
        State.CANCELLED: "operation.cancelled",
        State.DONE: "operation.finished",
    }.get(state, "operation.failed")
    events.append(
        [
            happening(
                action,
                operation,
                changed=operation.changed,
                restored=operation.restored,
                dropped_claims=operation.dropped_claims,
                restored_claims=operation.restored_claims,
                skipped=operation.skipped,
                failed=operation.failed,
                residue=receipt.get("residue_total", 0),
            )
        ],
        access=access,
    )
    operation.last_event = _own_events(operation)[1]
    receipt["events"] = [operation.first_event, operation.last_event]
    operation.save()
    if operation.kind == Kind.EVICT and operation.incident_id is not None and operation.changed:
        Incident.objects.filter(
            id=operation.incident_id, workspace_id=access.workspace_id, evicted_at=None
        ).update(evicted_at=now)


def describe_receipt(operation: Operation) -> dict[str, Any]:
    """Return the whole receipt as data: what was asked, by whom, what was done, what is left.

    Fence attempts are counted at this moment. Inside a workspace scope.
    """
    fences = fences_of(operation)
    return {
        "operation": operation.id,
        "kind": operation.kind,
        "title": operation.title,
        "state": operation.state,
        "scope": operation.scope,
        "options": {k: operation.options.get(k) for k in ("shared", "with_held")},
        "digest": operation.digest,
        "groups": operation.groups,
        "total": operation.total,
        "reason": operation.reason,
        "note": operation.note,
        "incident": operation.incident_id,
        "undoes": operation.undoes,
        "requested_by": operation.requested_by,
        "requested_at": operation.requested_at,
        "started_at": operation.started_at,
        "finished_at": operation.finished_at,
        "undo_until": operation.undo_until,
        "changed": operation.changed,
        "restored": operation.restored,
        "dropped_claims": operation.dropped_claims,
        "restored_claims": operation.restored_claims,
        "skipped": operation.skipped,
        "failed": operation.failed,
        **operation.receipt,
        "fence_attempts": int(fences["attempts"]),
        "last_fence_attempt_at": fences["last_attempt_at"],
    }


def fences_of(operation: Operation) -> dict[str, Any]:
    """Return the standing fences around what was taken out, and how often they were tried by now.

    Of a large operation the fences are those its receipt counted, none once it is undone.
    Inside a workspace scope.
    """
    if operation.started_at is None or operation.kind not in (Kind.EVICT, Kind.ERASE):
        return {"standing": 0, "attempts": 0, "last_attempt_at": None}
    values = {
        "operation": operation.id,
        "workspace": operation.workspace_id,
        "since": operation.started_at,
    }
    (tried,) = fetch(TRIED, values)
    if operation.total > COUNTED_LIVE and "fences" in operation.receipt:
        undone = Operation.objects.filter(
            workspace_id=operation.workspace_id, undoes=operation.id, state=State.DONE
        )
        return {"standing": 0 if undone.exists() else operation.receipt["fences"], **tried}
    return {"standing": _standing(operation), **tried}


def _standing(operation: Operation) -> int:
    (row,) = fetch(STANDING, {"operation": operation.id, "workspace": operation.workspace_id})
    return int(row["n"])


def derived_of(operation: Operation) -> list[UUID]:
    """Return the live records that policies say depend on what was taken out. Inside a scope."""
    book = policies.book(operation.workspace_id)
    rows = fetch(
        """SELECT DISTINCT r.partition_id, r.subject_key, r.predicate
           FROM operation_target t JOIN memory_record r ON r.id = t.record_id
           WHERE t.operation_id = %(operation)s AND t.outcome = 'evicted' AND r.predicate = ANY(%(leading)s)
           LIMIT %(most)s""",
        {
            "operation": operation.id,
            "leading": _leading(operation.workspace_id),
            "most": DEPENDENTS_READ,
        },
    )
    slots = {
        canonical.slot_id(operation.workspace_id, row["partition_id"], row["subject_key"], one)
        for row in rows
        for one in book.resolve(row["predicate"]).dependents
    }
    if not slots:
        return []
    found = fetch(
        """SELECT id FROM memory_record WHERE slot_id = ANY(%(slots)s) AND status = 'active'
             AND workspace_id = %(workspace)s ORDER BY id""",
        {"slots": list(slots), "workspace": operation.workspace_id},
    )
    return [row["id"] for row in found]


def _leading(workspace_id: UUID) -> list[str]:
    """Return the predicates on which others depend."""
    rows = fetch(
        """SELECT predicate FROM predicate_policy WHERE workspace_id = %(workspace)s
             AND retired_at IS NULL AND cardinality(dependents) > 0""",
        {"workspace": workspace_id},
    )
    return [row["predicate"] for row in rows]


def _arrived(operation: Operation) -> int:
    """Count what has come into the scope since the preview and was not touched."""
    chosen = choose_for(operation)
    (row,) = fetch(
        ARRIVED.format(rows=chosen.rows),
        {**chosen.values, "operation": operation.id, "acted": list(acted_of(operation))},
    )
    return int(row["n"])


def _own_events(operation: Operation) -> tuple[int, int]:
    """Return the ids of the first and the last event of the transaction at hand."""
    (row,) = fetch(OF_THIS_TRANSACTION, {"workspace": operation.workspace_id})
    return row["first"], row["last"]


def _settings(workspace_id: UUID) -> dict[str, Any]:
    found: dict[str, Any] = Workspace.objects.values_list("settings", flat=True).get(
        id=workspace_id
    )
    return found
