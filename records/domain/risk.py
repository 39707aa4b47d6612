"""How much harm a held fact could do if it were let in: the order of the review queue.

Owns the four grades. ``HIGH`` asks a reviewer for a reason before approval.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from .facts import HoldReason


class Risk(IntEnum):
    """Grades of a held fact; the number is stored and indexed."""

    NONE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3


_BY_SEVERITY = {
    "critical": Risk.HIGH,
    "high": Risk.HIGH,
    "medium": Risk.MEDIUM,
    "low": Risk.LOW,
    "info": Risk.NONE,
}
# What a hold says by itself, before any finding: a contradiction is everyday work, a fact
# that was evicted as poison elsewhere is not.
_BY_HOLD = {
    HoldReason.FENCE: Risk.HIGH,
    HoldReason.FEEDBACK: Risk.MEDIUM,
    HoldReason.INCIDENT: Risk.HIGH,
    HoldReason.RESCAN: Risk.MEDIUM,
}


def risk_of(hold_reason: str, severities: Iterable[str]) -> Risk:
    """Return the grade of a record held for ``hold_reason``; not held is ``NONE``."""
    if not hold_reason:
        return Risk.NONE
    found = [_BY_SEVERITY.get(one, Risk.LOW) for one in severities]
    return max([Risk.LOW, _BY_HOLD.get(HoldReason(hold_reason), Risk.LOW), *found])
