"""Previews: exactly which facts an operation would change, frozen, counted and digested.

Owns making, ticking and tidying them. What is frozen here is what runs, or
nothing does: ``running.py`` compares. Read ``scoping.py`` for what a scope
selects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from audits.domain.operations import (
    GROUPS_OF,
    OPEN,
    RETRIABLE,
    TARGETS_LIMIT,
    Kind,
    State,
)
from audits.domain.scope import Scope, Shared, WrongScope
from audits.models import Incident, Operation
from audits.operations.naming import describe
from audits.operations.reading import acted_of, load
from audits.operations.refusing import refuse
from audits.operations.scoping import Chosen, choose, choose_undo, entries_of
from audits.queries.rows import fetch
from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import Conflict, NotFound
from records.jobs.runs import Run
from records.queries import Row, cursor
from records.scope import retried, workspace_scope

KEPT = timedelta(days=1)  # how long a preview that nobody ran is kept
TIDIED = 5_000  # targets deleted in one step

FREEZE = """INSERT INTO operation_target (operation_id, record_id, workspace_id, partition_id, version, grp)
SELECT %(operation)s, id, %(workspace)s, partition_id, version, grp FROM ({rows}) AS chosen
ORDER BY id LIMIT %(most)s"""

# Ids, versions, groups and ticks in the order of ids: what was shown, in 32 characters.
DIGEST = """WITH counted AS (
    SELECT grp, count(*) AS n, count(*) FILTER (WHERE is_ticked) AS ticked FROM operation_target
    WHERE operation_id = %(operation)s GROUP BY grp)
SELECT coalesce((SELECT jsonb_object_agg(grp, n) FROM counted), '{}'),
    coalesce((SELECT jsonb_object_agg(grp, ticked) FROM counted), '{}'),
    (SELECT left(encode(sha256(convert_to(coalesce(string_agg(
        record_id::text || ':' || version || ':' || grp || ':' || is_ticked, ';' ORDER BY record_id), ''),
        'UTF8')), 'hex'), 32) FROM operation_target WHERE operation_id = %(operation)s)"""

# Good facts that come back: what the targets had displaced, where nothing newer stands. As
# ``records.curate.placing`` does it, foreseen: through the chain, past all that leaves with it.
DISPLACED = """WITH RECURSIVE going AS MATERIALIZED (
    SELECT record_id AS id FROM operation_target
    WHERE operation_id = %(operation)s AND is_ticked AND grp = ANY(%(leaving)s)),
walk (id, at) AS (
    SELECT r.id, g.id FROM going g JOIN memory_record r ON r.superseded_by = g.id
    WHERE r.status = 'superseded' AND r.id NOT IN (SELECT id FROM going)
    UNION
    SELECT w.id, out.superseded_by FROM walk w JOIN memory_record out ON out.id = w.at
    WHERE out.superseded_by IS NOT NULL AND (out.id IN (SELECT id FROM going)
        OR out.status IN ('evicted', 'quarantined', 'rejected'))),
candidate AS (
    SELECT DISTINCT ON (CASE WHEN r.cardinality = 'one' THEN r.slot_id ELSE r.id END)
        r.id, r.slot_id, r.cardinality, r.partition_id, r.fingerprint
    FROM walk w JOIN memory_record r ON r.id = w.id JOIN memory_record last ON last.id = w.at
    WHERE last.superseded_by IS NULL AND last.id IN (SELECT id FROM going)
    ORDER BY CASE WHEN r.cardinality = 'one' THEN r.slot_id ELSE r.id END, r.order_at DESC, r.id DESC)
SELECT c.id FROM candidate c
WHERE NOT (c.cardinality = 'one' AND EXISTS (
        SELECT 1 FROM memory_record o WHERE o.slot_id = c.slot_id AND o.status = 'active'
          AND o.cardinality = 'one' AND o.id NOT IN (SELECT id FROM going)))
  AND NOT EXISTS (
        SELECT 1 FROM memory_record o WHERE o.partition_id = c.partition_id
          AND o.fingerprint = c.fingerprint AND o.status IN ('active', 'quarantined')
          AND o.id NOT IN (SELECT id FROM going))"""
DISPLACED_SHOWN = 200  # that the preview lists; all are counted


@retried
def preview(
    kind: str,
    scope: Scope,
    *,
    access: Access,
    user_id: UUID | None,
    shared: Shared = Shared.DROP,
    with_held: bool = False,
    incident_id: UUID | None = None,
    now: datetime | None = None,
) -> Operation:
    """Freeze what evicting or erasing a scope would do now, and return it as an operation.

    ``with_held`` lets an eviction take out what is on legal hold, too: its
    content stays. Refused: the scope names nothing, or more than
    ``TARGETS_LIMIT`` facts.
    """
    if access.partition is not None:
        raise NotFound("operation")  # a key of one partition does not reach a workspace's acts
    if kind not in (Kind.EVICT, Kind.ERASE, Kind.HOLD):
        raise refuse("kind", "must be evict, erase or hold", "choice")
    if kind == Kind.HOLD and scope.scan_id is None:
        raise refuse("scan_id", "must be given: what is held is what a scan found")
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id), cursor() as cur:
        try:
            entries = entries_of(scope, workspace_id=access.workspace_id)
            chosen = choose(kind, scope, workspace_id=access.workspace_id, entries=entries)
        except WrongScope as error:
            raise refuse(error.field, error.problem, "invalid") from error
        if incident_id is not None:
            check_incident(incident_id, workspace_id=access.workspace_id)
        operation = Operation(
            kind=kind,
            title=describe(kind, scope, workspace_id=access.workspace_id),
            scope=scope.as_json(),
            options={"shared": str(shared), "with_held": with_held, "entries": entries},
            incident_id=incident_id or scope.incident_id,
        )
        return _freeze(cur, operation, chosen, access, user_id, now)


@retried
def preview_undo(
    operation_id: UUID, *, access: Access, user_id: UUID | None, now: datetime | None = None
) -> Operation:
    """Freeze what taking an eviction or a hold back would do now: a ``restore``.

    Conflict: there is nothing to take back, its time is over, or an undo is under way.
    """
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id), cursor() as cur:
        undone = load(operation_id, workspace_id=access.workspace_id)
        if undone.kind not in (Kind.EVICT, Kind.HOLD):
            raise Conflict(
                "what was erased cannot come back"
                if undone.kind == Kind.ERASE
                else "an undo is not undone; evict again instead"
            )
        if undone.state not in RETRIABLE or undone.changed + undone.dropped_claims == 0:
            raise Conflict(f"the operation is {undone.state} and there is nothing to take back")
        if undone.undo_until is not None and undone.undo_until <= now:
            raise Conflict(f"it could be undone until {undone.undo_until:%d %B %Y}")
        under_way = Operation.objects.filter(
            workspace_id=access.workspace_id, undoes=undone.id, state__in=OPEN
        )
        if under_way.exists():
            raise Conflict("an undo of this operation is under way")
        operation = Operation(
            kind=Kind.RESTORE,
            title=f"Undo: {undone.title}"[:500],
            scope=undone.scope,  # what it was about; its targets are what the first one changed
            options={"shared": str(Shared.DROP), "of": undone.kind},
            incident_id=undone.incident_id,
            undoes=undone.id,
        )
        chosen = choose_undo(undone.id, workspace_id=access.workspace_id)
        return _freeze(cur, operation, chosen, access, user_id, now)


@retried
def tick(operation_id: UUID, *, untick: Collection[UUID], access: Access) -> Operation:
    """Leave out exactly these targets of a preview, and no others; the digest is a new one.

    Conflict: it is no preview any more. Refused: a target that is not in it.
    """
    with workspace_scope(access.workspace_id), cursor() as cur:
        operation = lock_preview(operation_id, access=access)
        left = list(set(untick))
        cur.execute(
            "SELECT count(*) FROM operation_target WHERE operation_id = %s AND record_id = ANY(%s)",
            [operation.id, left],
        )
        row = cur.fetchone()
        if row is None or row[0] != len(left):
            raise refuse("untick", "names a fact that the preview does not have", "unknown")
        cur.execute(
            """UPDATE operation_target SET is_ticked = NOT is_ticked
               WHERE operation_id = %s AND is_ticked = (record_id = ANY(%s))""",
            [operation.id, left],
        )
        _count(cur, operation)
        operation.save(update_fields=["groups", "options", "digest", "total"])
        return operation


def check_incident(incident_id: UUID, *, workspace_id: UUID) -> None:
    """Refuse an incident that is not of this workspace."""
    if not Incident.objects.filter(id=incident_id, workspace_id=workspace_id).exists():
        raise refuse("incident_id", "names no incident of this workspace", "unknown")


def lock_preview(operation_id: UUID, *, access: Access) -> Operation:
    """Return a preview, locked until the transaction ends. Conflict: it is none any more."""
    load(operation_id, workspace_id=access.workspace_id)
    operation = Operation.objects.select_for_update().get(
        id=operation_id, workspace_id=access.workspace_id
    )
    if operation.state != State.PREVIEW:
        raise Conflict(f"the operation is {operation.state}, no preview any more")
    return operation


def list_displaced(operation: Operation) -> list[dict[str, Any]]:
    """Return the good facts that the preview says would come back; inside a scope."""
    ids = operation.options.get("displaced_ids", [])
    return fetch(
        """SELECT r.id, r.partition_id, p.name AS partition, r.subject, r.predicate, r.value, r.content,
               r.status, r.order_at
           FROM memory_record r JOIN partition p ON p.id = r.partition_id
           WHERE r.id = ANY(%(ids)s::uuid[]) AND r.workspace_id = %(workspace)s ORDER BY r.id DESC""",
        {"ids": ids, "workspace": operation.workspace_id},
    )


def tidy_previews(run: Run, now: datetime) -> None:
    """Delete previews that nobody ran within a day, targets first, a step at a time."""
    while True:
        with run.step(), cursor() as cur:
            cur.execute(
                """SELECT id FROM operation WHERE workspace_id = %s AND state = 'preview'
                     AND created_at < %s ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED""",
                [run.workspace_id, now - KEPT],
            )
            row = cur.fetchone()
            if row is None:
                return
            cur.execute(
                """DELETE FROM operation_target WHERE operation_id = %(id)s AND record_id IN (
                       SELECT record_id FROM operation_target WHERE operation_id = %(id)s LIMIT %(most)s)""",
                {"id": row[0], "most": TIDIED},
            )
            if cur.rowcount < TIDIED:
                cur.execute("DELETE FROM operation WHERE id = %s", [row[0]])
                run.count(forgotten=1)


def _freeze(
    cur: psycopg.Cursor[Row],
    operation: Operation,
    chosen: Chosen,
    access: Access,
    user_id: UUID | None,
    now: datetime,
) -> Operation:
    operation.id = uuid7(now)
    operation.workspace_id = access.workspace_id
    operation.created_at = now
    operation.requested_by = access.actor.name
    operation.requested_by_id = user_id
    operation.save(force_insert=True)
    cur.execute(
        FREEZE.format(rows=chosen.rows),
        {**chosen.values, "operation": operation.id, "most": TARGETS_LIMIT + 1},
    )
    if cur.rowcount > TARGETS_LIMIT:
        raise refuse(
            "scope", f"names more than {TARGETS_LIMIT:,} facts; narrow it", "range", TARGETS_LIMIT
        )
    _count(cur, operation)
    operation.save(update_fields=["groups", "options", "digest", "total"])
    events.append([happening("operation.previewed", operation)], access=access)
    return operation


def _count(cur: psycopg.Cursor[Row], operation: Operation) -> None:
    """Count the groups, note what would come back, and make the digest."""
    cur.execute(DIGEST, {"operation": operation.id})
    row = cur.fetchone()
    assert row is not None
    groups, ticked = _json(row[0]), _json(row[1])
    operation.groups = {name: groups.get(name, 0) for name in GROUPS_OF[operation.kind]}
    operation.total = sum(groups.values())
    operation.digest = row[2]
    operation.options = {**operation.options, "ticked": ticked}
    if operation.kind == Kind.EVICT:
        ids = _displaced(cur, operation)
        operation.options["displaced"] = len(ids)
        operation.options["displaced_ids"] = [str(one) for one in ids[:DISPLACED_SHOWN]]


def _displaced(cur: psycopg.Cursor[Row], operation: Operation) -> Sequence[UUID]:
    leaving = set(acted_of(operation))
    if operation.options.get("shared") == Shared.DROP:
        leaving.discard("shared")
    cur.execute(DISPLACED, {"operation": operation.id, "leaving": list(leaving)})
    return [row[0] for row in cur]


def happening(action: str, operation: Operation, **details: Any) -> Happening:
    """Return an event of an operation, with what ties it to the operation and its incident."""
    about = {"operation": str(operation.id), "kind": operation.kind}
    if operation.incident_id is not None:
        about["incident"] = str(operation.incident_id)
    if operation.undoes is not None:
        about["undoes"] = str(operation.undoes)
    sessions = operation.scope.get("session_ids", [])
    return Happening(
        action,
        "operation",
        target_id=operation.id,
        session_id=UUID(sessions[0]) if len(sessions) == 1 else None,
        reason=operation.reason,
        count=operation.total,
        details={**about, "digest": operation.digest, "groups": operation.groups, **details},
    )


def _json(value: Any) -> dict[str, Any]:
    """Read a jsonb column, which Django's connection hands out as text."""
    return json.loads(value) if isinstance(value, str) else dict(value)
