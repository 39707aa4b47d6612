"""One event proven while somebody looks: its text, its path to the root, its seal, the chain.

Owns the proof of a single event; only reads. The walk over the whole trail is
``verify.py``'s, and only that says that nothing else is missing. Inside a
workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from audits import anchors, keys
from audits.domain import merkle
from audits.domain.seals import GENESIS
from audits.leaves import hashed_text
from audits.seals import COLUMNS, SealRow
from records import queries

PLACE = f"""SELECT s.position, s.leaf, {hashed_text("s.position", "e")}
FROM sealed_event s JOIN event e ON e.id = s.event_id AND e.workspace_id = s.workspace_id
WHERE s.event_id = %(event)s AND s.workspace_id = %(workspace)s"""
SEALS = f"""SELECT {COLUMNS} FROM seal WHERE workspace_id = %(workspace)s AND number IN (
    SELECT number - n FROM seal, generate_series(0, 1) AS n
    WHERE workspace_id = %(workspace)s AND first = (
        SELECT max(first) FROM seal WHERE workspace_id = %(workspace)s AND first <= %(position)s))
ORDER BY number DESC"""
LEAVES = """SELECT leaf FROM sealed_event WHERE workspace_id = %(workspace)s
    AND position BETWEEN %(first)s AND %(last)s ORDER BY position"""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was checked: what, whether it holds, and what was seen."""

    what: str
    holds: bool
    seen: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What was checked of one event, in order; it ends at the first thing that does not hold."""

    position: int
    seal: SealRow | None
    leaf: bytes
    path: Sequence[bytes]
    steps: Sequence[Step]

    @property
    def holds(self) -> bool:
        """Whether every step holds."""
        return bool(self.steps) and all(step.holds for step in self.steps)


def prove_event(event_id: int, *, workspace_id: object) -> Proof | None:
    """Check one event against its seal now; ``None`` when it is not sealed yet."""
    values = {"event": event_id, "workspace": workspace_id}
    with queries.cursor() as cursor:
        cursor.execute(PLACE, values)
        place = cursor.fetchone()
        if place is None:
            return None
        position, kept, text = place[0], bytes(place[1]), bytes(place[2])
        cursor.execute(SEALS, {**values, "position": position})
        seals = [SealRow.of(row) for row in cursor]
        seal = seals[0] if seals and seals[0].body.last >= position else None
        leaves: list[bytes] = []
        if seal is not None:
            cursor.execute(LEAVES, {**values, "first": seal.body.first, "last": seal.body.last})
            leaves = [bytes(row[0]) for row in cursor]
    leaf = sha256(text).digest()
    before = seals[1] if len(seals) > 1 else None
    steps, path = _steps(position, leaf, kept, seal, before, leaves)
    return Proof(position, seal, leaf, path, steps)


def _steps(
    position: int,
    leaf: bytes,
    kept: bytes,
    seal: SealRow | None,
    before: SealRow | None,
    leaves: list[bytes],
) -> tuple[list[Step], list[bytes]]:
    """Check step by step; each presumes those before it."""
    steps = [
        Step(
            "The event's own text and number hash to the leaf that was sealed",
            leaf == kept,
            leaf.hex(),
        )
    ]
    if seal is None:
        steps.append(Step("A seal covers this number", False, "there is none"))
        return steps, []
    body = seal.body
    path: list[bytes] = []
    found: bytes | None = None
    if len(leaves) == body.size:
        path = merkle.inclusion_proof(leaves, position - body.first)
        found = merkle.root_from_inclusion(leaf, position - body.first, body.size, path)
    steps.append(
        Step(
            f"{len(path)} hashes lead from the leaf to the root of seal {body.number}",
            found == body.root,
            body.root.hex(),
        )
    )
    public = keys.public_keys().get(body.key_id)
    steps.append(
        Step(
            f"Seal {body.number} is signed by a key that is believed",
            public is not None and keys.is_signed(body.text(), seal.signature, public),
            f"key {body.key_id}, sealed at {body.sealed_at}",
        )
    )
    previous = before.body.digest() if before is not None else GENESIS
    is_first = body.number == 1
    steps.append(
        Step(
            "It follows the seal before it" if not is_first else "It is the first of the chain",
            body.previous == previous and (before is not None) != is_first,
            body.previous.hex(),
        )
    )
    steps.append(_anchor_step(seal))
    return steps, path


def _anchor_step(seal: SealRow) -> Step:
    notes = anchors.anchored(seal.body.workspace_id, number=seal.body.number)
    noted = notes.digests.get(seal.body.number)
    if noted is not None:
        return Step(
            "A checkpoint kept outside says the same of this seal",
            noted == seal.body.digest() and not notes.disputed,
            noted.hex(),
        )
    newest = anchors.newest_note(seal.body.workspace_id)
    if newest is not None and newest.number > seal.body.number:
        seen = f"none of this seal; the next is of seal {newest.number}, which follows from it"
    else:
        seen = "none yet as new as this seal"
    return Step("No checkpoint kept outside contradicts it", True, seen)
