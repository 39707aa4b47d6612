"""Counting for the charts: sealed events and the log of recalls, by quarter of an hour.

Owns the job ``rollups``. Events are folded a seal at a time: positions are dense
and final, so nothing is missed and nothing counts twice, and the seal's horizon
tells a page which events are still to be added. The log has no positions; its
rows are counted once every transaction that could still add to a stretch has
ended. Read ``queries/rollups.py`` for the counts.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from audits.domain.figures import KEPT, LABELS_CAP, OTHER, QUARTER
from audits.queries import rollups as queries
from records.jobs.runs import Run
from records.queries import Row

# A recall's time is taken before it has a transaction, on a clock that may be off a little.
MARGIN = timedelta(minutes=5)
STRETCH = timedelta(days=1)  # of the log, counted in one step
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def keep_counts(run: Run, now: datetime) -> None:
    """Count what is new in the run's workspace, one step per seal or day of the log."""
    assert run.workspace_id is not None
    is_more = True
    while is_more:
        with run.step():
            folded = fold_events(run.workspace_id)
            run.count(folded=folded)
            is_more = folded > 0
    with run.step():
        queries.wait_for_writers(run.workspace_id)
    is_more = True
    while is_more:
        with run.step():
            is_more = fold_log(run.workspace_id)
    with run.step():
        queries.sample(run.workspace_id, now, KEPT)


def fold_events(workspace_id: UUID) -> int:
    """Count the next seal's events in the transaction at hand; return how many it has."""
    progress = queries.lock_progress(workspace_id)
    bounds = queries.next_seal(workspace_id, progress.seal)
    if bounds is None:
        return 0
    first, last = bounds
    rows, rules = _capped(queries.count_sealed(workspace_id, first, last), progress.rules)
    queries.add(workspace_id, rows, is_whole=False)
    queries.move(workspace_id, progress.seal + 1, rules)
    return last - first + 1


def fold_log(workspace_id: UUID) -> bool:
    """Count the next stretch of the log in the transaction at hand; say whether more may follow."""
    progress = queries.lock_progress(workspace_id)
    if progress.pending_at is None or not queries.are_writers_done(workspace_id):
        return False
    until = _quarter(progress.pending_at - MARGIN)
    begin = progress.log_through
    if begin is None:
        oldest = queries.oldest_recall(workspace_id)
        begin = min(_quarter(oldest), until) if oldest else until
    if progress.log_through is not None and begin >= until:
        return False
    end = min(begin + STRETCH, until)
    queries.add(workspace_id, queries.count_log(workspace_id, begin, end), is_whole=True)
    queries.reach(workspace_id, end)
    return end < until


def _capped(rows: list[Row], known: tuple[str, ...]) -> tuple[list[Row], list[str]]:
    """Return the counts with a bounded number of rules by name, and those rules."""
    rules = list(known)
    counts: Counter[tuple[datetime, str, str]] = Counter()
    for at, kind, label, number in sorted(rows, key=lambda row: (row[0], row[1], row[2])):
        name = label
        if kind == "hit" and label not in rules:
            if len(rules) < LABELS_CAP:
                rules.append(label)
            else:
                name = OTHER
        counts[at, kind, name] += number
    return [(*key, number) for key, number in counts.items()], rules


def _quarter(at: datetime) -> datetime:
    return at - (at - EPOCH) % QUARTER
