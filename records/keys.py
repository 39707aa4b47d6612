"""API keys: making, finding, revoking.

Owns the key's text, of which only a SHA-256 digest and a prefix are stored,
and the look-up that happens before any workspace is known. A found key is
remembered for ``REMEMBERED_SECONDS`` in each process, so a revocation takes
effect within that time. Scopes are enforced by the doors.
"""

from __future__ import annotations

import secrets
import string
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import connection
from django.utils import timezone

from records import events
from records.access import Access, Actor, ActorKind, Scope
from records.domain.ids import uuid7
from records.models import ApiKey
from records.scope import partition_scope, workspace_scope

MARK = "mc_"
LETTERS = string.ascii_letters + string.digits
SECRET_LETTERS = 40  # 238 bits: a digest without salt or stretching is enough
PREFIX_LENGTH = len(MARK) + 8
KEY_LIMIT = 200
REMEMBERED_SECONDS = 2.0
REMEMBERED_KEYS = 10_000
USED_EVERY = timedelta(minutes=1)
DEFAULT_SCOPES = (Scope.WRITE, Scope.RECALL, Scope.READ)


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key as the look-up found it."""

    id: UUID
    workspace_id: UUID
    workspace: str
    prefix: str
    scopes: frozenset[str]
    partition: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def access(self, request_id: str) -> Access:
        """Return the reach of one request made with this key."""
        return Access(
            workspace_id=self.workspace_id,
            actor=Actor(ActorKind.KEY, self.prefix),
            workspace=self.workspace,
            partition=self.partition,
            scopes=self.scopes,
            request_id=request_id,
        )

    def fault(self, now: datetime) -> str:
        """Say why the key opens nothing any more; empty when it does."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return ""


COLUMNS = tuple(field.name for field in fields(KnownKey))
_remembered: dict[bytes, tuple[float, KnownKey]] = {}


def digest(text: str) -> bytes:
    """Return what is stored of a key."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def find_key(text: str) -> KnownKey | None:
    """Return the key of this text, live or not; ``None`` when there is none."""
    if len(text) > KEY_LIMIT:
        return None
    wanted = digest(text)
    now = time.monotonic()
    remembered = _remembered.get(wanted)
    if remembered is not None and now - remembered[0] < REMEMBERED_SECONDS:
        return remembered[1]
    found = _look_up(wanted)
    if found is None:
        _remembered.pop(wanted, None)
        return None
    if len(_remembered) >= REMEMBERED_KEYS:
        _remembered.clear()
    _remembered[wanted] = (now, found)
    return found


def note_use(key: KnownKey, now: datetime) -> None:
    """Move ``last_used_at``, at most once a minute; who is second changes nothing."""
    if key.last_used_at is not None and now - key.last_used_at < USED_EVERY:
        return
    with partition_scope(key.workspace_id, ()), connection.cursor() as cursor:
        cursor.execute(
            """UPDATE api_key SET last_used_at = %s
               WHERE id = %s AND (last_used_at IS NULL OR last_used_at < %s)""",
            [now, key.id, now - USED_EVERY],
        )
    for wanted, (at, known) in list(_remembered.items()):
        if known.id == key.id:
            _remembered[wanted] = (at, replace(known, last_used_at=now))


def make_key(
    *,
    access: Access,
    scopes: Iterable[Scope] = DEFAULT_SCOPES,
    partition: str | None = None,
    name: str = "",
    expires_at: datetime | None = None,
) -> str:
    """Make a key for the access's workspace and return its text, which nobody sees again."""
    text = MARK + "".join(secrets.choice(LETTERS) for _ in range(SECRET_LETTERS))
    now = timezone.now()
    with workspace_scope(access.workspace_id):
        row = ApiKey.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            name=name,
            prefix=text[:PREFIX_LENGTH],
            digest=digest(text),
            scopes=sorted({str(Scope(scope)) for scope in scopes}),
            partition_name=partition,
            created_by=str(access.actor),
            expires_at=expires_at,
        )
        happening = events.Happening(
            "key.created",
            "api_key",
            target_id=row.id,
            details={"prefix": row.prefix, "scopes": row.scopes, "bound": partition is not None},
        )
        events.append([happening], access=access)
    return text


def revoke_key(key_id: UUID, *, reason: str, access: Access) -> bool:
    """Revoke a key; False when it is unknown or revoked already."""
    with workspace_scope(access.workspace_id):
        changed = ApiKey.objects.filter(
            id=key_id, workspace_id=access.workspace_id, revoked_at=None
        ).update(revoked_at=timezone.now(), revoked_by=str(access.actor))
        if changed:
            happening = events.Happening("key.revoked", "api_key", target_id=key_id, reason=reason)
            events.append([happening], access=access)
    return bool(changed)


def _look_up(wanted: bytes) -> KnownKey | None:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT id, workspace_id, workspace, prefix, scopes, partition_name AS partition,
                      expires_at, revoked_at, last_used_at FROM memconsole_find_key(%s)""",
            [wanted],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    values = dict(zip(COLUMNS, row, strict=True))
    return KnownKey(**{**values, "scopes": frozenset(values["scopes"])})
