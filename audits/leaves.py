"""The bytes of an event that go into the tree: its position and every column.

Owns one SQL expression and what is put before it. The database writes JSON from
its own values, so no number or text is read and written again on the way to a
hash: the exported line, the verified row and the sealed leaf are the same
bytes. Changing the expression invalidates every seal; a test pins its output.
"""

from __future__ import annotations

# Column by column in the order of the table: json_build_object says the same in four times
# the time, and this is done for every event at sealing, at each check and in each export.
TEXTS = ("actor_kind", "actor", "role", "action", "outcome", "target_kind", "reason", "request_id")
IDS = ("workspace_id", "partition_id", "target_id", "session_id")
COLUMNS = (
    *("id", "transaction", "workspace_id", "partition_id", "at", "actor_kind", "actor", "role"),
    *("action", "outcome", "target_kind", "target_id", "session_id", "reason", "request_id"),
    *("count", "details"),
)


def leaf_text(alias: str) -> str:
    """Return the SQL expression for the leaf of the event row called ``alias``.

    Of a row that is not there it is some text: ask for the row first. Holds no
    brace, so that it may be part of a template.
    """
    fields = [f"'\"{name}\":', {_value(f'{alias}.{name}', name)}" for name in COLUMNS]
    return "concat(chr(123), " + ", ',', ".join(fields) + ", chr(125))"


def _value(column: str, name: str) -> str:
    if name in TEXTS:
        return f"to_json({column})"
    if name in IDS:
        return f"coalesce(to_json({column})::text, 'null')"
    if name == "transaction":
        return f"to_json({column}::text)"
    if name == "at":
        return f"""to_json(to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))"""
    return column


def hashed_text(position: str, alias: str) -> str:
    """Return the SQL expression for the very bytes that a leaf's hash is taken of."""
    return rf"'\x00'::bytea || convert_to({position} || ' ' || {leaf_text(alias)}, 'UTF8')"


def leaf_bytes(position: int, text: str) -> bytes:
    """Return what is hashed for one event: a moved event is another leaf."""
    return f"{position} {text}".encode()
