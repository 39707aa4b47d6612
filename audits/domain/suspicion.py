"""How odd a session looks, from 0 to 100, and why, in words.

Pure. Each part looks at one signal and says how strongly it speaks (0 to 1); its
weight is how far it can carry the score alone. Parts add up as independent doubts:
100 x (1 - product of (1 - weight x strength)). What is usual comes from the
sessions around it (``habits.py``), never from a constant where there is a habit.
A score orders a list for people; nothing is decided by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audits.domain.direction import Direction, Repeated
from audits.domain.habits import Baseline, Looks


@dataclass(frozen=True, slots=True)
class Part:
    """One reason: which signal, how strongly it speaks, what it can carry, and a sentence."""

    id: str
    strength: float
    weight: float
    sentence: str
    value: float = 0.0

    @property
    def points(self) -> int:
        """What the part would score alone."""
        return round(100 * self.weight * self.strength)

    def as_json(self) -> dict[str, Any]:
        """Return the part as it is stored and shown."""
        return {
            "id": self.id,
            "points": self.points,
            "weight": round(100 * self.weight),
            "value": round(self.value, 3),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A session's score with its reasons, the strongest first."""

    score: int
    parts: tuple[Part, ...] = field(default=())

    def as_json(self) -> list[dict[str, Any]]:
        """Return the reasons as they are stored."""
        return [part.as_json() for part in self.parts]


# How far each signal can carry a score alone. The gate's word weighs most: it has read the text.
# What many good sessions do as well (being large, being new, correcting things) weighs least.
WEIGHTS = {
    "grave": 0.90,
    "direction": 0.80,
    "fenced": 0.60,
    "contested": 0.60,
    "outsized": 0.55,
    "stopped": 0.50,
    "near": 0.50,
    "spread": 0.45,
    "updated": 0.35,
    "novelty": 0.12,
}
SHOWN = 0.02  # a part that carries less is no reason

# How often the gate holds or leans towards holding what is good, where there is no habit yet:
# its measured false alarms (docs/gate.md) are below, a margin is left for odd vocabularies.
GATE_RATE = 0.03
GRAVE_RATE = 0.01
CONTEST_RATE = 0.05
UPDATE_RATE = 0.15
CERTAIN = 5.0  # one in 100,000 by chance is as sure as it gets


def judge(looks: Looks, around: Baseline) -> Suspicion:
    """Return a session's score among the sessions around it."""
    parts = [part for signal in SIGNALS for part in signal(looks, around)]
    parts = [part for part in parts if part.strength * part.weight >= SHOWN]
    parts.sort(key=lambda part: -part.strength * part.weight)
    doubt = math.prod(1 - part.weight * part.strength for part in parts)
    return Suspicion(round(100 * (1 - doubt)), tuple(parts))


def stopped(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh what the gate stopped, beyond its mistakes; less what people let in."""
    count = max(0, looks.stopped - looks.cleared)
    if not count:
        return
    grave = min(count, looks.grave)
    cleared = f"; people let {looks.cleared} in" if looks.cleared else ""
    if grave:
        yield _part(
            "grave",
            surprise(grave, looks.made, max(GRAVE_RATE, around.rate("grave", looks))),
            f"The gate stopped {grave} of {_facts(looks.made)} for what reads like an attack{cleared}.",
            grave / looks.made,
        )
    if count > grave:
        yield _part(
            "stopped",
            surprise(count, looks.made, max(GATE_RATE, around.rate("stopped", looks))),
            f"The gate stopped {count} of {_facts(looks.made)}{cleared}.",
            count / looks.made,
        )


def near(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh what the gate let through narrowly."""
    if looks.near:
        yield _part(
            "near",
            surprise(looks.near, looks.made, max(GATE_RATE, around.rate("near", looks))),
            f"The gate let {looks.near} of {_facts(looks.made)} through only narrowly.",
            looks.near / looks.made,
        )


def outsized(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh a size far above what sessions like this one usually write.

    Imports from a source are left out: they are as large as the source.
    """
    found = around.size(looks)
    if found is None:
        return
    usual, distance, whose = found
    if distance > 0:
        yield _part(
            "outsized",
            ramp(distance, 2.0, 5.0),
            f"{_facts(looks.observed)}; {whose} usually write {usual}.",
            distance,
        )


def direction(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh facts that come back to one thing of which other sessions do not speak."""
    facts = looks.direction.facts
    best: tuple[float, Repeated] | None = None
    for one in looks.direction.repeated:
        strength = _pull(one, facts) * around.rarity(one.term, looks)
        if best is None or strength > best[0]:
            best = strength, one
    if best is None:
        return
    strength, one = best
    share = one.facts / facts
    strength *= around.unusual("pull", around.pull(looks), looks)
    if strength > 0:
        yield _part("direction", strength, _direction_sentence(one, facts), share)


def contested(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh attempts to contradict what is held with more confidence, or can never change."""
    if looks.contested:
        usual = max(CONTEST_RATE, around.rate("contested", looks))
        yield _part(
            "contested",
            surprise(looks.contested, looks.writes, usual),
            f"{looks.contested} of {_writes(looks.writes)} contradicted facts held with more"
            " confidence.",
            looks.contested / looks.writes,
        )


def updated(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh the facts in force that it has replaced."""
    if looks.updated:
        usual = max(UPDATE_RATE, around.rate("updated", looks))
        yield _part(
            "updated",
            surprise(looks.updated, looks.writes, usual),
            f"{looks.updated} of {_writes(looks.writes)} replaced a fact in force.",
            looks.updated / looks.writes,
        )


def fenced(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh attempts to write again what people have taken out."""
    if looks.fenced:
        yield _part(
            "fenced",
            ramp(looks.fenced, 0, 4),
            f"{looks.fenced} of {_writes(looks.writes)} tried to bring back what was taken out.",
            looks.fenced,
        )


def spread(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh sentences that stand in the memories of several people."""
    shared, partitions = around.spread(looks)
    if shared:
        share = shared / len(looks.direction.sentences)
        yield _part(
            "spread",
            ramp(share, 0.2, 0.9) * ramp(partitions, 2, 8),
            f"{shared} of its sentences stand word for word in up to {partitions} other partitions.",
            share,
        )


def novelty(looks: Looks, around: Baseline) -> Iterator[Part]:
    """Weigh facts about which nothing was known, more than is usual."""
    if looks.made >= 5:
        share = looks.fresh / looks.made
        strength = ramp(share, 0.5, 1.0) * around.unusual("novelty", share, looks)
        yield _part(
            "novelty",
            strength,
            f"{looks.fresh} of {_facts(looks.made)} are about what nothing was known of.",
            share,
        )


Signal = Callable[[Looks, Baseline], Iterator[Part]]
SIGNALS: tuple[Signal, ...] = (
    stopped, near, outsized, direction, contested, updated, fenced, spread, novelty,
)  # fmt: skip


def ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to ``low``, 1 from ``high``, and a straight line between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def surprise(count: int, total: int, rate: float) -> float:
    """Return how sure it is that ``count`` of ``total`` is no chance where ``rate`` is usual.

    The tail of the binomial distribution on a logarithmic scale: one held fact of five is a
    false alarm, six of nine are not, and ten of a thousand are what the rate says.
    """
    count = min(count, total)
    if count <= rate * total or total == 0:
        return 0.0
    logs = [_log_chance(k, total, rate) for k in range(count, min(total, count + 40) + 1)]
    most = max(logs)
    tail = most + math.log(sum(math.exp(one - most) for one in logs))
    return min(1.0, max(0.0, -tail / math.log(10) / CERTAIN))


def _log_chance(count: int, total: int, rate: float) -> float:
    rate = min(rate, 0.999)
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
    return ways + count * math.log(rate) + (total - count) * math.log1p(-rate)


def _pull(one: Repeated, facts: int) -> float:
    """Return how strongly facts pull to one thing: by share, by number, and by what they say.

    A session about one trip names its place in most facts. Only words that urge, or the same
    said of many subjects, make that a direction.
    """
    urging = one.urging / one.facts
    says = max(
        ramp(urging, 0.2, 0.7), ramp(one.subjects, 2, 6) * ramp(one.subjects / one.facts, 0.3, 0.8)
    )
    return ramp(one.facts / facts, 0.2, 0.7) * ramp(one.facts, 2, 6) * (0.2 + 0.8 * says)


def _direction_sentence(one: Repeated, facts: int) -> str:
    words = f"{one.facts} of {_facts(facts)} come back to the same thing"
    if one.urging >= max(2, one.facts / 4):
        words += f", {one.urging} of them with words that urge or redirect"
    if one.subjects > 2:
        words += f", said of {one.subjects} different subjects"
    return words + "; other sessions hardly speak of it."


def _part(name: str, strength: float, sentence: str, value: float) -> Part:
    return Part(name, strength, WEIGHTS[name], sentence, value)


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count:,} facts"


def _writes(count: int) -> str:
    return "1 write" if count == 1 else f"{count:,} writes"


def empty(session_id: UUID, partition_id: UUID) -> Looks:
    """Return the looks of a session of which nothing has been noted."""
    return Looks(session_id, partition_id, direction=Direction())
