"""What goes with a record's content when it is erased: where else its words stand.

Owns the list of what only maintenance may destroy (``erasure_due``) and the
list of those who hold words of records elsewhere (``on_erasing``: ``audits``
has notes and filters). Called inside the transaction of the erasure, while the
content is still there to be recognised. ``records/jobs/erasures.py`` does the
rest; ``curate.erase`` is the only caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from records.access import Access
from records.domain.quotes import NAME_SHORTEST, VALUE_SHORTEST, Phrases
from records.queries import Row

RECALLS_PIECE = 5_000

TEXTS = """SELECT r.partition_id, r.subject, r.subject_key, r.value, r.content,
    ARRAY(SELECT c.wording FROM claim c WHERE c.record_id = r.id AND c.wording <> ''),
    ARRAY(SELECT c.evidence FROM claim c WHERE c.record_id = r.id AND c.evidence <> '')
FROM memory_record r WHERE r.id = ANY(%s)"""
# Whoever is still spoken of keeps the name: a fact about Charles may go, and Charles stay.
STAYING = """SELECT DISTINCT o.partition_id, o.subject_key FROM memory_record o
WHERE o.partition_id = ANY(%s) AND o.subject_key = ANY(%s) AND o.id <> ALL(%s)
  AND o.status <> 'erased'"""

SERVED = """INSERT INTO erasure_due (workspace_id, kind, target_id)
SELECT DISTINCT workspace_id, 'recall', recall_id FROM serve
WHERE record_id = ANY(%(ids)s) AND workspace_id = %(workspace)s
ON CONFLICT DO NOTHING"""
ASKED = """SELECT c.id, c.query FROM recall c
WHERE c.workspace_id = %(workspace)s AND c.partition_id = ANY(%(partitions)s)
  AND c.query <> '' AND c.id > %(after)s
  AND NOT EXISTS (SELECT 1 FROM erasure_due d
                  WHERE d.workspace_id = c.workspace_id AND d.kind = 'recall' AND d.target_id = c.id)
ORDER BY c.id LIMIT %(limit)s"""
DUE = """INSERT INTO erasure_due (workspace_id, kind, target_id)
SELECT %s, %s, unnest(%s::uuid[]) ON CONFLICT DO NOTHING"""
ADDRESSES = """INSERT INTO erasure_due (workspace_id, kind, target_id)
SELECT DISTINCT a.workspace_id, 'address', a.id FROM memory_record r
JOIN address a ON a.source_id = r.source_id AND a.partition_id = r.partition_id
    AND a.source_key = r.source_key AND (a.record_id IS NULL OR a.record_id = ANY(%(ids)s))
WHERE r.id = ANY(%(ids)s) AND r.workspace_id = %(workspace)s AND r.source_key IS NOT NULL
ON CONFLICT DO NOTHING"""


@dataclass(frozen=True, slots=True)
class Going:
    """The words of records whose content is about to be destroyed."""

    record_ids: tuple[UUID, ...]
    partition_ids: frozenset[UUID]
    names: frozenset[str]
    values: frozenset[str]  # values, sentences, evidence

    def phrases(self) -> Phrases:
        """Return what to look for elsewhere."""
        return Phrases([*self.names, *self.values])


Hook = Callable[[psycopg.Cursor[Row], Going, Access], None]
_hooks: list[Hook] = []


def on_erasing(hook: Hook) -> None:
    """Let ``hook`` destroy what it holds of records that are being erased, before they are."""
    if hook not in _hooks:
        _hooks.append(hook)


def erase_elsewhere(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], access: Access) -> None:
    """Destroy, or list for maintenance, what stands elsewhere of these records."""
    going = words_of(cur, record_ids)
    about = {"ids": list(record_ids), "workspace": access.workspace_id}
    cur.execute(SERVED, about)
    cur.execute(ADDRESSES, about)
    cur.execute(DUE, [access.workspace_id, "feedback", list(record_ids)])
    quoting = quoting_recalls(cur, going, access.workspace_id)
    cur.execute(DUE, [access.workspace_id, "recall", quoting])
    # An answer kept for a repeated request holds what was written, and its plain fingerprint.
    # Without it the request, should it come again, is made again: a fact that is there is
    # reinforced, one that was erased is fenced.
    cur.execute("DELETE FROM idempotency_key WHERE workspace_id = %s", [access.workspace_id])
    for hook in _hooks:
        hook(cur, going, access)


def words_of(cur: psycopg.Cursor[Row], record_ids: Sequence[UUID]) -> Going:
    """Return what these records say, as phrases to be recognised by."""
    ids = list(record_ids)
    cur.execute(TEXTS, [ids])
    rows = cur.fetchall()
    partitions = {row[0] for row in rows}
    cur.execute(STAYING, [list(partitions), list({row[2] for row in rows}), ids])
    staying = set(cur.fetchall())
    names: set[str] = set()
    values: set[str] = set()
    for partition_id, subject, subject_key, value, content, wordings, evidence in rows:
        if (partition_id, subject_key) not in staying:
            names.add(subject)
        values |= {value, content, *wordings, *evidence}
    return Going(
        tuple(ids),
        frozenset(partitions),
        frozenset(n for n in names if len(n) >= NAME_SHORTEST),
        frozenset(v for v in values if len(v) >= VALUE_SHORTEST),
    )


def quoting_recalls(cur: psycopg.Cursor[Row], going: Going, workspace_id: UUID) -> list[UUID]:
    """Return the recalls of the same partitions that asked with a name or a value of these."""
    phrases = going.phrases()
    found: list[UUID] = []
    after = UUID(int=0)
    while phrases:
        cur.execute(
            ASKED,
            {
                "workspace": workspace_id,
                "partitions": list(going.partition_ids),
                "after": after,
                "limit": RECALLS_PIECE,
            },
        )
        rows = cur.fetchall()
        found += [row[0] for row in rows if phrases.found_in(row[1])]
        if len(rows) < RECALLS_PIECE:
            break
        after = rows[-1][0]
    return found


def is_anything_due(cur: psycopg.Cursor[Row], workspace_id: UUID) -> bool:
    """Say whether maintenance has not destroyed yet what erasures left it."""
    cur.execute("SELECT 1 FROM erasure_due WHERE workspace_id = %s LIMIT 1", [workspace_id])
    return cur.fetchone() is not None


def note_recalls(
    cur: psycopg.Cursor[Row], partition_ids: Iterable[UUID], workspace_id: UUID
) -> int:
    """List every question ever asked in these partitions for destruction; return how many."""
    cur.execute(
        """INSERT INTO erasure_due (workspace_id, kind, target_id)
           SELECT DISTINCT workspace_id, 'recall', id FROM recall
           WHERE workspace_id = %s AND partition_id = ANY(%s)
             AND (query <> '' OR parameters <> '{}')
           ON CONFLICT DO NOTHING""",
        [workspace_id, list(partition_ids)],
    )
    return cur.rowcount
