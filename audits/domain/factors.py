"""What a fact's ranking factors are at any instant, how they go on, and why they fell. Pure.

Owns curves and sentences. Every factor is computed by ``records.domain.ranking``,
the same functions that rank. What the state was when is ``factor_history.py``'s.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from records.domain.ranking import (
    AGE_DAYS,
    AGE_FLOOR,
    EXPIRED,
    NOT_YET,
    RECHECK,
    UNLISTED,
    age_factor,
    corroboration_factor,
    validity_factor,
    why_not_current,
)

AHEAD = timedelta(days=180)
STEPS = 60  # points of the past, besides the changes
STEPS_AHEAD = 36
LITTLE = 0.005  # a difference that the page's two digits do not show
REASONS = {
    EXPIRED: "its validity has ended",
    NOT_YET: "it does not hold yet",
    RECHECK: "it waits for a recheck",
    UNLISTED: "its source no longer names it",
}


@dataclass(frozen=True, slots=True)
class State:
    """What a fact's factors are made of, from one change to the next."""

    confidence: float
    last_seen: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    is_given: bool = False  # the end is somebody's word, and moves with no sighting
    is_recheck: bool = False
    is_unlisted: bool = False
    independent: int = 1
    half_life_days: float | None = None
    bonus: float = 0.0  # what feedback has added to the confidence
    is_live: bool = True


@dataclass(frozen=True, slots=True)
class Weights:
    """The factors at one instant; ``reasons`` say why the fact was not current."""

    confidence: float
    validity: float
    age: float
    corroboration: float
    reasons: tuple[str, ...] = ()

    @property
    def together(self) -> float:
        """The product: what the match with a question is multiplied by."""
        return self.confidence * self.validity * self.age * self.corroboration


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened to the fact, in words, and the state it left."""

    at: datetime
    what: str
    state: State


@dataclass(frozen=True, slots=True)
class Point:
    """One instant of the curve; ``weights`` is None while the fact is out of service."""

    at: datetime
    weights: Weights | None
    what: str = ""
    bonus: float = 0.0


def weights_at(state: State, at: datetime) -> Weights:
    """Return the factors of a fact in ``state`` at an instant, as ranking computes them."""
    reasons = why_not_current(
        at=at,
        valid_from=state.valid_from,
        valid_until=state.valid_until,
        is_recheck=state.is_recheck,
        is_unlisted=state.is_unlisted,
    )
    return Weights(
        confidence=state.confidence,
        validity=validity_factor(reasons),
        age=age_factor(state.last_seen, at=at, half_life_days=state.half_life_days),
        corroboration=corroboration_factor(state.independent),
        reasons=reasons,
    )


def curve(changes: Sequence[Change], *, now: datetime) -> list[Point]:
    """Return the factors at every change, on a grid between, and for the days ahead.

    A change has two points, before and after, so that a step is drawn as one; what
    the clock does (an end, the floor of ageing) has its own points with its words.
    """
    if not changes:
        return []
    points: list[Point] = []
    step = max((now - changes[0].at) / STEPS, timedelta(minutes=1))
    for place, one in enumerate(changes):
        end = changes[place + 1].at if place + 1 < len(changes) else now
        points.append(_point(one.state, one.at, one.what))
        points += _between(one.state, one.at, end, step)
        points.append(_point(one.state, end))
    last = changes[-1].state
    points += _between(last, now, now + AHEAD, AHEAD / STEPS_AHEAD)
    points.append(_point(last, now + AHEAD))
    return points


def explain(points: Sequence[Point], *, now: datetime) -> str:
    """Answer why the fact ranks lower than it did, and what comes next, in a sentence or two."""
    past = [one for one in points if one.at <= now]
    current = past[-1].weights if past else None
    seen = [one for one in past if one.weights is not None]
    if current is None or not seen:
        return "It is out of service: recall does not answer with it."
    best = max(seen, key=_together)
    assert best.weights is not None
    told = f"Its weight is {current.together:.2f}"
    if best.weights.together - current.together < LITTLE:
        told += ", as high as it ever was."
    else:
        told += f"; on {best.at:%d %b %Y} it was {best.weights.together:.2f}. "
        told += _why(best.weights, current)
    return f"{told} {_ahead(points, current)}"


def _why(before: Weights, current: Weights) -> str:
    """Name what has fallen, the heaviest first."""
    told = {
        "confidence": "there is less confidence in it",
        "validity": " and ".join(REASONS[one] for one in current.reasons),
        "age": "nobody has said it for long",
        "corroboration": "fewer independent sessions and sources say it",
    }
    fallen = []
    for name, words in told.items():
        was, has = getattr(before, name), getattr(current, name)
        if was - has >= LITTLE:
            fallen.append((math.log(was / has), f"{words} ({name} {was:.2f} to {has:.2f})"))
    if not fallen:
        return "Several factors fell a little."
    fallen.sort(reverse=True)
    return f"It fell because {', and because '.join(words for _, words in fallen)}."


def _ahead(points: Sequence[Point], current: Weights) -> str:
    last = points[-1].weights
    if last is None or abs(last.together - current.together) < LITTLE:
        return f"If nothing happens, it stays so for {AHEAD.days} days."
    return f"If nothing happens, it is {last.together:.2f} in {AHEAD.days} days."


def _between(state: State, since: datetime, until: datetime, step: timedelta) -> list[Point]:
    """Return the points strictly between two instants: the grid, and what the clock does."""
    found: list[Point] = []
    at = since + step
    while at < until:
        found.append(_point(state, at))
        at += step
    for at, what in _clock(state):
        if since < at < until:
            found.append(_point(state, at - timedelta(seconds=1)))
            found.append(_point(state, at, what))
    return sorted(found, key=lambda one: one.at)


def _clock(state: State) -> list[tuple[datetime, str]]:
    """Return what time alone does to a fact in this state."""
    days = state.half_life_days or AGE_DAYS * (1 - AGE_FLOOR)
    found = []
    if state.valid_from is not None:
        found.append((state.valid_from, "begins to hold"))
    if state.valid_until is not None:
        found.append((state.valid_until, "expires"))
    with contextlib.suppress(OverflowError):  # a half-life that the calendar does not reach
        found.append((state.last_seen + timedelta(days=days), "ages no further"))
    return found


def _point(state: State, at: datetime, what: str = "") -> Point:
    return Point(at, weights_at(state, at) if state.is_live else None, what, state.bonus)


def _together(point: Point) -> float:
    return point.weights.together if point.weights is not None else 0.0
