"""Operations as pages read them: one, a list, its targets, and how the store moved since.

Reads only. Rows of targets carry memory text: templates draw it with
``memory_text``. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.operations import GROUPS_OF, Kind, State, acted_groups
from audits.domain.scope import Shared
from audits.models import Operation
from audits.operations.scoping import choose_for
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor
from records.items import NotFound

PAGE = 50
SAMPLE = 20

LIST = """SELECT o.*, a.decided_by AS approved_by, a.expires_at, a.state AS approval_state,
    i.number AS incident_number,
    EXISTS (SELECT 1 FROM operation u WHERE u.undoes = o.id AND u.state IN ('queued', 'running', 'done'))
        AS is_undone
FROM operation o LEFT JOIN approval a ON a.id = o.approval_id
LEFT JOIN incident i ON i.id = o.incident_id
WHERE o.workspace_id = %(workspace)s AND {where} ORDER BY o.id DESC LIMIT %(limit)s"""

# The page's rows first: what is joined to them costs the page, never the operation.
TARGETS = """WITH page AS MATERIALIZED (
    SELECT t.* FROM operation_target t
    WHERE t.operation_id = %(operation)s AND t.workspace_id = %(workspace)s AND {where}
    ORDER BY t.record_id DESC LIMIT %(limit)s)
SELECT t.record_id AS id, t.partition_id, p.name AS partition, t.version, t.grp AS "group",
    t.is_ticked, t.outcome, t.why, r.subject, r.predicate, r.value, r.content, r.status,
    r.hold_reason, r.version AS version_now, r.session_id, se.external_id AS session
FROM page t JOIN memory_record r ON r.id = t.record_id
JOIN partition p ON p.id = t.partition_id JOIN session se ON se.id = r.session_id
ORDER BY t.record_id DESC"""

# What the scope selects now beside what was frozen. A row that was left out, or of a group that
# nothing is done with, may move as it likes as long as it stays out of the operation.
DRIFT = """WITH today AS MATERIALIZED ({rows}),
    frozen AS MATERIALIZED (
        SELECT record_id, version, grp, is_ticked FROM operation_target
        WHERE operation_id = %(operation)s AND workspace_id = %(workspace)s),
    moved AS (
        SELECT coalesce(t.id, f.record_id) AS id, f.grp AS was, t.grp AS "is",
            CASE WHEN f.record_id IS NULL THEN 'added' WHEN t.id IS NULL THEN 'removed' ELSE 'changed' END AS how
        FROM frozen f FULL JOIN today t ON t.id = f.record_id
        WHERE f.record_id IS NULL
           OR f.is_ticked AND (t.id IS NULL AND f.grp = ANY(%(acted)s) OR t.grp <> f.grp
               OR t.version <> f.version AND f.grp = ANY(%(acted)s)))
SELECT (SELECT count(*) FROM moved WHERE how = 'added') AS added,
    (SELECT count(*) FROM moved WHERE how = 'removed') AS removed,
    (SELECT count(*) FROM moved WHERE how = 'changed') AS changed,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'how', how, 'was', was, 'is', "is")), '[]')
     FROM (SELECT * FROM moved ORDER BY how, id DESC LIMIT %(sample)s) AS few) AS sample"""


@dataclass(frozen=True, slots=True)
class Drift:
    """How the store has moved since a preview: facts more, fewer and changed, and some of them."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    sample: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """Which operations to list; what is None filters nothing. Previews are not listed."""

    kind: str | None = None
    state: str | None = None
    person: str | None = None  # who asked for it, or agreed to it
    incident_id: UUID | None = None
    session_id: UUID | None = None  # named by its scope
    undoable_at: datetime | None = None  # done, and still within its time


def load(operation_id: UUID, *, workspace_id: UUID) -> Operation:
    """Return an operation; NotFound when this workspace has none of that id."""
    found = Operation.objects.filter(id=operation_id, workspace_id=workspace_id).first()
    if found is None:
        raise NotFound("operation")
    return found


def acted_of(operation: Operation) -> frozenset[str]:
    """Return the groups whose ticked targets the operation changes."""
    options = operation.options
    return acted_groups(
        operation.kind,
        shared=Shared(options.get("shared", Shared.DROP)),
        with_held=bool(options.get("with_held")),
    )


def asked(operation: Operation) -> int:
    """Return how many facts the operation is to change: what its groups count, less the unticked."""
    ticked = operation.options.get("ticked", operation.groups)
    return sum(ticked.get(group, 0) for group in acted_of(operation))


def progress(operation: Operation) -> int:
    """Return how many of the facts asked for have been dealt with, whatever became of them."""
    kept = operation.dropped_claims if operation.kind == Kind.EVICT else operation.restored_claims
    return operation.changed + kept + operation.skipped + operation.failed


def group_words(operation: Operation) -> list[tuple[str, str, int]]:
    """Return the groups in their order: the name, the words, the count."""
    words = dict(GROUPS_OF[operation.kind])
    if operation.kind == Kind.EVICT and operation.options.get("with_held"):
        words["hold"] = "on legal hold, evicted too (nothing is destroyed)"
    return [(name, text, operation.groups.get(name, 0)) for name, text in words.items()]


def list_operations(
    wanted: OperationFilter, *, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> Page:
    """Return a page of operations, newest first. BadRequest: the cursor is not one of this list."""
    key = list_key("console.operations", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "limit": limit + 1}
    where = ["o.state <> 'preview'"]
    for column in ("kind", "state", "incident_id"):
        value = getattr(wanted, column)
        if value is not None:
            where.append(f"o.{column} = %({column})s")
            values[column] = value
    if wanted.person is not None:
        where.append("(o.requested_by = %(person)s OR a.decided_by = %(person)s)")
        values["person"] = wanted.person
    if wanted.session_id is not None:
        where.append("o.scope -> 'session_ids' ? %(session)s")
        values["session"] = str(wanted.session_id)
    if wanted.undoable_at is not None:
        where.append(
            "o.undo_until > %(undoable_at)s AND o.state IN ('done', 'cancelled', 'failed')"
        )
        values["undoable_at"] = wanted.undoable_at
    if place is not None:
        where.append("o.id < %(after)s")
        values["after"] = UUID(place[0])
    rows = fetch(LIST.format(where=" AND ".join(where)), values)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def list_targets(
    operation_id: UUID,
    *,
    group: str | None = None,
    outcome: str | None = None,
    ticked: bool | None = None,
    cursor: str | None,
    workspace_id: UUID,
    limit: int = PAGE,
) -> Page:
    """Return a page of an operation's targets, newest facts first."""
    key = list_key("console.targets", workspace_id, operation_id, group, outcome, ticked)
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "operation": operation_id,
        "limit": limit + 1,
    }
    where = ["true"]
    for column, value in (("grp", group), ("outcome", outcome), ("is_ticked", ticked)):
        if value is not None:
            where.append(f"t.{column} = %({column})s")
            values[column] = value
    if place is not None:
        where.append("t.record_id < %(after)s")
        values["after"] = UUID(place[0])
    rows = fetch(TARGETS.format(where=" AND ".join(where)), values)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def reasons(operation_id: UUID, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return what became of the targets, counted by outcome and reason."""
    return fetch(
        """SELECT outcome, why, count(*) AS count FROM operation_target
           WHERE operation_id = %(operation)s AND workspace_id = %(workspace)s AND outcome <> ''
           GROUP BY outcome, why ORDER BY outcome, count(*) DESC, why""",
        {"operation": operation_id, "workspace": workspace_id},
    )


def drift(operation: Operation, *, workspace_id: UUID) -> Drift:
    """Compare the frozen targets with what the scope selects as of now, in one statement."""
    if operation.workspace_id != workspace_id:
        raise NotFound("operation")
    chosen = choose_for(operation)
    (row,) = fetch(
        DRIFT.format(rows=chosen.rows),
        {
            **chosen.values,
            "operation": operation.id,
            "acted": list(acted_of(operation)),
            "sample": SAMPLE,
        },
    )
    return Drift(row["added"], row["removed"], row["changed"], row["sample"])


def recent_bulk_acts(
    workspace_id: UUID, *, since: datetime, not_by: UUID | None = None, limit: int = 5
) -> list[dict[str, Any]]:
    """Return what others have run in bulk since then, newest first: the shell's notice to a person."""
    return fetch(
        """SELECT id, kind, state, title, requested_by, changed, restored, started_at, finished_at
           FROM operation
           WHERE workspace_id = %(workspace)s AND state = ANY(%(states)s) AND started_at >= %(since)s
             AND (%(not_by)s::uuid IS NULL OR requested_by_id IS DISTINCT FROM %(not_by)s)
           ORDER BY id DESC LIMIT %(limit)s""",
        {
            "workspace": workspace_id,
            "states": [State.RUNNING, State.DONE, State.CANCELLED, State.FAILED],
            "since": since,
            "not_by": not_by,
            "limit": limit,
        },
    )
