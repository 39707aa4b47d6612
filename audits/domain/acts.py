"""What people may do to a record, by where it stands and what their role allows.

Pure: the one table that the buttons, the forms and the views read. The acts
themselves are ``records.curate``'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from audits.domain.roles import Permission
from records.domain.facts import Status


@dataclass(frozen=True, slots=True)
class Act:
    """One act on one record: its verb, what it asks for, where it applies."""

    verb: str
    title: str
    done: str
    permission: Permission
    on: frozenset[Status]
    meaning: str
    needs_reason: bool = True
    style: str = ""
    shortcut: str = ""


LIVE = frozenset({Status.ACTIVE})
HELD = frozenset({Status.QUARANTINED})

ACTS: tuple[Act, ...] = (
    Act(
        "approve",
        "Approve",
        "Approved",
        Permission.REVIEW,
        HELD,
        "Serve it from now on, reconciled with what is current.",
        needs_reason=False,
        style="primary",
        shortcut="approve",
    ),
    Act(
        "reject",
        "Reject",
        "Rejected",
        Permission.REVIEW,
        HELD,
        "Turn it away for good; nobody can write it again.",
        style="danger",
        shortcut="reject",
    ),
    Act(
        "confirm",
        "Confirm",
        "Confirmed",
        Permission.REVIEW,
        LIVE,
        "Say that it holds today: seen now, doubts cleared.",
        needs_reason=False,
    ),
    Act(
        "edit",
        "Edit",
        "Edited",
        Permission.REVIEW,
        LIVE | HELD,
        "Write the right value as a new version; this one becomes a tombstone.",
        shortcut="edit",
    ),
    Act(
        "extend",
        "Change validity",
        "Validity changed",
        Permission.REVIEW,
        LIVE | HELD,
        "Say until when it is valid.",
    ),
    Act(
        "hold",
        "Hold",
        "Held",
        Permission.REVIEW,
        LIVE,
        "Take it out of service until somebody decides.",
    ),
    Act(
        "retract",
        "Retract",
        "Retracted",
        Permission.RESPOND,
        LIVE | HELD | {Status.SUPERSEDED},
        "Mark it as wrong; nobody can write it again.",
        style="danger",
    ),
    Act(
        "evict",
        "Evict",
        "Evicted",
        Permission.RESPOND,
        LIVE | HELD | {Status.SUPERSEDED},
        "Take it out of service; what it displaced comes back. Can be undone.",
        style="danger",
    ),
    Act(
        "restore",
        "Restore",
        "Restored",
        Permission.RESPOND,
        frozenset({Status.EVICTED}),
        "Undo the eviction: it returns to where it stood.",
        style="primary",
    ),
)


def acts_on(status: str) -> tuple[Act, ...]:
    """Return the acts that a record of this status can take."""
    return tuple(act for act in ACTS if Status(status) in act.on)
