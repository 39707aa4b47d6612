"""Sample and verify: what a sample says of the whole, and how sure that is. Pure.

A batch is drawn by exponential keys: every fact gets key = -ln(u) / weight with u from
a hash of the seed and its id, and the smallest keys are the sample. Given the next
key t, each fact had the chance 1 - exp(-weight * t) to be in it (bottom-k sampling;
Cohen and Kaplan, 2007), so that any weighting can be undone: an answer counts
1 / chance. Intervals are Wilson's (1927) at the size of a plain sample that would be
as sure; ``bench/intervals.py`` measures how often they cover the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_ANSWERS = 20  # below, an interval says nothing worth deciding by
MOST_SIZE = 2_000
Z = 1.959963984540054  # the normal's 97.5 % point
TWICE = 2.0  # how far the two measures of a sample's worth may part


class Verdict(StrEnum):
    """What a person found a fact to be; the numbers of the keys are their order."""

    TRUE = "true"
    STALE = "stale"  # it was true, and is no longer
    FALSE = "false"  # it never was
    UNKNOWN = "unknown"


BAD = frozenset({Verdict.STALE, Verdict.FALSE})


class Weighting(StrEnum):
    """What makes a fact likely to be drawn."""

    UNIFORM = "uniform"  # every fact alike
    SERVES = "serves"  # what agents were given most
    RISK = "risk"  # what there is least reason to trust


# A batch of facts that a person chose: no sample, so that no estimate of the whole counts it.
CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered item: its chance to be drawn, how often it was served, whether it is bad."""

    chance: float
    served: float
    is_bad: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of the whole with its 95 % interval; the interval is ``None`` while hidden."""

    answers: int
    share: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_shown(self) -> bool:
        """Whether there are answers enough."""
        return self.share is not None


def chance(weight: float, threshold: float | None) -> float:
    """Return a fact's chance to be drawn; no threshold: all were."""
    return 1.0 if threshold is None else -math.expm1(-weight * threshold)


def share_of_facts(answers: Sequence[Answer]) -> Estimate:
    """Estimate which share of all facts is bad."""
    return _estimate([(1.0, one) for one in answers])


def share_of_serves(answers: Sequence[Answer]) -> Estimate:
    """Estimate which share of what was served is bad."""
    return _estimate([(one.served, one) for one in answers if one.served > 0])


def _estimate(counted: Sequence[tuple[float, Answer]]) -> Estimate:
    if len(counted) < LEAST_ANSWERS:
        return Estimate(len(counted))
    weights = [size / one.chance for size, one in counted]
    total = sum(weights)
    share = sum(w for w, (_, one) in zip(weights, counted, strict=True) if one.is_bad) / total
    open_parts = [1.0 - one.chance for _, one in counted]  # what was certain adds no doubt
    spread = sum(o * w * w for o, w in zip(open_parts, weights, strict=True))
    if spread == 0.0:
        return Estimate(len(counted), share, share, share)  # everything was looked at
    size = total * total / spread
    scatter = sum(
        o * (w * (one.is_bad - share)) ** 2
        for o, w, (_, one) in zip(open_parts, weights, counted, strict=True)
    ) / (total * total)
    # By the answers themselves, where they vary: bounded, since few answers vary by luck.
    seen = share * (1.0 - share) / scatter if scatter > 0.0 else size
    worth = math.sqrt(size * min(max(seen, size / TWICE), size * TWICE))
    kish = total * total / sum(w * w for w in weights)
    low, high = wilson(share, worth, t_point(max(kish - 1.0, 3.0)))
    return Estimate(len(counted), share, low, high)


def wilson(share: float, size: float, point: float = Z) -> tuple[float, float]:
    """Return Wilson's interval for a share seen in a sample of ``size``."""
    square = point * point
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = (
        point
        * math.sqrt(max(share * (1 - share) / size + square / (4 * size * size), 0.0))
        / (1 + square / size)
    )
    return max(0.0, middle - half), min(1.0, middle + half)


def t_point(freedom: float) -> float:
    """Return Student's 97.5 % point by the first terms of its series in 1 / freedom."""
    return (
        Z + (Z**3 + Z) / (4 * freedom) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom * freedom)
    )


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two people gave the same verdict, and how much of that is not chance."""

    pairs: int
    share: float | None
    kappa: float | None


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """Compare first and second verdicts (Cohen's kappa; ``None`` where chance explains all)."""
    both = list(pairs)
    if not both:
        return Agreement(0, None, None)
    same = sum(one == other for one, other in both) / len(both)
    words = {word for pair in both for word in pair}
    by_chance = sum(
        (sum(one == word for one, _ in both) / len(both))
        * (sum(other == word for _, other in both) / len(both))
        for word in words
    )
    kappa = (same - by_chance) / (1 - by_chance) if by_chance < 1.0 else None
    return Agreement(len(both), same, kappa)
