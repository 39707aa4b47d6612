"""The job that forgets answers kept for repeated requests, once they are past their time."""

from __future__ import annotations

from datetime import datetime

from records import idempotency
from records.jobs.runs import Run


def forget_requests(run: Run, now: datetime) -> None:
    """Delete one workspace's kept answers that are past their time."""
    assert run.workspace_id is not None
    with run.step():
        run.count(forgotten=idempotency.purge(run.workspace_id, now=now))
