"""Exports of the trail that prove themselves: events, seals, proofs, one JSON line each.

Owns the format and the streaming; ``verify_export.py`` reads it offline. Every
seal up to the head is in the file, so the chain can be followed from its
beginning. A seal whose events are all there proves them by its root; otherwise
each event carries its path to the root. The last line signs the hash of all
lines before it. Lines are made in short transactions, so that a slow reader
holds none open. See docs/trail.md for the format.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from audits import keys
from audits.domain import merkle
from audits.domain.seals import Head, SealBody, follow
from audits.leaves import leaf_text
from audits.seals import COLUMNS, SealRow, instant, newest, seal_readable
from records import events, queries
from records.access import Access
from records.events import Happening
from records.scope import workspace_scope

FORMAT = "memconsole-export/1"
PIECE_EVENTS = 10_000
PIECE_SEALS = 500
UNSEALED_PIECE = 2_000

# A text only for what matches; the leaves of the others complete the proofs.
EVENTS = f"""SELECT s.position, s.leaf,
       CASE WHEN e.id IS NOT NULL AND s.position BETWEEN %(from)s AND %(to)s
                 AND ({{where}}) THEN {leaf_text("e")} END
FROM sealed_event s LEFT JOIN event e ON e.id = s.event_id AND e.workspace_id = s.workspace_id
WHERE s.workspace_id = %(workspace)s AND s.position BETWEEN %(first)s AND %(last)s
ORDER BY s.position"""
UNSEALED = f"""SELECT e.id, {leaf_text("e")} FROM event e
WHERE e.workspace_id = %(workspace)s AND e.id > %(after)s AND ({{where}})
  AND NOT EXISTS (SELECT 1 FROM sealed_event s WHERE s.event_id = e.id AND s.position <= %(head)s)
ORDER BY e.id LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which events an export holds: all, a range of positions, or those a filter shows.

    ``where`` is a SQL condition on the event ``e`` written by code, with its
    ``values``; ``description`` is the filter as people see it (a URL's query).
    """

    where: str = "true"
    values: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    first: int = 1
    last: int | None = None
    only_sealed: bool = False

    @property
    def has_unsealed(self) -> bool:
        """Whether events without a number can be among those chosen."""
        return self.last is None and not self.only_sealed

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out between the two ends."""
        return self.where == "true"


@dataclass(slots=True)
class Tally:
    """What an export has held so far; whoever makes its lines keeps it up to date."""

    rows: int = 0
    unsealed: int = 0
    first: int | None = None
    last: int | None = None
    head: Head = field(default_factory=Head)

    def note(self, position: int) -> None:
        """Count one sealed event; they come in the order of the trail."""
        self.rows += 1
        self.first = position if self.first is None else self.first
        self.last = position


def export_trail(
    access: Access, chosen: Chosen | None = None, tally: Tally | None = None
) -> Iterator[str]:
    """Yield the lines of an export, each with its newline.

    Seals first what is finished; what is not is in the file as ``unsealed``.
    Start and end of the export are events themselves, unless the caller, who
    then passes a ``tally``, tells them. Opens scopes of its own.
    """
    return _Export(access, chosen or Chosen(), tally).lines()


class _Export:
    def __init__(self, access: Access, chosen: Chosen, tally: Tally | None) -> None:
        self.access, self.chosen = access, chosen
        self.is_told = tally is None
        self.tally = tally or Tally()
        self.id = uuid4()
        self.hash = sha256()
        self.counts = {"events": 0, "unsealed": 0, "seals": 0}

    def lines(self) -> Iterator[str]:
        seal_readable(self.access.workspace_id)
        head = self._begin()
        yield self._line(
            {
                "type": "header",
                "format": FORMAT,
                "workspace": str(self.access.workspace_id),
                "name": self.access.workspace,
                "exported_at": instant(timezone.now()),
                "exported_by": str(self.access.actor),
                "filter": self.chosen.description,
                "complete": self.chosen.is_everything,
                "first": self.chosen.first,
                "last": head.last if self.chosen.last is None else self.chosen.last,
            }
        )
        number = 0
        while number < head.number:
            piece, number = self._piece(number, head)
            yield from map(self._written, piece)
        if self.chosen.has_unsealed:
            yield from self._unsealed(head)
        yield self._end()

    def _begin(self) -> SealBody:
        """Tell that the export begins; return the seal up to which it goes."""
        with workspace_scope(self.access.workspace_id), queries.cursor() as cursor:
            newest_seal = newest(cursor, self.access.workspace_id)
            self._tell("export.started", {})
        if newest_seal is None:
            return SealBody(self.access.workspace_id, 0, 1, 0, "", b"", b"", "")
        self.tally.head = follow(newest_seal.body)
        return newest_seal.body

    def _piece(self, after: int, head: SealBody) -> tuple[list[str], int]:
        """Return the lines of the next seals, and the number of the last of them."""
        with workspace_scope(self.access.workspace_id), queries.cursor() as cursor:
            cursor.execute(
                f"""SELECT {COLUMNS} FROM seal WHERE workspace_id = %s AND number > %s
                    AND number <= %s ORDER BY number LIMIT %s""",
                [self.access.workspace_id, after, head.number, PIECE_SEALS],
            )
            seals, size = [], 0
            for row in cursor:
                seals.append(SealRow.of(row))
                size += seals[-1].body.size
                if size >= PIECE_EVENTS:
                    break
            if not seals:  # a hole in the trail: the file ends here and will not verify
                return [], head.number
            cursor.execute(
                EVENTS.format(where=self.chosen.where),
                {
                    **self.chosen.values,
                    "workspace": self.access.workspace_id,
                    "first": seals[0].body.first,
                    "last": seals[-1].body.last,
                    "from": self.chosen.first,
                    "to": head.last if self.chosen.last is None else self.chosen.last,
                },
            )
            found = {row[0]: row[1:] for row in cursor}
        lines: list[str] = []
        for seal in seals:
            lines += self._seal_lines(seal, found)
        return lines, seals[-1].body.number

    def _seal_lines(self, seal: SealRow, found: Mapping[int, Sequence[Any]]) -> Iterator[str]:
        positions = range(seal.body.first, seal.body.last + 1)
        rows = [(at, *found[at]) for at in positions if at in found]
        shown = [row for row in rows if row[2] is not None]
        self.counts["events"] += len(shown)
        for row in shown:
            self.tally.note(row[0])
        self.counts["seals"] += 1
        if len(shown) == seal.body.size:
            for at, _, text in shown:
                yield event_line(at, text)
        elif shown:
            leaves = [bytes(leaf) for _, leaf, _ in rows]
            memo: merkle.Memo = {}
            for index, (at, _, text) in enumerate(rows):
                if text is not None:
                    yield event_line(at, text, merkle.inclusion_proof(leaves, index, memo))
        yield seal_line(seal)

    def _unsealed(self, head: SealBody) -> Iterator[str]:
        after = 0
        while True:
            with workspace_scope(self.access.workspace_id), queries.cursor() as cursor:
                cursor.execute(
                    UNSEALED.format(where=self.chosen.where),
                    {
                        **self.chosen.values,
                        "workspace": self.access.workspace_id,
                        "after": after,
                        "head": head.last,
                        "limit": UNSEALED_PIECE,
                    },
                )
                rows = cursor.fetchall()
            self.counts["unsealed"] += len(rows)
            self.tally.unsealed += len(rows)
            self.tally.rows += len(rows)
            for _, text in rows:
                yield self._written(f'{{"type":"unsealed","event":{text}}}')
            if len(rows) < UNSEALED_PIECE:
                return
            after = rows[-1][0]

    def _end(self) -> str:
        """Sign what was written, tell it, and return the last line."""
        signer = keys.signer()
        digest = self.hash.hexdigest()
        text = end_text(self.access.workspace_id, self.counts, digest, signer.key_id)
        with workspace_scope(self.access.workspace_id):
            self._tell("export.finished", {**self.counts, "sha256": digest})
        return self._line(
            {
                "type": "end",
                **self.counts,
                "sha256": digest,
                "key": signer.key_id,
                "signature": base64.b64encode(signer.sign(text)).decode(),
            }
        )

    def _tell(self, action: str, details: dict[str, Any]) -> None:
        if not self.is_told:
            return
        details = {**details, "filter": self.chosen.description, "first": self.chosen.first}
        events.append([Happening(action, "export", self.id, details=details)], access=self.access)

    def _line(self, said: Mapping[str, Any]) -> str:
        return self._written(_compact(said))

    def _written(self, line: str) -> str:
        line += "\n"
        self.hash.update(line.encode())
        return line


def event_line(position: int, text: str, proof: Sequence[bytes] | None = None) -> str:
    """Return an event's line: the leaf's own text, so that its bytes can be hashed again."""
    path = "" if proof is None else f'"proof":{_compact([one.hex() for one in proof])},'
    return f'{{"type":"event","position":{position},{path}"event":{text}}}'


def seal_line(seal: SealRow) -> str:
    """Return a seal's line."""
    body = seal.body
    return _compact(
        {
            "type": "seal",
            "number": body.number,
            "first": body.first,
            "last": body.last,
            "sealed_at": body.sealed_at,
            "previous": body.previous.hex(),
            "root": body.root.hex(),
            "key": body.key_id,
            "signature": base64.b64encode(seal.signature).decode(),
        }
    )


def end_text(workspace_id: UUID, counts: Mapping[str, int], digest: str, key_id: str) -> bytes:
    """Return the bytes that the last line signs."""
    return (
        f"{FORMAT}\nworkspace {workspace_id}\nevents {counts['events']}\n"
        f"unsealed {counts['unsealed']}\nseals {counts['seals']}\nsha256 {digest}\nkey {key_id}\n"
    ).encode()


def _compact(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))
