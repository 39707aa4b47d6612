"""Fences around facts that were taken out, and taking them down.

What a fence does to a write is ``domain.ledger``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import psycopg

from records.access import Access
from records.curate.acting import REASON_LIMIT, Held, Restored
from records.domain.ids import uuid7
from records.queries import Row


def fence_for_everyone(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime, reason: str
) -> Restored:
    """Fence facts whoever writes them."""
    fence(cur, [(h, None, None) for h in held], access, now, reason)
    return []


def fence(
    cur: psycopg.Cursor[Row],
    around: Sequence[tuple[Held, UUID | None, UUID | None]],
    access: Access,
    now: datetime,
    reason: str,
) -> None:
    """Fence facts: (record, session, source); both ``None`` fences for everyone."""
    cur.execute(
        """INSERT INTO fence (id, workspace_id, partition_id, fingerprint, record_id, session_id, source_id,
                              reason, created_at, created_by)
           SELECT n.id, %(workspace)s, n.partition_id, n.fingerprint, n.record_id, n.session_id, n.source_id,
                  %(reason)s, %(now)s, %(actor)s
           FROM unnest(%(id)s::uuid[], %(partition)s::uuid[], %(fingerprint)s::text[], %(record)s::uuid[],
                       %(session)s::uuid[], %(source)s::uuid[])
               AS n (id, partition_id, fingerprint, record_id, session_id, source_id)
           WHERE NOT EXISTS (
               SELECT 1 FROM fence f WHERE f.partition_id = n.partition_id AND f.fingerprint = n.fingerprint
                 AND f.lifted_at IS NULL AND f.session_id IS NOT DISTINCT FROM n.session_id
                 AND f.source_id IS NOT DISTINCT FROM n.source_id)""",
        {
            "workspace": access.workspace_id,
            "reason": reason[:REASON_LIMIT],
            "now": now,
            "actor": str(access.actor),
            "id": [uuid7(now) for _ in around],
            "partition": [h.partition_id for h, _, _ in around],
            "fingerprint": [h.fingerprint for h, _, _ in around],
            "record": [h.id for h, _, _ in around],
            "session": [session for _, session, _ in around],
            "source": [source for _, _, source in around],
        },
    )


def lift_fences(
    cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access, now: datetime
) -> None:
    """Take down every standing fence around these facts."""
    cur.execute(
        """UPDATE fence f SET lifted_at = %s, lifted_by = %s
           FROM unnest(%s::uuid[], %s::text[]) AS w (p, f)
           WHERE f.partition_id = w.p AND f.fingerprint = w.f AND f.lifted_at IS NULL""",
        [
            now,
            str(access.actor),
            [h.partition_id for h in held],
            [h.fingerprint for h in held],
        ],
    )
