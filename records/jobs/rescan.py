"""The daily rescan: every live record of a workspace judged again by the rules that rule now.

Owns the job. Its work is a scan (``records/scans``) that holds what no longer
passes, as one with many workers; nothing is ever released here. A person's
approval stands as long as the gate finds nothing that the person did not see.
"""

from __future__ import annotations

from datetime import datetime

from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.models import Scan
from records.scans import planning, working
from records.scans.judging import NOTE, Judged
from records.scans.planning import Mode, Rules

__all__ = ["NOTE", "rescan"]

TOLD = ("checked", "held", "skipped", "approved", "failed")


def rescan(run: Run, now: datetime) -> None:
    """Judge every live record that was there when the run began; hold what no longer passes."""
    scan = _begin(run, now)
    if scan is None:
        return

    def tell(judged: Judged) -> None:
        run.count(
            checked=judged.checked,
            held=len(judged.held),
            skipped=judged.skipped,
            approved=judged.approved,
            failed=judged.failed,
        )

    working.work_to_end(scan, step=run.step, tell=tell)
    with run.step():
        scan.refresh_from_db()
        if scan.state == "done":  # with what other workers did of it
            run.changed = {name: n for name in TOLD if (n := getattr(scan, name))}


def _begin(run: Run, now: datetime) -> Scan | None:
    """Return the run's scan, begun once; None when there is nothing to judge."""
    assert run.workspace_id is not None
    try:
        with run.step():
            scan = Scan.objects.filter(id=run.id, workspace_id=run.workspace_id).first()
            if scan is None:
                scan = planning.start(
                    Rules.ACTIVE, mode=Mode.HOLD, access=access_of(run), now=now, scan_id=run.id
                )
                if scan.total == 0:
                    raise _NothingToDoError
    except _NothingToDoError:
        return None
    return scan


class _NothingToDoError(Exception):
    """Takes back a scan of no facts."""
