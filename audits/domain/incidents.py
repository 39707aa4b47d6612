"""The rules of an incident: how bad, how fast, what it needs before it can be closed.

Pure: values in, words and decisions out. What is served of a scope is counted
by ``audits/queries/incident_standing.py``; the acts are ``audits/incidents.py``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is, worst first: the order of every list."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def meaning(self) -> str:
        """Return when to choose it."""
        return _MEANINGS[self]


_MEANINGS = {
    Severity.CRITICAL: "People act on it now: money, access or safety",
    Severity.HIGH: "Wrong answers reach many people, or instructions were planted",
    Severity.MEDIUM: "Wrong answers reach some people",
    Severity.LOW: "Nobody was served it yet",
}
SEVERITIES = tuple(Severity)


class State(StrEnum):
    """Where an incident is in its life."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class ScopeKind(StrEnum):
    """What a part of a scope names."""

    SESSION = "session"
    SOURCE = "source"
    PARTITION = "partition"
    RECORD = "record"
    TEXT = "text"


CONTAINABLE = (ScopeKind.SESSION, ScopeKind.SOURCE)

ACKNOWLEDGE_WITHIN = timedelta(minutes=15)
TITLE_LIMIT, TEXT_LIMIT, SCOPE_TEXT_LIMIT = 200, 4_000, 200
TASK_LIMIT, WAIVER_LIMIT = 500, 1_000
SCOPE_MOST = 200  # parts of one scope; a source or a text names more in one
TASKS_MOST = 100

DEFAULT_TASKS = (
    "Contain: suspend what is in scope, so that nobody is served it from now on",
    "Measure: read who was served it and what was written because of it",
    "Evict: take it out, and read the receipt",
    "Notify: tell the owners of the partitions that were served it",
    "Find the cause: how it got in, and what will stop the next one",
)


def is_late(opened_at: datetime, acknowledged_at: datetime | None, *, now: datetime) -> bool:
    """Say whether nobody acknowledged an incident in time."""
    return (acknowledged_at or now) - opened_at > ACKNOWLEDGE_WITHIN


@dataclass(frozen=True, slots=True)
class Standing:
    """What of a scope is where: counts of facts, stopped at a cap.

    ``served`` are those that a recall starting now may answer with;
    ``withheld`` are active, but nothing that is not suspended asserts them.
    """

    facts: int = 0
    served: int = 0
    withheld: int = 0
    held: int = 0
    out: int = 0
    is_capped: bool = False

    @property
    def state(self) -> str:
        """Return one word for it."""
        if self.served:
            return "serving"
        if self.withheld:
            return "suspended"
        if self.held:
            return "held"
        return "out" if self.facts else "empty"


def verdict(standing: Standing, *, parts: int) -> str:
    """Say in one sentence what is served of a scope right now."""
    if not parts:
        return "The scope is empty: add the sessions, sources, records or words it is about."
    more = " or more" if standing.is_capped else ""
    facts = f"{standing.facts:,}{more} fact{_s(standing.facts)} in scope"
    if not standing.facts:
        return "Nothing in memory is in this scope."
    if standing.served:
        are = "is" if standing.served == 1 else "are"
        return f"{standing.served:,} of {facts} {are} served to agents right now."
    if standing.withheld:
        are = "is" if standing.withheld == 1 else "are"
        return (
            f"Nothing of it is served. {standing.withheld:,} of {facts} {are} only suspended:"
            f" a release would bring {'it' if standing.withheld == 1 else 'them'} back."
        )
    if standing.held:
        are = "waits" if standing.held == 1 else "wait"
        return f"Nothing of it is served. {standing.held:,} of {facts} {are} for a decision."
    return f"Nothing of it is served: {facts}, all taken out."


@dataclass(frozen=True, slots=True)
class Work:
    """What is left to do in an incident, as closing asks."""

    residue: int = 0
    is_residue_capped: bool = False
    withheld: int = 0
    open_operations: int = 0
    waiting_approvals: int = 0
    open_tasks: int = 0
    has_cause: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that keeps an incident open: what it is, and the part of the page that solves it.

    ``waivable``: closing all the same is possible, with a reason that is kept.
    """

    code: str
    text: str
    waivable: bool = False


def missing_to_close(work: Work) -> tuple[Missing, ...]:
    """Return what keeps an incident from being closed, in the order to solve it."""
    found: list[Missing] = []
    if work.residue:
        more = " or more" if work.is_residue_capped else ""
        are = "is" if work.residue == 1 else "are"
        found.append(
            Missing(
                "residue",
                f"{work.residue:,}{more} fact{_s(work.residue)} in scope {are} still served.",
                waivable=True,
            )
        )
    if work.withheld:
        are = "is" if work.withheld == 1 else "are"
        found.append(
            Missing(
                "withheld",
                f"{work.withheld:,} fact{_s(work.withheld)} in scope {are} suspended, but not"
                f" evicted: a release would bring {'it' if work.withheld == 1 else 'them'} back.",
                waivable=True,
            )
        )
    if work.open_operations:
        are = "is" if work.open_operations == 1 else "are"
        found.append(
            Missing(
                "operations",
                f"{work.open_operations} operation{_s(work.open_operations)} {are} not finished.",
            )
        )
    if work.waiting_approvals:
        waits = "waits" if work.waiting_approvals == 1 else "wait"
        found.append(
            Missing(
                "approvals",
                f"{work.waiting_approvals} approval{_s(work.waiting_approvals)} {waits} for a"
                " second person.",
            )
        )
    if work.open_tasks:
        are = "is" if work.open_tasks == 1 else "are"
        found.append(
            Missing("tasks", f"{work.open_tasks} task{_s(work.open_tasks)} {are} not done.")
        )
    if not work.has_cause:
        found.append(Missing("cause", "The cause is not written down."))
    return tuple(found)


def still_missing(missing: Sequence[Missing], *, waived: str) -> tuple[Missing, ...]:
    """Return what a waiver does not cover."""
    return tuple(one for one in missing if not (waived.strip() and one.waivable))


def harm_sentence(serves: int, after: int, act: str) -> str:
    """Answer "Did harm stop when we acted?"; ``act`` is the first thing done, empty for nothing."""
    if not serves:
        return "There was none to stop: no recall has answered with a fact in scope."
    times = f"{serves:,} time{_s(serves)}"
    if not act:
        return f"Nobody has acted yet: facts in scope were served {times}."
    if not after:
        return f"Yes: they were served {times} before they were {act}, and not since."
    return (
        f"No: {after:,} of {serves:,} serve{_s(serves)} came after the scope was {act}."
        " Something of it is served still, or was added to the scope later."
    )


def _s(count: int) -> str:
    return "" if count == 1 else "s"
