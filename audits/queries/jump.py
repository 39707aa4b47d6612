"""What somebody typed into the jump field: an id, a partition's or a session's name, or text.

Owns one statement for ids and one for names. Inside a workspace scope.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import connection

from audits.queries.rows import fetch

# What an id may be of, in the words of the routes.
KINDS = {
    "record": "memory_record",
    "session": "session",
    "recall": "recall",
    "source": "source",
    "incident": "incident",
    "operation": "operation",
}
IDS = " UNION ALL ".join(
    f"SELECT '{kind}' FROM {table} WHERE id = %(id)s AND workspace_id = %(workspace)s"
    for kind, table in KINDS.items()
)
NAMES = """SELECT EXISTS (SELECT 1 FROM partition WHERE id = %(partition)s
           AND workspace_id = %(workspace)s) AS is_partition,
    ARRAY(SELECT id FROM session WHERE workspace_id = %(workspace)s AND external_id = %(name)s
          ORDER BY id LIMIT 2) AS sessions"""


def find_target(wanted: UUID, *, workspace_id: UUID) -> str | None:
    """Return the kind of thing here that has this id; ``None`` when nothing has."""
    with connection.cursor() as cursor:
        cursor.execute(IDS, {"id": wanted, "workspace": workspace_id})
        row = cursor.fetchone()
    return row[0] if row else None


def find_named(name: str, partition_id: UUID, *, workspace_id: UUID) -> tuple[bool, list[UUID]]:
    """Say whether a partition is called so, and which sessions are: none, one, or the first two."""
    values: dict[str, Any] = {
        "partition": partition_id,
        "workspace": workspace_id,
        "name": name,
    }
    (row,) = fetch(NAMES, values)
    return row["is_partition"], row["sessions"]
