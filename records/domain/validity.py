"""When a fact holds: expiry by the clock, and the moves of ``valid_until``.

Owns the arithmetic of validity; ranking factors are in ``ranking.py``.
"""

from __future__ import annotations

from datetime import datetime, timedelta


def is_expired(valid_until: datetime | None, *, at: datetime) -> bool:
    """Say whether a fact valid until ``valid_until`` (exclusive) has ended by ``at``."""
    return valid_until is not None and valid_until <= at


def expiry(*, seen_at: datetime, ttl_days: float | None, given: datetime | None) -> datetime | None:
    """Return ``valid_until``: the writer's own word, else last seen plus the policy's TTL."""
    if given is not None:
        return given
    return None if ttl_days is None else seen_at + timedelta(days=ttl_days)
