"""Running operations: the one job that takes them in turn, batch after batch.

Owns the moves from ``queued`` to the receipt. Before the first batch the frozen
targets are compared with what the scope selects now: any difference stops the
operation with nothing changed. Each batch is one transaction of work, outcomes,
counts and heartbeat, so that a killed worker's operation goes on exactly where
it stopped. What one batch does is ``acting.py``'s.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import psycopg
from django.db import InterfaceError, OperationalError

from audits.domain.operations import GOING, Kind, State, needs_second
from audits.jobs import OPERATIONS
from audits.models import Approval, Operation
from audits.operations import probing
from audits.operations.acting import Batch, Frozen, act
from audits.operations.previewing import happening
from audits.operations.reading import acted_of, asked, drift, load
from audits.operations.receipts import begin, finish
from audits.operations.submitting import settings_of
from records import events, queries
from records.access import Access, Actor, ActorKind
from records.jobs import runs
from records.jobs.runs import LostRunError, Run, describe
from records.scope import retried, workspace_scope

logger = logging.getLogger(__name__)

BATCH = 1_000
START = UUID(int=0)

NEXT = """SELECT id FROM operation WHERE workspace_id = %s AND state = ANY(%s)
ORDER BY state = 'running' DESC, requested_at, id LIMIT 1"""
TARGETS = """SELECT record_id, version FROM operation_target
WHERE operation_id = %s AND is_ticked AND outcome = '' AND grp = ANY(%s) AND record_id > %s
ORDER BY record_id LIMIT %s"""
OUTCOMES = """UPDATE operation_target t SET outcome = u.outcome, why = u.why
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS u (id, outcome, why)
WHERE t.operation_id = %s AND t.record_id = u.id"""
COUNTS = """UPDATE operation SET changed = changed + %(changed)s, restored = restored + %(restored)s,
    dropped_claims = dropped_claims + %(dropped_claims)s,
    restored_claims = restored_claims + %(restored_claims)s, skipped = skipped + %(skipped)s,
    failed = failed + %(failed)s,
    receipt = receipt || jsonb_build_object('superseded',
        coalesce((receipt->>'superseded')::int, 0) + %(superseded)s)
WHERE id = %(id)s"""


def perform_waiting(workspace_id: UUID | None = None) -> None:
    """Run what waits in one workspace, or in each of them.

    A message that comes twice, or late, does no harm: a run is claimed once, and
    takes only what waits.
    """
    for one in [workspace_id] if workspace_id else runs.workspaces():
        # Looked at again after each run: what was queued while the last one ended is not left.
        # A run that waits is ended even where nothing is left for it.
        while runs.perform(OPERATIONS, one, run_operations, begin=_is_waiting(one)) is not None:
            if not _is_waiting(one):
                break


def run_operations(run: Run, now: datetime) -> None:
    """Take a workspace's operations in turn, the one that was under way first."""
    while (operation_id := _next(run)) is not None:
        try:
            _run(run, operation_id)
        except (LostRunError, OperationalError, InterfaceError, psycopg.OperationalError):
            raise  # another worker has it, or the database is away: it goes on later
        except Exception as error:
            logger.exception("Operation %s failed", operation_id)
            _fail(run, operation_id, error)


def _is_waiting(workspace_id: UUID) -> bool:
    with workspace_scope(workspace_id):
        return Operation.objects.filter(workspace_id=workspace_id, state__in=GOING).exists()


def _next(run: Run) -> UUID | None:
    assert run.workspace_id is not None
    with workspace_scope(run.workspace_id), queries.cursor() as cur:
        cur.execute(NEXT, [run.workspace_id, list(GOING)])
        row = cur.fetchone()
    return row[0] if row else None


def _run(run: Run, operation_id: UUID) -> None:
    operation = _begin(run, operation_id)
    if operation is None:
        return
    probes = probing.sample(operation)
    access = access_of(operation)
    while (is_more := _step(run, operation, access)) is True:
        pass
    state = State.DONE if is_more is False else State.CANCELLED
    with workspace_scope(operation.workspace_id):
        operation = load(operation_id, workspace_id=operation.workspace_id)
    found = (
        probing.residue(operation, probes, access=access)
        if operation.kind in (Kind.EVICT, Kind.ERASE)
        else None
    )
    with run.step():
        finish(operation.id, state, found, access=access, now=datetime.now(UTC))
        run.count(operations=1)
        _forget_place(run)


def access_of(operation: Operation) -> Access:
    """Return the access under which an operation acts: that of the person who asked for it."""
    actor = operation.options.get("actor", {})
    return Access(
        operation.workspace_id,
        Actor(
            ActorKind(actor.get("kind", ActorKind.JOB)),
            actor.get("name", operation.requested_by),
            actor.get("role", ""),
        ),
        request_id=actor.get("request", "") or str(operation.id),
    )


@retried
def _begin(run: Run, operation_id: UUID) -> Operation | None:
    """Start an operation, or find it started; None when it cannot run as it was previewed."""
    now = datetime.now(UTC)
    with run.step():
        assert run.workspace_id is not None
        operation = Operation.objects.select_for_update().get(
            id=operation_id, workspace_id=run.workspace_id
        )
        if operation.state not in GOING:
            return None  # cancelled at this moment
        if operation.state == State.RUNNING:
            return operation
        _check_agreement(operation)
        access = access_of(operation)
        if not operation.options.get("resumed"):
            moved = drift(operation, workspace_id=operation.workspace_id)
            if moved:
                operation.state = State.DRIFTED
                operation.finished_at = now
                operation.receipt = {
                    "drift": {
                        "added": moved.added,
                        "removed": moved.removed,
                        "changed": moved.changed,
                        "sample": [{**one, "id": str(one["id"])} for one in moved.sample],
                    }
                }
                operation.save(update_fields=["state", "finished_at", "receipt"])
                told = operation.receipt["drift"]
                events.append(
                    [
                        happening(
                            "operation.drifted",
                            operation,
                            **{k: told[k] for k in ("added", "removed", "changed")},
                        )
                    ],
                    access=access,
                )
                return None
        begin(operation, access=access, now=now)
        return operation


def _check_agreement(operation: Operation) -> None:
    """Make sure once more that who had to agree did; the state alone is not taken for it."""
    if operation.approval_id is None:
        settings = settings_of(operation.workspace_id)
        if (why := needs_second(operation.kind, asked(operation), settings)) is not None:
            raise PermissionError(f"nobody has agreed to this operation, and {why}")
        return
    approval = Approval.objects.get(id=operation.approval_id, workspace_id=operation.workspace_id)
    if approval.state != "approved" or approval.payload.get("digest") != operation.digest:
        raise PermissionError("the second person has not agreed to this operation")


def _step(run: Run, operation: Operation, access: Access) -> bool | None:
    """Do the next batch; False when there is none, None when somebody has cancelled."""
    try:
        return _do_batch(run, operation, access)
    except (LostRunError, OperationalError, InterfaceError, psycopg.OperationalError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever one record does, its neighbours go on
        logger.warning(
            "A batch of operation %s failed (%s): looking for the record",
            operation.id,
            describe(error),
        )
    targets = _next_targets(run, operation)
    _halve(run, operation, targets, access)
    return True


@retried
def _do_batch(run: Run, operation: Operation, access: Access) -> bool | None:
    with run.step():
        if _is_cancelled(operation):
            return None
        targets = _read_targets(run, operation)
        if not targets:
            return False
        batch = act(operation, targets, access=access, now=datetime.now(UTC))
        _save(run, operation, batch, targets[-1][0])
        return True


@retried
def _do_some(run: Run, operation: Operation, targets: Sequence[Frozen], access: Access) -> None:
    with run.step():
        batch = act(operation, targets, access=access, now=datetime.now(UTC))
        _save(run, operation, batch, targets[-1][0])


def _halve(run: Run, operation: Operation, targets: Sequence[Frozen], access: Access) -> None:
    """Do a failing batch in ever smaller parts: the record at fault fails alone, by name."""
    if not targets:
        return
    try:
        _do_some(run, operation, targets, access)
    except (LostRunError, OperationalError, InterfaceError, psycopg.OperationalError):
        raise
    except Exception as error:  # noqa: BLE001 - as above; it is named in the receipt
        if len(targets) > 1:
            middle = len(targets) // 2
            _halve(run, operation, targets[:middle], access)
            _halve(run, operation, targets[middle:], access)
            return
        failed = Batch(outcomes=[(targets[0][0], "failed", describe(error))], failed=1)
        with run.step():
            _save(run, operation, failed, targets[0][0])


def _next_targets(run: Run, operation: Operation) -> list[Frozen]:
    with run.step():
        return _read_targets(run, operation)


def _read_targets(run: Run, operation: Operation) -> list[Frozen]:
    place = run.cursor.get("after") if run.cursor.get("operation") == str(operation.id) else None
    with queries.cursor() as cur:
        cur.execute(
            TARGETS,
            [operation.id, list(acted_of(operation)), UUID(place) if place else START, BATCH],
        )
        return [(row[0], row[1]) for row in cur.fetchall()]


def _is_cancelled(operation: Operation) -> bool:
    asked = Operation.objects.values_list("cancel_asked_at", flat=True).get(
        id=operation.id, workspace_id=operation.workspace_id
    )
    return asked is not None


def _save(run: Run, operation: Operation, batch: Batch, last: UUID) -> None:
    """Save what became of a batch with the work itself: both or neither."""
    with queries.cursor() as cur:
        columns = [[one[i] for one in batch.outcomes] for i in range(3)]
        cur.execute(OUTCOMES, [*columns, operation.id])
        cur.execute(
            COUNTS,
            {
                "id": operation.id,
                "changed": batch.changed,
                "restored": batch.restored,
                "superseded": batch.superseded,
                "dropped_claims": batch.dropped_claims,
                "restored_claims": batch.restored_claims,
                "skipped": batch.skipped,
                "failed": batch.failed,
            },
        )
    run.cursor["operation"] = str(operation.id)
    run.cursor["after"] = str(last)
    run.count(changed=batch.changed, failed=batch.failed)


def _fail(run: Run, operation_id: UUID, error: Exception) -> None:
    """End an operation that cannot go on; what it did stands and is told."""
    assert run.workspace_id is not None
    with run.step():
        operation = Operation.objects.get(id=operation_id, workspace_id=run.workspace_id)
        operation.error = describe(error)
        operation.save(update_fields=["error"])
        finish(operation.id, State.FAILED, None, access=access_of(operation), now=datetime.now(UTC))
        _forget_place(run)


def _forget_place(run: Run) -> None:
    """Let the next operation, or this one when it is taken up again, begin at its first target."""
    run.cursor.pop("operation", None)
    run.cursor.pop("after", None)
