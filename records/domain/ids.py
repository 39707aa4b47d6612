"""Time-ordered ids (UUIDv7, RFC 9562).

Owns nothing but the bit layout; the caller gives the clock and the randomness
comes from the operating system. Deterministic ids live in ``canonical.py``.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from threading import Lock
from uuid import UUID

RANDOM_BITS = 74
_lock = Lock()
_last = (-1, 0)  # the millisecond and the random part of the newest id


def uuid7(now: datetime) -> UUID:
    """Return a UUIDv7 for the aware instant ``now`` (millisecond resolution).

    Within one millisecond a process's ids rise in the order they were made
    (RFC 9562, 6.2, method 2): facts of one batch keep their order of arrival.
    """
    global _last
    millis = int(now.timestamp() * 1000) & 0xFFFFFFFFFFFF
    noise = os.urandom(10)
    with _lock:
        if millis == _last[0]:
            random = _last[1] + 1 + int.from_bytes(noise[:4], "big")
        else:
            # The top bit starts clear, which leaves room to rise.
            random = int.from_bytes(noise, "big") >> (80 - RANDOM_BITS + 1)
        random &= (1 << RANDOM_BITS) - 1
        _last = (millis, random)
    rand_a, rand_b = random >> 62, random & 0x3FFFFFFFFFFFFFFF
    return UUID(int=(millis << 80) | (0x7 << 76) | (rand_a << 64) | (0x2 << 62) | rand_b)


def made_at(identity: UUID) -> datetime | None:
    """Return when a UUIDv7 was made, to the millisecond; ``None`` for any other id."""
    if identity.version != 7:
        return None
    try:
        return datetime.fromtimestamp((identity.int >> 80) / 1000, tz=UTC)
    except (OverflowError, ValueError):  # its 48 bits reach past the year 9999
        return None
