"""The scheduled verification: a walk over the whole trail as a job's run, and its outcome.

Owns what is kept of a check: the report in the run's cursor, and an event that
says whether the trail is whole. Read ``verify.py`` for the walk.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.seals import Head
from audits.jobs import VERIFICATION
from audits.verify import Report, Verification
from records import events, queries
from records.events import Happening
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.scope import workspace_scope


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
