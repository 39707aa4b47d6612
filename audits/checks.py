"""The verification as a job's run: on schedule or asked for, with its progress and its outcome.

Owns what is kept of a check: the report in the run's cursor, and an event that
says whether the trail is whole. Read ``verify.py`` for the walk.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from audits.domain.seals import Head
from audits.jobs import VERIFICATION
from audits.seals import newest, seal_readable
from audits.verify import Report, Verification
from records import events, queries
from records.access import Access
from records.events import Happening
from records.jobs import runs
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.scope import workspace_scope
from records.tasks import queue

IMMEDIATE_EVENTS = 20_000  # checked while the person waits: a fifth of a second


def check_trail(run: Run, now: datetime) -> None:
    """Verify the run's chain, going on where a killed worker stopped."""
    walk = Verification(run.workspace_id, using=run.using, after=_reached(run.cursor))
    going_on = True
    while going_on:
        with run.step():
            going_on = walk.advance()
            head = walk.report.head
            run.cursor.update(number=head.number, last=head.last, digest=head.digest.hex())
            if not going_on:
                _conclude(run, walk.report)


def check_now(access: Access) -> str:
    """Have the trail checked because a person asks: ``done``, ``queued``, or ``open`` already.

    A small trail is checked before this returns, a large one by a worker.
    Seals first what is finished. Opens scopes of its own.
    """
    seal_readable(access.workspace_id)
    with workspace_scope(access.workspace_id), queries.cursor() as cursor:
        head = newest(cursor, access.workspace_id)
        run_id = runs.enqueue(VERIFICATION, access.workspace_id, requested_by=str(access.actor))
        if run_id is None:
            return "open"
        happening = Happening("trail.check_started", "job_run", run_id)
        events.append([happening], access=access)
        is_small = head is None or head.body.last <= IMMEDIATE_EVENTS
        if not is_small:
            transaction.on_commit(partial(queue, VERIFICATION, access.workspace_id))
            return "queued"
    # A worker that finds the waiting run first does it in our place.
    run = runs.perform(VERIFICATION, access.workspace_id, check_trail, begin=False)
    return "done" if run is not None else "queued"


def last_check(workspace_id: UUID) -> dict[str, Any] | None:
    """Return the report of the last finished check, with ``at``; ``None`` before the first."""
    with workspace_scope(workspace_id), queries.cursor() as cursor:
        cursor.execute(
            """SELECT cursor->'report', finished_at FROM job_run
               WHERE job = %s AND workspace_id = %s AND state = 'done'
               ORDER BY started_at DESC LIMIT 1""",
            [VERIFICATION.name, workspace_id],
        )
        row = cursor.fetchone()
    return {**json.loads(row[0]), "at": row[1]} if row else None


def _reached(cursor: dict[str, Any]) -> Head | None:
    if "number" not in cursor:
        return None
    return Head(cursor["number"], cursor["last"], bytes.fromhex(cursor["digest"]))


def _conclude(run: Run, report: Report) -> None:
    run.cursor["report"] = report.as_json()
    run.count(events=report.events, broken=0 if report.is_whole else 1)
    if run.workspace_id is not None:
        events.append(
            [
                Happening(
                    "trail.verified" if report.is_whole else "trail.broken",
                    "workspace",
                    run.workspace_id,
                    outcome="done" if report.is_whole else "failed",
                    reason="" if report.is_whole else report.sentence,
                    details=report.as_json(),
                )
            ],
            access=access_of(run),
        )
