"""What an id is that somebody pasted: a record or a session of this workspace, or nothing."""

from __future__ import annotations

from uuid import UUID

from django.db import connection


def find_target(wanted: UUID, *, workspace_id: UUID) -> str | None:
    """Return the page that shows this id; ``None`` when nothing here has it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT 'record' FROM memory_record WHERE id = %(id)s AND workspace_id = %(workspace)s
               UNION ALL
               SELECT 'session' FROM session WHERE id = %(id)s AND workspace_id = %(workspace)s""",
            {"id": wanted, "workspace": workspace_id},
        )
        row = cursor.fetchone()
    return row[0] if row else None
