"""What the pages of bulk operations show beside the operation itself.

Owns two statements of one page: what stands beside it (approval, incident,
undo, what its scope is called, reasons), and samples of each group. Inside a
workspace scope. Rows carry memory text: templates draw it with ``memory_text``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.scope import Scope
from audits.models import Operation, OperationTarget
from audits.queries.radius_sets import Facts
from audits.queries.rows import fetch

SAMPLE = 20
OUTCOMES_PAGE = 5_000
NAMED = 20  # names of a scope's sessions that are written out
PICKED = 50  # incidents to pick from
TIMES = ("requested_at", "expires_at", "decided_at", "last_attempt_at")

# Small things of several kinds: one statement costs one way to the server.
NAMES = """SELECT 'session' AS kind, jsonb_build_object(
        'id', s.id, 'name', s.external_id, 'partition', p.name) AS data
    FROM (SELECT unnest(%(sessions)s::uuid[]) AS id LIMIT %(named)s) AS wanted
    JOIN session s ON s.id = wanted.id AND s.workspace_id = %(workspace)s
    JOIN partition p ON p.id = s.partition_id
UNION ALL SELECT 'source', jsonb_build_object('id', id, 'name', name) FROM source
    WHERE id = %(source)s AND workspace_id = %(workspace)s
UNION ALL SELECT 'partition', jsonb_build_object('id', id, 'name', name) FROM partition
    WHERE id = %(partition)s AND workspace_id = %(workspace)s
UNION ALL SELECT 'incident', jsonb_build_object('id', id, 'number', number, 'title', title)
    FROM incident WHERE id = %(incident)s AND workspace_id = %(workspace)s
UNION ALL (SELECT 'open', jsonb_build_object('id', id, 'number', number, 'title', title)
    FROM incident WHERE workspace_id = %(workspace)s AND state = 'open'
    ORDER BY opened_at DESC LIMIT %(picked)s)"""

BESIDE = f"""{NAMES}
UNION ALL SELECT 'approval', to_jsonb(a) - 'payload' FROM approval a
    WHERE a.id = %(approval)s AND a.workspace_id = %(workspace)s
UNION ALL (SELECT 'undo', jsonb_build_object('id', id, 'state', state) FROM operation
    WHERE undoes = %(id)s AND workspace_id = %(workspace)s
      AND state NOT IN ('preview', 'refused', 'expired') ORDER BY id DESC LIMIT 1)
UNION ALL SELECT 'settings', jsonb_build_object('four_eyes', settings->'four_eyes')
    FROM workspace WHERE id = %(workspace)s
UNION ALL SELECT 'fences', jsonb_build_object('standing', count(*),
        'attempts', coalesce(sum(f.attempts), 0), 'last_attempt_at', max(f.last_attempt_at))
    FROM operation_target t JOIN fence f ON f.record_id = t.record_id AND f.lifted_at IS NULL
    WHERE t.operation_id = %(id)s AND t.workspace_id = %(workspace)s
      AND t.outcome IN ('evicted', 'erased')
UNION ALL SELECT 'undone', jsonb_build_object('id', id, 'title', title) FROM operation
    WHERE id = %(undoes)s AND workspace_id = %(workspace)s
UNION ALL (SELECT 'reason', jsonb_build_object('outcome', outcome, 'why', why, 'count', count(*))
    FROM operation_target WHERE operation_id = %(id)s AND workspace_id = %(workspace)s
      AND outcome <> '' GROUP BY outcome, why ORDER BY outcome, count(*) DESC, why LIMIT 100)"""

SAMPLES = """SELECT t.grp AS "group", t.record_id AS id, t.is_ticked, t.outcome, t.why, r.status,
    r.subject, r.predicate, r.value, r.hold_reason, r.session_id, se.external_id AS session,
    p.name AS partition
FROM (
    SELECT g.place, one.grp, one.record_id, one.is_ticked, one.outcome, one.why
    FROM unnest(%(groups)s::text[]) WITH ORDINALITY AS g (grp, place)
    CROSS JOIN LATERAL (SELECT * FROM operation_target o WHERE o.operation_id = %(id)s
        AND o.workspace_id = %(workspace)s AND o.grp = g.grp
        ORDER BY o.record_id DESC LIMIT %(sample)s) AS one
    UNION ALL
    SELECT 99, 'displaced', id, true, '', '' FROM unnest(%(displaced)s::uuid[]) AS d (id)
    UNION ALL
    (SELECT 100, 'left', o.record_id, true, o.outcome, o.why FROM operation_target o
     WHERE o.operation_id = %(id)s AND o.workspace_id = %(workspace)s
       AND o.outcome IN ('skipped', 'failed') ORDER BY o.record_id DESC LIMIT %(sample)s)) AS t
JOIN memory_record r ON r.id = t.record_id AND r.workspace_id = %(workspace)s
JOIN session se ON se.id = r.session_id JOIN partition p ON p.id = r.partition_id
ORDER BY t.place, t.record_id DESC"""


@dataclass(slots=True)
class Beside:
    """What stands beside an operation, or a scope that is being chosen."""

    sessions: list[dict[str, Any]] = field(default_factory=list)
    source: dict[str, Any] | None = None
    partition: dict[str, Any] | None = None
    incident: dict[str, Any] | None = None
    open_incidents: list[dict[str, Any]] = field(default_factory=list)
    approval: dict[str, Any] | None = None
    undo: dict[str, Any] | None = None
    undone: dict[str, Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    fences: dict[str, Any] = field(default_factory=dict)
    reasons: list[dict[str, Any]] = field(default_factory=list)

    @property
    def left(self) -> list[dict[str, Any]]:
        """What was left or failed, by reason."""
        return [one for one in self.reasons if one["outcome"] in ("skipped", "failed")]

    @property
    def did(self) -> dict[str, int]:
        """What became of the targets, by outcome."""
        found: dict[str, int] = {}
        for one in self.reasons:
            found[one["outcome"]] = found.get(one["outcome"], 0) + one["count"]
        return found


def load_names(scope: Scope, *, incident_id: UUID | None = None, workspace_id: UUID) -> Beside:
    """Return what a scope's ids are called, and the open incidents to pick from."""
    return _gather(fetch(NAMES, _named(scope, incident_id, workspace_id)))


def load_beside(operation: Operation, *, workspace_id: UUID) -> Beside:
    """Return what an operation's page shows around it."""
    values = _named(Scope.from_json(operation.scope), operation.incident_id, workspace_id) | {
        "id": operation.id,
        "approval": operation.approval_id,
        "undoes": operation.undoes,
    }
    return _gather(fetch(BESIDE, values))


def load_samples(
    operation: Operation, groups: Sequence[str], *, workspace_id: UUID
) -> dict[str, list[dict[str, Any]]]:
    """Return some targets of each group; "displaced": what comes back, "left": what did not go."""
    values = {
        "id": operation.id,
        "workspace": workspace_id,
        "groups": list(groups),
        "displaced": operation.options.get("displaced_ids", [])[:SAMPLE],
        "sample": SAMPLE,
    }
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in (*groups, "displaced", "left")}
    for row in fetch(SAMPLES, values):
        found[row["group"]].append(row)
    return found


def unticked(operation_id: UUID, *, workspace_id: UUID) -> set[UUID]:
    """Return the targets that are left out of an operation."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT record_id FROM operation_target
               WHERE operation_id = %s AND workspace_id = %s AND NOT is_ticked""",
            [operation_id, workspace_id],
        )
        return {row[0] for row in cursor.fetchall()}


def facts_of(operation_id: UUID, groups: Sequence[str]) -> Facts:
    """Return an operation's ticked targets of some groups, as a set whose radius can be asked."""
    return Facts(
        """SELECT t.record_id FROM operation_target t WHERE t.operation_id = %(f_operation)s
           AND t.is_ticked AND t.grp = ANY(%(f_groups)s)""",
        {"f_operation": operation_id, "f_groups": list(groups)},
    )


def targets_among(
    operation_id: UUID, record_ids: Collection[UUID], *, workspace_id: UUID
) -> set[UUID]:
    """Return which of these records are targets of an operation."""
    found = OperationTarget.objects.filter(
        operation_id=operation_id, workspace_id=workspace_id, record_id__in=record_ids
    )
    return set(found.values_list("record_id", flat=True))


def list_outcomes(
    operation_id: UUID, *, after: UUID | None, workspace_id: UUID
) -> list[dict[str, Any]]:
    """Return what became of an operation's targets, by id; some after the one named."""
    return fetch(
        """SELECT record_id AS id, partition_id, version, grp AS "group", is_ticked, outcome, why
           FROM operation_target WHERE operation_id = %(id)s AND workspace_id = %(workspace)s
             AND (%(after)s::uuid IS NULL OR record_id > %(after)s::uuid)
           ORDER BY record_id LIMIT %(limit)s""",
        {
            "id": operation_id,
            "workspace": workspace_id,
            "after": after,
            "limit": OUTCOMES_PAGE,
        },
    )


def _named(scope: Scope, incident_id: UUID | None, workspace_id: UUID) -> dict[str, Any]:
    return {
        "workspace": workspace_id,
        "sessions": list(scope.session_ids),
        "source": scope.source_id,
        "partition": scope.partition_id,
        "incident": incident_id or scope.incident_id,
        "named": NAMED,
        "picked": PICKED,
    }


def _gather(rows: Sequence[Mapping[str, Any]]) -> Beside:
    found = Beside()
    lists = {"session": found.sessions, "open": found.open_incidents, "reason": found.reasons}
    for row in rows:
        data = row["data"]
        for name in TIMES:
            if data.get(name):
                data[name] = datetime.fromisoformat(data[name])
        if row["kind"] in lists:
            lists[row["kind"]].append(data)
        else:
            setattr(found, row["kind"], data)
    return found
