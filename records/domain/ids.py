"""Time-ordered ids (UUIDv7, RFC 9562).

Owns nothing but the bit layout; the caller gives the clock and the randomness
comes from the operating system. Deterministic ids live in ``canonical.py``.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from uuid import UUID


def uuid7(now: datetime) -> UUID:
    """Return a UUIDv7 for the aware instant ``now`` (millisecond resolution)."""
    millis = int(now.timestamp() * 1000) & 0xFFFFFFFFFFFF
    rest = int.from_bytes(os.urandom(10), "big")
    rand_a = rest >> 68
    rand_b = rest & 0x3FFFFFFFFFFFFFFF
    return UUID(int=(millis << 80) | (0x7 << 76) | (rand_a << 64) | (0x2 << 62) | rand_b)


def made_at(identity: UUID) -> datetime | None:
    """Return when a UUIDv7 was made, to the millisecond; ``None`` for any other id."""
    if identity.version != 7:
        return None
    try:
        return datetime.fromtimestamp((identity.int >> 80) / 1000, tz=UTC)
    except (OverflowError, ValueError):  # its 48 bits reach past the year 9999
        return None
