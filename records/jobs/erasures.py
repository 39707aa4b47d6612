"""The physical part of erasures: texts in logs, which the application may only add to.

Owns emptying what ``erasure_due`` lists. Runs on the maintenance connection,
which no policy binds: every statement names the workspace. Each step takes
some rows of the list, destroys what they name and the rows with it, and says
so in the trail; a step that is killed leaves its rows to the next one.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import psycopg
from django.db import connections
from psycopg.types.json import Jsonb

from records import queries
from records.jobs.runs import Run

USING = "maintenance"
STEP = 2_000

TAKE = """DELETE FROM erasure_due WHERE (workspace_id, kind, target_id) IN (
    SELECT workspace_id, kind, target_id FROM erasure_due
    WHERE workspace_id = %s AND kind = %s LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING target_id"""

# The question goes, and what it was asked with; that there was one, when, and what it was
# answered with stays: how far a bad fact spread must be known after it is gone, too.
DESTROY = {
    "recall": """UPDATE recall SET query = '', parameters = '{}'
        WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s)""",
    "feedback": """DELETE FROM feedback WHERE workspace_id = %(workspace)s
        AND record_id = ANY(%(ids)s)""",
    "address": """DELETE FROM address WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s)
        AND record_id IS NULL""",
}


def destroy_due(run: Run, now: datetime) -> None:
    """Destroy everything that is due, kind by kind, workspace by workspace."""
    for workspace_id, kind in _due():
        taken = STEP
        while taken == STEP:
            with run.step(), queries.cursor(USING) as cursor:
                taken, destroyed = _step(cursor, workspace_id, kind)
                run.count(**{kind: destroyed})


def _due() -> list[tuple[UUID, str]]:
    with connections[USING].cursor() as cursor:
        cursor.execute("SELECT DISTINCT workspace_id, kind FROM erasure_due ORDER BY 1, 2")
        return [(row[0], row[1]) for row in cursor.fetchall()]


def _step(cursor: psycopg.Cursor[queries.Row], workspace_id: UUID, kind: str) -> tuple[int, int]:
    cursor.execute(TAKE, [workspace_id, kind, STEP])
    ids = [row[0] for row in cursor]
    if not ids:
        return 0, 0
    cursor.execute(DESTROY[kind], {"workspace": workspace_id, "ids": ids})
    destroyed = cursor.rowcount
    if destroyed:
        cursor.execute(
            """INSERT INTO event (workspace_id, actor_kind, actor, action, target_kind, count, details)
               VALUES (%s, 'job', 'erasures', 'erasure.destroyed', %s, %s, %s)""",
            [workspace_id, kind, destroyed, Jsonb({"kind": kind})],
        )
    return len(ids), destroyed
