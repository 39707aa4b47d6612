"""One fact in two wordings: merging one record into another.

Owns the move of provenance and the alias of identity. A person decides: likeness
merges nothing by itself. The kept record counts what the other one's sessions and
sources said; the other leaves service, and while it stands merged its wording
means the kept record wherever it is written again (``domain.ledger``). A fact
leaves one slot only: what holds a slot that another value could contradict is
merged within that slot alone. Read ``parting.py`` for the undo, docs/duplicates.md for the rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from records import events, signals, store
from records.access import Access
from records.curate.acting import Acted, Held, acting, lock, moved, the_one
from records.domain.facts import Cardinality, Status
from records.domain.ids import uuid7
from records.domain.validity import expiry
from records.policies import book
from records.queries import Row
from records.scope import retried

NUMBERS = """SELECT r.id, r.predicate, r.confidence, r.trust, r.valid_until, r.valid_until_given,
    greatest(r.last_seen, t.last_seen), r.last_seen, coalesce(t.seen_count, 1)
FROM memory_record r LEFT JOIN tally t ON t.record_id = r.id WHERE r.id = ANY(%s)"""

MOVING = """SELECT c.record_id, c.session_id, c.source_id, c.count, c.echoes, c.first_at, c.last_at,
    coalesce(k.state = 'moved', true) AS is_new, coalesce(k.state <> 'dropped', true) AS is_counted,
    coalesce(k.state, '') AS kept_state, k.first_at AS kept_first_at, k.last_at AS kept_last_at
FROM claim c LEFT JOIN claim k ON k.record_id = %(kept)s AND k.session_id = c.session_id
    AND k.source_id = c.source_id
WHERE c.record_id = ANY(%(several)s) AND c.state = 'live'
ORDER BY c.record_id, c.session_id, c.source_id"""
NOTE = f"""INSERT INTO merged_claim (merge_id, workspace_id, partition_id, session_id, source_id, count,
    echoes, first_at, last_at, is_new, is_counted, kept_state, kept_first_at, kept_last_at)
SELECT %(merge)s, %(workspace)s, %(partition)s, session_id, source_id, count, echoes, first_at, last_at,
    is_new, is_counted, kept_state, kept_first_at, kept_last_at FROM ({MOVING}) AS m"""
# An evicted word stays out: what one origin was told not to say, it does not say by a merge.
UNITE = """INSERT INTO claim AS k (record_id, session_id, source_id, workspace_id, partition_id, derived,
    state, first_at, last_at, count, echoes, confidence, evidence, wording)
SELECT %(kept)s, session_id, source_id, workspace_id, partition_id, derived, 'live', first_at, last_at,
    count, echoes, confidence, '', ''
FROM claim WHERE record_id = %(gone)s AND state = 'live' ORDER BY session_id, source_id
ON CONFLICT (record_id, session_id, source_id) DO UPDATE SET
    state = 'live', merge_id = NULL, dropped_by = NULL,
    count = k.count + excluded.count, echoes = k.echoes + excluded.echoes,
    first_at = CASE WHEN k.state = 'moved' THEN excluded.first_at
                    ELSE least(k.first_at, excluded.first_at) END,
    last_at = CASE WHEN k.state = 'moved' THEN excluded.last_at
                   ELSE greatest(k.last_at, excluded.last_at) END
WHERE k.state <> 'dropped'"""
LEAVE = """UPDATE claim SET state = 'moved', merge_id = %(merge)s
WHERE record_id = %(gone)s AND state = 'live'"""
SAVE_KEPT = """UPDATE memory_record SET last_seen = greatest(last_seen, %(last_seen)s),
    valid_until = %(valid_until)s, confidence = %(confidence)s,
    stated_confidence = greatest(stated_confidence, %(confidence)s), trust = %(trust)s WHERE id = %(kept)s"""
SAVE_GONE = """UPDATE memory_record SET prior_status = status, status = 'superseded', status_at = %(now)s,
    superseded_by = %(kept)s, superseded_at = %(now)s, merged_into = %(kept)s WHERE id = %(gone)s"""
SAVE_MERGE = """INSERT INTO record_merge (id, workspace_id, partition_id, gone_id, kept_id, at, by, before,
    after, address_ids)
VALUES (%(merge)s, %(workspace)s, %(partition)s, %(gone)s, %(kept)s, %(now)s, %(by)s, %(before)s, %(after)s,
    ARRAY(SELECT id FROM address WHERE record_id = %(gone)s ORDER BY id FOR UPDATE))"""
POINT = "UPDATE address SET record_id = %(kept)s WHERE record_id = %(gone)s"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What of a record a merge may move."""

    seen_count: int
    last_seen: datetime
    row_last_seen: datetime
    valid_until: datetime | None
    valid_until_given: bool
    confidence: float
    trust: int

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as the merge keeps them."""
        return {
            "seen_count": self.seen_count,
            "last_seen": self.last_seen.isoformat(),
            "row_last_seen": self.row_last_seen.isoformat(),
            "valid_until": self.valid_until.isoformat() if self.valid_until else None,
            "confidence": self.confidence,
            "trust": self.trust,
        }


@dataclass(frozen=True, slots=True)
class Union:
    """What one merge does to the kept record: its numbers around it, and the claims that move.

    ``shared`` of the moving claims meet one of the same origin there; ``refused``
    add nothing, since that origin's word on the kept record was taken out.
    """

    gone_id: UUID
    before: Numbers
    after: Numbers
    claims: int
    shared: int
    refused: int


@dataclass(slots=True)
class Merged(Acted):
    """What merging changed: ``merges`` are its handles for an undo, ``unions`` what each did."""

    merges: tuple[UUID, ...] = ()
    unions: tuple[Union, ...] = ()


def preview_merge(
    cur: psycopg.Cursor[Row], kept: Held, gone: Sequence[Held], access: Access
) -> tuple[list[Union], list[tuple[UUID, str]]]:
    """Return what merging ``gone`` into ``kept`` does, in order, and what cannot be merged.

    The very computation that ``merge`` carries out; changes nothing.
    """
    unions: list[Union] = []
    refused = [(h.id, why) for h in gone if (why := _why_not(h, kept))]
    numbers = _numbers(cur, [kept.id, *(h.id for h in gone)])
    at = numbers[kept.id][1]
    ttl_days = book(access.workspace_id).resolve(numbers[kept.id][0]).ttl_days
    cur.execute(MOVING, {"kept": kept.id, "several": [h.id for h in gone]})
    moving: dict[UUID, list[Row]] = defaultdict(list)
    for row in cur:
        moving[row[0]].append(row[1:])
    counted: set[tuple[UUID, UUID]] = set()
    for one in gone:
        if _why_not(one, kept):
            continue
        claims = moving[one.id]
        origins = {(c[0], c[1]) for c in claims if c[7]}
        is_new = any(c[6] and (c[0], c[1]) not in counted for c in claims)
        shared = sum(not c[6] or (c[0], c[1]) in counted for c in claims)
        after = _united(at, numbers[one.id][1], claims, is_new_voice=is_new, ttl_days=ttl_days)
        refusals = sum(not c[7] for c in claims)
        unions.append(Union(one.id, at, after, len(claims), shared - refusals, refusals))
        counted |= origins
        at = after
    return unions, refused


@retried
def merge(
    kept_id: UUID,
    gone_ids: Iterable[UUID],
    reason: str,
    *,
    access: Access,
    versions: Mapping[UUID, int] | None = None,
    now: datetime | None = None,
) -> Merged:
    """Merge records into ``kept_id``: one fact from now on, in whatever wording it is said.

    One transaction with its events. What cannot be merged is skipped and says why,
    and so is what has moved on from its place in ``versions``; ``Conflict`` when
    the kept record has.
    """
    now = now or datetime.now(UTC)
    wanted = [one for one in dict.fromkeys(gone_ids) if one != kept_id]
    with acting(access) as cur:
        found = lock(cur, [kept_id, *wanted], access.workspace_id)
        kept = the_one(found, kept_id, versions.get(kept_id) if versions else None)
        done = Merged(matched=sum(one in found for one in wanted))
        done.skipped += [(one, "not found") for one in wanted if one not in found]
        gone = [found[one] for one in wanted if one in found]
        if versions is not None:
            done.skipped += [
                (h.id, "has changed since") for h in gone if versions.get(h.id) != h.version
            ]
            gone = [h for h in gone if versions.get(h.id) == h.version]
        unions, refused = preview_merge(cur, kept, gone, access)
        done.skipped += refused
        for union in unions:
            done.merges += (_merge_one(cur, found[union.gone_id], kept, union, access, now),)
        if not unions:
            return done
        done.unions = tuple(unions)
        done.changed = [one.gone_id for one in unions]
        store.refresh_tallies(cur, sorted([kept.id, *done.changed]))
        signals.touch(cur, [kept.id, *done.changed], now)
        events.append(
            [
                moved(
                    "record.merged", found[one.gone_id], reason,
                    into=str(kept.id), merge=str(merge_id), claims=one.claims,
                )
                for one, merge_id in zip(unions, done.merges, strict=True)
            ]
            + [
                moved("record.united", kept, reason, others=[str(one) for one in done.changed])
            ],
            access=access,
        )  # fmt: skip
        return done


def other_wordings(cur: psycopg.Cursor[Row], going: Sequence[Held], access: Access) -> list[Held]:
    """Return the records that stand merged into these: the same facts in other words, locked."""
    cur.execute(
        "SELECT id FROM memory_record WHERE merged_into = ANY(%s) AND id <> ALL(%s)",
        [[h.id for h in going], [h.id for h in going]],
    )
    ids = [row[0] for row in cur.fetchall()]
    return list(lock(cur, ids, access.workspace_id).values()) if ids else []


def forget_merges(
    cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], access: Access, now: datetime
) -> None:
    """End the merges of records whose content is destroyed, on either side of them.

    What was said since in words that may be the erased ones goes, too: the kept
    record's claims keep their numbers and lose their texts.
    """
    ids = list(record_ids)
    cur.execute(
        """UPDATE claim c SET wording = '', evidence = '' FROM record_merge m
           WHERE m.gone_id = ANY(%s) AND c.record_id = m.kept_id AND c.last_at >= m.at""",
        [ids],
    )
    cur.execute(
        """SELECT gone_id FROM record_merge
           WHERE (gone_id = ANY(%(ids)s) OR kept_id = ANY(%(ids)s)) AND parted_at IS NULL""",
        {"ids": ids},
    )
    gone = [row[0] for row in cur.fetchall()]
    store.end_merges(cur, gone, now, by=str(access.actor), why="erased")


def _merge_one(
    cur: psycopg.Cursor[Row],
    gone: Held,
    kept: Held,
    union: Union,
    access: Access,
    now: datetime,
) -> UUID:
    about: dict[str, Any] = {
        "merge": uuid7(now), "workspace": access.workspace_id, "partition": kept.partition_id,
        "gone": gone.id, "several": [gone.id], "kept": kept.id, "now": now, "by": str(access.actor),
        "last_seen": union.after.row_last_seen, "valid_until": union.after.valid_until,
        "confidence": union.after.confidence, "trust": union.after.trust,
        "before": Jsonb(union.before.as_json()), "after": Jsonb(union.after.as_json()),
    }  # fmt: skip
    for statement in (SAVE_MERGE, NOTE, UNITE, LEAVE, SAVE_KEPT, SAVE_GONE, POINT):
        cur.execute(statement, about)
    merge_id: UUID = about["merge"]
    return merge_id


def _numbers(
    cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]
) -> dict[UUID, tuple[str, Numbers]]:
    cur.execute(NUMBERS, [list(record_ids)])
    return {
        row[0]: (
            row[1],
            Numbers(
                seen_count=row[8],
                last_seen=row[6],
                row_last_seen=row[7],
                valid_until=row[4],
                valid_until_given=row[5],
                confidence=row[2],
                trust=row[3],
            ),
        )
        for row in cur
    }


def _united(
    kept: Numbers,
    gone: Numbers,
    claims: Sequence[Row],
    *,
    is_new_voice: bool,
    ttl_days: float | None,
) -> Numbers:
    """Return the kept record's numbers with the other's: as if it had been said in its words."""
    counts = [c for c in claims if c[7]]
    last_seen = max([kept.last_seen, *(c[5] for c in counts)])
    valid_until = kept.valid_until
    if not kept.valid_until_given and valid_until is not None:
        known = expiry(seen_at=last_seen, ttl_days=ttl_days, given=None)
        valid_until = None if known is None else max(valid_until, known)
    return Numbers(
        seen_count=kept.seen_count + sum(c[2] for c in counts),
        last_seen=last_seen,
        row_last_seen=max([kept.row_last_seen, *(c[5] for c in counts)]),
        valid_until=valid_until,
        valid_until_given=kept.valid_until_given,
        # As on the write path: confidence may rise only with somebody who had not said it yet.
        confidence=max(kept.confidence, gone.confidence) if is_new_voice else kept.confidence,
        trust=max(kept.trust, gone.trust) if counts else kept.trust,
    )


def _why_not(gone: Held, kept: Held) -> str:
    """Say why one record cannot be merged into another; nothing when it can."""
    if kept.status is not Status.ACTIVE:
        return f"what it would be merged into is {kept.status}"
    if gone.status is not Status.ACTIVE:
        return f"is {gone.status}"
    if gone.partition_id != kept.partition_id:
        return "is in another partition"
    if gone.cardinality is Cardinality.ONE and gone.slot_id != kept.slot_id:
        return "holds the one value of its predicate; give the predicate an alias instead"
    return ""
