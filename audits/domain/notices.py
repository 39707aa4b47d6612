"""What people can be told of, in which words, how often, and when a failed delivery goes again.

Pure. A notice carries ids, counts and a link; there is nowhere to put memory
text. Read ``audits/notices`` for what raises and delivers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """One thing to be told of."""

    QUARANTINE_AGE = "quarantine_age"
    GATE_BURST = "gate_burst"
    ODD_SESSION = "odd_session"
    DUPLICATES = "duplicates"
    JOB_FAILED = "job_failed"
    TRAIL_BROKEN = "trail_broken"
    CONTAINMENT = "containment"
    APPROVAL_WAITING = "approval_waiting"
    INCIDENT_OPENED = "incident_opened"
    INCIDENT_UNACKNOWLEDGED = "incident_unacknowledged"


class Channel(StrEnum):
    """How people are told."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class About:
    """A kind as people choose it: its title, and the number it compares with, if any.

    ``least`` and ``most`` bound the number; ``path`` is the page a notice leads to.
    """

    title: str
    path: str
    number: str = ""
    default: float = 0
    least: float = 0
    most: float = 0


ABOUT: dict[Kind, About] = {
    Kind.QUARANTINE_AGE: About(
        "A held fact waits too long", "queue", "Hours it may wait", 24, 0.1, 8_760
    ),
    Kind.GATE_BURST: About(
        "The gate hits more than usual", "gate", "Hits in an hour", 100, 1, 1_000_000
    ),
    Kind.ODD_SESSION: About("A session looks odd", "sessions", "Score from", 70, 1, 100),
    Kind.DUPLICATES: About("Facts are stored twice", "duplicates"),
    Kind.JOB_FAILED: About("A job failed", "jobs"),
    Kind.TRAIL_BROKEN: About("The audit trail is broken", "trail"),
    Kind.CONTAINMENT: About("Containment begins or ends", "sessions"),
    Kind.APPROVAL_WAITING: About("Something waits for a second person", "approvals"),
    Kind.INCIDENT_OPENED: About("An incident is opened", "incidents"),
    Kind.INCIDENT_UNACKNOWLEDGED: About(
        "An incident is not acknowledged", "incidents", "Minutes it may wait", 30, 1, 10_080
    ),
}
# What an event says by itself, in the transaction that wrote it; the other kinds are measured.
BY_EVENT: dict[str, Kind] = {
    "trail.broken": Kind.TRAIL_BROKEN,
    "session.suspended": Kind.CONTAINMENT,
    "session.released": Kind.CONTAINMENT,
    "source.suspended": Kind.CONTAINMENT,
    "source.released": Kind.CONTAINMENT,
    "approval.requested": Kind.APPROVAL_WAITING,
    "incident.opened": Kind.INCIDENT_OPENED,
}

QUIET_DEFAULT = 60  # minutes
QUIET_MOST = 7 * 24 * 60
STORM = 10  # notices of one rule for different targets in one quiet period; the rest are counted

ATTEMPTS = 10
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)


def pause_after(attempts: int, *, chance: float) -> timedelta:
    """Return how long to wait after that many failed attempts.

    Doubled each time, and unequal: ``chance`` from 0 to 1 spreads it from half
    to one and a half, or all that failed together would come back together.
    """
    doubled = min(FIRST_PAUSE * (1 << min(max(attempts, 1) - 1, 20)), LONGEST_PAUSE)
    return doubled * (0.5 + chance)


@dataclass(frozen=True, slots=True)
class Quiet:
    """How a rule stands towards one target: told until when not again, and what was kept back."""

    until: datetime | None = None
    kept: int = 0

    def is_quiet(self, now: datetime) -> bool:
        """Say whether the target's last notice is too recent for another."""
        return self.until is not None and self.until > now


@dataclass(frozen=True, slots=True)
class Words:
    """A notice as it is read: a title and one sentence."""

    title: str
    sentence: str


def describe(kind: Kind, numbers: Mapping[str, Any], *, target: str = "", more: int = 0) -> Words:
    """Say what happened, in ids and counts alone. ``more`` happened in the quiet time before."""
    about = ABOUT[kind]
    if numbers.get("digest"):
        whom = f" ({target})" if target else ""
        times = "once more" if more == 1 else f"{more} more times"
        return Words(about.title, f"It happened {times} since the notice before{whom}.")
    sentence = _sentence(kind, numbers, target)
    if more:
        times = "once more" if more == 1 else f"{more} more times"
        sentence += f" It happened {times} since the notice before."
    return Words(about.title, sentence)


def page_of(kind: Kind, target_kind: str, target: str) -> str:
    """Return the page that a notice leads to, below its workspace."""
    folders = {"session": "sessions", "incident": "incidents", "source": "sources"}
    if target_kind in folders and target:
        return f"{folders[target_kind]}/{target}"
    return ABOUT[kind].path


def _sentence(kind: Kind, numbers: Mapping[str, Any], target: str) -> str:
    count = numbers.get("count", 0)
    if kind is Kind.QUARANTINE_AGE:
        return f"The oldest of {count} held facts has waited for {numbers.get('hours', 0)} hours."
    if kind is Kind.GATE_BURST:
        return f"The gate's rules hit {count} times within an hour."
    if kind is Kind.ODD_SESSION:
        return f"Session {target} scores {numbers.get('score', 0)} of 100."
    if kind is Kind.DUPLICATES:
        return f"{count} live facts are stored twice, which the database should refuse."
    if kind is Kind.JOB_FAILED:
        return f"The job {target} failed."
    if kind is Kind.TRAIL_BROKEN:
        return "The last verification found the audit trail broken."
    if kind is Kind.CONTAINMENT:
        return f"{_act(numbers)}: {target}."
    if kind is Kind.APPROVAL_WAITING:
        return f"Approval {target} waits for a second person."
    if kind is Kind.INCIDENT_OPENED:
        return f"Incident {target} was opened."
    return f"Nobody has acknowledged incident {target} for {numbers.get('minutes', 0)} minutes."


def _act(numbers: Mapping[str, Any]) -> str:
    what, _, act = str(numbers.get("action", "")).partition(".")
    return f"A {what or 'session'} was {'suspended' if act == 'suspended' else 'released'}"
