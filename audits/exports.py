"""Files that leave the console: each is counted, hashed, signed for, and on record.

Owns the rows of ``export``, their events and their manifests. What the lines
are is said by who makes them: ``export.py`` (JSONL that proves itself),
``export_rows.py`` (CSV, OCSF), and others for their own lists. A manifest says
what a file was asked for and what it held, and is signed by the trail's key:
``verify_export.py`` compares a file with it offline.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.utils import timezone

from audits import keys
from audits.domain.seals import TOOL
from audits.export import Chosen, Tally, export_trail
from audits.export_rows import csv_lines, ocsf_lines
from audits.models import Export
from audits.queries.trail import TrailFilter, conditions
from audits.seals import instant
from records import events
from records.access import Access
from records.cursors import LIMIT, Page, list_key, make_page, open_cursor
from records.domain.ids import uuid7
from records.events import Happening
from records.scope import workspace_scope

MANIFEST = "memconsole-manifest/1"
CHUNK = 64 * 1024  # bytes sent at once
FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv", "ocsf": "application/x-ndjson"}
SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "ocsf": "ocsf.jsonl"}


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants in a file: which list, in which format, by which filter."""

    kind: str
    file_format: str
    query: str = ""
    user_id: UUID | None = None


def chosen_by(wanted: TrailFilter, query: str) -> Chosen:
    """Return what an export of this filter holds: exactly what the list shows, page by page."""
    parts, values = conditions(wanted)
    where = [text for name, text in parts.items() if name not in ("first", "last")]
    return Chosen(
        where=" AND ".join(f"({text})" for text in where) or "true",
        values=values,
        description=f"?{query}" if query else "",
        first=wanted.first or 1,
        last=wanted.last,
        only_sealed=wanted.first is not None or wanted.last is not None,
    )


def trail_lines(access: Access, file_format: str, chosen: Chosen, tally: Tally) -> Iterator[str]:
    """Return the lines of an export of the trail in one of the formats."""
    if file_format == "jsonl":
        return export_trail(access, chosen, tally)
    return {"csv": csv_lines, "ocsf": ocsf_lines}[file_format](access, chosen, tally)


class Sending:
    """One file on its way out. ``chunks`` makes it as it is sent; ``id`` finds it afterwards.

    Opens scopes of its own, so that it may run after the request. Broken off
    half-way, it is kept as failed.
    """

    def __init__(
        self, wish: Wish, lines: Callable[[Tally], Iterator[str]], *, access: Access
    ) -> None:
        self.wish, self.access = wish, access
        self.id = uuid7(timezone.now())
        self.tally = Tally()
        self.size = 0
        self._lines = lines
        self._hash = sha256()
        with workspace_scope(access.workspace_id):
            Export.objects.create(
                id=self.id,
                workspace_id=access.workspace_id,
                kind=wish.kind,
                file_format=wish.file_format,
                query=wish.query,
                exported_by=access.actor.name,
                exported_by_id=wish.user_id,
            )
            self._tell("export.started", {})

    @property
    def file_name(self) -> str:
        """The name under which a browser saves it, and its manifest names it."""
        return file_name(self.wish.kind, self.wish.file_format, self.id)

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes; the row, the manifest and the event are made at its end."""
        is_whole = False
        try:
            waiting: list[str] = []
            length = 0
            for line in self._lines(self.tally):
                waiting.append(line)
                length += len(line)
                if length >= CHUNK:
                    yield self._sent(waiting)
                    waiting, length = [], 0
            yield self._sent(waiting)
            self._finish()
            is_whole = True
        finally:
            if not is_whole:
                self._fail()

    def _sent(self, lines: list[str]) -> bytes:
        data = "".join(lines).encode("utf-8", "surrogatepass")
        self._hash.update(data)
        self.size += len(data)
        return data

    def _finish(self) -> None:
        digest = self._hash.hexdigest()
        manifest = self._manifest(digest)
        with workspace_scope(self.access.workspace_id):
            Export.objects.filter(id=self.id, state="started").update(
                state="finished",
                rows=self.tally.rows,
                size=self.size,
                first=self.tally.first,
                last=self.tally.last,
                sha256=digest,
                manifest=manifest,
                finished_at=timezone.now(),
            )
            self._tell("export.finished", {"rows": self.tally.rows, "sha256": digest})

    def _fail(self) -> None:
        with workspace_scope(self.access.workspace_id):
            Export.objects.filter(id=self.id, state="started").update(
                state="failed", size=self.size, finished_at=timezone.now()
            )
            self._tell("export.failed", {"bytes": self.size}, outcome="failed")

    def _manifest(self, digest: str) -> dict[str, Any]:
        """Say what the file holds, and sign for it."""
        wish, tally, signer = self.wish, self.tally, keys.signer()
        said: dict[str, Any] = {
            "format": MANIFEST,
            "export": str(self.id),
            "kind": wish.kind,
            "workspace": str(self.access.workspace_id),
            "name": self.access.workspace,
            "filter": f"?{wish.query}" if wish.query else "",
            "exported_at": instant(timezone.now()),
            "exported_by": str(self.access.actor),
            "tool": TOOL,
            "files": [
                {
                    "name": self.file_name,
                    "format": wish.file_format,
                    "rows": tally.rows,
                    "bytes": self.size,
                    "sha256": digest,
                }
            ],
            "unsealed": tally.unsealed,
            "first": tally.first,
            "last": tally.last,
            "head": {
                "seal": tally.head.number,
                "last": tally.head.last,
                "digest": tally.head.digest.hex(),
            },
            "key": signer.key_id,
        }
        return {**said, "signature": base64.b64encode(signer.sign(signed_text(said))).decode()}

    def _tell(self, action: str, details: Mapping[str, Any], *, outcome: str = "done") -> None:
        wish = asdict(self.wish)
        about = {"kind": wish["kind"], "format": wish["file_format"]}
        if wish["kind"] == "trail":  # other lists are filtered by what memories say; the row has it
            about["filter"] = wish["query"]
        happening = Happening(
            action, "export", self.id, outcome=outcome, details={**about, **details}
        )
        events.append([happening], access=self.access)


def file_name(kind: str, file_format: str, export_id: UUID) -> str:
    """Return the name of an export's file; the end of a time-ordered id is its random part."""
    return f"memconsole-{kind}-{export_id.hex[-12:]}.{SUFFIXES[file_format]}"


def signed_text(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest that are signed: sorted, compact, without the signature."""
    said = {name: value for name, value in manifest.items() if name != "signature"}
    return json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def manifest_file(export: Export) -> str:
    """Return a manifest as it is downloaded."""
    return json.dumps(export.manifest, indent=2, ensure_ascii=False) + "\n"


def list_exports(*, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of exports, the newest first. BadRequest: a cursor of another list."""
    key = list_key("console.exports", workspace_id)
    place = open_cursor(cursor, key=key)
    found = Export.objects.filter(workspace_id=workspace_id).order_by("-id")
    if place is not None:
        found = found.filter(id__lt=UUID(place[0]))
    rows = list(found[: LIMIT + 1])
    return make_page(rows, limit=LIMIT, key=key, place=lambda row: [row.id])


def load_export(export_id: UUID, *, workspace_id: UUID) -> Export | None:
    """Return one export; ``None`` for unknown and foreign alike."""
    return Export.objects.filter(id=export_id, workspace_id=workspace_id).first()
