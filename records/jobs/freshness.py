"""The freshness job: a source expected every so often that has not finished a run is overdue.

Owns ``source.overdue_since`` and the events at both edges. Which facts a
finished run no longer names is settled by the run itself, in the write path.
"""

from __future__ import annotations

from datetime import datetime

from records import events, queries
from records.events import Happening
from records.jobs.runs import Run
from records.jobs.standings import access_of

# A tenth of the interval is grace: a nightly run that starts an hour late is no news.
EDGES = """UPDATE source SET overdue_since = CASE WHEN late THEN due_at END
FROM (SELECT id AS found, due_at, coalesce(due_at + expected_every / 10 <= %(now)s, false) AS late
      FROM (SELECT id, expected_every, coalesce(last_run_at, created_at) + expected_every AS due_at
            FROM source WHERE workspace_id = %(workspace)s) AS expected) AS state
WHERE id = found AND workspace_id = %(workspace)s AND (overdue_since IS NOT NULL) <> late
RETURNING id, overdue_since"""


def update_freshness(run: Run, now: datetime) -> None:
    """Flag sources that became overdue and clear those that are on time again."""
    with run.step(), queries.cursor() as cursor:
        cursor.execute(EDGES, {"now": now, "workspace": run.workspace_id})
        rows = cursor.fetchall()
        events.append(
            [
                Happening("source.on_time", "source", source_id)
                if since is None
                else Happening(
                    "source.overdue", "source", source_id, details={"since": since.isoformat()}
                )
                for source_id, since in rows
            ],
            access=access_of(run),
        )
        run.count(
            overdue=sum(since is not None for _, since in rows),
            on_time=sum(since is None for _, since in rows),
        )
