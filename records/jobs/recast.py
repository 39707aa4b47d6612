"""The job that brings stored facts over to policies that were changed.

A change does the first batches itself; this does the rest, and what was
written under the old policy while it was changing. The cursor remembers which
version of which predicate is done, so that a quiet store costs one look.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from records import recast
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.models import PredicatePolicy

# Writers that read the old policy before the change have long ended by then.
SETTLED = timedelta(minutes=15)
BATCHES = 10  # of slots between two heartbeats


def bring_over(run: Run, now: datetime) -> None:
    """Bring the facts of every changed policy over, a few batches between heartbeats."""
    assert run.workspace_id is not None
    with run.step():
        changed = list(
            PredicatePolicy.objects.filter(
                workspace_id=run.workspace_id, retired_at=None
            ).values_list("predicate", "version", "created_at")
        )
    for predicate, version, created_at in changed:
        if run.cursor.get(predicate) == version:
            continue
        while True:
            effect = recast.apply(predicate, access=access_of(run), now=now, batches=BATCHES)
            with run.step():
                run.count(
                    records=effect.records, superseded=effect.superseded, merged=effect.merged
                )
                if not effect.is_partial and created_at <= now - SETTLED:
                    run.cursor[predicate] = version
            if not effect.is_partial:
                break
