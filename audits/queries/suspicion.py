"""The rows behind the scores: which sessions changed, what they look like, what is usual.

Owns the statements of ``audits/suspicion.py``. Each reads a bounded number of
rows, whatever the store holds. Inside a workspace scope.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.direction import Direction, Repeated, Stated, read
from audits.domain.habits import Looks
from audits.domain.suspicion import Suspicion
from records import queries
from records.domain.facts import Outcome

SAMPLED = 300  # a session's newest facts, in which its direction is looked for
AROUND = 1_000  # the last sessions to change, which make the habit

DUE = """SELECT s.session_id FROM session_signals s
LEFT JOIN session_suspicion p ON p.session_id = s.session_id
WHERE s.workspace_id = %s AND s.changed_at >= %s
  AND (p.session_id IS NULL OR p.looked_at < s.changed_at)
ORDER BY s.changed_at, s.session_id LIMIT %s"""

SIGNALS = """SELECT s.session_id, s.partition_id, e.agent, coalesce(t.writes, 0),
    coalesce(t.contested, 0), coalesce(t.updated, 0), coalesce(t.fenced, 0),
    s.made, s.derived, s.stopped, s.near, s.fresh, s.stated, s.changed_at
FROM session_signals s JOIN session e ON e.id = s.session_id
LEFT JOIN session_totals t ON t.session_id = s.session_id
WHERE s.session_id = ANY(%s) AND s.workspace_id = %s"""

FACTS = f"""SELECT w.id, r.subject_key, r.predicate, r.value, r.gate_score, r.derived,
    r.verdict, r.override IS NOT NULL AND r.status IN ('active', 'superseded'),
    r.verdict <> 'allow'
    AND r.findings @? '$[*] ? (@.severity == "high" || @.severity == "critical")'
FROM unnest(%s::uuid[]) AS w (id)
CROSS JOIN LATERAL (SELECT DISTINCT record_id FROM claim WHERE session_id = w.id
                    ORDER BY record_id DESC LIMIT {SAMPLED}) c
JOIN memory_record r ON r.id = c.record_id AND r.workspace_id = %s
WHERE r.status <> 'erased'"""

LOOKED = """SELECT p.session_id, p.partition_id, e.agent, p.looks, p.vocabulary, p.sentences,
    p.score, p.reasons
FROM session_suspicion p JOIN session e ON e.id = p.session_id
WHERE p.workspace_id = %s ORDER BY p.looked_at DESC LIMIT %s"""

SAVE = """INSERT INTO session_suspicion AS p (session_id, workspace_id, partition_id, reasons,
    looks, vocabulary, sentences, stated, looked_at, computed_at)
SELECT s, %s, part, '[]', looks::jsonb, vocabulary::int4[], sentences::int4[], stated::int4[], looked, %s
FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[],
            %s::timestamptz[]) AS u (s, part, looks, vocabulary, sentences, stated, looked)
ORDER BY s
ON CONFLICT (session_id) DO UPDATE SET looks = excluded.looks, vocabulary = excluded.vocabulary,
    sentences = excluded.sentences, stated = excluded.stated,
    looked_at = greatest(p.looked_at, excluded.looked_at), computed_at = excluded.computed_at"""

SCORE = """UPDATE session_suspicion p SET score = u.score, reasons = u.reasons::jsonb,
    computed_at = %s
FROM unnest(%s::uuid[], %s::int2[], %s::text[]) AS u (s, score, reasons)
WHERE p.session_id = u.s AND p.workspace_id = %s"""

Seen = tuple[Looks, list[int], datetime]  # a session's looks, its values, and as of when


def due(workspace_id: UUID, since: datetime, most: int) -> list[UUID]:
    """Return sessions that changed since they were last looked at, the oldest change first."""
    cur = queries.cursor()
    cur.execute(DUE, [workspace_id, since, most])
    return [row[0] for row in cur]


def look(
    session_ids: Sequence[UUID], *, workspace_id: UUID, keyed: Callable[[int], int]
) -> list[Seen]:
    """Return how sessions look now; of the unknown ones nothing."""
    cur = queries.cursor()
    cur.execute(SIGNALS, [list(session_ids), workspace_id])
    signals = cur.fetchall()
    cur.execute(FACTS, [list(session_ids), workspace_id])
    stated: dict[UUID, list[Stated]] = defaultdict(list)
    stopped: dict[UUID, list[tuple[bool, bool]]] = defaultdict(list)
    for session_id, *said, derived, verdict, is_let_in, is_grave in cur:
        if not derived:
            stated[session_id].append(Stated(*said))
        if verdict != Outcome.ALLOW:
            stopped[session_id].append((is_let_in, is_grave))
    found: list[Seen] = []
    for row in signals:
        session_id = row[0]
        held = stopped[session_id]
        looks = Looks(
            session_id=session_id,
            partition_id=row[1],
            agent=row[2],
            writes=row[3],
            contested=row[4],
            updated=row[5],
            fenced=row[6],
            made=row[7],
            derived=row[8],
            stopped=row[9],
            # The sample stands for all: what was grave, and what people let in.
            grave=_scaled(row[9], [is_grave and not let_in for let_in, is_grave in held]),
            cleared=_scaled(row[9], [let_in for let_in, _ in held]),
            near=row[10],
            fresh=row[11],
            direction=read(stated[session_id], keyed=keyed),
        )
        found.append((looks, row[12], row[13]))
    return found


def list_facts(session_id: UUID, *, workspace_id: UUID) -> list[Stated]:
    """Return the facts in which one session's direction is looked for."""
    cur = queries.cursor()
    cur.execute(FACTS, [[session_id], workspace_id])
    return [Stated(*row[1:5]) for row in cur if not row[5]]


def load_around(workspace_id: UUID) -> list[tuple[Looks, int, Any]]:
    """Return the last sessions to change as they were last looked at, with score and reasons."""
    cur = queries.cursor()
    cur.execute(LOOKED, [workspace_id, AROUND])
    return [(_stored(row), row[6], _decoded(row[7])) for row in cur]


def save(seen: Iterable[Seen], *, workspace_id: UUID, now: datetime) -> None:
    """Keep how sessions look, as of the change that they were looked at after."""
    rows = [(looks, stated, at) for looks, stated, at in seen]
    queries.cursor().execute(
        SAVE,
        [
            workspace_id,
            now,
            [looks.session_id for looks, _, _ in rows],
            [looks.partition_id for looks, _, _ in rows],
            [json.dumps(_storable(looks)) for looks, _, _ in rows],
            [_array(looks.direction.vocabulary) for looks, _, _ in rows],
            [_array(looks.direction.sentences) for looks, _, _ in rows],
            [_array(stated) for _, stated, _ in rows],
            [at for _, _, at in rows],
        ],
    )


def save_scores(
    scores: Sequence[tuple[UUID, Suspicion]], *, workspace_id: UUID, now: datetime
) -> None:
    """Keep what sessions scored."""
    queries.cursor().execute(
        SCORE,
        [
            now,
            [session_id for session_id, _ in scores],
            [one.score for _, one in scores],
            [json.dumps(one.as_json()) for _, one in scores],
            workspace_id,
        ],
    )


COUNTS = (
    "writes", "contested", "updated", "fenced", "made", "derived", "stopped", "grave", "cleared",
    "near", "fresh",
)  # fmt: skip


def _storable(looks: Looks) -> dict[str, Any]:
    """Return the counts as they are stored; what has an array of its own stays out."""
    counts = asdict(looks)
    direction = looks.direction
    return {
        **{name: counts[name] for name in COUNTS},
        "facts": direction.facts,
        "repeated": [one.as_json() for one in direction.repeated],
    }


def _stored(row: queries.Row) -> Looks:
    session_id, partition_id, agent, looks, vocabulary, sentences = row[:6]
    counts = _decoded(looks)
    direction = Direction(
        counts["facts"],
        tuple(Repeated(*one) for one in counts["repeated"]),
        tuple(vocabulary),
        tuple(sentences),
    )
    named = {name: counts[name] for name in COUNTS}
    return Looks(session_id, partition_id, agent, direction=direction, **named)


def _decoded(value: Any) -> Any:
    """Read jsonb, which Django's connections hand out as text."""
    return json.loads(value) if isinstance(value, str) else value


def _scaled(total: int, sample: Sequence[bool]) -> int:
    return round(total * sum(sample) / len(sample)) if sample else 0


def _array(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
