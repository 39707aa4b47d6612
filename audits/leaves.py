"""The bytes of an event that go into the tree: its position and every column.

Owns one SQL expression and what is put before it. The database writes JSON from
its own values, so no number or text is read and written again on the way to a
hash: the exported line, the verified row and the sealed leaf are the same
bytes. Changing the expression invalidates every seal; a test pins its output.
"""

from __future__ import annotations

# `{e}` is the event's alias. Keys are in the order of the table.
LEAF = """json_build_object(
    'id', {e}.id, 'transaction', {e}.transaction::text,
    'workspace_id', {e}.workspace_id, 'partition_id', {e}.partition_id,
    'at', to_char({e}.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor_kind', {e}.actor_kind, 'actor', {e}.actor, 'role', {e}.role,
    'action', {e}.action, 'outcome', {e}.outcome,
    'target_kind', {e}.target_kind, 'target_id', {e}.target_id,
    'session_id', {e}.session_id, 'reason', {e}.reason, 'request_id', {e}.request_id,
    'count', {e}.count, 'details', {e}.details)::text""".replace("\n   ", "")


def leaf_text(alias: str) -> str:
    """Return the SQL expression for the leaf of the event row called ``alias``."""
    return LEAF.format(e=alias)


def hashed_text(position: str, alias: str) -> str:
    """Return the SQL expression for the very bytes that a leaf's hash is taken of."""
    return rf"'\x00'::bytea || convert_to({position} || ' ' || {leaf_text(alias)}, 'UTF8')"


def leaf_bytes(position: int, text: str) -> bytes:
    """Return what is hashed for one event: a moved event is another leaf."""
    return f"{position} {text}".encode()
