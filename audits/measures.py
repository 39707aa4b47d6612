"""Measuring the memory: the numbers that monitoring shows and notices are made from.

Owns the job ``measures``. Each run takes one step: it counts what is small or
bounded, and goes on with its pass over the live fingerprints, which finds facts
stored twice if the unique index ever let one through. Read
``queries/measures.py`` for the numbers.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from audits.queries import measures as queries
from records.jobs import catalogue
from records.jobs.runs import Run

FIRST = (UUID(int=0), "")


def measure(run: Run, now: datetime) -> None:
    """Measure the run's workspace and keep the numbers."""
    assert run.workspace_id is not None
    with run.step():
        numbers = queries.load_numbers(
            run.workspace_id, jobs=[job.name for job in catalogue.jobs() if not job.installation]
        )
        numbers["duplicates"] = look_for_repeats(run.workspace_id, run.cursor)
        queries.save(run.workspace_id, numbers, now=now)
        run.count(measured=1)


def look_for_repeats(
    workspace_id: UUID, cursor: dict[str, Any], *, window: int = queries.WINDOW
) -> dict[str, int]:
    """Go on with the pass over the live facts; return what it and the one before found.

    ``cursor`` keeps the place. ``checked`` and ``repeats`` are those of the last
    whole pass, or of this one where it has found more.
    """
    state = cursor.setdefault("repeats", {"checked": 0, "repeats": 0, "last": [0, 0]})
    place = state.get("after")
    after = (UUID(place[0]), str(place[1])) if place else FIRST
    found = queries.load_window(workspace_id, after, window)
    state["checked"] += len(found)
    # What equals its neighbour; a window's edge is compared when the next one begins there.
    state["repeats"] += sum(one == other for one, other in pairwise(found))
    if len(found) < window:
        state["last"] = [state["checked"], state["repeats"]]
        state["checked"] = state["repeats"] = 0
        state.pop("after", None)
    else:
        # Begins again before the last fingerprint, so that repeats across the edge meet.
        state["after"] = [str(found[-2][0]), found[-2][1]]
        state["checked"] -= 1
    checked, repeats = state["last"]
    if state["repeats"] > repeats or not checked:
        checked, repeats = state["checked"], state["repeats"]
    return {"checked": checked, "repeats": repeats}
