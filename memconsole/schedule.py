"""When the beat queues what: the jobs' own times, from their catalogue.

Owns how a job becomes an entry of the beat; those of every few hours are queued
by what PostgreSQL says of their last run (``records/jobs/due.py``). A
maintenance job runs on the maintenance worker, which is the one process with
that database role. Imports no Django: the Celery application is assembled
before it is set up.
"""

from __future__ import annotations

from typing import Any

import audits.jobs  # noqa: F401 - adds the trail's jobs to the catalogue
from records.jobs import catalogue
from records.jobs.due import is_seldom

# A beat that nobody came to do within its interval is dropped: the next one does the work.
SCHEDULE: dict[str, dict[str, Any]] = {
    job.name: {
        "task": job.task,
        "schedule": job.every,
        "options": {"expires": max(job.every.total_seconds(), 5.0)},
    }
    for job in catalogue.jobs()
    if job.every is not None and not is_seldom(job)
}
MAINTENANCE_TASKS: tuple[str, ...] = tuple(job.task for job in catalogue.jobs() if job.maintenance)
LONG_TASKS: tuple[str, ...] = tuple(job.task for job in catalogue.jobs() if job.long)
