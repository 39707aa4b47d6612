"""What the write path notes of each session for those who look for odd ones.

Owns ``session_signals``: one statement a write, in the write's transaction, for
however many sessions; never a look back at what is stored. Holds counts and
keyed digests, no text. Scores nothing: ``audits`` does. ``domain/sketch.py`` has
the samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from uuid import UUID

import psycopg
from django.db import transaction

from records.access import Access
from records.domain import canonical, sketch
from records.domain.facts import Outcome, Verdict
from records.domain.gate import scorer
from records.drafts import Draft
from records.fences import fence_key
from records.queries import Row

COUNTED = ("made", "derived", "stopped", "near", "fresh", "unknown")
SAMPLED = ("subjects", "predicates", "stated")

SAVE = f"""INSERT INTO session_signals AS t (session_id, workspace_id, partition_id, changed_at,
                                             {", ".join(COUNTED)}, {", ".join(SAMPLED)})
SELECT s, %s, p, %s, {", ".join(COUNTED)}, {", ".join(f"{name}::int4[]" for name in SAMPLED)}
FROM unnest(%s::uuid[], %s::uuid[], {", ".join(["%s::int4[]"] * len(COUNTED))},
            {", ".join(["%s::text[]"] * len(SAMPLED))})
    AS u (s, p, {", ".join(COUNTED)}, {", ".join(SAMPLED)}) ORDER BY s
ON CONFLICT (session_id) DO UPDATE SET
    changed_at = greatest(t.changed_at, excluded.changed_at),
    {", ".join(f"{name} = t.{name} + excluded.{name}" for name in COUNTED)},
    {
    ", ".join(
        f'''{name} = CASE WHEN t.{name} @> excluded.{name} THEN t.{name} ELSE ARRAY(
        SELECT DISTINCT h FROM unnest(t.{name} || excluded.{name}) AS h
        ORDER BY h LIMIT {sketch.SIZE}) END'''
        for name in SAMPLED
    )
}"""

# In the order of their ids, as writers lock them.
TOUCH = """UPDATE session_signals t SET changed_at = greatest(t.changed_at, %(now)s)
FROM (SELECT session_id FROM session_signals WHERE session_id IN (
          SELECT session_id FROM memory_record WHERE id = ANY(%(ids)s))
      ORDER BY session_id FOR UPDATE) AS mine
WHERE t.session_id = mine.session_id"""


REMAINING = """SELECT m.session_id, r.subject_key, r.predicate, r.value
FROM (SELECT DISTINCT session_id FROM memory_record
      WHERE id = ANY(%(ids)s) AND workspace_id = %(workspace)s) AS m
LEFT JOIN claim c ON c.session_id = m.session_id
LEFT JOIN memory_record r ON r.id = c.record_id AND r.session_id = m.session_id
    AND r.status <> 'erased'"""
RENEW = """UPDATE session_signals t SET changed_at = greatest(t.changed_at, %s),
    subjects = u.subjects::int4[], predicates = u.predicates::int4[], stated = u.stated::int4[]
FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[])
    AS u (s, subjects, predicates, stated) WHERE t.session_id = u.s"""


@dataclass(slots=True)
class Noted:
    """What one write adds to one session."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    subjects: set[str] = field(default_factory=set)
    predicates: set[str] = field(default_factory=set)
    stated: set[str] = field(default_factory=set)


def save(
    cur: psycopg.Cursor[Row],
    drafts: Sequence[Draft],
    made: Iterable[UUID],
    *,
    access: Access,
    now: datetime,
) -> None:
    """Add what these drafts show of their sessions; ``made`` are the records that are new."""
    noted = _note(drafts, frozenset(made))
    if not noted:
        return
    key = digest_key(access.workspace_id)
    places = sorted(noted)
    rows = [noted[place] for place in places]
    digests: dict[str, int] = {}
    cur.execute(
        SAVE,
        [
            access.workspace_id,
            now,
            [session for session, _ in places],
            [partition for _, partition in places],
            *([row.counts[name] for row in rows] for name in COUNTED),
            *([_sample(getattr(row, name), key, digests) for row in rows] for name in SAMPLED),
        ],
    )


def touch(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], now: datetime) -> None:
    """Note that something was decided about these records: their sessions look different now."""
    cur.execute(TOUCH, {"ids": list(record_ids), "now": now})


def forget(
    cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], *, access: Access, now: datetime
) -> None:
    """Make the samples of erased records' sessions anew from what remains of them."""
    cur.execute(REMAINING, {"ids": list(record_ids), "workspace": access.workspace_id})
    sessions: dict[UUID, Noted] = defaultdict(Noted)
    for session_id, subject_key, predicate, value in cur:
        noted = sessions[session_id]
        if value is None:
            continue  # nothing remains
        noted.subjects.add(subject_key)
        noted.predicates.add(predicate)
        noted.stated.add(stated(value))
    if not sessions:
        return
    key = digest_key(access.workspace_id)
    rows = [sessions[one] for one in sorted(sessions)]
    cur.execute(
        RENEW,
        [now, sorted(sessions)]
        + [[_sample(getattr(row, name), key, {}) for row in rows] for name in SAMPLED],
    )


def digest_key(workspace_id: UUID) -> bytes:
    """Return the key of a workspace's digests: the one of its fences, read once per process.

    Kept only when its transaction is committed: one that is rolled back may have made it.
    """
    found = _keys.get(workspace_id)
    if found is None:
        found = fence_key(workspace_id)
        kept = found
        transaction.on_commit(lambda: _keys.setdefault(workspace_id, kept))
    return found


def stated(value: str) -> str:
    """Return a value as its digest knows it: case and white space do not matter."""
    return canonical.identifier(value)


def is_near(verdict: Verdict) -> bool:
    """Say whether the gate let a fact through that it had something against."""
    if verdict.outcome is not Outcome.ALLOW:
        return False
    return verdict.score >= near_score() or any(f.severity != "info" for f in verdict.findings)


@cache
def near_score() -> float:
    """Return the score from which the gate's own net leans to holding a fact."""
    shipped = scorer.shipped()
    return shipped.lean_at if shipped is not None else 1.0


_keys: dict[UUID, bytes] = {}


def _sample(texts: set[str], key: bytes, digests: dict[str, int]) -> str:
    """Return the sample of these texts as an array's literal; ``digests`` are those made already."""
    for text in texts:
        if text not in digests:
            digests[text] = sketch.digest(text, key=key)
    return "{" + ",".join(map(str, sketch.smallest(digests[one] for one in texts))) + "}"


def _note(drafts: Sequence[Draft], made: frozenset[UUID]) -> dict[tuple[UUID, UUID], Noted]:
    noted: dict[tuple[UUID, UUID], Noted] = defaultdict(Noted)
    for one in drafts:
        found = noted[one.session_id, one.partition_id]
        if one.id not in made:
            continue  # the session has changed, and stated nothing new
        counts = found.counts
        counts["made"] += 1
        counts["derived"] += one.shaped.is_derived
        counts["stopped"] += one.verdict.outcome is not Outcome.ALLOW
        counts["near"] += is_near(one.verdict)
        counts["fresh"] += one.opens
        counts["unknown"] += not one.policy.known
        found.subjects.add(one.identity.subject_key)
        found.predicates.add(one.identity.predicate)
        found.stated.add(stated(one.shaped.value))
    return noted
