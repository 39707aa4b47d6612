"""The replay of one fact's history: what its factors were made of, change after change. Pure.

Owns the order of changes. Of what one session or source said, only the first and
the last time are kept, so a replay can miss a sighting between; where it ends
elsewhere than the record stands, the record is right, and a last change says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from audits.domain.factors import Change, State
from records.domain.validity import expiry

INDEPENDENT_MOST = 8  # where the factor is at its ceiling, and the record stops counting
NEAR = timedelta(hours=2)  # the record's own row lags a sighting by up to an hour
EPSILON = 1e-4  # confidence is kept in four bytes
LEAVING = {
    "record.evicted": "evicted",
    "record.held": "held",
    "record.retracted": "retracted",
    "record.rejected": "rejected",
    "record.reopened": "held again",
    "record.superseded": "superseded",
    "record.erased": "erased",
    "record.merged": "merged into another",
}
COMING = {
    "record.approved": "approved",
    "record.restored": "restored",
    "record.parted": "parted again",
}
SETTLING = {"record.confirmed": "confirmed by a person", "feedback.confirmed": "confirmed"}


@dataclass(frozen=True, slots=True)
class Claim:
    """That a session or a source said the fact: when it first and last saw it, how sure it was.

    ``came_at`` and ``came_last_at`` are when its words arrived, where that is known
    to be later: an import tells of the past.
    """

    speaker: str
    first_at: datetime
    last_at: datetime
    confidence: float
    came_at: datetime | None = None
    came_last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """One event of the record, as far as its factors go."""

    at: datetime
    action: str
    until: datetime | None = None
    confidence: tuple[float, float] | None = None
    is_doubted: bool | None = None  # after feedback: whether it is marked for a recheck
    is_counted: bool = True
    speaker: str = ""  # of a claim that is dropped or counts again


@dataclass(frozen=True, slots=True)
class Version:
    """A policy's version, and since when it rules."""

    since: datetime
    number: int
    ttl_days: float | None
    half_life_days: float | None


@dataclass(frozen=True, slots=True)
class Past:
    """What a record's history is replayed from; ``now`` is how it stands."""

    written_at: datetime
    seen_at: datetime
    stated: float
    given_until: datetime | None  # by its writer
    was_live: bool
    now: State
    claims: Sequence[Claim] = ()
    events: Sequence[Happened] = ()
    versions: Sequence[Version] = ()


@dataclass(frozen=True, slots=True)
class _Again:
    """The last time that one speaker saw the fact."""

    seen_at: datetime


_Item = Claim | Happened | Version | _Again


def replay(past: Past, *, now: datetime) -> list[Change]:
    """Return what changed the fact's factors, the first first; the last leaves it as it stands."""
    versions = sorted(past.versions, key=lambda one: one.since)
    # A fact from before the first version of its policy meets that when it comes.
    first = Version(past.written_at, 0, None, None)
    for one in versions:
        if one.since <= past.written_at:
            first = one
    # What a record was written with moves up with its voices: the first voice tells it.
    said_first = min(past.claims, key=lambda one: one.came_at or one.first_at, default=None)
    state = State(
        confidence=min(past.stated, said_first.confidence) if said_first else past.stated,
        last_seen=past.seen_at,
        valid_from=past.now.valid_from,
        valid_until=expiry(seen_at=past.seen_at, ttl_days=first.ttl_days, given=past.given_until),
        is_given=past.given_until is not None,
        half_life_days=first.half_life_days,
        is_live=past.was_live,
    )
    run = _Run(state, first, [Change(past.written_at, "written", state)])
    for at, _, item in sorted(_items(past, versions), key=lambda one: one[:2]):
        if past.written_at <= at <= now:
            run.take(at, item)
    if not _is_alike(run.state, past.now):
        run.changes.append(Change(now, "as the record stands", past.now))
    return run.changes


def _items(past: Past, versions: Sequence[Version]) -> Iterator[tuple[datetime, int, _Item]]:
    """Yield what happened with its time; at one time policies come before words, acts last."""
    for version in versions:
        if version.since > past.written_at:
            yield version.since, 0, version
    for claim in past.claims:
        # What was seen before it arrived counts from its arrival on.
        came = claim.came_at or max(claim.first_at, past.written_at)
        yield came, 1, claim
        if claim.last_at > claim.first_at:
            last = claim.came_last_at or max(claim.last_at, past.written_at)
            yield max(came, last), 2, _Again(claim.last_at)
    for event in past.events:
        yield event.at, 3, event


@dataclass(slots=True)
class _Run:
    """The state on its way, and the changes so far."""

    state: State
    version: Version
    changes: list[Change]
    speakers: set[str] = field(default_factory=set)

    def take(self, at: datetime, item: _Item) -> None:
        """Let one thing happen."""
        if isinstance(item, Version):
            self._rule(at, item)
        elif isinstance(item, Claim):
            self._say(at, item)
        elif isinstance(item, _Again):
            self._see(at, item.seen_at, "said again")
        else:
            self._happen(item)

    def _note(self, at: datetime, what: str, **values: Any) -> None:
        """Take a change down, if it changes anything."""
        state = replace(self.state, **values)
        if state != self.state:
            self.state = state
            self.changes.append(Change(at, what, state))

    def _until(self, seen_at: datetime) -> datetime | None:
        if self.state.is_given:
            return self.state.valid_until
        return expiry(seen_at=seen_at, ttl_days=self.version.ttl_days, given=None)

    def _see(self, at: datetime, seen_at: datetime, what: str, **values: Any) -> None:
        """Let the fact be seen: times move forward only, marks are cleared."""
        last = max(self.state.last_seen, seen_at)
        moved = {"last_seen": last, "valid_until": self._until(last)}
        self._note(at, what, **moved, is_recheck=False, is_unlisted=False, **values)

    def _rule(self, at: datetime, version: Version) -> None:
        self.version = version
        self._note(
            at,
            f"policy version {version.number}",
            half_life_days=version.half_life_days,
            valid_until=self._until(self.state.last_seen),
        )

    def _say(self, at: datetime, claim: Claim) -> None:
        is_first = not self.speakers
        self.speakers.add(claim.speaker)
        if is_first:
            return  # the writing itself
        self._see(
            at,
            claim.first_at,
            "said by another" if len(self.speakers) > 1 else "said again",
            independent=min(INDEPENDENT_MOST, len(self.speakers)),
            confidence=max(self.state.confidence, claim.confidence),
        )

    def _happen(self, event: Happened) -> None:
        action, at = event.action, event.at
        if action in LEAVING:
            self._note(at, LEAVING[action], is_live=False)
        elif action in COMING:
            self._note(at, COMING[action], is_live=True)
        elif action in ("record.extended", "record.ended"):
            what = "extended by a person" if action.endswith("extended") else "ended by a person"
            self._note(at, what, valid_until=event.until, is_given=True, is_recheck=False)
        elif action == "record.recheck":
            self._note(at, "marked to recheck", is_recheck=True)
        elif action == "record.unlisted":
            self._note(at, "no longer emitted by its source", is_unlisted=True)
        elif action == "record.confirmed":
            self._see(at, at, SETTLING[action])
        elif action.startswith("claim.") and event.speaker:
            self._count(event)
        elif action.startswith("feedback."):
            self._hear(event)

    def _count(self, event: Happened) -> None:
        """Let a speaker's word count no more, or again."""
        is_back = event.action == "claim.restored"
        (self.speakers.add if is_back else self.speakers.discard)(event.speaker)
        what = "a claim counts again" if is_back else "a claim dropped"
        self._note(event.at, what, independent=min(INDEPENDENT_MOST, len(self.speakers)))

    def _hear(self, event: Happened) -> None:
        """Take in what a session said of the fact: confidence, a sighting, a mark."""
        word = event.action.removeprefix("feedback.")
        values: dict[str, Any] = {}
        if event.confidence is not None:
            before, after = event.confidence
            values |= {"confidence": after, "bonus": self.state.bonus + after - before}
        if event.is_doubted is not None:
            values["is_recheck"] = event.is_doubted
        if word == "confirmed" and event.is_counted:
            values["last_seen"] = max(self.state.last_seen, event.at)
        self._note(event.at, f"feedback: {word}", **values)


def _is_alike(one: State, other: State) -> bool:
    """Say whether a replay ended where the record stands, but for what its row may lag."""
    return (
        abs(one.confidence - other.confidence) < EPSILON
        and _is_near(one.last_seen, other.last_seen)
        and _is_near(one.valid_until, other.valid_until)
        and (one.is_recheck, one.is_unlisted, one.independent, one.is_live)
        == (other.is_recheck, other.is_unlisted, other.independent, other.is_live)
        and one.half_life_days == other.half_life_days
    )


def _is_near(one: datetime | None, other: datetime | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= NEAR
