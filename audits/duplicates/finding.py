"""Finding facts that may say the same: what is new or changed, against its own partition.

Owns the job ``duplicates`` and the table ``duplicate_search``. A step looks at a
bounded number of records. New ones come by their ids, which grow with time; those
that came back into service by the sealed events that say so. Each is compared with
its nearest by embedding (exact, from recall's index alone) and with its own slot; in
a partition too large for that, with its slot alone, and the page says so. A second,
slow pass over all looks for facts that are one identity under the policies and the
schema of today. Decides nothing about a pair: ``domain/likeness.py`` does, and then
a person. Read ``acting.py`` next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import psycopg

from audits.domain.clusters import components
from audits.domain.likeness import Said, is_restated
from records import queries
from records.domain.facts import Cardinality
from records.domain.ids import uuid7
from records.jobs.runs import Run
from records.policies import PolicyBook, book
from records.queries import Row
from records.recast import Stored

BATCH = 100  # records compared in one step
RUN_SECONDS = 15.0  # of one run: the next goes on, and others have their turn
WINDOW = 10_000  # sealed events read in one step
PASS = 1_000  # records of the slow pass in one run
NEAREST = 12  # of each record, by embedding
SIBLINGS = 30  # of its slot, newest first
FARTHEST = 0.6  # cosine distance: farther restatements are too rare to read everything for
LARGE = 5_000  # live records of a partition, above which only slots are compared
CLUSTER_CAP = 5_000  # suggestions of one partition that are grouped
OVERLAP = timedelta(minutes=2)  # a transaction may commit after younger ids have been looked at
BACK = ("record.approved", "record.restored", "record.parted", "record.corrected")

BEGIN = "INSERT INTO duplicate_search (workspace_id) VALUES (%s) ON CONFLICT DO NOTHING"
SEARCH = """SELECT after_id, position, pass_id, checked FROM duplicate_search
WHERE workspace_id = %s FOR UPDATE"""
NEW = """SELECT id FROM memory_record WHERE workspace_id = %(workspace)s AND status = 'active'
    AND id > %(after)s ORDER BY id LIMIT %(batch)s"""
# Up to WINDOW events at a time; of those that count, no more than one batch.
CAME_BACK = """WITH due AS MATERIALIZED (
    SELECT position, event_id FROM sealed_event
    WHERE workspace_id = %(workspace)s AND position > %(after)s ORDER BY position LIMIT %(window)s)
SELECT s.position, e.target_id FROM due s
JOIN event e ON e.id = s.event_id
WHERE e.action = ANY(%(back)s) AND e.target_id IS NOT NULL ORDER BY s.position LIMIT %(batch)s"""
SEALED = """SELECT max(position), count(*) FROM (SELECT position FROM sealed_event
    WHERE workspace_id = %(workspace)s AND position > %(after)s ORDER BY position LIMIT %(window)s) AS due"""
SIZES = """SELECT p.id, (SELECT count(*) FROM (
    SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s AND r.partition_id = p.id
      AND r.status = 'active' LIMIT %(large)s + 1) AS one)
FROM (SELECT DISTINCT partition_id AS id FROM memory_record WHERE id = ANY(%(ids)s)) AS p"""
# Exact and index-only: everything it reads of the others is in recall's covering index.
NEAR = """SELECT n.id, c.id, c.far FROM memory_record n CROSS JOIN LATERAL (
    SELECT r.id, r.embedding <=> n.embedding AS far FROM memory_record r
    WHERE r.workspace_id = %(workspace)s AND r.partition_id = n.partition_id AND r.status = 'active'
      AND r.embedding_model = n.embedding_model AND r.id <> n.id
    ORDER BY far LIMIT %(nearest)s) AS c
WHERE n.id = ANY(%(ids)s) AND n.status = 'active' AND n.partition_id <> ALL(%(large)s)
  AND c.far < %(farthest)s"""
SLOT = """SELECT n.id, c.id, c.far FROM memory_record n CROSS JOIN LATERAL (
    SELECT r.id, coalesce(r.embedding <=> n.embedding, 1) AS far FROM memory_record r
    WHERE r.slot_id = n.slot_id AND r.workspace_id = %(workspace)s AND r.status = 'active'
      AND r.id <> n.id AND (r.embedding_model = n.embedding_model) IS NOT false
    ORDER BY r.order_at DESC LIMIT %(siblings)s) AS c
WHERE n.id = ANY(%(ids)s) AND n.status = 'active'"""
TEXTS = """SELECT id, partition_id, slot_id, cardinality, subject, predicate, value, content,
    source_id, source_key
FROM memory_record WHERE id = ANY(%s) AND status = 'active'"""
STORED = """SELECT r.id, r.partition_id, r.slot_id, r.fingerprint, r.status, r.subject, r.value,
    r.cardinality, r.negated, r.order_at, r.recorded_at, r.last_seen,
    coalesce(r.observed_at, r.written_at), r.valid_until, r.valid_until_given, r.derived, o.name,
    r.source_key, r.predicate
FROM memory_record r JOIN source o ON o.id = r.source_id
WHERE r.workspace_id = %(workspace)s AND r.status = 'active' AND """
# What a person has decided stays decided: a value that changes is another record.
SAVE = """INSERT INTO duplicate_pair AS p (id, workspace_id, partition_id, one_id, other_id, kind,
    predicate, likeness, cluster_id, found_at)
SELECT u.id, %(workspace)s, u.partition, u.one, u.other, u.kind, u.predicate, u.likeness, u.one, %(now)s
FROM unnest(%(id)s::uuid[], %(partition)s::uuid[], %(one)s::uuid[], %(other)s::uuid[], %(kind)s::text[],
            %(predicate)s::text[], %(likeness)s::float8[])
    AS u (id, partition, one, other, kind, predicate, likeness)
ORDER BY u.one, u.other
ON CONFLICT (one_id, other_id) DO UPDATE SET state = 'suggested', kind = excluded.kind,
    likeness = excluded.likeness, cluster_id = excluded.cluster_id, at = excluded.found_at
WHERE p.state IN ('gone', 'merged') OR p.kind <> excluded.kind AND p.state = 'suggested'
RETURNING p.id"""
LEFT = """UPDATE duplicate_pair p SET state = 'gone', at = %(now)s
WHERE p.workspace_id = %(workspace)s AND p.state = 'suggested'
  AND (SELECT count(*) FROM memory_record r
       WHERE r.id IN (p.one_id, p.other_id) AND r.status = 'active') < 2
RETURNING p.partition_id"""
SUGGESTED = """SELECT one_id, other_id FROM duplicate_pair
WHERE partition_id = %s AND workspace_id = %s AND state = 'suggested'
ORDER BY one_id, other_id LIMIT %s"""
GROUP = """UPDATE duplicate_pair p SET cluster_id = u.cluster
FROM unnest(%s::uuid[], %s::uuid[]) AS u (one, cluster)
WHERE p.one_id = u.one AND p.state = 'suggested' AND p.cluster_id <> u.cluster"""
MOVE = """UPDATE duplicate_search SET after_id = coalesce(%(after)s, after_id),
    position = coalesce(%(position)s, position), narrowed = greatest(narrowed, %(narrowed)s), at = %(now)s
WHERE workspace_id = %(workspace)s"""
PASSED = """UPDATE duplicate_search SET pass_id = %(pass)s,
    last_checked = CASE WHEN %(pass)s::uuid IS NULL THEN checked + %(number)s ELSE last_checked END,
    checked = CASE WHEN %(pass)s::uuid IS NULL THEN 0 ELSE checked + %(number)s END,
    passed_at = CASE WHEN %(pass)s::uuid IS NULL THEN %(now)s ELSE passed_at END
WHERE workspace_id = %(workspace)s"""


@dataclass(frozen=True, slots=True)
class Fact:
    """One live record as the search reads it."""

    id: UUID
    partition_id: UUID
    slot_id: UUID
    is_one: bool
    said: Said
    content: str = ""
    source_id: UUID | None = None
    source_key: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records that a person should look at."""

    one: Fact
    other: Fact
    kind: str
    likeness: float


def find_duplicates(run: Run, now: datetime) -> None:
    """Look at what is new or came back, then go on with the slow pass."""
    assert run.workspace_id is not None
    until = monotonic() + RUN_SECONDS
    while monotonic() < until:
        with run.step(), queries.cursor() as cur:
            looked, found = look_once(cur, run.workspace_id, now)
            run.count(looked_at=looked, suggested=found)
        if not looked:
            break
    with run.step(), queries.cursor() as cur:
        run.count(collisions=look_for_collisions(cur, run.workspace_id, now))
        run.count(settled=forget_settled(cur, run.workspace_id, now))


def look_once(cur: psycopg.Cursor[Row], workspace_id: UUID, now: datetime) -> tuple[int, int]:
    """Compare one batch; return how many records had not been looked at, and the new suggestions."""
    after, position, _, _ = _search(cur, workspace_id)
    start = after or UUID(int=0)
    values = {"workspace": workspace_id, "batch": BATCH}
    # What was looked at a moment ago is looked at again: it may have had elder company coming.
    since = min(start, _id_at(now - OVERLAP))
    cur.execute(NEW, {**values, "after": since})
    ids = [row[0] for row in cur.fetchall()]
    if ids and ids[-1] <= start and len(ids) == BATCH:
        cur.execute(NEW, {**values, "after": start})
        ids = [row[0] for row in cur.fetchall()]
    came_back, reached, is_more = _came_back(cur, {**values, "after": position})
    fresh = sum(one > start for one in ids) + len(came_back) + is_more
    wanted = list(dict.fromkeys([*ids, *came_back]))
    found, narrowed = compare(cur, workspace_id, wanted, now) if wanted else (0, 0)
    cur.execute(
        MOVE,
        {
            "workspace": workspace_id, "now": now, "narrowed": narrowed,
            "after": max([start, *ids]) if ids else None,
            "position": reached,
        },
    )  # fmt: skip
    return fresh, found


def _came_back(
    cur: psycopg.Cursor[Row], values: dict[str, Any]
) -> tuple[list[UUID], int | None, bool]:
    """Return what came back into service, how far that was looked for, and whether more waits."""
    values = {**values, "window": WINDOW, "back": list(BACK)}
    cur.execute(SEALED, values)
    row = cur.fetchone()
    if row is None or row[0] is None:
        return [], None, False
    cur.execute(CAME_BACK, values)
    events = cur.fetchall()
    is_full = len(events) == BATCH
    return (
        [event[1] for event in events],
        events[-1][0] if is_full else row[0],
        is_full or row[1] == WINDOW,
    )


def compare(
    cur: psycopg.Cursor[Row], workspace_id: UUID, record_ids: Sequence[UUID], now: datetime
) -> tuple[int, int]:
    """Suggest what restates these records; return how many pairs, and how many partitions are large."""
    values: dict[str, Any] = {
        "workspace": workspace_id, "ids": list(record_ids), "nearest": NEAREST,
        "siblings": SIBLINGS, "farthest": FARTHEST, "large": LARGE,
    }  # fmt: skip
    cur.execute(SIZES, values)
    large = [row[0] for row in cur.fetchall() if row[1] > LARGE]
    near: dict[tuple[UUID, UUID], float] = {}
    for statement in (NEAR, SLOT):
        cur.execute(statement, {**values, "large": large})
        for one, other, far in cur.fetchall():
            near[min(one, other), max(one, other)] = float(far)
    facts = _facts(cur, {one for pair in near for one in pair})
    pairs = [
        Pair(facts[one], facts[other], "alike", max(0.0, min(1.0, 1.0 - far)))
        for (one, other), far in near.items()
        if one in facts and other in facts and _is_worth(facts[one], facts[other])
    ]
    return save_pairs(cur, workspace_id, pairs, now), len(large)


def look_for_collisions(cur: psycopg.Cursor[Row], workspace_id: UUID, now: datetime) -> int:
    """Go on with the pass that finds facts which are one identity by now; return the new pairs."""
    _, _, at, _ = _search(cur, workspace_id)
    cur.execute(
        f"{STORED} r.id > %(after)s ORDER BY r.id LIMIT %(limit)s",
        {"workspace": workspace_id, "after": at or UUID(int=0), "limit": PASS},
    )
    policies = book(workspace_id)
    rows = [_brought(row, policies, workspace_id) for row in cur.fetchall()]
    # Identity never leaves its slot, so neither does the search for whom it collides with.
    moved = {one.slot_id for one, _ in rows if one.new_fingerprint != one.fingerprint}
    pairs: list[Pair] = []
    if moved:
        cur.execute(
            f"{STORED} r.slot_id = ANY(%(slots)s) ORDER BY r.id",
            {"workspace": workspace_id, "slots": list(moved)},
        )
        pairs = list(_colliding(_brought(row, policies, workspace_id) for row in cur.fetchall()))
    found = save_pairs(cur, workspace_id, pairs, now)
    cur.execute(
        PASSED,
        {
            "workspace": workspace_id, "number": len(rows), "now": now,
            "pass": rows[-1][0].id if len(rows) == PASS else None,
        },
    )  # fmt: skip
    return found


def save_pairs(
    cur: psycopg.Cursor[Row], workspace_id: UUID, pairs: Sequence[Pair], now: datetime
) -> int:
    """Save what is not known yet, group it again, and return how many pairs are new."""
    if not pairs:
        return 0
    cur.execute(
        SAVE,
        {
            "workspace": workspace_id, "now": now,
            "id": [uuid7(now) for _ in pairs],
            "partition": [p.one.partition_id for p in pairs],
            "one": [p.one.id for p in pairs], "other": [p.other.id for p in pairs],
            "kind": [p.kind for p in pairs],
            "predicate": [p.one.said.predicate for p in pairs],
            "likeness": [p.likeness for p in pairs],
        },
    )  # fmt: skip
    found = len(cur.fetchall())
    if found:
        regroup(cur, workspace_id, {p.one.partition_id for p in pairs})
    return found


def regroup(cur: psycopg.Cursor[Row], workspace_id: UUID, partition_ids: Iterable[UUID]) -> None:
    """Give the suggestions of these partitions the groups that they join now."""
    for partition_id in sorted(partition_ids):
        cur.execute(SUGGESTED, [partition_id, workspace_id, CLUSTER_CAP])
        groups = components((row[0], row[1]) for row in cur.fetchall())
        cur.execute(GROUP, [list(groups), list(groups.values())])


def forget_settled(cur: psycopg.Cursor[Row], workspace_id: UUID, now: datetime) -> int:
    """Close the suggestions of which one side has left service; return how many."""
    cur.execute(LEFT, {"workspace": workspace_id, "now": now})
    rows = cur.fetchall()
    regroup(cur, workspace_id, {row[0] for row in rows})
    return len(rows)


def _search(cur: psycopg.Cursor[Row], workspace_id: UUID) -> Row:
    cur.execute(BEGIN, [workspace_id])
    cur.execute(SEARCH, [workspace_id])
    row = cur.fetchone()
    assert row is not None
    return row


def _facts(cur: psycopg.Cursor[Row], record_ids: Iterable[UUID]) -> dict[UUID, Fact]:
    cur.execute(TEXTS, [list(record_ids)])
    return {
        row[0]: Fact(
            id=row[0],
            partition_id=row[1],
            slot_id=row[2],
            is_one=row[3] == Cardinality.ONE,
            said=Said(row[4], row[5], row[6]),
            content=row[7],
            source_id=row[8],
            source_key=row[9],
        )
        for row in cur.fetchall()
    }


def _is_worth(one: Fact, other: Fact) -> bool:
    """Say whether a person could do something about two facts that say the same."""
    if one.is_one and other.is_one and one.slot_id != other.slot_id:
        return False
    if (one.source_id, one.source_key) != (other.source_id, other.source_key):
        if one.source_key and other.source_key and one.source_id == other.source_id:
            return False  # two rows of one source: it tells them apart itself
        if one.source_key or other.source_key:
            # What a row is about may stand in its key and its sentence alone: "starred".
            sentences = (Said("", "note", fact.content) for fact in (one, other))
            if not is_restated(*sentences):
                return False
    return is_restated(one.said, other.said)


def _brought(row: Row, policies: PolicyBook, workspace_id: UUID) -> tuple[Stored, str]:
    """Return a record with the identity that its policy gives it today, and its predicate."""
    stored = Stored(*row[:-1])
    stored.bring_to(policies.resolve(row[-1]), workspace_id)
    return stored, row[-1]


def _colliding(rows: Iterable[tuple[Stored, str]]) -> Iterable[Pair]:
    """Yield the records of these slots that are one identity under today's policies."""
    ordered = sorted(rows, key=lambda r: (r[0].slot_id, r[0].new_fingerprint, r[0].id))
    for _, several in itertools.groupby(
        ordered, key=lambda r: (r[0].slot_id, r[0].new_fingerprint)
    ):
        for (one, predicate), (other, _) in itertools.pairwise(several):
            yield Pair(_as_fact(one, predicate), _as_fact(other, predicate), "same", 1.0)


def _as_fact(one: Stored, predicate: str) -> Fact:
    said = Said(one.subject, predicate, one.value)
    return Fact(one.id, one.partition_id, one.slot_id, one.cardinality == Cardinality.ONE, said)


def _id_at(at: datetime) -> UUID:
    """Return the smallest id that a record of that moment can have: UUIDv7 begins with the time."""
    return UUID(int=(int(at.timestamp() * 1000) << 80))
