"""How good an answer a fact is: the factors of a score, and why a fact is not current.

Owns the formula and its constants (docs/recall.md explains each). The database
computes the same score in ``retrieve/statement.py``, from these constants; a
test holds the two together. Nothing here withholds a record: what may be
served at all is decided before ranking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .validity import is_expired

TEXT_WEIGHT = 0.7  # how far a full match of words closes the gap to a cosine of 1
NOT_CURRENT = 0.3  # validity of what is served for the record, but no longer holds
AGE_FLOOR = 0.5
AGE_DAYS = 365.0  # linear ageing reaches the floor after half of this
CORROBORATION_STEP = 0.1  # for each doubling of independent sessions and sources
CORROBORATION_CEILING = 1.3
SECONDS_A_DAY = 86_400.0

EXPIRED = "expired"
NOT_YET = "not_yet_valid"
RECHECK = "recheck"
UNLISTED = "unlisted"


@dataclass(frozen=True, slots=True)
class Factors:
    """What a score is made of; ``similarity`` and ``text`` are fused, the rest multiplies."""

    similarity: float
    text: float
    confidence: float
    validity: float
    age: float
    corroboration: float

    @property
    def score(self) -> float:
        """Return fused x confidence x validity x age x corroboration."""
        fused = fuse(self.similarity, self.text)
        return fused * self.confidence * self.validity * self.age * self.corroboration


def clamp(cosine: float) -> float:
    """Return a cosine as similarity: what points away is as unlike as what is unrelated.

    A negative one would make the demoted rank above the current.
    """
    return min(1.0, max(0.0, cosine))


def fuse(similarity: float, text: float) -> float:
    """Raise the match of words into the likeness: both in 0..1, so is the result.

    Monotone in either, so a match of words never hurts, and a fact whose name
    or code the embedding does not see is found by its words alone.
    """
    return similarity + (1.0 - similarity) * TEXT_WEIGHT * text


def rarity(occurrences: int, candidates: int) -> float:
    """Return a query term's weight: how much it tells in this partition (as in BM25)."""
    return math.log(1.0 + (candidates - occurrences + 0.5) / (occurrences + 0.5))


def text_match(hits: Sequence[bool], weights: Sequence[float]) -> float:
    """Return the weighted share of a query's terms that a record has; 0 for a query of none."""
    total = sum(weights)
    if not total:
        return 0.0
    return sum(weight for hit, weight in zip(hits, weights, strict=True) if hit) / total


def age_factor(last_seen: datetime, *, at: datetime, half_life_days: float | None) -> float:
    """Return how fresh a fact is: linear over a year, or by half-life; never below the floor."""
    days = max(0.0, (at - last_seen).total_seconds() / SECONDS_A_DAY)
    if half_life_days is None or half_life_days <= 0:
        return max(AGE_FLOOR, 1.0 - days / AGE_DAYS)
    return max(AGE_FLOOR, math.pow(0.5, min(1.0, days / half_life_days)))


def corroboration_factor(independent: int) -> float:
    """Return how much several independent sessions and sources add to one."""
    return min(CORROBORATION_CEILING, 1.0 + CORROBORATION_STEP * math.log2(max(1, independent)))


def why_not_current(
    *,
    at: datetime,
    valid_from: datetime | None,
    valid_until: datetime | None,
    is_recheck: bool = False,
    is_unlisted: bool = False,
) -> tuple[str, ...]:
    """Return the reasons why a fact does not hold at ``at``; none means it is current."""
    reasons = []
    if is_expired(valid_until, at=at):
        reasons.append(EXPIRED)
    if valid_from is not None and valid_from > at:
        reasons.append(NOT_YET)
    if is_recheck:
        reasons.append(RECHECK)
    if is_unlisted:
        reasons.append(UNLISTED)
    return tuple(reasons)


def validity_factor(reasons: Sequence[str]) -> float:
    """Return 1 for what is current, else what is left of its score."""
    return NOT_CURRENT if reasons else 1.0
