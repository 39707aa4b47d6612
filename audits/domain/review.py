"""Decisions about held facts: the verbs, the reasons, and when a reason is owed.

Pure. Digits on the keyboard name reason *ids*: an id never moves to another
reason, however the list is sorted or filtered.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from records.domain.risk import Risk

LEASE = timedelta(minutes=5)
LEASE_WARNING = timedelta(seconds=60)
ACTIVATION_DELAY = timedelta(seconds=10)
NOTE_LIMIT = 2_000
RECENT_DECISIONS = 20


class Verb(StrEnum):
    """What a reviewer does with a held fact."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    SUPERSEDE = "supersede"
    SNOOZE = "snooze"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a fact is rejected, or a risky one approved; ``id`` is the key pressed."""

    id: int
    code: str
    label: str


REASONS = (
    Reason(1, "instruction", "Instruction text, not a fact"),
    Reason(2, "false", "False"),
    Reason(3, "private", "Secret or private data"),
    Reason(4, "wrong_subject", "About somebody or something else"),
    Reason(5, "outdated", "Outdated"),
    Reason(6, "speculation", "Joke, guess or hypothetical"),
    Reason(7, "untrusted", "Source may not say this"),
    Reason(8, "worthless", "Not worth remembering"),
    Reason(9, "other", "Other: see the note"),
)
BY_ID = {reason.id: reason for reason in REASONS}
BY_CODE = {reason.code: reason for reason in REASONS}


def missing(verb: Verb, *, risk: int, reason: str, note: str) -> str | None:
    """Return what a decision still owes, in words, or ``None`` when it is complete.

    A rejection owes a reason from the list (and a note when it is *other*);
    letting in a high-risk fact owes words of the reviewer's own.
    """
    if verb is Verb.REJECT:
        if reason not in BY_CODE:
            return "Choose why it is rejected."
        if reason == "other" and not note.strip():
            return "Say in the note why it is rejected."
    if verb in (Verb.APPROVE, Verb.SUPERSEDE, Verb.EDIT) and risk >= Risk.HIGH and not note.strip():
        return "This is a high-risk hold: say in a few words why it may be let in."
    if len(note) > NOTE_LIMIT:
        return f"The note is {len(note):,} characters long; at most {NOTE_LIMIT:,} are kept."
    return None
