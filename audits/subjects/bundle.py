"""The answer to a request for access: everything kept about somebody, as one zip, made as it is sent.

Owns what is in it and the order in which it is read. Every part is a file of
JSON lines read in short transactions, piece by piece, so that neither memory
nor a lock grows with the answer; ``records.html`` is the same facts to be
read by a person; ``manifest.json`` counts and hashes the files and is signed
by the trail's key. Nothing of other partitions, or of subjects that were not
chosen, is read: each statement is bound to the chosen records or the
partition. Opens its own scopes, since it runs after the request.
"""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from django.utils.html import escape

from audits import keys
from audits.models import Export, SubjectRequest
from audits.queries.rows import fetch
from audits.seals import instant
from audits.subjects.certificate import signed_text
from audits.subjects.requests import chosen_of, tell
from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.scope import workspace_scope

FORMAT = "memconsole-access/1"
PIECE = 1_000  # rows read at once
CHUNK = 64 * 1024  # bytes sent at once

RECORDS = """SELECT r.id, p.name AS partition, r.subject, r.predicate, r.value, r.content, r.status,
    r.hold_reason, r.confidence, so.name AS source, r.source_key, se.external_id AS session,
    se.agent, r.extracted_by, r.external_id, r.tags, r.labels, r.metadata, r.written_at,
    r.observed_at, r.valid_from, r.valid_until, r.recorded_at, r.last_seen, r.superseded_by,
    r.superseded_at, r.status_at, r.verdict, r.findings, r.policy_version, r.version
FROM memory_record r JOIN partition p ON p.id = r.partition_id
JOIN source so ON so.id = r.source_id JOIN session se ON se.id = r.session_id
WHERE r.workspace_id = %(workspace)s AND {which} AND r.id > %(after)s
ORDER BY r.id LIMIT %(limit)s"""
CLAIMS = """SELECT c.record_id AS id, c.record_id, se.external_id AS session, se.agent, so.name AS source,
    c.state, c.first_at, c.last_at, c.count, c.confidence, c.evidence, c.wording
FROM claim c JOIN session se ON se.id = c.session_id JOIN source so ON so.id = c.source_id
WHERE c.workspace_id = %(workspace)s AND c.record_id = ANY(%(ids)s)
ORDER BY c.record_id, c.session_id, c.source_id"""
SERVES = """SELECT s.recall_id, s.record_id, s.at, se.external_id AS session, s.rank, s.score, s.current
FROM serve s LEFT JOIN session se ON se.id = s.session_id
WHERE s.workspace_id = %(workspace)s AND s.record_id = ANY(%(ids)s)
  AND (s.record_id, s.at, s.recall_id) > (%(record)s, %(at)s, %(recall)s)
ORDER BY s.record_id, s.at, s.recall_id LIMIT %(limit)s"""
FEEDBACK = """SELECT f.record_id, se.external_id AS session, f.verdict, f.at
FROM feedback f LEFT JOIN session se ON se.id = f.session_id
WHERE f.workspace_id = %(workspace)s AND f.record_id = ANY(%(ids)s) ORDER BY f.record_id, f.at"""
EVENTS = """SELECT e.id, e.at, e.actor_kind, e.actor, e.role, e.action, e.outcome, e.target_kind,
    e.target_id, e.reason, e.details, s.position
FROM event e LEFT JOIN sealed_event s ON s.event_id = e.id
WHERE e.workspace_id = %(workspace)s AND e.target_id = ANY(%(ids)s) ORDER BY e.target_id, e.id"""
NOTES = """SELECT record_id, "user", written_at AS at, text FROM review_note
WHERE workspace_id = %(workspace)s AND record_id = ANY(%(ids)s)
UNION ALL
SELECT record_id, "user", decided_at, verb || ' ' || reason || ' ' || note FROM review_decision
WHERE workspace_id = %(workspace)s AND record_id = ANY(%(ids)s)
ORDER BY record_id, at"""
# Of a whole partition: what was asked in it, and its sessions, whatever came of them.
RECALLS = """SELECT q.id, q.at, se.external_id AS session, q.query, q.served_count
FROM recall q LEFT JOIN session se ON se.id = q.session_id
WHERE q.workspace_id = %(workspace)s AND q.partition_id = %(partition)s AND q.id > %(after)s
ORDER BY q.id LIMIT %(limit)s"""
SESSIONS = """SELECT s.id, s.external_id AS session, s.agent, s.extracted_by, s.first_write_at,
    t.last_write_at, t.writes
FROM session s LEFT JOIN session_totals t ON t.session_id = s.id
WHERE s.workspace_id = %(workspace)s AND {which} AND s.id > %(after)s
ORDER BY s.id LIMIT %(limit)s"""
POLICIES = """SELECT DISTINCT p.predicate, p.version, p.cardinality, p.ttl_days, p.half_life_days,
    p.sensitive, p.protected, p.immutable, p.description
FROM predicate_policy p
WHERE p.workspace_id = %(workspace)s AND (p.predicate, p.version) IN (
    SELECT r.predicate, r.policy_version FROM memory_record r
    WHERE r.workspace_id = %(workspace)s AND {which})
ORDER BY p.predicate, p.version"""

OF_RECORDS = {
    "claims": CLAIMS,
    "feedback": FEEDBACK,
    "notes": NOTES,
    "events": EVENTS,
}
TITLES = {
    "records": "What is remembered: every fact, with where it came from and where it stands",
    "claims": "Who said so, when, and the words it was read from",
    "serves": "When a fact was given to an agent",
    "feedback": "What agents said of the facts they were given",
    "notes": "What people wrote and decided about the facts",
    "events": "Everything that happened to the facts, from the audit trail",
    "recalls": "The questions that were asked",
    "sessions": "The sessions in which it was said or asked",
    "policies": "The rules that applied to the kinds of facts",
}


@dataclass(slots=True)
class File:
    """One file of the bundle: how many rows it has, how many bytes, and their hash."""

    name: str
    rows: int = 0
    size: int = 0
    digest: str = ""


class Bundle:
    """The answer to one request. ``chunks`` makes it as it is sent."""

    def __init__(self, request: SubjectRequest, *, access: Access, user_id: UUID) -> None:
        self.request, self.access = request, access
        self.id = uuid7(timezone.now())
        self.files: list[File] = []
        self._values: dict[str, Any] = {
            "workspace": access.workspace_id,
            "partition": request.partition_id,
            "chosen": list(chosen_of(request)),
            "limit": PIECE,
        }
        self._hash = sha256()
        self._size = 0
        with workspace_scope(access.workspace_id):
            Export.objects.create(
                id=self.id,
                workspace_id=access.workspace_id,
                kind="subject_access",
                file_format="zip",
                query=f"request={request.id}",
                exported_by=access.actor.name,
                exported_by_id=user_id,
            )
            self._tell("export.started")

    @property
    def file_name(self) -> str:
        """The name under which a browser saves it; it names nobody."""
        return f"memconsole-access-{self.id.hex[-12:]}.zip"

    def chunks(self) -> Iterator[bytes]:
        """Yield the zip's bytes; at its end the request is answered and the export on record."""
        out = _Drain()
        is_whole = False
        try:
            with zipfile.ZipFile(cast(Any, out), "w", zipfile.ZIP_DEFLATED) as archive:
                for name, make in self._parts():
                    yield from self._write(archive, out, name, make)
                yield from self._write(archive, out, "index.html", self._index)
                yield from self._write(archive, out, "manifest.json", self._manifest)
            yield self._sent(out.taken())
            self._finish()
            is_whole = True
        finally:
            if not is_whole:
                self._fail()

    def _write(
        self,
        archive: zipfile.ZipFile,
        out: _Drain,
        name: str,
        make: Callable[[], Iterator[str]],
    ) -> Iterator[bytes]:
        file, digest = File(name), sha256()
        with archive.open(name, "w", force_zip64=True) as entry:
            for line in make():
                data = line.encode("utf-8", "surrogatepass")
                entry.write(data)
                digest.update(data)
                file.size += len(data)
                file.rows += 1
                if out.size >= CHUNK:
                    yield self._sent(out.taken())
        file.digest = digest.hexdigest()
        if name != "manifest.json":
            self.files.append(file)

    def _sent(self, data: bytes) -> bytes:
        self._hash.update(data)
        self._size += len(data)
        return data

    def _parts(self) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
        made: dict[str, Iterator[dict[str, Any]]] = {"records": self._records()}
        made |= {name: self._of_records(statement) for name, statement in OF_RECORDS.items()}
        made["serves"] = self._serves()
        if self.request.partition_id is not None:
            made["recalls"] = self._paged(RECALLS)
        made["sessions"] = self._paged(SESSIONS.format(which=self._which("s")))
        made["policies"] = self._policies()
        for name, rows in made.items():
            yield f"{name}.jsonl", partial(map, _line, rows)
        yield "records.html", self._readable

    def _which(self, alias: str = "r") -> str:
        """Return the condition that keeps to what the request is about."""
        if self.request.partition_id is not None:
            return f"{alias}.partition_id = %(partition)s"
        if alias == "s":
            return """EXISTS (SELECT 1 FROM claim c WHERE c.session_id = s.id
                AND c.record_id = ANY(%(chosen)s))"""
        return "r.id = ANY(%(chosen)s)"

    def _records(self) -> Iterator[dict[str, Any]]:
        return self._paged(RECORDS.format(which=self._which()))

    def _paged(self, statement: str) -> Iterator[dict[str, Any]]:
        after = UUID(int=0)
        while True:
            rows = self._fetch(statement, {"after": after})
            yield from rows
            if len(rows) < PIECE:
                return
            after = rows[-1]["id"]

    def _of_records(self, statement: str) -> Iterator[dict[str, Any]]:
        """Yield what hangs on the records, for some records at a time."""
        for ids in self._ids():
            yield from self._fetch(statement, {"ids": ids})

    def _serves(self) -> Iterator[dict[str, Any]]:
        """Yield the serves in pieces of their own: one record may have very many."""
        for ids in self._ids():
            place = {
                "record": UUID(int=0),
                "at": datetime(1, 1, 2, tzinfo=UTC),
                "recall": UUID(int=0),
            }
            while True:
                rows = self._fetch(SERVES, {"ids": ids, **place})
                yield from rows
                if len(rows) < PIECE:
                    break
                last = rows[-1]
                place = {"record": last["record_id"], "at": last["at"], "recall": last["recall_id"]}

    def _ids(self) -> Iterator[list[UUID]]:
        statement = f"""SELECT r.id FROM memory_record r WHERE r.workspace_id = %(workspace)s
            AND {self._which()} AND r.id > %(after)s ORDER BY r.id LIMIT %(limit)s"""
        after = UUID(int=0)
        while True:
            found = [row["id"] for row in self._fetch(statement, {"after": after})]
            if found:
                yield found
            if len(found) < PIECE:
                return
            after = found[-1]

    def _policies(self) -> Iterator[dict[str, Any]]:
        yield from self._fetch(POLICIES.format(which=self._which()), {})

    def _fetch(self, statement: str, more: Mapping[str, Any]) -> list[dict[str, Any]]:
        with workspace_scope(self.access.workspace_id):
            return fetch(statement, {**self._values, **more})

    def _readable(self) -> Iterator[str]:
        yield _HEAD.format(title="What is remembered")
        yield "<table><thead><tr><th>Status</th><th>Subject</th><th>What</th><th>Value</th>"
        yield "<th>Said by</th><th>Written</th><th>Valid until</th></tr></thead><tbody>\n"
        for row in self._records():
            cells = (
                row["status"],
                row["subject"],
                row["predicate"],
                row["value"],
                f"{row['session']}, {row['source']}",
                instant(row["written_at"]),
                instant(row["valid_until"]) if row["valid_until"] else "",
            )
            yield f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in cells)}</tr>\n"
        yield "</tbody></table></body></html>\n"

    def _index(self) -> Iterator[str]:
        yield _HEAD.format(title="What is kept about you")
        yield f"<p>Made {instant(timezone.now())} for request {self.request.id}.</p>"
        yield '<p><a href="records.html">Read the facts</a>. The files below hold everything, one'
        yield " entry a line (JSON).</p><table><thead><tr><th>File</th><th>What it holds</th>"
        yield "<th>Entries</th></tr></thead><tbody>\n"
        for file in self.files:
            part, _, kind = file.name.partition(".")
            if kind == "jsonl":
                yield f'<tr><td><a href="{file.name}">{file.name}</a></td>'
                yield f"<td>{escape(TITLES[part])}</td><td>{file.rows:,}</td></tr>\n"
        yield "</tbody></table><p>Not in here: what an agent computes from the facts to find them (search"
        yield " terms and vectors, derived from the text above), and what is kept about others.</p>"
        yield "</body></html>\n"

    def _manifest(self) -> Iterator[str]:
        signer = keys.signer()
        said: dict[str, Any] = {
            "format": FORMAT,
            "export": str(self.id),
            "request": str(self.request.id),
            "workspace": str(self.access.workspace_id),
            "made_at": instant(timezone.now()),
            "made_by": str(self.access.actor),
            "files": [
                {"name": one.name, "rows": one.rows, "bytes": one.size, "sha256": one.digest}
                for one in self.files
            ],
            "key": signer.key_id,
        }
        signature = base64.b64encode(signer.sign(signed_text(said))).decode()
        yield json.dumps({**said, "signature": signature}, indent=2) + "\n"

    def _finish(self) -> None:
        now = timezone.now()
        rows = sum(file.rows for file in self.files if file.name.endswith(".jsonl"))
        digest = self._hash.hexdigest()
        with workspace_scope(self.access.workspace_id):
            Export.objects.filter(id=self.id, state="started").update(
                state="finished",
                rows=rows,
                size=self._size,
                sha256=digest,
                manifest={"files": [[one.name, one.rows, one.digest] for one in self.files]},
                finished_at=now,
            )
            self._tell("export.finished", rows=rows, sha256=digest)
            SubjectRequest.objects.filter(
                id=self.request.id, state__in=("preview", "running")
            ).update(state="done", finished_at=now)
            tell("subject.answered", self.request, self.access, export=str(self.id))

    def _fail(self) -> None:
        with workspace_scope(self.access.workspace_id):
            Export.objects.filter(id=self.id, state="started").update(
                state="failed", size=self._size, finished_at=timezone.now()
            )
            self._tell("export.failed", outcome="failed")

    def _tell(self, action: str, *, outcome: str = "done", **details: Any) -> None:
        about = {"kind": "subject_access", "format": "zip", "request": str(self.request.id)}
        events.append(
            [Happening(action, "export", self.id, outcome=outcome, details={**about, **details})],
            access=self.access,
        )


class _Drain:
    """Where the zip is written to: what came in is taken out again, nothing is sought."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: the bytes are taken out by ``taken``."""

    def taken(self) -> bytes:
        """Return what has come in since the last time."""
        data, self._pieces, self.size = b"".join(self._pieces), [], 0
        return data


_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    "<style>body{{font:16px/1.5 system-ui,sans-serif;margin:2rem;max-width:80rem}}"
    "table{{border-collapse:collapse;width:100%}}td,th{{border-bottom:1px solid #ccc;padding:.4rem;"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}}</style></head><body><h1>{title}</h1>\n"
)


def _line(row: Mapping[str, Any]) -> str:
    """Return one row as a line of JSON, times in UTC."""
    return json.dumps(row, default=_plain, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "astimezone"):
        return instant(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return str(value)
