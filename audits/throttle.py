"""Log-ins that failed, counted in the database so that every process counts together.

Owns the limits and the counting; what a log-in is, is ``doors.py``'s. Three
counts: an account from one address, an address, an account. The last is high,
or anybody could lock an administrator out by guessing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta

from django.db import connection

WINDOW = timedelta(minutes=15)
PAIR_LIMIT = 5
ADDRESS_LIMIT = 50  # an office behind one address has several people who mistype
ACCOUNT_LIMIT = 100

COUNT = """INSERT INTO login_failure AS f (key, failures, since)
SELECT k, 1, now() FROM unnest(%(keys)s::text[]) AS k ORDER BY k
ON CONFLICT (key) DO UPDATE SET
    failures = CASE WHEN f.since < now() - %(window)s::interval THEN 1 ELSE f.failures + 1 END,
    since = CASE WHEN f.since < now() - %(window)s::interval THEN now() ELSE f.since END"""
FORGET = "DELETE FROM login_failure WHERE since < now() - %s::interval"
BLOCKED = """SELECT max(f.since + %(window)s::interval - now())
FROM login_failure f JOIN unnest(%(keys)s::text[], %(limits)s::int[]) AS w (key, most) USING (key)
WHERE f.failures >= w.most AND f.since > now() - %(window)s::interval"""


def blocked_for(username: str, address: str) -> timedelta | None:
    """Return how long this account from this address must wait; ``None``: not at all."""
    keys = list(_keys(username, address))
    with connection.cursor() as cursor:
        cursor.execute(
            BLOCKED,
            {
                "keys": [key for key, _ in keys],
                "limits": [limit for _, limit in keys],
                "window": str(WINDOW),
            },
        )
        row = cursor.fetchone()
    return row[0] if row else None


def count_failure(username: str, address: str) -> None:
    """Count one failed log-in; old counts are forgotten on the way."""
    with connection.cursor() as cursor:
        cursor.execute(
            COUNT, {"keys": [key for key, _ in _keys(username, address)], "window": str(WINDOW)}
        )
        cursor.execute(FORGET, [str(WINDOW)])


def forget_failures(username: str, address: str) -> None:
    """Forget the failures of an account from an address that has now logged in."""
    pair, _ = next(_keys(username, address))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM login_failure WHERE key = %s", [pair])


def _keys(username: str, address: str) -> Iterator[tuple[str, int]]:
    """Yield the three counts with their limits; digests, because people type passwords here."""
    account = hashlib.sha256(username.casefold().encode("utf-8", "surrogatepass")).hexdigest()[:32]
    yield f"pair:{account}:{address}", PAIR_LIMIT
    yield f"address:{address}", ADDRESS_LIMIT
    yield f"account:{account}", ACCOUNT_LIMIT
