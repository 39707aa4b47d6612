"""Events: one row for every state change, in the same transaction as the change.

Owns appending; ``audits`` seals, verifies and exports. ``details`` never hold
memory text, only structure and keyed digests. Call inside the scope whose
change the event records.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from records.access import Access, ActorKind

INSERT = """INSERT INTO event (workspace_id, partition_id, actor_kind, actor, role, action, outcome,
                               target_kind, target_id, session_id, reason, request_id, count, details)
SELECT %(workspace)s, e.partition_id, %(kind)s, %(actor)s, %(role)s, e.action, e.outcome,
       e.target_kind, e.target_id, e.session_id, e.reason, %(request)s, e.count, e.details
FROM unnest(%(partition_id)s::uuid[], %(action)s::text[], %(outcome)s::text[], %(target_kind)s::text[],
            %(target_id)s::uuid[], %(session_id)s::uuid[], %(reason)s::text[], %(count)s::int[],
            %(details)s::jsonb[])
    WITH ORDINALITY AS e (partition_id, action, outcome, target_kind, target_id, session_id, reason,
                          count, details, place)
ORDER BY e.place"""


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened to one target; the access says who did it, in which workspace.

    ``action`` is a dotted code, ``record.added`` or ``session.suspended``.
    """

    action: str
    target_kind: str = ""
    target_id: UUID | None = None
    partition_id: UUID | None = None
    session_id: UUID | None = None
    outcome: str = "done"
    reason: str = ""
    count: int = 1
    details: Mapping[str, Any] = field(default_factory=dict)


def append(happenings: Iterable[Happening], *, access: Access) -> None:
    """Append events in order, in one statement, inside the current transaction."""
    rows = list(happenings)
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            {
                "workspace": access.workspace_id,
                "kind": str(access.actor.kind),
                "actor": access.actor.name,
                "role": access.actor.role,
                "request": access.request_id,
                "partition_id": [one.partition_id for one in rows],
                "action": [one.action for one in rows],
                "outcome": [one.outcome for one in rows],
                "target_kind": [one.target_kind for one in rows],
                "target_id": [one.target_id for one in rows],
                "session_id": [one.session_id for one in rows],
                "reason": [one.reason for one in rows],
                "count": [one.count for one in rows],
                "details": [Jsonb(dict(one.details)) for one in rows],
            },
        )


def append_denied(
    action: str, *, actor: str, request_id: str = "", details: Mapping[str, Any] | None = None
) -> None:
    """Append a denied attempt that belongs to no workspace (an unknown key, a bad log-in)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO event (actor_kind, actor, action, outcome, request_id, details)
               VALUES (%s, %s, %s, 'denied', %s, %s)""",
            [str(ActorKind.ANONYMOUS), actor, action, request_id, Jsonb(dict(details or {}))],
        )


def digest(salt: bytes | memoryview, *parts: str) -> str:
    """Return a digest of memory text keyed by the record's salt.

    A plain hash of "employer = Acme" can be guessed; this one cannot, and
    destroying the salt makes it say nothing at all.
    """
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hmac.new(bytes(salt), text, hashlib.sha256).hexdigest()[:32]
