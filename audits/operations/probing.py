"""Residue: is what an operation took out really out, asked through the agents' own door.

By id over every target; by text and by likeness with a sample of recalls that
serve nobody and are not logged. The sample is drawn by the operation's digest,
so that it can be drawn again. Opens its own scopes: call outside a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.domain.operations import Kind
from audits.models import Operation
from audits.queries.rows import fetch
from records.access import Access
from records.embeddings.embed import embedding_text
from records.items import CONTENT_LIMIT, BadRequest
from records.retrieve import Recalled, RecallRequest, probe
from records.scope import workspace_scope

SAMPLE = 200  # facts probed, each by text and by likeness
TOP_K = 20

CHOOSE = """SELECT r.id, p.name AS partition, r.subject, r.predicate, r.value, r.content
FROM operation_target t JOIN memory_record r ON r.id = t.record_id JOIN partition p ON p.id = r.partition_id
WHERE t.operation_id = %(operation)s AND t.is_ticked AND r.status <> 'erased'
  AND t.grp IN ('evict', 'superseded', 'shared', 'hold', 'erase')
ORDER BY md5(t.record_id::text || %(seed)s) LIMIT %(most)s"""

# Every target by id; the same facts stored anew since; facts that came into the scope meanwhile.
BY_ID = """SELECT
    count(*) FILTER (WHERE r.status = 'active') AS live,
    count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM memory_record o WHERE o.partition_id = r.partition_id
          AND o.fingerprint = r.fingerprint AND o.status = 'active' AND o.id <> r.id
          AND o.recorded_at >= %(since)s)) AS anew
FROM operation_target t JOIN memory_record r ON r.id = t.record_id
WHERE t.operation_id = %(operation)s AND t.workspace_id = %(workspace)s
  AND t.outcome IN ('evicted', 'erased')"""

# Of what the probes found: the targets themselves, and the same words stored since the start.
FOUND = """SELECT r.id FROM memory_record r
WHERE r.id = ANY(%(found)s) AND (r.recorded_at >= %(since)s OR EXISTS (
    SELECT 1 FROM operation_target t WHERE t.operation_id = %(operation)s AND t.record_id = r.id
      AND t.outcome IN ('evicted', 'erased')))"""


@dataclass(frozen=True, slots=True)
class Probe:
    """One fact that must not be found any more, as it was worded."""

    id: UUID
    partition: str
    subject: str
    predicate: str
    value: str
    content: str

    @property
    def said(self) -> tuple[str, str, str]:
        """What makes two facts the same to a reader."""
        return self.subject.casefold(), self.predicate.casefold(), self.value.casefold()


def sample(operation: Operation) -> list[Probe]:
    """Return the facts to probe, as they are worded now: an erasure leaves no words to ask with."""
    if operation.kind not in (Kind.EVICT, Kind.ERASE):
        return []
    with workspace_scope(operation.workspace_id):
        rows = fetch(CHOOSE, {"operation": operation.id, "seed": operation.digest, "most": SAMPLE})
    return [Probe(**row) for row in rows]


def residue(operation: Operation, probes: Sequence[Probe], *, access: Access) -> dict[str, Any]:
    """Return what is still found: 0 everywhere when the operation has done what it says.

    ``by_text`` and ``by_likeness`` are [probes, found].
    """
    values = {
        "operation": operation.id,
        "workspace": operation.workspace_id,
        "since": operation.started_at,
    }
    with workspace_scope(operation.workspace_id):
        (row,) = fetch(BY_ID, values)
        out = fetch(
            """SELECT record_id FROM operation_target WHERE operation_id = %(operation)s
                 AND record_id = ANY(%(ids)s) AND outcome IN ('evicted', 'erased')""",
            {**values, "ids": [one.id for one in probes]},
        )
    gone = {one["record_id"] for one in out}
    asked = [one for one in probes if one.id in gone]
    door = Door(access)
    by_text = _asked(asked, [one.content or one.value for one in asked], door)
    by_likeness = _asked(asked, [_likeness(one) for one in asked], door)
    every = {found for _, answer in (*by_text, *by_likeness) for found in answer}
    with workspace_scope(operation.workspace_id):
        wrong = {one["id"] for one in fetch(FOUND, {**values, "found": list(every)})}
    return {
        "by_id": row["live"],
        "anew": row["anew"],
        "by_text": [len(by_text), _count(by_text, wrong)],
        "by_likeness": [len(by_likeness), _count(by_likeness, wrong)],
    }


def total(found: dict[str, Any]) -> int:
    """Return how much residue there is in all."""
    return int(found["by_id"] + found["anew"] + found["by_text"][1] + found["by_likeness"][1])


def _likeness(one: Probe) -> str:
    """Return the text whose vector is the fact's own: its nearest neighbours are the answer."""
    return embedding_text(one.subject, one.predicate, one.value, one.content)


class Door:
    """The agents' own recall, asked each question once: many a fact's words are its likeness."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._answers: dict[tuple[str, str], tuple[Recalled, ...] | None] = {}

    def ask(self, one: Probe, query: str) -> list[UUID] | None:
        """Return what is answered that is this fact, or says the same; None: it is no question."""
        about = one.partition, query[:CONTENT_LIMIT]
        if about not in self._answers:
            self._answers[about] = self._recall(*about)
        items = self._answers[about]
        if items is None:
            return None
        return [
            item.id
            for item in items
            if item.id == one.id
            or (item.subject.casefold(), item.predicate.casefold(), item.value.casefold())
            == one.said
        ]

    def _recall(self, partition: str, query: str) -> tuple[Recalled, ...] | None:
        request = RecallRequest(partition=partition, query=query, top_k=TOP_K)
        try:
            return probe(request, access=self._access).items
        except BadRequest:
            return None  # nothing but invisible characters, say: nobody can ask for it either


def _asked(
    probes: Sequence[Probe], queries: Sequence[str], door: Door
) -> list[tuple[Probe, list[UUID]]]:
    """Return the probes that could be asked, each with what was found of it."""
    answers = [(one, door.ask(one, query)) for one, query in zip(probes, queries, strict=True)]
    return [(one, found) for one, found in answers if found is not None]


def _count(probed: Sequence[tuple[Probe, list[UUID]]], wrong: set[UUID]) -> int:
    return sum(any(found in wrong for found in answer) for _, answer in probed)
