"""The vocabulary every rule shares: facts, policies, verdicts, decisions.

Owns the enums and the value objects that the gate, reconcile and ranking pass
to each other. Holds no rule itself. Read ``canonical.py`` next for identity,
``gate/`` for the verdict and ``reconcile.py`` for the decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """Where a memory record stands. Suspended and expired are not statuses."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    EVICTED = "evicted"
    ERASED = "erased"


class Decision(StrEnum):
    """What the write path did with one write."""

    ADDED = "added"
    REINFORCED = "reinforced"
    UPDATED = "updated"
    CONTESTED = "contested"
    ECHOED = "echoed"
    LATE = "late"
    FENCED = "fenced"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"


class Shared(StrEnum):
    """What an eviction by provenance does with facts that others assert, too."""

    KEEP = "keep"  # leave them and all their claims
    DROP = "drop"  # drop that provenance's claims; the facts stay
    EVICT = "evict"  # take them out all the same


class HoldReason(StrEnum):
    """Why a record is quarantined."""

    GATE = "gate"
    CONTEST = "contest"
    POLICY = "policy"
    FENCE = "fence"
    EXPIRY = "expiry"
    FEEDBACK = "feedback"
    INCIDENT = "incident"
    RESCAN = "rescan"
    MANUAL = "manual"


class Outcome(StrEnum):
    """What the gate says about one write; ordered from mild to severe."""

    ALLOW = "allow"
    QUARANTINE = "quarantine"
    REJECT = "reject"


class Cardinality(StrEnum):
    """How many live values one slot may hold."""

    ONE = "one"
    MANY = "many"


class Tier(StrEnum):
    """How far a source is trusted."""

    UNTRUSTED = "untrusted"
    STANDARD = "standard"
    TRUSTED = "trusted"


class Normaliser(StrEnum):
    """How a value is brought to the spelling that identity compares."""

    TEXT = "text"  # the default: NFC, white space collapsed, case folded
    EXACT = "exact"  # NFC and trimmed; case and inner white space kept
    EMAIL = "email"
    PHONE = "phone"
    DATE = "date"
    TIME = "time"
    MONEY = "money"
    NUMBER = "number"
    URL = "url"
    NAME = "name"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a workspace says about one predicate, at one version.

    ``ttl_days`` and ``half_life_days`` of ``None`` mean "never expires" and
    "the default linear ageing". ``validators`` is a tuple of mappings such as
    ``{"kind": "range", "min": 0}`` or ``{"kind": "pattern", "re2": "..."}``.
    ``known`` is False for the policy synthesised for an unknown predicate.
    """

    predicate: str
    version: int = 1
    aliases: tuple[str, ...] = ()
    cardinality: Cardinality = Cardinality.MANY
    normaliser: Normaliser = Normaliser.TEXT
    ttl_days: float | None = None
    half_life_days: float | None = None
    validators: tuple[Mapping[str, Any], ...] = ()
    immutable: bool = False
    protected: bool = False
    sensitive: bool = False
    needs_review: bool = False
    time_series: bool = False
    dependents: tuple[str, ...] = ()
    description: str = ""
    region: str = "US"  # for phone numbers without a country code
    known: bool = True
    # A feed's value may only name a state ("starred"); what it is about is the
    # source's key, which then belongs to the fact's identity and slot.
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as a writer states it, after shape checks and before the gate.

    ``subject``, ``predicate`` and ``value`` are as written (NFC, trimmed);
    the canonical keys are computed by ``canonical.py``. Times are aware UTC.
    """

    subject: str
    predicate: str
    value: str
    content: str
    evidence: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason the gate gives, in words a reviewer understands.

    ``span`` is the half-open character range in the original text of
    ``field`` that the finding is about; ``None`` when it is about the whole.
    ``matched`` is that text, masked for secrets. ``view`` names the reading of
    the text in which the rule matched (``raw``, ``nfkc``, ``base64`` ...).
    """

    rule: str
    outcome: Outcome
    severity: str  # "info" | "low" | "medium" | "high" | "critical"
    field: str  # "subject" | "predicate" | "value" | "content" | "evidence" | "tags" | "fact"
    view: str
    span: tuple[int, int] | None
    matched: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the finding as the API and the database keep it."""
        return {
            "rule": self.rule,
            "outcome": str(self.outcome),
            "severity": self.severity,
            "field": self.field,
            "view": self.view,
            "span": list(self.span) if self.span else None,
            "matched": self.matched,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class GateContext:
    """What the gate knows beside the text: who says it, and what came before.

    ``recent_texts`` are the session's last writes on the same subject, oldest
    first (an instruction split over several writes shows only when joined).
    ``session_writes`` counts the session's writes in the last hour;
    ``corroborating_sessions`` counts other sessions that assert this fact.
    """

    tier: Tier = Tier.STANDARD
    derived: bool = False
    recent_texts: tuple[str, ...] = ()
    session_writes: int = 0
    corroborating_sessions: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer: the worst outcome of its findings, and the findings.

    ``redacted`` maps field names to the text that may be stored instead, for
    fields in which a secret was found; the original must not be kept.
    """

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    ruleset: str = ""
    score: float = 0.0
    redacted: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # personal-data tags: "email", "phone", ...


@dataclass(frozen=True, slots=True)
class Moment:
    """The times of one fact; all aware UTC, ``None`` where the writer gave none."""

    written_at: datetime
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def order_at(self) -> datetime:
        """The instant by which facts of one slot are ordered in time."""
        return self.valid_from or self.observed_at or self.written_at
