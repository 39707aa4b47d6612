"""Exports of the trail as rows: CSV for spreadsheets, OCSF for a SIEM, one event a line.

Owns reading the rows and writing the lines. Rows come in the order of the
trail, what is not sealed yet at the end, in pieces of short transactions, so
that memory stays flat and a slow reader holds none open. Such a file proves
nothing by itself; its manifest does (``exports.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from audits.domain.csv_text import csv_line
from audits.domain.ocsf import ocsf_event
from audits.domain.seals import follow
from audits.export import Chosen, Tally
from audits.seals import newest, seal_readable
from records import queries
from records.access import Access
from records.scope import workspace_scope

PIECE = 5_000
COLUMNS = (
    *("at", "actor_kind", "actor", "role", "action", "outcome", "target_kind", "target_id"),
    *("partition_id", "session_id", "reason", "request_id", "count", "details", "id"),
)
_COLUMNS = ", ".join(f"e.{one}" for one in COLUMNS)
SEALED = f"""SELECT t.position, encode(t.leaf, 'hex'), {_COLUMNS}
FROM sealed_event t JOIN event e ON e.id = t.event_id AND e.workspace_id = t.workspace_id
WHERE t.workspace_id = %(workspace)s AND t.position > %(after)s AND t.position <= %(to)s
  AND ({{where}}) ORDER BY t.position LIMIT %(limit)s"""
UNSEALED = f"""SELECT NULL::bigint, NULL::text, {_COLUMNS} FROM event e
WHERE e.workspace_id = %(workspace)s AND e.id > %(after)s AND ({{where}})
  AND NOT EXISTS (SELECT 1 FROM sealed_event s WHERE s.event_id = e.id AND s.position <= %(head)s)
ORDER BY e.id LIMIT %(limit)s"""
HEADINGS = (
    *("number", "time_utc", "actor_kind", "actor", "role", "action", "outcome", "target_kind"),
    *("target_id", "workspace", "partition_id", "session_id", "incident", "operation", "reason"),
    *("request_id", "count", "details", "row", "leaf_sha256"),
)


def csv_lines(access: Access, chosen: Chosen, tally: Tally) -> Iterator[str]:
    """Yield the lines of a CSV export: headings, then one event a line."""
    yield csv_line(HEADINGS)
    for row in rows(access, chosen, tally):
        details = row["details"]
        yield csv_line(
            [
                *(row["position"], row["at"], row["actor_kind"], row["actor"], row["role"]),
                *(row["action"], row["outcome"], row["target_kind"], row["target_id"]),
                *(access.workspace, row["partition_id"], row["session_id"]),
                *(details.get("incident"), details.get("operation"), row["reason"]),
                *(row["request_id"], row["count"], row["details_text"], row["id"], row["leaf"]),
            ]
        )


def ocsf_lines(access: Access, chosen: Chosen, tally: Tally) -> Iterator[str]:
    """Yield the lines of an OCSF export: one JSON object an event."""
    for row in rows(access, chosen, tally):
        said = ocsf_event(row, workspace_id=str(access.workspace_id), workspace=access.workspace)
        yield json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"


def rows(access: Access, chosen: Chosen, tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield the events chosen, oldest first; keeps the tally. Opens scopes of its own."""
    seal_readable(access.workspace_id)
    with workspace_scope(access.workspace_id), queries.cursor() as cursor:
        head = newest(cursor, access.workspace_id)
    if head is not None:
        tally.head = follow(head.body)
    last = tally.head.last if chosen.last is None else min(chosen.last, tally.head.last)
    values = {**chosen.values, "workspace": access.workspace_id, "head": tally.head.last}
    sealed = SEALED.format(where=chosen.where)
    for row in _pieces(access, sealed, {**values, "to": last}, chosen.first - 1, "position"):
        tally.note(row["position"])
        yield row
    if chosen.has_unsealed:
        unsealed = UNSEALED.format(where=chosen.where)
        for row in _pieces(access, unsealed, values, 0, "id"):
            tally.rows += 1
            tally.unsealed += 1
            yield row


def _pieces(
    access: Access, statement: str, values: Mapping[str, Any], after: int, key: str
) -> Iterator[dict[str, Any]]:
    while True:
        with workspace_scope(access.workspace_id), queries.cursor() as cursor:
            cursor.execute(statement, {**values, "after": after, "limit": PIECE})
            found = cursor.fetchall()
        for row in found:
            yield _row(row)
        if len(found) < PIECE:
            return
        after = _row(found[-1])[key]


def _row(row: queries.Row) -> dict[str, Any]:
    said = dict(zip(("position", "leaf", *COLUMNS), row, strict=True))
    text = said["details"]
    said["details_text"] = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    said["details"] = json.loads(text) if isinstance(text, str) else text
    return said
