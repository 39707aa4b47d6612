"""Verification: every sealed event is there, as it was, in its place, under a believed key.

Owns the walk over one chain, from the first seal to the last, in pieces that
hold a few thousand events each. Stops at the first event that is not proven
and names its number. Only reads. Read ``seals.py`` for how the trail is made,
``anchors.py`` for what is compared beside the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import sql

from audits import anchors, keys
from audits.domain import merkle
from audits.domain.seals import Head, broken_link, follow
from audits.leaves import hashed_text
from audits.seals import COLUMNS, SealRow, chain_condition, chain_of
from records import queries
from records.jobs.runs import scope

PIECE_EVENTS = 50_000  # read in one transaction
PIECE_SEALS = 1_000

# Rows of the trail in their order, with what is left of their events. COPY sends them while
# we hash; a cursor would make server and client wait for each other.
EVENTS = f"""COPY (
    SELECT s.position, s.event_id, s.leaf,
           CASE WHEN e.id IS NOT NULL AND {{chain}} THEN {hashed_text("s.position", "e")} END
    FROM sealed_event s LEFT JOIN event e ON e.id = s.event_id
    WHERE s.workspace_id = {{trail}} AND s.position BETWEEN {{first}} AND {{last}}
    ORDER BY s.position) TO STDOUT (FORMAT binary)"""
# Unsealed events, and those of them that finished before the last seal was made: they
# can only have been put there behind its back.
UNSEALED = """WITH head AS (SELECT horizon, resume_id, cluster FROM seal
                             WHERE workspace_id = %(trail)s ORDER BY number DESC LIMIT 1)
SELECT count(*), min(e.id) FILTER (WHERE (e.transaction, e.id) <= (head.horizon, head.resume_id)
                                     AND head.cluster = here.system_identifier)
FROM event e LEFT JOIN head ON true CROSS JOIN pg_control_system() AS here
WHERE {chain} AND NOT EXISTS (SELECT 1 FROM sealed_event s WHERE s.event_id = e.id)"""


@dataclass(frozen=True, slots=True)
class Flaw:
    """The first thing that is not as it was sealed.

    ``number`` is the event's position in the trail, or that from which on
    nothing is proven; ``event_id`` its row, where that is known.
    """

    number: int
    what: str
    event_id: int | None = None


@dataclass(slots=True)
class Report:
    """How far a chain is proven, and what was found."""

    workspace_id: UUID | None
    head: Head = field(default_factory=Head)
    events: int = 0
    flaw: Flaw | None = None
    unsealed: int = 0
    anchored: int = 0
    doubtful_anchors: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every sealed event is proven."""
        return self.flaw is None

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.flaw is not None:
            where = f" (event row {self.flaw.event_id})" if self.flaw.event_id else ""
            return f"Broken at #{self.flaw.number}{where}: {self.flaw.what}."
        parts = [f"{self.events:,} events under {self.head.number:,} seals are as they were sealed"]
        parts.append(f"{self.unsealed:,} not sealed yet")
        if self.anchored:
            parts.append(f"checkpoints agree up to #{self.anchored}")
        else:
            parts.append("no checkpoint to compare with")
        if self.doubtful_anchors:
            parts.append(f"{self.doubtful_anchors} checkpoints cannot be believed")
        return "; ".join(parts) + "."

    def as_json(self) -> dict[str, Any]:
        """Return what a run and an event keep of it."""
        return {
            "whole": self.is_whole,
            "seals": self.head.number,
            "events": self.events,
            "unsealed": self.unsealed,
            "anchored": self.anchored,
            "flaw": asdict(self.flaw) if self.flaw else None,
            "sentence": self.sentence,
        }


class Verification:
    """One walk over one chain; ``advance`` reads a piece inside the caller's scope."""

    def __init__(
        self,
        workspace_id: UUID | None,
        *,
        using: str = "default",
        after: Head | None = None,
        checkpoints: Path | None = None,
    ) -> None:
        self.using = using
        self.trail = chain_of(workspace_id)
        self.report = Report(workspace_id, after or Head(), after.last if after else 0)
        self._public = keys.public_keys()
        self._notes = anchors.anchored(workspace_id, path=checkpoints)

    def advance(self) -> bool:
        """Check the next piece; False when the walk is over, whatever it found."""
        seals = self._next_seals()
        if not seals:
            self._check_end()
            return False
        with self._events(seals[0].body.first, seals[-1].body.last) as events:
            for seal in seals:
                self.report.flaw = self._flaw_in_seal(seal) or self._flaw_in_events(seal, events)
                if self.report.flaw is not None:
                    return False
                self.report.head = follow(seal.body)
                self.report.events += seal.body.size
        return True

    def _next_seals(self) -> Sequence[SealRow]:
        """Return the next seals by number, as many as hold a piece's events."""
        with queries.cursor(self.using) as cursor:
            cursor.execute(
                f"""SELECT {COLUMNS} FROM seal WHERE workspace_id = %s AND number > %s
                    ORDER BY number LIMIT %s""",
                [self.trail, self.report.head.number, PIECE_SEALS],
            )
            found = [SealRow.of(row) for row in cursor]
        taken: list[SealRow] = []
        size = 0
        for seal in found:
            size += max(seal.body.size, 1)
            if taken and size > PIECE_EVENTS:
                break
            taken.append(seal)
        return taken

    @contextmanager
    def _events(self, first: int, last: int) -> Iterator[Iterator[queries.Row]]:
        """Yield the rows of a range, fetched as they are read."""
        owner = self.report.workspace_id
        chain = "e.workspace_id IS NULL" if owner is None else "e.workspace_id = {owner}"
        statement = sql.SQL(EVENTS.replace("{chain}", chain)).format(
            owner=sql.Literal(owner), trail=self.trail, first=first, last=last
        )
        with queries.cursor(self.using) as cursor, cursor.copy(statement) as copy:
            copy.set_types(["int8", "int8", "bytea", "bytea"])
            rows = copy.rows()
            yield rows
            for _ in rows:  # to break off would cancel the caller's transaction
                pass

    def _flaw_in_seal(self, seal: SealRow) -> Flaw | None:
        body, expected = seal.body, self.report.head.last + 1
        if broken := broken_link(body, self.report.head):
            return Flaw(expected, broken)
        public = self._public.get(body.key_id)
        if public is None:
            return Flaw(
                expected,
                f"seal {body.number} is signed by key {body.key_id}, which nobody believes",
            )
        if not keys.is_signed(body.text(), seal.signature, public):
            return Flaw(expected, f"the signature of seal {body.number} is not that of its text")
        if body.number in self._notes.disputed:
            return Flaw(expected, f"two checkpoints tell seal {body.number} differently")
        note = self._notes.digests.get(body.number)
        if note is not None and note != body.digest():
            return Flaw(expected, f"seal {body.number} is not the one in the checkpoint file")
        return None

    def _flaw_in_events(self, seal: SealRow, events: Iterator[queries.Row]) -> Flaw | None:
        leaves = []
        for expected in range(seal.body.first, seal.body.last + 1):
            row = next(events, None)
            if row is None or row[0] != expected:
                return Flaw(expected, "its place in the trail is gone")
            _, event_id, leaf, text = row
            if text is None:
                return Flaw(expected, "the event is gone", event_id)
            found = sha256(text).digest()
            if found != leaf:
                return Flaw(expected, "the event is not the one that was sealed here", event_id)
            leaves.append(found)
        if merkle.root(leaves) != seal.body.root:
            return Flaw(
                seal.body.first,
                f"events {seal.body.first}-{seal.body.last} do not make the root of"
                f" seal {seal.body.number}",
            )
        return None

    def _check_end(self) -> None:
        """Compare the end of the trail with the checkpoints, and look at what is not sealed."""
        note, report = self._notes.newest, self.report
        report.doubtful_anchors = self._notes.unbelievable
        if note is not None:
            if note.number > report.head.number:
                report.flaw = Flaw(
                    report.head.last + 1,
                    f"events up to #{note.last} were sealed, as a checkpoint of {note.at} says,"
                    " and are gone",
                )
                return
            report.anchored = note.last
        with queries.cursor(self.using) as cursor:
            cursor.execute(
                UNSEALED.format(chain=chain_condition(report.workspace_id)),
                {"trail": self.trail, "workspace": report.workspace_id},
            )
            row = cursor.fetchone()
        assert row is not None
        report.unsealed = row[0]
        if row[1] is not None:
            report.flaw = Flaw(
                report.head.last + 1, "an event was put in behind the seals", event_id=row[1]
            )


def verify_trail(
    workspace_id: UUID | None,
    *,
    using: str = "default",
    progress: Callable[[Report], None] = lambda _: None,
    checkpoints: Path | None = None,
) -> Report:
    """Walk a chain from its first seal to its last, in transactions of its own.

    ``progress`` is told after each piece. ``checkpoints`` are notes that were
    kept elsewhere, to be compared with instead of our own.
    """
    walk = Verification(workspace_id, using=using, checkpoints=checkpoints)
    going_on = True
    while going_on:
        with scope(workspace_id, using=using):
            going_on = walk.advance()
        progress(walk.report)
    return walk.report
