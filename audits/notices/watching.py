"""What no event says by itself: looked at by the job ``notices``, from the last measurement.

Owns the conditions. Nothing is counted here that the job ``measures`` has
counted already; runs and sessions are read from where the last look ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from audits.domain.notices import Kind
from audits.notices.raising import Signal, load_rules, raise_all
from audits.queries import notices as queries

Found = TypeVar("Found")
WINDOW = timedelta(hours=1)  # what a burst is counted over
FEW = 200  # sessions, runs or incidents in one look; the rest come with the next
# A row carries the time at which it was made; it is seen when its transaction commits.
OVERLAP = timedelta(minutes=2)
MEASURED = (Kind.QUARANTINE_AGE, Kind.GATE_BURST, Kind.DUPLICATES)


def look(workspace_id: UUID, cursor: dict[str, Any], now: datetime) -> int:
    """Raise what is measured; return how many notices that made. Inside the scope.

    ``cursor`` keeps how far the looking has come. Without a rule for a kind
    nothing is read for it.
    """
    wanted = {rule.kind: rule for rule in load_rules(workspace_id, Kind)}
    since = _moved(cursor, now)
    signals: list[Signal] = []
    numbers = queries.load_numbers(workspace_id) if wanted.keys() & set(MEASURED) else None
    if numbers is not None:
        signals += measured(numbers, cursor, now)
    if Kind.JOB_FAILED in wanted:
        runs = queries.load_failed(workspace_id, since - OVERLAP, now, FEW)
        signals += (Signal(Kind.JOB_FAILED, "job", job) for _, job in _new(cursor, "runs", runs))
    if Kind.ODD_SESSION in wanted:
        scored = queries.load_odd(workspace_id, since - OVERLAP, now, FEW)
        signals += (
            Signal(
                Kind.ODD_SESSION,
                "session",
                str(session_id),
                {"score": score},
                over=_at_least(score),
                level=True,
            )
            for session_id, score in _new(cursor, "odd", scored)
        )
    if Kind.INCIDENT_UNACKNOWLEDGED in wanted:
        signals += _unanswered(workspace_id, now)
    return raise_all(signals, workspace_id=workspace_id, now=now) if signals else 0


def measured(numbers: dict[str, Any], cursor: dict[str, Any], now: datetime) -> Iterator[Signal]:
    """Yield what the numbers of the last measurement say."""
    if numbers["held_oldest_at"]:
        hours = (now - datetime.fromisoformat(numbers["held_oldest_at"])).total_seconds() / 3600
        yield Signal(
            Kind.QUARANTINE_AGE,
            numbers={"hours": round(hours, 1), "count": sum(numbers["held"].values())},
            over=_more_than(hours),
            level=True,
        )
    hits = _gained(cursor, sum(hits for hits, _ in numbers["gate"].values()), now)
    yield Signal(Kind.GATE_BURST, numbers={"count": hits}, over=_at_least(hits), level=True)
    if repeats := numbers["duplicates"]["repeats"]:
        yield Signal(Kind.DUPLICATES, numbers={"count": repeats}, level=True)


def _unanswered(workspace_id: UUID, now: datetime) -> Iterator[Signal]:
    for incident_id, opened_at in queries.load_unanswered(workspace_id, FEW):
        minutes = (now - opened_at).total_seconds() / 60
        yield Signal(
            Kind.INCIDENT_UNACKNOWLEDGED,
            "incident",
            str(incident_id),
            {"minutes": int(minutes)},
            over=_at_least(minutes),
            level=True,
        )


def _gained(cursor: dict[str, Any], hits: int, now: datetime) -> int:
    """Return how many hits were added within the window, from the totals seen on the way."""
    seen = [
        (at, total)
        for at, total in cursor.get("hits", [])
        if now - datetime.fromisoformat(at) <= WINDOW
    ]
    # A total each minute is fine enough, and a run's row stays small.
    if not seen or now - datetime.fromisoformat(seen[-1][0]) >= timedelta(minutes=1):
        seen.append((now.isoformat(), hits))
    cursor["hits"] = seen
    return hits - int(seen[0][1])


def _new(
    cursor: dict[str, Any], name: str, found: Sequence[tuple[UUID, Found]]
) -> list[tuple[UUID, Found]]:
    """Return what the look before did not find, or found otherwise."""
    before = cursor.get(name, {})
    cursor[name] = {str(key): value for key, value in found}
    return [(key, value) for key, value in found if before.get(str(key)) != value]


def _moved(cursor: dict[str, Any], now: datetime) -> datetime:
    """Return where the last look ended, and let the next one begin here."""
    before = cursor.get("looked_at")
    cursor["looked_at"] = now.isoformat()
    return datetime.fromisoformat(before) if before else now - timedelta(minutes=1)


def _at_least(value: float) -> Callable[[float], bool]:
    return lambda number: value >= number


def _more_than(value: float) -> Callable[[float], bool]:
    return lambda number: value > number
