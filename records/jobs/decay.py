"""The decay job: a fact that nobody has seen for long changes its age band.

Ranking computes its age factor itself and never waits for this. Read
``standings.py`` for how a look is done; ``validity.py`` takes new records in.
"""

from __future__ import annotations

from datetime import datetime

from records.domain.standing import Look, look_at_age
from records.jobs.runs import Run
from records.jobs.standings import Side, Times, look_again


def _look(times: Times, now: datetime) -> Look:
    return look_at_age(last_seen=times.last_seen, half_life_days=times.half_life_days, now=now)


AGE = Side("age", "age", _look)


def update_age(run: Run, now: datetime) -> None:
    """Look at every standing whose age is due."""
    look_again(run, AGE, now)
