"""Checkpoints: signed notes of where each chain stood, kept outside the database.

Owns the checkpoint file, one JSON line per note. Who removes the newest seals,
or rewrites them with a stolen key, still meets the notes; copy the file away
for that, or have each note posted to a webhook (docs/trail.md). ``verify.py``
compares the trail with the file, or with one that was received elsewhere.
Read ``webhook.py`` for the posting.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings

from audits import keys, webhook
from audits.domain.seals import Checkpoint
from audits.seals import chain_of, instant, newest
from records import queries
from records.jobs.runs import Run

TAIL_BYTES = 4 * 1024 * 1024  # some ten thousand notes


@dataclass(frozen=True, slots=True)
class Anchored:
    """What the file says of one chain: the digests by seal number, and lines not to be believed.

    ``disputed`` are the seals of which two believable notes say different things.
    """

    digests: Mapping[int, bytes]
    newest: Checkpoint | None
    unbelievable: int
    disputed: frozenset[int] = frozenset()


def anchor_head(run: Run, now: datetime) -> None:
    """Note where the run's chain stands, unless the last note says so already; then post it.

    A note that the webhook did not take is posted again by a later run, with
    growing pauses. The newest note is enough: it names all seals before it.
    """
    line = None
    with run.step(), queries.cursor(run.using) as cursor:
        head = newest(cursor, chain_of(run.workspace_id))
        is_owed = webhook.is_configured() and "line" not in run.cursor
        if head is not None and (is_owed or run.cursor.get("number") != head.body.number):
            signer = keys.signer()
            note = Checkpoint(
                workspace_id=head.body.workspace_id,
                number=head.body.number,
                last=head.body.last,
                digest=head.body.digest(),
                at=instant(now),
                key_id=signer.key_id,
            )
            line = line_of(note, signer.sign(note.text()))
            _append(line)
            run.cursor["number"] = note.number
            run.cursor["line"] = line
            run.count(anchored=1)
    if webhook.is_configured():
        _post(run, now)


def _post(run: Run, now: datetime) -> None:
    """Post the newest note if that is due; no transaction is open meanwhile."""
    state = webhook.State.from_json(run.cursor.get("webhook"))
    line = run.cursor.get("line")
    if line is None or not state.is_due(run.cursor["number"], now):
        return
    fault = webhook.post(line)
    with run.step():
        run.cursor["webhook"] = state.after(run.cursor["number"], fault, now).as_json()
        run.count(posted=0 if fault else 1, not_posted=1 if fault else 0)


def anchored(
    workspace_id: UUID | None, *, number: int | None = None, path: Path | None = None
) -> Anchored:
    """Return the believable notes about one chain; with a ``number``, of that seal alone.

    ``path`` is a file of notes that was kept elsewhere, by default our own.
    """
    chain = chain_of(workspace_id)
    wanted = f'"seal": {number},' if number is not None else ""
    public = keys.public_keys()
    digests: dict[int, bytes] = {}
    last: Checkpoint | None = None
    unbelievable = 0
    disputed: set[int] = set()
    for line in _lines(path):
        if str(chain) not in line or wanted not in line:
            continue
        note = _believed(line, public)
        if note is None:
            unbelievable += 1
            continue
        if digests.setdefault(note.number, note.digest) != note.digest:
            disputed.add(note.number)
        if last is None or note.number > last.number:
            last = note
    return Anchored(digests, last, unbelievable, frozenset(disputed))


def newest_note(workspace_id: UUID | None) -> Checkpoint | None:
    """Return the last believable note about a chain, looking at the end of the file only."""
    path: Path = settings.TRAIL_CHECKPOINTS_FILE
    if not path.exists():
        return None
    public = keys.public_keys()
    chain = str(chain_of(workspace_id))
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        note = _believed(line, public) if chain in line else None
        if note is not None:
            return note
    return None


def _believed(line: str, public: Mapping[str, bytes]) -> Checkpoint | None:
    try:
        note, signature = _read(line)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    key = public.get(note.key_id)
    if key is None or not keys.is_signed(note.text(), signature, key):
        return None
    return note


def _lines(path: Path | None) -> Iterator[str]:
    chosen: Path = path or settings.TRAIL_CHECKPOINTS_FILE
    if path is not None or chosen.exists():
        with chosen.open(encoding="utf-8", errors="replace") as file:
            yield from file


def line_of(note: Checkpoint, signature: bytes) -> str:
    """Return a note as the file and the webhook have it: one line of JSON."""
    return json.dumps(
        {
            "workspace": str(note.workspace_id),
            "seal": note.number,
            "last": note.last,
            "digest": note.digest.hex(),
            "at": note.at,
            "key": note.key_id,
            "signature": base64.b64encode(signature).decode(),
        }
    )


def _append(line: str) -> None:
    path: Path = settings.TRAIL_CHECKPOINTS_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def _read(line: str) -> tuple[Checkpoint, bytes]:
    said = json.loads(line)
    note = Checkpoint(
        workspace_id=UUID(said["workspace"]),
        number=int(said["seal"]),
        last=int(said["last"]),
        digest=bytes.fromhex(said["digest"]),
        at=str(said["at"]),
        key_id=str(said["key"]),
    )
    return note, base64.b64decode(said["signature"], validate=True)
