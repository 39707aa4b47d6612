"""What pages and the API show of jobs: for each, its last run and when the next is due.

Reads only. A workspace sees its own runs and the installation's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from records import queries
from records.jobs.catalogue import jobs
from records.scope import workspace_scope

NEWEST = """SELECT DISTINCT ON (job) job, state, started_at, finished_at, changed, error,
                   attempt, requested_by
FROM job_run WHERE workspace_id = %(workspace)s OR workspace_id IS NULL
ORDER BY job, started_at DESC, id DESC"""

INSTALLATION = """SELECT DISTINCT ON (r.job) r.job, r.state,
    (SELECT max(finished_at) FROM job_run d WHERE d.workspace_id IS NULL AND d.job = r.job
        AND d.state = 'done')
FROM job_run r WHERE r.workspace_id IS NULL ORDER BY r.job, r.started_at DESC, r.id DESC"""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """One job as a person sees it; ``state`` is ``never`` before its first run.

    ``duration`` runs until now for a run that is on; ``next_due`` is ``None``
    for a job that only people start.
    """

    name: str
    title: str
    state: str
    started_at: datetime | None
    duration: timedelta | None
    changed: dict[str, int]
    error: str
    attempt: int
    requested_by: str
    next_due: datetime | None


def overview(workspace_id: UUID, *, now: datetime) -> list[JobStatus]:
    """Return every job's last run in this workspace, in the catalogue's order."""
    with workspace_scope(workspace_id):
        return read_overview(workspace_id, now=now)


def read_overview(workspace_id: UUID, *, now: datetime) -> list[JobStatus]:
    """Return the same, inside the workspace's scope."""
    with queries.cursor() as cursor:
        cursor.execute(NEWEST, {"workspace": workspace_id})
        newest = {row[0]: row[1:] for row in cursor}
    found = []
    for job in jobs():
        state, started, finished, changed, error, attempt, by = newest.get(
            job.name, ("never", None, None, "{}", "", 0, "")
        )
        due = None
        if job.every is not None:
            due = max(started + job.every, now) if started else now
        found.append(
            JobStatus(
                name=job.name,
                title=job.title,
                state=state,
                started_at=started,
                duration=(finished or now) - started if started else None,
                changed=json.loads(changed),
                error=error,
                attempt=attempt,
                requested_by=by,
                next_due=due,
            )
        )
    return found


def installation_runs() -> list[tuple[str, str, datetime | None]]:
    """Return the newest run of each job of the installation, and when one last succeeded."""
    with transaction.atomic(), queries.cursor() as cursor:
        cursor.execute(INSTALLATION)
        return [(row[0], row[1], row[2]) for row in cursor]
