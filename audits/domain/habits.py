"""What is usual: the sessions around one session, and how far it is from them.

Pure. Medians and the median distance from them, so that a few odd sessions do not
make their own habit; a session is compared without itself. Read ``suspicion.py``
for what is made of it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from uuid import UUID

from audits.domain.direction import Direction

# Fewer others say nothing about what is usual.
FEWEST = {"partition": 3, "agent": 4, "workspace": 6}
# A habit may be so even that one fact more would stand out: no distance counts below a third
# (from 6 facts to 8), which is how much sessions of one kind differ in the least varied sets seen.
LEAST_SCALE = 0.35
# And a few sessions of very different sizes make no habit of being ten times as large: sizes
# within one kind of session vary by a factor of two, less or more.
MOST_SCALE = 0.6
TO_SIGMA = 1.4826  # a median distance as the standard deviation of a normal distribution
USUAL = 0.75  # the share of sessions at or below the rate that still counts as usual
REPEATS = 3  # other partitions in which a sentence must stand


@dataclass(frozen=True, slots=True)
class Looks:
    """The signals of one session."""

    session_id: UUID
    partition_id: UUID
    agent: str = ""
    writes: int = 0
    contested: int = 0
    updated: int = 0
    fenced: int = 0
    made: int = 0
    derived: int = 0
    stopped: int = 0
    grave: int = 0  # of these, with a finding of high or critical severity
    cleared: int = 0  # stopped, and let in by people
    near: int = 0
    fresh: int = 0
    direction: Direction = field(default_factory=Direction)

    @property
    def observed(self) -> int:
        """How many facts it made from talk."""
        return self.made - self.derived

    @property
    def novelty(self) -> float:
        """The share of its facts about which nothing was known."""
        return self.fresh / self.made if self.made else 0.0


class Baseline:
    """The sessions around one: sizes, rates, words and sentences."""

    def __init__(self, sessions: Iterable[Looks]) -> None:
        self.sessions = list(sessions)
        self._by_partition: dict[UUID, list[Looks]] = defaultdict(list)
        self._by_agent: dict[str, list[Looks]] = defaultdict(list)
        self._said: Counter[int] = Counter()
        self._said_in: dict[UUID, Counter[int]] = defaultdict(Counter)
        self._sentences: dict[int, set[UUID]] = defaultdict(set)
        self._forms: dict[str, Counter[int]] = defaultdict(Counter)
        for one in self.sessions:
            self._by_partition[one.partition_id].append(one)
            if one.agent:
                self._by_agent[one.agent].append(one)
            self._said.update(one.direction.vocabulary)
            self._said_in[one.partition_id].update(one.direction.vocabulary)
            for sentence in one.direction.sentences:
                self._sentences[sentence].add(one.partition_id)
            if one.agent:
                self._forms[one.agent].update(one.direction.sentences)
        self._known = {one.session_id for one in self.sessions}
        self._shares: dict[str, list[tuple[UUID, float]]] = {}
        self._usual: dict[str, float] = {}
        self._levels: dict[tuple[str, object], tuple[float, float]] = {}

    def size(self, looks: Looks) -> tuple[int, float, str] | None:
        """Return the usual size, how far this one is above it, and whose habit that is.

        The habit that explains the size best: a busy person's sessions are large, and so are
        those of an agent that writes much. ``None`` when too few others are there.
        """
        if looks.observed < 1:
            return None
        best: tuple[int, float, str] | None = None
        mine = math.log(looks.observed)
        for scope, whose, group in self._groups(looks):
            others = [math.log(one.observed) for one in group if one.observed > 0]
            level = self._level(f"size {scope}", whose, group, looks, others, mine)
            if level is None:
                continue
            distance = (mine - level[0]) / level[1]
            if best is None or distance < best[1]:
                best = round(math.exp(level[0])), distance, _WHOSE[scope]
        return best

    def unusual(self, name: str, value: float, looks: Looks) -> float:
        """Return how far above the workspace's habit a share is: 0 usual, 1 far outside.

        Without a habit it is taken as half as telling.
        """
        found = self._measured(name)
        others = [value for whose, value in found if whose != looks.session_id]
        if len(others) < FEWEST["workspace"]:
            return 0.5
        middle = median(others)
        scale = max(0.1, TO_SIGMA * median([abs(one - middle) for one in others]))
        return min(1.0, max(0.0, (value - middle) / scale / 3.0))

    def rarity(self, term: int, looks: Looks) -> float:
        """Return how little other sessions speak of a word: 1 hardly ever, 0 commonly."""
        found = self._rarity(self._said, len(self.sessions), term, looks, 0.05, 0.3)
        here = self._by_partition.get(looks.partition_id, ())
        if len(here) > FEWEST["partition"]:
            said = self._said_in[looks.partition_id]
            # What one person speaks of again and again is what that person is about.
            found = min(found, self._rarity(said, len(here), term, looks, 0.25, 0.6))
        return found

    def pull(self, looks: Looks) -> float:
        """Return the share of a session's facts that come back to what others do not speak of."""
        facts = looks.direction.facts
        shares = [
            one.facts / facts * self.rarity(one.term, looks) for one in looks.direction.repeated
        ]
        return max(shares, default=0.0)

    def rate(self, name: str, looks: Looks) -> float:
        """Return the share of a session's writes that may count as ``name`` and be usual.

        Three of four sessions stay below it, or half of those of the same partition: kinds of
        sessions differ more than chance does.
        """
        found = 0.0
        if len(self.sessions) > FEWEST["workspace"]:
            found = self._quantile(name)
        here = self._by_partition.get(looks.partition_id, ())
        others = [_share(one, name) for one in here if one.session_id != looks.session_id]
        if len(others) >= FEWEST["partition"]:
            found = max(found, median(others))
        return found

    def spread(self, looks: Looks) -> tuple[int, int]:
        """Return how many of a session's sentences stand in several other partitions; in how many.

        What stands in more than half of all partitions, or in half of an agent's sessions, is a
        form, not a campaign.
        """
        found, most = 0, 0
        partitions = len(self._by_partition)
        same_agent = self._by_agent.get(looks.agent, ())
        for sentence in looks.direction.sentences:
            others = len(self._sentences.get(sentence, set()) - {looks.partition_id})
            if not REPEATS <= others <= max(REPEATS, partitions / 2):
                continue
            filled_in = self._forms[looks.agent][sentence] if looks.agent in self._forms else 0
            if len(same_agent) > FEWEST["agent"] and filled_in >= len(same_agent) / 2:
                continue
            found += 1
            most = max(most, others)
        return found, most

    def _measured(self, name: str) -> list[tuple[UUID, float]]:
        """Return each session's share of one kind; counted once for all."""
        if name not in self._shares:
            measure = self.pull if name == "pull" else _novelty
            self._shares[name] = [(one.session_id, measure(one)) for one in self.sessions]
        return self._shares[name]

    def _groups(self, looks: Looks) -> Iterable[tuple[str, object, Sequence[Looks]]]:
        yield "partition", looks.partition_id, self._by_partition.get(looks.partition_id, ())
        if looks.agent:
            yield "agent", looks.agent, self._by_agent.get(looks.agent, ())
        yield "workspace", None, self.sessions

    def _level(
        self,
        scope: str,
        whose: object,
        group: Sequence[Looks],
        looks: Looks,
        values: list[float],
        mine: float,
    ) -> tuple[float, float] | None:
        """Return the middle and the scale of a group without this session itself."""
        is_in = looks.session_id in self._known
        if len(values) - is_in < FEWEST[scope.split()[1]]:
            return None
        # In a large group one session more or less moves nothing: counted once.
        is_large = len(values) >= 40
        kept = self._levels.get((scope, whose)) if is_large else None
        if kept is not None:
            return kept
        if is_in and not is_large:
            values.remove(mine)
        middle = median(values)
        distance = TO_SIGMA * median([abs(one - middle) for one in values])
        scale = min(MOST_SCALE, max(LEAST_SCALE, distance))
        if is_large:
            self._levels[scope, whose] = (middle, scale)
        return middle, scale

    def _rarity(
        self, said: Counter[int], sessions: int, term: int, looks: Looks, low: float, high: float
    ) -> float:
        is_in = looks.session_id in self._known
        others = sessions - is_in
        if others < FEWEST["partition"]:
            return 0.5
        share = max(0, said[term] - is_in) / others
        return 1.0 - min(1.0, max(0.0, (share - low) / (high - low)))

    def _quantile(self, name: str) -> float:
        if name not in self._usual:
            shares = sorted(_share(one, name) for one in self.sessions)
            self._usual[name] = shares[int(len(shares) * USUAL)]
        return self._usual[name]


def _novelty(looks: Looks) -> float:
    return looks.novelty


def _share(looks: Looks, name: str) -> float:
    total = looks.made if name in ("stopped", "grave", "near") else looks.writes
    return min(1.0, getattr(looks, name) / total) if total else 0.0


_WHOSE = {
    "partition": "sessions of this partition",
    "agent": "sessions of this agent",
    "workspace": "sessions of this workspace",
}
