"""The ends of a fact: marked wrong for good, or destroyed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from records import erasing, events, holds, signals
from records.access import Access
from records.curate.acting import Acted, acting, leave, lock, moved
from records.curate.fencing import fence_for_everyone
from records.curate.merging import forget_merges, other_wordings
from records.domain.facts import Status
from records.fences import fence_key, keyed_fingerprint
from records.scope import retried


@retried
def retract(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    version: int | None = None,
    now: datetime | None = None,
) -> Acted:
    """Mark facts wrong: a tombstone stays, and the fact is fenced for everyone.

    What a retracted fact had displaced does not come back: it ended when it
    was replaced, whether or not its successor was right.
    """
    return leave(
        record_ids,
        Status.RETRACTED,
        frozenset({Status.ACTIVE, Status.QUARANTINED, Status.SUPERSEDED}),
        "record.retracted",
        reason,
        access=access,
        version=version,
        now=now,
        after=fence_for_everyone,
    )


@retried
def erase(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    versions: Mapping[UUID, int] | None = None,
    operation_id: UUID | None = None,
    now: datetime | None = None,
) -> Acted:
    """Destroy the content of records for good; the trail still verifies.

    Subject, value, content, vector, terms, findings, claims' texts and the
    salt that keyed the digests are gone, and so are quotes of them elsewhere
    (``erasing``; what only maintenance may change follows within a minute). A
    fence with a keyed digest keeps the fact from coming back with the next
    import. What a legal hold covers is skipped by name (the database would
    refuse it), and so is what has moved on from its place in ``versions``.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(record_ids))
    with acting(access) as cur:
        holds.keep_still(cur, access.workspace_id)
        found = lock(cur, wanted, access.workspace_id)
        held = holds.held_among(cur, found, access.workspace_id)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        going = [h for h in found.values() if h.status is not Status.ERASED and h.id not in held]
        acted.skipped += [(h.id, "is erased") for h in found.values() if h.status is Status.ERASED]
        acted.skipped += [(one, "is on legal hold") for one in sorted(held)]
        if versions is not None:
            moved_on = [h for h in going if versions.get(h.id) != h.version]
            acted.skipped += [(h.id, "has changed since") for h in moved_on]
            going = [h for h in going if versions.get(h.id) == h.version]
        if not going:
            return acted
        ids = acted.changed = [h.id for h in going]
        erasing.erase_elsewhere(cur, ids, access)
        key = fence_key(access.workspace_id)
        fence_for_everyone(cur, [*going, *other_wordings(cur, going, access)], access, now, reason)
        forget_merges(cur, ids, access, now)
        cur.execute(
            """UPDATE fence f SET fingerprint = u.digest, keyed = true
               FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS u (partition_id, fingerprint, digest)
               WHERE f.partition_id = u.partition_id AND f.fingerprint = u.fingerprint""",
            [
                [h.partition_id for h in going],
                [h.fingerprint for h in going],
                [keyed_fingerprint(key, h.fingerprint) for h in going],
            ],
        )
        cur.execute(
            """UPDATE memory_record SET status = 'erased', prior_status = status, status_at = %s,
                   hold_reason = '', subject = '', subject_key = '', value = '', content = '',
                   fingerprint = 'fp_' || left(encode(sha256(id::text::bytea), 'hex'), 24),
                   embedding = NULL, embedding_model = NULL, terms = '{}', more_terms = NULL,
                   findings = '[]', metadata = '{}', tags = '{}', labels = '{}', external_id = NULL,
                   extracted_by = '', recheck_reason = NULL,
                   merged_into = NULL,
                   source_key = CASE WHEN derived THEN 'erased:' || id END, override = NULL, salt = NULL
               WHERE id = ANY(%s)""",
            [now, ids],
        )
        cur.execute("UPDATE claim SET evidence = '', wording = '' WHERE record_id = ANY(%s)", [ids])
        # What people wrote when they took the fact out may quote it.
        cur.execute("UPDATE fence SET reason = '' WHERE record_id = ANY(%s)", [ids])
        cur.execute("UPDATE address SET record_id = NULL WHERE record_id = ANY(%s)", [ids])
        signals.forget(cur, ids, access=access, now=now)
        details: dict[str, Any] = {"operation": str(operation_id)} if operation_id else {}
        events.append([moved("record.erased", h, reason, **details) for h in going], access=access)
        return acted
