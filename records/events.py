"""Events: one row for every state change, in the same transaction as the change.

Owns appending; ``audits`` seals, verifies and exports. ``details`` never hold
memory text, only structure and keyed digests. Call inside the scope whose
change the event records.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from records.access import Access, Actor, ActorKind
from records.queries import Table, cursor

EVENTS = Table(
    "event",
    [
        ("workspace_id", "uuid"),
        ("partition_id", "uuid"),
        ("actor_kind", "text"),
        ("actor", "text"),
        ("role", "text"),
        ("action", "text"),
        ("outcome", "text"),
        ("target_kind", "text"),
        ("target_id", "uuid"),
        ("session_id", "uuid"),
        ("reason", "text"),
        ("request_id", "text"),
        ("count", "int4"),
        ("details", "jsonb"),
    ],
)


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


Listener = Callable[[Sequence[Happening], Access], None]
_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Have a function called after each append, in the same transaction: both or neither.

    It is called for every write, so it must look at the action codes first.
    """
    if listener not in _listeners:
        _listeners.append(listener)


def append(happenings: Iterable[Happening], *, access: Access) -> None:
    """Append events in order, in one go, inside the current transaction."""
    written = tuple(happenings)
    _insert(written, access.workspace_id, access.actor, access.request_id)
    for listener in _listeners:
        listener(written, access)


def append_outside(happenings: Iterable[Happening], *, actor: Actor, request_id: str = "") -> None:
    """Append events that belong to no workspace (somebody logged in), in one statement."""
    _insert(happenings, None, actor, request_id)


def _insert(
    happenings: Iterable[Happening], workspace_id: UUID | None, actor: Actor, request_id: str
) -> None:
    kind, name, role = str(actor.kind), actor.name, actor.role
    rows = [
        (
            workspace_id, one.partition_id, kind, name, role, one.action, one.outcome,
            one.target_kind, one.target_id, one.session_id, one.reason, request_id, one.count,
            Jsonb(one.details),
        )
        for one in happenings
    ]  # fmt: skip
    EVENTS.insert(cursor(), rows)


def append_denied(
    action: str, *, actor: str, request_id: str = "", details: Mapping[str, Any] | None = None
) -> None:
    """Append a denied attempt that belongs to no workspace (an unknown key, a bad log-in)."""
    with connection.cursor() as cur:
        cur.execute(
            """INSERT INTO event (actor_kind, actor, action, outcome, request_id, details)
               VALUES (%s, %s, %s, 'denied', %s, %s)""",
            [
                str(ActorKind.ANONYMOUS),
                actor,
                action,
                request_id,
                json.dumps(dict(details or {})),
            ],
        )


def digest(salt: bytes | memoryview, *parts: str) -> str:
    """Return a digest of memory text keyed by the record's salt.

    A plain hash of "employer = Acme" can be guessed; this one cannot, and
    destroying the salt makes it say nothing at all.
    """
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hmac.digest(bytes(salt), text, "sha256").hex()[:32]
