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
from records.fences import fence_key, keyed_fingerprint
from records.queries import Row

# How the fact of an evicted record ``r`` was taken out once more, by an act on another record of it.
ENDINGS = """SELECT o.status FROM fence f JOIN memory_record o ON o.id = f.record_id
WHERE f.partition_id = r.partition_id AND f.fingerprint = r.fingerprint AND f.lifted_at IS NULL
  AND f.session_id IS NULL AND f.source_id IS NULL AND o.id <> r.id
  AND (o.status = 'retracted' OR o.status = 'evicted' AND r.prior_status <> 'superseded'
       AND f.created_at > r.status_at)"""


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
    """Take down the fences that keep out what these facts' own origins say.

    Those for everyone, and those of sessions and sources that assert the record;
    what another act took from somebody else stays out.
    """
    cur.execute(
        """UPDATE fence f SET lifted_at = %s, lifted_by = %s
           FROM unnest(%s::uuid[], %s::uuid[], %s::text[]) AS w (id, p, f)
           WHERE f.partition_id = w.p AND f.fingerprint = w.f AND f.lifted_at IS NULL
             AND (f.record_id = w.id OR f.session_id IS NULL AND f.source_id IS NULL OR EXISTS (
                 SELECT 1 FROM claim c WHERE c.record_id = w.id
                   AND (c.session_id = f.session_id OR c.source_id = f.source_id)))""",
        [
            now,
            str(access.actor),
            [h.id for h in held],
            [h.partition_id for h in held],
            [h.fingerprint for h in held],
        ],
    )


def ended_since(cur: psycopg.Cursor[Row], held: Sequence[Held], access: Access) -> dict[UUID, str]:
    """Return which of these evicted records are of a fact that was taken out again since, and how.

    The same fact, said again by others, was retracted, erased or evicted by an
    act of its own, which bringing the older record back would undo unasked.
    """
    if not held:
        return {}
    cur.execute(
        f"""SELECT r.id, ended.how FROM memory_record r CROSS JOIN LATERAL ({ENDINGS}) AS ended (how)
            WHERE r.id = ANY(%s) ORDER BY ended.how""",
        [[h.id for h in held]],
    )
    found = {row[0]: f"the same fact was {row[1]} since" for row in cur.fetchall()}
    facts = [(h.id, h.partition_id, h.fingerprint) for h in held]
    why = "the same fact was erased since"
    return found | dict.fromkeys(erased_among(cur, facts, access.workspace_id), why)


def erased_among(
    cur: psycopg.Cursor[Row], facts: Sequence[tuple[UUID, UUID, str]], workspace_id: UUID
) -> list[UUID]:
    """Return which of these records (id, partition, fingerprint) state a fact that was erased."""
    if not facts:
        return []
    key = fence_key(workspace_id)
    digests = [keyed_fingerprint(key, fingerprint) for _, _, fingerprint in facts]
    cur.execute(
        """SELECT w.id FROM unnest(%s::uuid[], %s::uuid[], %s::text[]) AS w (id, p, digest)
           WHERE EXISTS (SELECT 1 FROM fence f WHERE f.partition_id = w.p
             AND f.fingerprint = w.digest AND f.keyed AND f.lifted_at IS NULL)""",
        [[one[0] for one in facts], [one[1] for one in facts], digests],
    )
    return [row[0] for row in cur.fetchall()]
