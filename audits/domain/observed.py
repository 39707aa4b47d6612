"""What is observed of a predicate's facts, beside each setting of its policy. Pure.

Owns the measures and their sentences; which facts are looked at is
``queries/observed.py``'s. Values are read by the rules that will read them
(``records.domain``), never by a second reading.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from records.domain import canonical, validators
from records.domain.facts import Normaliser, Policy

SECONDS_A_DAY = 86_400.0
NORMALISED = 500  # distinct values that every normaliser reads
SHARES = (0.5, 0.9, 0.95)  # of facts, by how long ago they were last seen
BROKEN = 5  # samples of values that break a rule


@dataclass(frozen=True, slots=True)
class Seen:
    """One live fact: what it says, in which slot, when it was last seen."""

    slot_id: Any
    value: str
    last_seen: datetime
    is_given: bool = False  # its end is its writer's word, and no TTL moves it


@dataclass(frozen=True, slots=True)
class Dependent:
    """A predicate that rests on this one, with its live facts and those to recheck."""

    predicate: str
    live: int
    marked: int


@dataclass(slots=True)
class Observed:
    """The measures; ``facts`` is how many facts they were made of."""

    facts: int = 0
    subjects: int = 0
    by_values: list[tuple[str, int]] = field(default_factory=list)
    ages: list[tuple[float, float]] = field(default_factory=list)  # (share, days)
    expired_now: int = 0
    expired_then: int = 0
    broken: int = 0
    broken_samples: list[tuple[str, str]] = field(default_factory=list)  # (value, what)
    distinct: int = 0
    # How many different facts the values are as they are read, and where read otherwise it differs.
    readings: list[tuple[str, int]] = field(default_factory=list)
    dependents: Sequence[Dependent] = ()

    @property
    def expired_share(self) -> float:
        """Which share of the facts would be past its validity."""
        return self.expired_then / self.facts if self.facts else 0.0

    @property
    def broken_share(self) -> float:
        """Which share of the facts breaks a rule."""
        return self.broken / self.facts if self.facts else 0.0


def observe(
    facts: Sequence[Seen],
    *,
    live: Policy,
    wanted: Policy,
    dependents: Iterable[Dependent],
    now: datetime,
) -> Observed:
    """Measure live facts under the live policy and under the one that is wanted."""
    found = Observed(facts=len(facts), dependents=tuple(dependents))
    held = Counter(one.slot_id for one in facts)
    found.subjects = len(held)
    spread = Counter(min(number, 3) for number in held.values())
    found.by_values = [
        (words, spread[number])
        for number, words in ((1, "one value"), (2, "two"), (3, "three or more"))
    ]
    ages = sorted((now - one.last_seen).total_seconds() / SECONDS_A_DAY for one in facts)
    if ages:
        # Whole days, so that a suggested TTL keeps at least the share; of equal ones the last.
        days = {math.ceil(ages[math.ceil(share * len(ages)) - 1]): share for share in SHARES}
        found.ages = [(share, float(day)) for day, share in days.items()]
    movable = [
        (now - one.last_seen).total_seconds() / SECONDS_A_DAY for one in facts if not one.is_given
    ]
    found.expired_now = _older(movable, live.ttl_days)
    found.expired_then = _older(movable, wanted.ttl_days)
    values = Counter(one.value for one in facts)
    found.distinct = len(values)
    _check(found, values, wanted, now)
    some = [value for value, _ in values.most_common(NORMALISED)]
    left = {one: _left(some, wanted, one, now) for one in Normaliser}
    mine = left[wanted.normaliser]
    found.readings = [(str(wanted.normaliser), mine)]
    found.readings += [(str(one), number) for one, number in left.items() if number != mine]
    return found


def _older(ages: Iterable[float], ttl_days: float | None) -> int:
    return 0 if ttl_days is None else sum(age >= ttl_days for age in ages)


def _check(found: Observed, values: Counter[str], wanted: Policy, now: datetime) -> None:
    """Count the facts whose values break a rule, with a few samples."""
    if not wanted.validators:
        return
    for value, number in values.items():
        problems = validators.check(value, wanted, now=now)
        if not problems:
            continue
        found.broken += number
        if len(found.broken_samples) < BROKEN:
            found.broken_samples.append((value, problems[0].message))


def _left(values: Sequence[str], policy: Policy, normaliser: Normaliser, now: datetime) -> int:
    """Count how many different facts these values are when they are read so."""
    read = dataclasses.replace(policy, normaliser=normaliser, time_series=False)
    return len({canonical.value_key(value, read, now) for value in values})
