"""Checkpoints: signed notes of where each chain stood, kept outside the database.

Owns the checkpoint file, one JSON line per note. Who removes the newest seals,
or rewrites them with a stolen key, still meets the notes; copy the file away
for that (docs/trail.md). ``verify.py`` compares the trail with it.
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

from audits import keys
from audits.domain.seals import Checkpoint
from audits.seals import chain_of, instant, newest
from records import queries
from records.jobs.runs import Run


@dataclass(frozen=True, slots=True)
class Anchored:
    """What the file says of one chain: the digests by seal number, and lines not to be believed."""

    digests: Mapping[int, bytes]
    newest: Checkpoint | None
    unbelievable: int


def anchor_head(run: Run, now: datetime) -> None:
    """Note where the run's chain stands, unless the last note says so already."""
    with run.step(), queries.cursor(run.using) as cursor:
        head = newest(cursor, chain_of(run.workspace_id))
        if head is None or run.cursor.get("number") == head.body.number:
            return
        signer = keys.signer()
        note = Checkpoint(
            workspace_id=head.body.workspace_id,
            number=head.body.number,
            last=head.body.last,
            digest=head.body.digest(),
            at=instant(now),
            key_id=signer.key_id,
        )
        _append(note, signer.sign(note.text()))
        run.cursor["number"] = note.number
        run.count(anchored=1)


def anchored(workspace_id: UUID | None) -> Anchored:
    """Return the believable notes about one chain."""
    chain = chain_of(workspace_id)
    public = keys.public_keys()
    digests: dict[int, bytes] = {}
    last: Checkpoint | None = None
    unbelievable = 0
    for line in _lines():
        if str(chain) not in line:
            continue
        try:
            note, signature = _read(line)
        except (ValueError, KeyError, TypeError):
            unbelievable += 1
            continue
        key = public.get(note.key_id)
        if key is None or not keys.is_signed(note.text(), signature, key):
            unbelievable += 1
            continue
        digests[note.number] = note.digest
        if last is None or note.number > last.number:
            last = note
    return Anchored(digests, last, unbelievable)


def _lines() -> Iterator[str]:
    path: Path = settings.TRAIL_CHECKPOINTS_FILE
    if path.exists():
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file


def _append(note: Checkpoint, signature: bytes) -> None:
    path: Path = settings.TRAIL_CHECKPOINTS_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(
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
