"""One run of one job: claimed by one worker, moved in steps, finished or found lost.

Owns the table ``job_run``. At most one run per job and workspace is open (a
unique index), and only the worker of its newest attempt can move it: each step
commits the work, the cursor, the counts and the heartbeat together, so that a
killed worker's run goes on exactly where its last step ended. Decides nothing
about the work. Read ``recover.py`` next for lost runs.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from django.db import Error, connections, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from records import queries
from records.domain.ids import uuid7
from records.jobs.catalogue import Job
from records.scope import workspace_scope
from records.telemetry import traces

logger = logging.getLogger(__name__)

# A step takes seconds at most; a worker silent for this long is dead or as good as dead.
STALE_AFTER = timedelta(seconds=60)

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
TAKE = """UPDATE job_run SET state = 'running', attempt = attempt + 1, error = '',
                             heartbeat_at = clock_timestamp()
WHERE job = %(job)s AND workspace_id IS NOT DISTINCT FROM %(workspace)s
  AND (state = 'queued' OR state = 'running' AND heartbeat_at < clock_timestamp() - %(stale)s)
RETURNING id, attempt, cursor, changed, requested_by"""
IS_OPEN = """SELECT 1 FROM job_run
WHERE job = %(job)s AND workspace_id IS NOT DISTINCT FROM %(workspace)s
  AND state IN ('queued', 'running', 'paused')"""
LAST = """SELECT id, state, changed, cursor FROM job_run
WHERE job = %(job)s AND workspace_id IS NOT DISTINCT FROM %(workspace)s
ORDER BY started_at DESC, id DESC LIMIT 1"""
REUSE = """UPDATE job_run SET state = %(state)s, attempt = attempt + 1, error = '', changed = '{}',
    cursor = %(cursor)s, requested_by = %(by)s, started_at = clock_timestamp(),
    heartbeat_at = clock_timestamp(), finished_at = NULL
WHERE id = %(id)s RETURNING id, attempt, cursor, changed, requested_by"""
INSERT = """INSERT INTO job_run (id, workspace_id, job, state, cursor, changed, error, requested_by,
                                 started_at, heartbeat_at)
VALUES (%(id)s, %(workspace)s, %(job)s, %(state)s, %(cursor)s, '{}', '', %(by)s,
        clock_timestamp(), clock_timestamp())
RETURNING id, attempt, cursor, changed, requested_by"""
BEAT = """UPDATE job_run SET heartbeat_at = clock_timestamp()
WHERE id = %s AND attempt = %s AND state = 'running'"""
SAVE = (
    "UPDATE job_run SET cursor = %s, changed = %s, heartbeat_at = clock_timestamp() WHERE id = %s"
)
END = """UPDATE job_run SET state = %s, error = %s, cursor = %s, changed = %s,
    heartbeat_at = clock_timestamp(), finished_at = clock_timestamp()
WHERE id = %s AND attempt = %s AND state = 'running'"""


class LostRunError(Exception):
    """Another worker has taken this run over; whatever the step did is rolled back."""


@dataclass(slots=True)
class Run:
    """A claimed run. Work happens inside ``step``; ``count`` says what it changed."""

    id: UUID
    job: str
    workspace_id: UUID | None
    attempt: int
    cursor: dict[str, Any]
    changed: dict[str, int]
    requested_by: str = ""
    using: str = "default"

    @contextmanager
    def step(self) -> Iterator[None]:
        """Open one transaction in the run's scope: its work and the run's progress, or neither.

        Raises LostRunError when another worker has taken the run; until the step ends
        no other worker can.
        """
        before = dict(self.cursor), dict(self.changed)
        try:
            with (
                traces.span("job.step", job=self.job, run=self.id),
                scope(self.workspace_id, using=self.using),
                queries.cursor(self.using) as cursor,
            ):
                cursor.execute(BEAT, [self.id, self.attempt])
                if cursor.rowcount == 0:
                    raise LostRunError(f"run {self.id} of {self.job} was taken over")
                yield
                cursor.execute(SAVE, [Jsonb(self.cursor), Jsonb(self.changed), self.id])
        except BaseException:
            self.cursor, self.changed = before
            raise

    def count(self, **numbers: int) -> None:
        """Add to what the run has changed; zeros leave no trace."""
        for name, number in numbers.items():
            if number:
                self.changed[name] = self.changed.get(name, 0) + number


Work = Callable[[Run, datetime], None]


def scope(workspace_id: UUID | None, *, using: str = "default") -> AbstractContextManager[None]:
    """Open a workspace's transaction, or one of the installation that sees no workspace."""
    if workspace_id is None:
        return transaction.atomic(using=using)
    return workspace_scope(workspace_id, using=using)


def workspaces() -> list[UUID]:
    """Return every workspace's id."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT id FROM memconsole_workspaces()")
        return [row[0] for row in cursor]


def perform(
    job: Job,
    workspace_id: UUID | None,
    work: Work,
    *,
    now: datetime | None = None,
    using: str = "default",
    begin: bool = True,
) -> Run | None:
    """Do one run unless another worker is doing it; return it when it is done.

    ``None`` when there was nothing to claim or the run was lost on the way. A
    failure is recorded and raised. Without ``begin`` only a run that waits is
    done: a message that comes twice must not do the work twice.
    """
    run = claim(job, workspace_id, using=using, begin=begin)
    if run is None:
        return None
    try:
        with traces.span(
            "job.run", job=job.name, run=run.id, workspace=workspace_id, attempt=run.attempt
        ) as span:
            work(run, now or timezone.now())
            span.note(**run.changed)
    except LostRunError:
        logger.warning("Run %s of job %s was taken over by another worker", run.id, run.job)
        return None
    except Exception as error:
        _end(run, "failed", describe(error))
        raise
    return run if _end(run, "done", "") else None


def perform_everywhere(
    job: Job, work: Work, *, workspace_id: UUID | None = None, now: datetime | None = None
) -> None:
    """Do the run that waits in one workspace, or a run in each of them.

    A workspace that fails does not keep the others waiting; the first failure
    is raised at the end.
    """
    failure: Exception | None = None
    for one in [workspace_id] if workspace_id else workspaces():
        try:
            perform(job, one, work, now=now, begin=workspace_id is None)
        except Exception as error:
            logger.exception("Job %s failed in workspace %s", job.name, one)
            failure = failure or error
    if failure is not None:
        raise failure


def claim(
    job: Job, workspace_id: UUID | None, *, using: str = "default", begin: bool = True
) -> Run | None:
    """Take the open run that waits or lost its worker, else begin one; None when one is on."""
    with scope(workspace_id, using=using), queries.cursor(using) as cursor:
        about = {"job": job.name, "workspace": workspace_id, "stale": STALE_AFTER}
        cursor.execute(LOCK, [_lock_name(job, workspace_id)])
        cursor.execute(TAKE, about)
        row = cursor.fetchone()
        if row is None:
            cursor.execute(IS_OPEN, about)
            if cursor.fetchone() or not begin:
                return None
            row = _begin(cursor, job, workspace_id, state="running", requested_by="")
    run_id, attempt, progress, changed, requested_by = _json(row)
    return Run(run_id, job.name, workspace_id, attempt, progress, changed, requested_by, using)


def enqueue(job: Job, workspace_id: UUID | None, *, requested_by: str) -> UUID | None:
    """Add a run that waits for a worker; None when one is open already.

    The caller queues the job's task on commit; should that be lost, the beat
    finds the waiting run. Call inside the workspace's scope.
    """
    with queries.cursor() as cursor:
        cursor.execute(LOCK, [_lock_name(job, workspace_id)])
        cursor.execute(IS_OPEN, {"job": job.name, "workspace": workspace_id})
        if cursor.fetchone():
            return None
        row = _begin(cursor, job, workspace_id, state="queued", requested_by=requested_by)
        return UUID(str(row[0]))


def describe(error: BaseException) -> str:
    """Return what may be kept of an error: its kind, never its text, which may quote memories."""
    cause = error.__cause__ if isinstance(error, Error) else error
    if isinstance(cause, psycopg.Error) and cause.sqlstate:
        return f"{type(cause).__name__} ({cause.sqlstate})"
    return type(error).__name__


def _begin(
    cursor: psycopg.Cursor[queries.Row],
    job: Job,
    workspace_id: UUID | None,
    *,
    state: str,
    requested_by: str,
) -> queries.Row:
    """Begin a run, in the last one's row when that is not worth keeping."""
    values: dict[str, Any] = {
        "job": job.name,
        "workspace": workspace_id,
        "state": state,
        "by": requested_by,
    }
    cursor.execute(LAST, values)
    last = cursor.fetchone()
    values["cursor"] = Jsonb(json.loads(last[3]) if last and job.carries else {})
    if last and last[1] == "done" and (not job.history or not json.loads(last[2])):
        cursor.execute(REUSE, values | {"id": last[0]})
    else:
        cursor.execute(INSERT, values | {"id": uuid7(timezone.now())})
    row = cursor.fetchone()
    assert row is not None
    return row


def _end(run: Run, state: str, error: str) -> bool:
    with scope(run.workspace_id, using=run.using), queries.cursor(run.using) as cursor:
        cursor.execute(
            END, [state, error, Jsonb(run.cursor), Jsonb(run.changed), run.id, run.attempt]
        )
        return bool(cursor.rowcount)


def _lock_name(job: Job, workspace_id: UUID | None) -> str:
    return f"memconsole job {job.name} {workspace_id or ''}"


def _json(row: queries.Row) -> queries.Row:
    """Read the two JSON columns, which Django's connection hands out as text."""
    run_id, attempt, cursor, changed, requested_by = row
    return run_id, attempt, json.loads(cursor), json.loads(changed), requested_by
