"""A small sample of a set of texts: the smallest of their keyed digests.

Owns digests of 32 bits, how two samples become one, and the count that a sample
stands for: exact below ``SIZE``, within some 9 % above. Whoever adds the same
texts in another order, or twice, gets the same sample, so that a writer can keep
it by merging. Two samples made with one key share what their sets share.
Knows nothing of where it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from heapq import nsmallest

# 512 bytes a set. A session of up to so many subjects or values is held whole.
SIZE = 128

_LOWEST = -(1 << 31)
_RANGE = 1 << 32


def digest(text: str, *, key: bytes) -> int:
    """Return a text's digest: a signed number of 32 bits, not to be guessed without the key."""
    found = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4, key=key).digest()
    return int.from_bytes(found, signed=True)


def smallest(digests: Iterable[int]) -> list[int]:
    """Return the sample of a set of digests, in ascending order."""
    return nsmallest(SIZE, set(digests))


def estimate(sample: Sequence[int]) -> int:
    """Return how many different texts a sample stands for."""
    if len(sample) < SIZE:
        return len(sample)
    covered = (max(sample) - _LOWEST + 1) / _RANGE
    return max(SIZE, round((SIZE - 1) / covered))


def is_exact(sample: Sequence[int]) -> bool:
    """Say whether the sample is the whole set."""
    return len(sample) < SIZE
