"""Runs that nobody works on: found by their heartbeat, queued again.

A worker killed mid-run leaves ``running`` with a heartbeat that stands still;
a broker that lost its queue leaves ``queued`` that nobody takes. Both become
``queued`` again, and their job's task goes out anew. Read ``runs.py`` for why
the worker that was only slow can do no harm.
"""

from __future__ import annotations

import logging
from datetime import datetime
from uuid import UUID

from records import queries
from records.jobs import catalogue, runs
from records.jobs.catalogue import Job
from records.jobs.due import Queue, queue_due
from records.jobs.runs import Run

logger = logging.getLogger(__name__)

ATTEMPTS = 20  # workers that one run may lose, deployments included

# A row that a live step has locked is not lost: it is skipped, not waited for.
FIND = """UPDATE job_run SET state = 'queued', heartbeat_at = clock_timestamp(),
    error = CASE WHEN state = 'running' THEN 'worker lost' ELSE error END
WHERE id IN (SELECT id FROM job_run WHERE workspace_id IS NOT DISTINCT FROM %(workspace)s
             AND state IN ('queued', 'running') AND heartbeat_at < clock_timestamp() - %(stale)s
             AND job <> %(self)s FOR UPDATE SKIP LOCKED)
RETURNING job, id, attempt"""
ABANDON = """UPDATE job_run SET state = 'lost', finished_at = clock_timestamp()
WHERE id = %s AND state = 'queued'"""


def watch(run: Run, now: datetime, *, queue: Queue) -> None:
    """Queue again what was lost, and what is due, everywhere."""
    for workspace_id in [None, *runs.workspaces()]:
        run.count(
            recovered=recover_in(workspace_id, queue=queue),
            queued=queue_due(workspace_id, now, queue=queue),
        )


def recover_in(workspace_id: UUID | None, *, queue: Queue) -> int:
    """Queue one workspace's lost runs again; return how many there were."""
    found: list[Job] = []
    with runs.scope(workspace_id), queries.cursor() as cursor:
        cursor.execute(
            FIND,
            {
                "workspace": workspace_id,
                "stale": runs.STALE_AFTER,
                "self": catalogue.RECOVER.name,
            },
        )
        for name, run_id, attempt in cursor.fetchall():
            job = catalogue.find(name)
            # A run that kills its workers, or of a job that this version no longer has.
            if job is None or attempt >= ATTEMPTS:
                cursor.execute(ABANDON, [run_id])
                continue
            logger.warning("Run %s of job %s lost its worker and is queued again", run_id, name)
            found.append(job)
    for job in found:
        queue(job, workspace_id)
    return len(found)
