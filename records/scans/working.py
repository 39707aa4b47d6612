"""Working on scans: any number of workers take ranges until none is left.

Owns the claim of a range (a row lock that a killed worker's connection gives
back), and pause, resume and cancel. A range's hits, counts and its being done
are one transaction, so that no fact is missed or counted twice. Read
``finishing.py`` for how a scan ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from uuid import UUID

import psycopg
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from records import queries
from records.access import Access, Actor, ActorKind
from records.items import Conflict, NotFound
from records.jobs import catalogue, runs
from records.jobs.runs import LostRunError, Run, describe
from records.models import Scan
from records.scans import finishing
from records.scans.judging import Judged, do_range
from records.scans.planning import Mode, say
from records.scope import IN_THE_WAY, sqlstate, workspace_scope

logger = logging.getLogger(__name__)

ATTEMPTS = 3  # of one range, before its scan is given up
TAIL_PAUSE = 0.1  # seconds between looks at ranges that other workers have

NEXT_SCAN = """SELECT s.id FROM scan s WHERE s.workspace_id = %s AND s.state = 'running'
  AND s.id <> ALL(%s) ORDER BY s.id LIMIT 1"""
CLAIM = """SELECT place, ids FROM scan_range WHERE scan_id = %(scan)s AND done_at IS NULL
  AND EXISTS (SELECT 1 FROM scan WHERE id = %(scan)s AND state = 'running')
ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED"""
# At the end of a range, for the moment of its commit: pause and cancel wait for it, so that
# what they count is exact, and nothing is committed after them.
STILL_RUNS = "SELECT 1 FROM scan WHERE id = %s AND state = 'running' FOR SHARE"

Step = Callable[[], AbstractContextManager[None]]
Told = Callable[[Judged], None]


class StoppedError(Exception):
    """The scan was paused or cancelled meanwhile; what the range did is rolled back."""


def work_in_run(run: Run, now: datetime) -> None:
    """Work on a workspace's scans within a run; others may help meanwhile."""

    def tell(judged: Judged) -> None:
        run.count(checked=judged.checked, held=len(judged.held))

    assert run.workspace_id is not None
    work(run.workspace_id, step=run.step, tell=tell)


def perform_scans(workspace_id: UUID | None = None) -> None:
    """Work on what waits in one workspace, or in each: as the run of the job, or beside it."""
    for one in [workspace_id] if workspace_id else runs.workspaces():
        if runs.perform(catalogue.SCANS, one, work_in_run, begin=is_waiting(one)) is None:
            work(one)


def is_waiting(workspace_id: UUID) -> bool:
    """Say whether a scan is under way in the workspace."""
    with workspace_scope(workspace_id):
        return _next(workspace_id, []) is not None


def work(workspace_id: UUID, *, step: Step | None = None, tell: Told | None = None) -> None:
    """Take ranges of the workspace's scans, oldest scan first, until none is to be had."""
    tried: list[UUID] = []
    while True:
        with workspace_scope(workspace_id):
            scan = _next(workspace_id, tried)
        if scan is None:
            return  # what is left of the scans tried, others have, and end
        tried.append(scan.id)
        while take_range(scan, step=step, tell=tell):
            pass
        finishing.finish(scan.id, workspace_id=workspace_id)


def work_to_end(scan: Scan, *, step: Step, tell: Told) -> None:
    """Take a scan's ranges until all are done, whoever does them, or somebody stops it."""
    while True:
        while take_range(scan, step=step, tell=tell):
            pass
        finishing.finish(scan.id, workspace_id=scan.workspace_id)
        with step(), queries.cursor() as cursor:
            cursor.execute("SELECT 1 FROM scan WHERE id = %s AND state = 'running'", [scan.id])
            if cursor.fetchone() is None:
                return
        time.sleep(TAIL_PAUSE)


def take_range(scan: Scan, *, step: Step | None = None, tell: Told | None = None) -> bool:
    """Do one range that nobody else has; False when there is none, or the scan is stopped."""
    step = step or partial(workspace_scope, scan.workspace_id)
    place: int | None = None
    try:
        with step(), queries.cursor() as cursor:
            cursor.execute(CLAIM, {"scan": scan.id})
            row = cursor.fetchone()
            if row is None:
                return False
            place = row[0]
            judged = do_range(scan, row[0], row[1], access=access_of(scan), now=timezone.now())
            if tell is not None:
                tell(judged)
            cursor.execute(STILL_RUNS, [scan.id])
            if cursor.fetchone() is None:
                raise StoppedError
    except StoppedError:
        return False
    except (LostRunError, InterfaceError):
        raise
    except (OperationalError, psycopg.OperationalError) as error:
        if sqlstate(error) not in IN_THE_WAY:
            raise  # the database is away: the range is there for later
        return True  # two writers met; nothing is left of the attempt
    except Exception as error:
        if place is None:
            raise
        logger.exception("Range %s of scan %s failed", place, scan.id)
        return _note_failure(scan, place, error)
    return True


def access_of(scan: Scan) -> Access:
    """Return the access under which a scan's holds are written."""
    name = catalogue.RESCAN.name if scan.mode == Mode.HOLD else catalogue.SCANS.name
    return Access(scan.workspace_id, Actor(ActorKind.JOB, name), request_id=str(scan.id))


def pause(scan_id: UUID, *, access: Access, now: datetime) -> Scan:
    """Stop a scan after the ranges under way; it goes on where it stopped. Inside a scope."""
    scan = _lock(scan_id, access)
    if scan.state != "running":
        raise Conflict(f"the scan is {scan.state}")
    scan.state, scan.paused_at = "paused", now
    scan.save(update_fields=["state", "paused_at"])
    say("scan.paused", scan, access)
    return scan


def resume(scan_id: UUID, *, access: Access, now: datetime) -> Scan:
    """Let a paused or failed scan go on. The caller wakes the workers. Inside a scope."""
    scan = _lock(scan_id, access)
    if scan.state not in ("paused", "failed"):
        raise Conflict(f"the scan is {scan.state}")
    stood = scan.paused_at or scan.finished_at or now
    scan.paused_ms += max(0, int((now - stood).total_seconds() * 1_000))
    scan.state, scan.paused_at, scan.finished_at, scan.error = "running", None, None, ""
    scan.save(update_fields=["state", "paused_at", "paused_ms", "finished_at", "error"])
    with queries.cursor() as cursor:
        cursor.execute(
            "UPDATE scan_range SET attempts = 0 WHERE scan_id = %s AND attempts > 0", [scan.id]
        )
    say("scan.resumed", scan, access)
    return scan


def cancel(scan_id: UUID, *, access: Access, now: datetime) -> Scan:
    """End a scan where it stands; what it found by then stays. Inside a scope."""
    scan = _lock(scan_id, access)
    if scan.state not in ("running", "paused", "failed"):
        raise Conflict(f"the scan is {scan.state}")
    finishing.end(scan, "cancelled", access=access, now=now)
    return scan


def _next(workspace_id: UUID, tried: list[UUID]) -> Scan | None:
    with queries.cursor() as cursor:
        cursor.execute(NEXT_SCAN, [workspace_id, tried])
        row = cursor.fetchone()
    return Scan.objects.get(id=row[0], workspace_id=workspace_id) if row else None


def _lock(scan_id: UUID, access: Access) -> Scan:
    found = (
        Scan.objects.select_for_update()
        .filter(id=scan_id, workspace_id=access.workspace_id)
        .first()
    )
    if found is None:
        raise NotFound("scan")
    return found


def _note_failure(scan: Scan, place: int, error: Exception) -> bool:
    """Count a range's failure; give the scan up when it fails again and again."""
    with workspace_scope(scan.workspace_id), queries.cursor() as cursor:
        cursor.execute(
            """UPDATE scan_range SET attempts = attempts + 1
               WHERE scan_id = %s AND place = %s AND done_at IS NULL RETURNING attempts""",
            [scan.id, place],
        )
        row = cursor.fetchone()
        if row is None or row[0] < ATTEMPTS:
            return True
        now = timezone.now()
        failed = (
            Scan.objects.select_for_update()
            .filter(id=scan.id, workspace_id=scan.workspace_id, state="running")
            .first()
        )
        if failed is not None:
            failed.error = describe(error)
            finishing.end(failed, "failed", access=access_of(scan), now=now)
        return False
