"""Jobs that run every few hours: when each is due, read from their last runs.

Owns queueing them. The beat remembers its times in a file of its own, which a
new machine does not have; the last run is in PostgreSQL. What runs every few
minutes is left to the beat. Read ``recover.py`` for the task that calls this.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from records import queries
from records.jobs import runs
from records.jobs.catalogue import Job, jobs

SELDOM = timedelta(hours=1)  # from here on a job's times are kept here, not by the beat

LATEST = """SELECT DISTINCT ON (job) job, started_at, state IN ('queued', 'running', 'paused')
FROM job_run WHERE workspace_id IS NOT DISTINCT FROM %s ORDER BY job, started_at DESC"""

Queue = Callable[[Job, UUID | None], None]


def is_seldom(job: Job) -> bool:
    """Say whether a job's times are kept here."""
    return job.every is not None and job.every >= SELDOM


def queue_due(workspace_id: UUID | None, now: datetime, *, queue: Queue) -> int:
    """Queue what is due in one workspace, or in the installation; return how many jobs."""
    with runs.scope(workspace_id), queries.cursor() as cursor:
        cursor.execute(LATEST, [workspace_id])
        latest = {row[0]: (row[1], row[2]) for row in cursor}
        due = [
            job
            for job in jobs()
            if is_seldom(job)
            and job.installation is (workspace_id is None)
            and _is_due(job, now, *latest.get(job.name, (None, False)))
            and runs.enqueue(job, workspace_id, requested_by="schedule")
        ]
    for job in due:
        queue(job, workspace_id)
    return len(due)


def _is_due(job: Job, now: datetime, started: datetime | None, is_open: bool) -> bool:
    if is_open:
        return False
    return started is None or (job.every is not None and started + job.every <= now)
