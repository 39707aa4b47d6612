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
# Until when a held fact should be decided: a working morning for what could do harm.
DUE = {
    Risk.HIGH: timedelta(hours=4),
    Risk.MEDIUM: timedelta(days=1),
    Risk.LOW: timedelta(days=3),
    Risk.NONE: timedelta(days=7),
}


class Verb(StrEnum):
    """What a reviewer does with a held fact."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    SUPERSEDE = "supersede"
    SNOOZE = "snooze"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a fact is rejected, or a risky one approved; ``id`` is the key pressed in its list."""

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
# Why a high-risk fact may be let in all the same.
ADMISSIONS = (
    Reason(1, "false_alarm", "The rule is mistaken here"),
    Reason(2, "confirmed", "Confirmed with the person it is about"),
    Reason(3, "sourced", "Confirmed at its source"),
    Reason(4, "quoted", "Quoted or described, not an instruction"),
    Reason(9, "admitted", "Other: see the note"),
)
BY_CODE = {reason.code: reason for reason in (*REASONS, *ADMISSIONS)}
_REJECTING = frozenset(reason.code for reason in REASONS)
_ADMITTING = frozenset(reason.code for reason in ADMISSIONS)


def missing(verb: Verb, *, risk: int, reason: str, note: str) -> str | None:
    """Return what a decision still owes, in words, or ``None`` when it is complete.

    A rejection owes a reason from its list (and a note when it is *other*);
    letting in a high-risk fact owes one from its own list, or a note.
    """
    letting_in = verb in (Verb.APPROVE, Verb.SUPERSEDE, Verb.EDIT)
    if verb is Verb.REJECT:
        if reason not in _REJECTING:
            return "Choose why it is rejected."
        if reason == "other" and not note.strip():
            return "Say in the note why it is rejected."
    if letting_in and reason and reason not in _ADMITTING:
        return "Choose why it may be let in from the reasons for that."
    if letting_in and risk >= Risk.HIGH and not note.strip() and reason in ("", "admitted"):
        return "This is a high-risk hold: choose or say in a few words why it may be let in."
    if len(note) > NOTE_LIMIT:
        return f"The note is {len(note):,} characters long; at most {NOTE_LIMIT:,} are kept."
    return None
