"""Undoing evictions: facts return to where they stood, reconciled as of now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from records import events, store
from records.access import Access
from records.curate.acting import Acted, Held, acting, lock, moved, set_status, the_one
from records.curate.fencing import ended_since, lift_fences
from records.curate.placing import readmit, taken_fingerprints
from records.domain.facts import HoldReason, Status
from records.queries import Row
from records.scope import retried

# A claim that counted at another record since a merge counts there again.
BACK = """CASE WHEN EXISTS (SELECT 1 FROM record_merge m WHERE m.id = c.merge_id
    AND m.gone_id = c.record_id AND m.parted_at IS NULL) THEN 'moved' ELSE 'live' END"""


@retried
def restore(
    record_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    session_id: UUID | None = None,
    source_id: UUID | None = None,
    operation_id: UUID | None = None,
    undone_by: UUID | None = None,
    version: int | None = None,
    versions: Mapping[UUID, int] | None = None,
    now: datetime | None = None,
) -> Acted:
    """Undo evictions: each record returns to where it stood, reconciled as of now.

    Its fences are lifted and its dropped claims count again. One that was past
    is live again when all that came after it is out of service. A record of a
    fact that has been stored anew since, or taken out again by another act, is
    skipped, and says so. With a session
    or source, its dropped claims on records that stayed count again, too; with
    an ``operation_id`` the claims that this operation dropped, and no others
    (``undone_by`` is the operation that undoes it). With ``version``, for one
    record: ``Conflict`` when it has moved on; one of several that has moved on
    from its place in ``versions`` is skipped.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(record_ids))
    details: dict[str, Any] = {"operation": str(undone_by)} if undone_by else {}
    with acting(access) as cur:
        found = lock(cur, wanted, access.workspace_id)
        if version is not None:
            the_one(found, wanted[0], version)
        acted = Acted(matched=len(found))
        acted.skipped += [(one, "not found") for one in wanted if one not in found]
        targets = list(found.values())
        if versions is not None:
            moved_on = [h for h in targets if versions.get(h.id) != h.version]
            acted.skipped += [(h.id, "has changed since") for h in moved_on]
            targets = [h for h in targets if versions.get(h.id) == h.version]
        revived = _revive_claims(cur, targets, session_id, source_id, operation_id)
        acted.revived = revived
        acted.restored_claims = len(revived)
        if revived:
            store.refresh_tallies(cur, sorted(revived))
            events.append(
                [
                    moved("claim.restored", h, reason, session_id=session_id, **details)
                    for h in targets
                    if h.id in revived
                ],
                access=access,
            )
        evicted = [h for h in targets if h.status is Status.EVICTED]
        taken = taken_fingerprints(cur, evicted) if evicted else set()
        ended = ended_since(cur, evicted, access)
        coming = list(_coming(targets, taken, ended, acted))
        if not coming:
            return acted
        ids = [h.id for h in coming]
        lift_fences(cur, coming, access, now)
        cur.execute(
            f"""UPDATE claim c SET state = {BACK}, dropped_by = NULL WHERE record_id = ANY(%(ids)s)
                 AND state = 'dropped'
                 AND (%(operation)s::uuid IS NULL OR dropped_by = %(operation)s::uuid)""",
            {"ids": ids, "operation": operation_id},
        )
        by_prior = defaultdict(list)
        for held in coming:
            by_prior[held.prior_status or str(Status.ACTIVE)].append(held)
        # One that was merged into another is past whatever became of that.
        superseded = by_prior.pop(str(Status.SUPERSEDED), [])
        merged = [h for h in superseded if h.merged_into is not None]
        past = [h for h in superseded if h.merged_into is None]
        ends = _successors(cur, past, coming)
        live = by_prior.pop(str(Status.ACTIVE), []) + [h for h in past if h.id not in ends]
        placed = readmit(
            cur,
            live,
            access,
            now,
            action="record.restored",
            reason=reason,
            details=details,
            taken=taken,
        )
        acted.changed += placed.changed
        acted.skipped += placed.skipped
        acted.superseded += placed.superseded
        if ends:
            by_prior[str(Status.SUPERSEDED)] = [h for h in past if h.id in ends]
            cur.execute(
                """UPDATE memory_record r SET superseded_by = u.successor
                   FROM unnest(%s::uuid[], %s::uuid[]) AS u (id, successor)
                   WHERE r.id = u.id AND r.superseded_by <> u.successor""",
                [list(ends), list(ends.values())],
            )
        if merged:
            by_prior[str(Status.SUPERSEDED)] += merged
        for prior, several in by_prior.items():
            ids = [h.id for h in several]
            if prior == Status.QUARANTINED:
                _keep_reasons(cur, ids)
            set_status(cur, ids, Status(prior), now, hold_reason=None)
            events.append(
                [moved("record.restored", h, reason, to=prior, **details) for h in several],
                access=access,
            )
            acted.changed += ids
        store.refresh_tallies(cur, _counted(cur, acted.changed))
        return acted


def _coming(
    targets: Sequence[Held],
    taken: AbstractSet[tuple[UUID, str]],
    ended: Mapping[UUID, str],
    acted: Acted,
) -> Iterator[Held]:
    """Yield the evicted records that can come back; say of the others why they cannot."""
    seen = set(taken)
    # Of one fact that was taken out twice the later record comes back.
    for held in sorted(targets, key=lambda h: h.order_at, reverse=True):
        fact = held.partition_id, held.fingerprint
        if held.status is not Status.EVICTED:
            stayed = held.id in acted.revived
            why = "stayed in service; its claim counts again" if stayed else None
            acted.skipped.append((held.id, why or f"is {held.status}, not evicted"))
        elif held.id in ended:
            acted.skipped.append((held.id, ended[held.id]))
        elif _is_past(held) and held.merged_into is None:
            yield held
        elif fact in seen:
            acted.skipped.append((held.id, "the same fact is stored anew"))
        else:
            seen.add(fact)
            yield held


def _is_past(held: Held) -> bool:
    return held.prior_status == Status.SUPERSEDED


def _counted(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> list[UUID]:
    """Return the records that have counters, or more than one claim to count."""
    cur.execute(
        """SELECT u.id FROM unnest(%s::uuid[]) AS u (id)
           WHERE EXISTS (SELECT 1 FROM tally t WHERE t.record_id = u.id)
              OR (SELECT count(*) FROM claim c WHERE c.record_id = u.id) > 1 ORDER BY u.id""",
        [list(record_ids)],
    )
    return [row[0] for row in cur]


def _keep_reasons(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> None:
    """Give what will be held again a reason where none was kept."""
    cur.execute(
        """UPDATE memory_record SET hold_reason = %s WHERE id = ANY(%s) AND hold_reason = ''""",
        [str(HoldReason.MANUAL), list(record_ids)],
    )


def _revive_claims(
    cur: psycopg.Cursor[Row],
    held: Iterable[Held],
    session_id: UUID | None,
    source_id: UUID | None,
    operation_id: UUID | None,
) -> set[UUID]:
    """Let one provenance's dropped claims on records that stayed count again; return those."""
    stayed = [h.id for h in held if h.status in (Status.ACTIVE, Status.SUPERSEDED)]
    if not stayed or not (session_id or source_id or operation_id):
        return set()
    cur.execute(
        f"""UPDATE claim c SET state = {BACK}, dropped_by = NULL
           WHERE record_id = ANY(%s) AND state = 'dropped'
             AND (session_id = %s OR source_id = %s OR dropped_by = %s) RETURNING record_id""",
        [stayed, session_id, source_id, operation_id],
    )
    return {row[0] for row in cur}


def _successors(
    cur: psycopg.Cursor[Row], past: Sequence[Held], coming: Sequence[Held]
) -> dict[UUID, UUID]:
    """Return what now follows each past record, past what is evicted; none: it is in no answer."""
    if not past:
        return {}
    cur.execute(
        """WITH RECURSIVE walk (id, at, next, is_out, depth) AS (
               SELECT r.id, n.id, n.superseded_by, n.status = 'evicted' AND n.id <> ALL(%(coming)s), 1
               FROM memory_record r JOIN memory_record n ON n.id = r.superseded_by
               WHERE r.id = ANY(%(past)s)
               UNION ALL
               SELECT w.id, n.id, n.superseded_by, n.status = 'evicted' AND n.id <> ALL(%(coming)s),
                      w.depth + 1
               FROM walk w JOIN memory_record n ON n.id = w.next WHERE w.is_out AND w.depth < 10000)
           SELECT id, at FROM walk WHERE NOT is_out""",
        {"past": [h.id for h in past], "coming": [h.id for h in coming]},
    )
    return {row[0]: row[1] for row in cur}
