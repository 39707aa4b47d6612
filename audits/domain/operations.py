"""Bulk operations in words and rules: kinds, groups, states, thresholds. Pure.

A group says what becomes of a target; the groups of a preview add up to its
total. Which records fall into which is ``audits/operations/``'s to find.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from audits.domain.scope import Shared


class Kind(StrEnum):
    """What an operation does with its targets."""

    EVICT = "evict"
    RESTORE = "restore"
    ERASE = "erase"
    HOLD = "hold"


class State(StrEnum):
    """Where an operation is between its preview and its receipt."""

    PREVIEW = "preview"
    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    DRIFTED = "drifted"
    CANCELLED = "cancelled"
    FAILED = "failed"
    REFUSED = "refused"
    EXPIRED = "expired"


OPEN = frozenset({State.WAITING, State.QUEUED, State.RUNNING})
GOING = frozenset({State.QUEUED, State.RUNNING})
RETRIABLE = frozenset({State.DONE, State.CANCELLED, State.FAILED})

# What becomes of a target, in the order in which pages show it.
GROUPS: dict[str, str] = {
    "evict": "will be evicted",
    "superseded": "superseded since, evicted too",
    "shared": "also asserted by others",
    "gone": "out already",
    "hold": "on legal hold",
    "beyond": "cannot be evicted",
}
RESTORE_GROUPS: dict[str, str] = {
    "restore": "will come back",
    "claims": "stayed; the claim counts again",
    "anew": "stored anew since",
    "changed": "has changed since",
}
ERASE_GROUPS: dict[str, str] = {
    "erase": "will be destroyed for good",
    "gone": "destroyed already",
    "hold": "on legal hold",
}
HOLD_GROUPS: dict[str, str] = {
    "take": "will wait for a reviewer",
    "held": "held already",
    "gone": "not in service any more",
}
GROUPS_OF: dict[str, dict[str, str]] = {
    Kind.EVICT: GROUPS,
    Kind.RESTORE: RESTORE_GROUPS,
    Kind.ERASE: ERASE_GROUPS,
    Kind.HOLD: HOLD_GROUPS,
}
SHARED_WORDS: dict[Shared, str] = {
    Shared.KEEP: "leave them alone",
    Shared.DROP: "drop only this origin's claim; the facts stay",
    Shared.EVICT: "evict them all the same",
}

# What became of a target.
OUTCOMES: dict[str, str] = {
    "evicted": "evicted",
    "dropped": "claim dropped, the fact stays",
    "restored": "came back",
    "revived": "claim counts again",
    "erased": "destroyed",
    "held": "sent to the queue",
    "skipped": "left",
    "failed": "failed",
}
CHANGING = ("evicted", "dropped", "restored", "revived", "erased", "held")

BULK_THRESHOLD = 1_000  # facts; from above it a second person must agree, and the count be typed
UNDO_DAYS = 30
TARGETS_LIMIT = 500_000  # of one operation: more is refused, never cut


def acted_groups(kind: str, *, shared: Shared, with_held: bool) -> frozenset[str]:
    """Return the groups whose targets the operation changes."""
    if kind == Kind.RESTORE:
        return frozenset({"restore", "claims"})
    if kind == Kind.ERASE:
        return frozenset({"erase"})
    if kind == Kind.HOLD:
        return frozenset({"take"})
    acted = {"evict", "superseded"}
    if shared is not Shared.KEEP:
        acted.add("shared")
    if with_held:
        acted.add("hold")
    return frozenset(acted)


def needs_second(kind: str, total: int, settings: Mapping[str, Any]) -> str | None:
    """Say why a second person must agree to an operation on ``total`` facts; None: no need."""
    if kind == Kind.ERASE:
        return "what is erased is gone for good"
    threshold = _number(settings, "four_eyes", "bulk", default=BULK_THRESHOLD)
    if total > threshold:
        return f"it changes more than {threshold:,} facts"
    return None


def needs_count(kind: str, total: int) -> bool:
    """Say whether the number of facts must be typed, which proves that it was read."""
    return kind == Kind.ERASE or total > BULK_THRESHOLD


def undo_lasts(settings: Mapping[str, Any]) -> timedelta:
    """Return how long an operation can be undone."""
    return timedelta(days=_number(settings, "operations", "undo_days", default=UNDO_DAYS))


def _number(settings: Mapping[str, Any], section: str, name: str, *, default: int) -> int:
    """Return a setting where it is a whole number that makes sense, else its default."""
    found = settings.get(section)
    value = found.get(name) if isinstance(found, Mapping) else None
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
    )
