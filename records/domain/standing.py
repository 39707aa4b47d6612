"""Where the clock has put a fact: how much of its validity is left, how long nobody saw it.

Owns the bands that people see. Ranking does not read them: it computes its
factors from the times themselves, at the moment of the recall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Validity(StrEnum):
    """How much of a fact's validity is left."""

    FRESH = "fresh"
    FADING = "fading"
    STALE = "stale"
    EXPIRED = "expired"


class Age(StrEnum):
    """How much weight a fact has lost because nobody has seen it since."""

    FRESH = "fresh"
    FADING = "fading"
    STALE = "stale"


# Shares of the validity that are left when the band begins: with a TTL of 180
# days a fact fades 36 days before its end, time enough to ask again, and is
# stale for the last 9.
FADING_SHARE = 0.20
STALE_SHARE = 0.05

# Ranking's age factor is max(0.5, 1 - days / 365), or halves every half-life
# with the same floor. Fading begins at 0.75, half-way to the floor; stale at
# the floor.
FADING_DAYS = 0.25 * 365
STALE_DAYS = 0.5 * 365
FADING_HALF_LIVES = math.log2(4 / 3)
STALE_HALF_LIVES = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """A band, and when the clock alone ends it (``None``: never)."""

    band: str
    until: datetime | None


def look_at_validity(*, since: datetime, valid_until: datetime | None, now: datetime) -> Look:
    """Return the band of a fact that counts as fresh from ``since`` and ends at ``valid_until``."""
    if valid_until is None:
        return Look(Validity.FRESH, None)
    if now >= valid_until:
        return Look(Validity.EXPIRED, None)
    span = max(valid_until - since, timedelta(0))
    stale_at = valid_until - span * STALE_SHARE
    fading_at = valid_until - span * FADING_SHARE
    if now >= stale_at:
        return Look(Validity.STALE, valid_until)
    if now >= fading_at:
        return Look(Validity.FADING, stale_at)
    return Look(Validity.FRESH, fading_at)


def look_at_age(*, last_seen: datetime, half_life_days: float | None, now: datetime) -> Look:
    """Return the band of a fact last seen or confirmed at ``last_seen``."""
    if half_life_days is None:
        fading_at, stale_at = _later(last_seen, FADING_DAYS), _later(last_seen, STALE_DAYS)
    else:
        fading_at = _later(last_seen, half_life_days * FADING_HALF_LIVES)
        stale_at = _later(last_seen, half_life_days * STALE_HALF_LIVES)
    if stale_at is not None and now >= stale_at:
        return Look(Age.STALE, None)
    if fading_at is not None and now >= fading_at:
        return Look(Age.FADING, stale_at)
    return Look(Age.FRESH, fading_at)


def _later(instant: datetime, days: float) -> datetime | None:
    """Add days; ``None`` for an instant that the calendar does not reach."""
    try:
        return instant + timedelta(days=days)
    except OverflowError:
        return None
