"""A repeated request is one request: the first answer is kept and sent again.

Owns the ``idempotency_key`` table. The key's row, the work and the answer are
one transaction: either all three are there or none, whatever is killed when. A
second request with the same key waits on the first one's row, and so never
runs beside it. Only answers of success are kept; what was refused did nothing
and may be mended and sent again under the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import OperationalError, connection
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from records.access import Access
from records.domain.ids import uuid7
from records.items import Conflict
from records.scope import partition_scope, retried, workspace_scope

KEPT = timedelta(hours=24)
WAIT_SECONDS = 10
KEY_LIMIT = 200

CLAIM = """INSERT INTO idempotency_key (id, workspace_id, actor, key, request_digest, created_at)
VALUES (%(id)s, %(workspace)s, %(actor)s, %(key)s, %(digest)s, %(now)s)
ON CONFLICT (workspace_id, actor, key) DO UPDATE
SET id = excluded.id, request_digest = excluded.request_digest, created_at = excluded.created_at,
    status = NULL, body = NULL
WHERE idempotency_key.created_at < %(forgotten)s
RETURNING id"""


class StillRunning(Exception):
    """The first request with this key has not finished within the wait."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer: its status and its body as text."""

    status: int
    body: str
    is_replayed: bool = False


@retried
def run_once(key: str, *, parts: Iterable[bytes], access: Access, run: Callable[[], Kept]) -> Kept:
    """Return the kept answer of ``key``, or that of ``run``, which then is kept.

    ``parts`` are what makes two requests the same. ``run`` works inside this
    transaction. Conflict: the key was used for another request. StillRunning:
    the first has not ended within ``WAIT_SECONDS``.
    """
    digest = _digest(parts)
    with partition_scope(access.workspace_id, ()):
        row_id = _claim(key, digest, access)
        if row_id is None:
            return _replay(key, digest, access)
        kept = run()
        with connection.cursor() as cursor:
            cursor.execute(
                """UPDATE idempotency_key SET status = %s, body = to_jsonb(%s::text)
                   WHERE workspace_id = %s AND id = %s""",
                [kept.status, kept.body, access.workspace_id, row_id],
            )
        return kept


def purge(workspace_id: UUID, *, now: datetime) -> int:
    """Delete the answers that are past their time; return how many."""
    with workspace_scope(workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM idempotency_key WHERE workspace_id = %s AND created_at < %s",
            [workspace_id, now - KEPT],
        )
        return int(cursor.rowcount)


def forget(workspace_id: UUID, record_ids: Iterable[UUID]) -> int:
    """Delete the answers that speak of these records: part of erasing them; return how many.

    An answer may hold the text that a finding matched. Call inside a scope of
    the workspace; looks through one day of answers.
    """
    wanted = [f"%{record_id}%" for record_id in record_ids]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM idempotency_key WHERE workspace_id = %s AND body::text LIKE ANY (%s)",
            [workspace_id, wanted],
        )
        return int(cursor.rowcount)


def _claim(key: str, digest: bytes, access: Access) -> UUID | None:
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('lock_timeout'), set_config('lock_timeout', %s, true)",
            [f"{WAIT_SECONDS}s"],
        )
        (before, _) = cursor.fetchone()
        try:
            cursor.execute(
                CLAIM,
                {
                    "id": uuid7(now),
                    "workspace": access.workspace_id,
                    "actor": access.actor.name,
                    "key": key,
                    "digest": digest,
                    "now": now,
                    "forgotten": now - KEPT,
                },
            )
        except OperationalError as error:
            if isinstance(error.__cause__, LockNotAvailable):
                raise StillRunning from error
            raise
        row = cursor.fetchone()
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])
    return row[0] if row else None


def _replay(key: str, digest: bytes, access: Access) -> Kept:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT request_digest, status, body #>> '{}' FROM idempotency_key
               WHERE workspace_id = %s AND actor = %s AND key = %s""",
            [access.workspace_id, access.actor.name, key],
        )
        row = cursor.fetchone()
    if row is None or row[1] is None:
        raise StillRunning
    if bytes(row[0]) != digest:
        raise Conflict("this Idempotency-Key was used for another request")
    return Kept(int(row[1]), row[2], is_replayed=True)


def _digest(parts: Iterable[bytes]) -> bytes:
    found = sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()
