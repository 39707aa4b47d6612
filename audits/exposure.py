"""The list of people to notify: who was served a set of facts, as a file.

Owns the lines of the file and the event that says who took it. It is read in
pieces of short transactions, in an order that no new serve changes, up to the
moment the export began; a set is not bounded here, so nobody is left out.
The file itself is ``exports.Sending``'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from audits.domain.csv_text import csv_line, instant
from audits.export import Tally
from audits.exports import Sending, Wish
from audits.queries.radius import list_exposed, list_exposed_partitions
from audits.queries.radius_sets import Facts
from records import events
from records.access import Access
from records.cursors import Page
from records.events import Happening
from records.scope import workspace_scope

KIND = "exposure"
FORMATS = ("csv", "jsonl")
PIECE = 2_000
UNBOUNDED = 2**31 - 2
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "session": (
        *("partition", "session", "agent", "serves", "recalls", "facts"),
        *("first_served_at", "last_served_at", "wrote_afterwards", "partition_id", "session_id"),
    ),
    "partition": (
        *("partition", "serves", "recalls", "facts", "sessions", "unnamed"),
        *("first_served_at", "last_served_at", "partition_id"),
    ),
}
SOURCES: Mapping[str, Callable[..., Page]] = {
    "session": list_exposed,
    "partition": list_exposed_partitions,
}
# The names of the file's columns beside those of the rows they are read from.
READ = {"first_served_at": "first_at", "last_served_at": "last_at", "wrote_afterwards": "wrote"}


@dataclass(frozen=True, slots=True)
class About:
    """What the facts belong to: a session, a record, a source or an incident."""

    kind: str
    id: UUID


def send_exposure(
    facts: Facts, about: About, *, by: str, file_format: str, access: Access, user_id: UUID
) -> Sending:
    """Begin a file of who was served these facts, and put it on record.

    ``by`` is "session" (one line each) or "partition" (one line for each
    person). Lines are made as they are sent.
    """
    until = timezone.now()
    whole = replace(facts, most=UNBOUNDED)
    query = f"{about.kind}={about.id}&by={by}"

    def lines(tally: Tally) -> Iterator[str]:
        rows = _rows(whole, by, until, access.workspace_id, tally)
        return (_csv if file_format == "csv" else _jsonl)(rows, by, about, until)

    sending = Sending(Wish(KIND, file_format, query, user_id), lines, access=access)
    with workspace_scope(access.workspace_id):
        said = Happening(
            "exposure.exported",
            about.kind,
            about.id,
            session_id=about.id if about.kind == "session" else None,
            details={
                "export": str(sending.id),
                "by": by,
                "format": file_format,
                "until": instant(until),
                **({"incident": str(about.id)} if about.kind == "incident" else {}),
            },
        )
        events.append([said], access=access)
    return sending


def _csv(rows: Iterator[dict[str, Any]], by: str, about: About, until: datetime) -> Iterator[str]:
    yield csv_line(COLUMNS[by])
    for row in rows:
        yield csv_line(row[READ.get(name, name)] for name in COLUMNS[by])


def _jsonl(rows: Iterator[dict[str, Any]], by: str, about: About, until: datetime) -> Iterator[str]:
    head = {"type": "header", "about": about.kind, "id": str(about.id), "by": by}
    yield _line({**head, "until": instant(until)})
    count = 0
    for row in rows:
        count += 1
        yield _line({"type": by, **{name: row[READ.get(name, name)] for name in COLUMNS[by]}})
    yield _line({"type": "end", "rows": count})


def _line(said: Mapping[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"), default=_text) + "\n"


def _text(value: Any) -> str:
    return instant(value) if isinstance(value, datetime) else str(value)


def _rows(
    facts: Facts, by: str, until: datetime, workspace_id: UUID, tally: Tally
) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        with workspace_scope(workspace_id):
            page = SOURCES[by](
                facts,
                cursor=cursor,
                workspace_id=workspace_id,
                until=until,
                order="place",
                limit=PIECE,
            )
        for row in page.items:
            tally.rows += 1
            yield row
        cursor = page.next_cursor
        if cursor is None:
            return
