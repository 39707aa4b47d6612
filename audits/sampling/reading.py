"""What the answers mean: progress, shares with intervals, by predicate, over time, agreement.

Owns the statements and the hand-over to ``domain/sampling.py``. Inside a workspace scope.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.domain.sampling import (
    BAD,
    CHOSEN,
    Agreement,
    Answer,
    Estimate,
    Verdict,
    agreement,
    share_of_facts,
    share_of_serves,
)
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 30
LATEST = 24  # batches whose answers the figures over time are made of

BATCHES = """SELECT b.*, n.done, n.gone, n.disputed, n.bad, n.known FROM (
    SELECT * FROM sample_batch WHERE workspace_id = %(workspace)s
      AND (%(before)s::int IS NULL OR number < %(before)s)
    ORDER BY number DESC LIMIT %(limit)s) b
LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE verdict NOT IN ('', 'gone')) AS done,
    count(*) FILTER (WHERE verdict = 'gone') AS gone,
    count(*) FILTER (WHERE second_verdict NOT IN ('', verdict) AND settled = ''
                     AND applied_at IS NULL) AS disputed,
    count(*) FILTER (WHERE verdict IN ('stale', 'false')) AS bad,
    count(*) FILTER (WHERE verdict IN ('true', 'stale', 'false')) AS known
    FROM sample_item WHERE batch_id = b.id) n ON true
ORDER BY b.number DESC"""
ANSWERS = """SELECT i.batch_id, i.predicate, i.chance, i.served, i.verdict, i.second_verdict,
    CASE WHEN i.settled <> '' THEN i.settled ELSE i.verdict END AS final
FROM sample_item i WHERE i.batch_id = ANY(%(batches)s::uuid[]) AND i.workspace_id = %(workspace)s
  AND i.verdict NOT IN ('', 'gone')"""
ITEMS = """SELECT i.id, i.place, i.record_id, i.verdict, i.second_verdict, i.settled, i.outcome,
    i.answered_by, i.answered_at, i.second_by, i.is_recheck, i.served, r.subject, r.predicate,
    r.value, r.status
FROM sample_item i JOIN memory_record r ON r.id = i.record_id
WHERE i.batch_id = %(batch)s AND i.workspace_id = %(workspace)s AND i.place > %(after)s
  AND (%(verdict)s::text IS NULL OR i.verdict = %(verdict)s)
  AND (NOT %(disputed)s OR i.second_verdict NOT IN ('', i.verdict))
ORDER BY i.place LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a set of answers says."""

    facts: Estimate
    serves: Estimate
    stale: Estimate
    false: Estimate
    unknown: int
    agreement: Agreement
    by_predicate: Sequence[tuple[str, Estimate]] = field(default_factory=list)


def list_batches(*, cursor: str | None, workspace_id: UUID, limit: int = PAGE) -> Page:
    """Return a page of batches with their progress, the newest first."""
    key = list_key("console.samples", workspace_id)
    place = open_cursor(cursor, key=key)
    rows = fetch(
        BATCHES,
        {
            "workspace": workspace_id,
            "before": int(place[0]) if place else None,
            "limit": limit + 1,
        },
    )
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["number"]])


def load_batch(batch_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one batch with its progress; ``None`` for unknown and foreign alike."""
    found = fetch(
        BATCHES.replace(
            "AND (%(before)s::int IS NULL OR number < %(before)s)\n    ORDER BY number DESC LIMIT"
            " %(limit)s",
            "AND id = %(id)s",
        ),
        {"workspace": workspace_id, "id": batch_id},
    )
    return found[0] if found else None


def list_items(
    batch_id: UUID,
    *,
    verdict: str | None,
    is_disputed: bool,
    cursor: str | None,
    workspace_id: UUID,
) -> Page:
    """Return a page of a batch's items with their facts, in the order in which they were drawn."""
    key = list_key("console.sample_items", workspace_id, [str(batch_id), verdict, is_disputed])
    place = open_cursor(cursor, key=key)
    rows = fetch(
        ITEMS,
        {
            "batch": batch_id,
            "workspace": workspace_id,
            "verdict": verdict,
            "disputed": is_disputed,
            "after": int(place[0]) if place else 0,
            "limit": 51,
        },
    )
    return make_page(rows, limit=50, key=key, place=lambda row: [row["place"]])


def load_figures(batch_ids: Sequence[UUID], *, workspace_id: UUID) -> Figures:
    """Return what the answers of one or several batches say of the whole.

    Several batches are taken together as one sample: each says something of the same
    memory at its own time.
    """
    return figures(fetch(ANSWERS, {"batches": list(batch_ids), "workspace": workspace_id}))


def load_trend(*, workspace_id: UUID) -> list[tuple[dict[str, Any], Estimate]]:
    """Return the latest samples with what each says of all facts, the oldest first.

    Batches of facts that a person chose say nothing of the others, and are left out.
    """
    latest = list_batches(cursor=None, workspace_id=workspace_id, limit=LATEST).items
    batches = [one for one in latest if one["weighting"] != CHOSEN]
    rows = fetch(ANSWERS, {"batches": [one["id"] for one in batches], "workspace": workspace_id})
    of_batch: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        of_batch[row["batch_id"]].append(row)
    return [(one, share_of_facts(_answers(of_batch[one["id"]]))) for one in reversed(list(batches))]


def figures(rows: Sequence[dict[str, Any]]) -> Figures:
    """Return what answers say; those that nobody could tell are counted apart."""
    known = [row for row in rows if row["final"] != Verdict.UNKNOWN]
    of_predicate: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in known:
        of_predicate[row["predicate"]].append(row)
    by_predicate = [(name, share_of_facts(_answers(all_))) for name, all_ in of_predicate.items()]
    by_predicate.sort(key=lambda one: (-(one[1].share or -1), -one[1].answers, one[0]))
    return Figures(
        facts=share_of_facts(_answers(known)),
        serves=share_of_serves(_answers(known)),
        stale=share_of_facts(_answers(known, bad=frozenset({Verdict.STALE}))),
        false=share_of_facts(_answers(known, bad=frozenset({Verdict.FALSE}))),
        unknown=len(rows) - len(known),
        agreement=agreement(
            (row["verdict"], row["second_verdict"]) for row in rows if row["second_verdict"]
        ),
        by_predicate=by_predicate,
    )


def _answers(rows: Iterable[dict[str, Any]], *, bad: frozenset[Verdict] = BAD) -> list[Answer]:
    return [Answer(row["chance"], row["served"], Verdict(row["final"]) in bad) for row in rows]
