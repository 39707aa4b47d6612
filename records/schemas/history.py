"""Facts as people and tools see them: the record, its claims, its events."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from records.domain.facts import Cardinality, HoldReason, Outcome, Status, Tier
from records.schemas.base import Given, Instant, JsonObject
from records.schemas.memories import GateFinding

NextCursor = Annotated[
    str | None, Field(description="Ask again with `cursor` for what follows; null at the end")
]


class MemoryAnswer(Given):
    """One record and what is needed to doubt it."""

    id: UUID
    partition: str
    fingerprint: str
    subject: str
    predicate: str
    value: str
    content: str
    status: Status
    hold_reason: HoldReason | Annotated[str, Field(max_length=0)]
    current: bool = Field(description="Whether it holds now and may be served")
    why_not_current: list[str] = Field(
        description="Its status unless active; expired, not_yet_valid, recheck, unlisted, suspended"
    )
    confidence: float = Field(description="As ranked: stated, capped by the source's tier")
    stated_confidence: float
    trust: Tier = Field(description="The best tier among the claims")
    corroboration: int = Field(description="Independent sessions and sources, counted to 8")
    cardinality: Cardinality
    negated: bool
    derived: bool
    source: str
    source_key: str | None
    session: str
    session_id: UUID
    agent: str
    extracted_by: str
    external_id: str | None
    tags: list[str]
    labels: list[str] = Field(description="Kinds of personal data found in the text")
    metadata: JsonObject
    written_at: Instant
    observed_at: Instant | None
    valid_from: Instant | None
    valid_until: Instant | None
    order_at: Instant = Field(description="What places it in its slot's time")
    recorded_at: Instant
    first_seen: Instant
    last_seen: Instant
    seen_count: int
    sessions: int
    sources: int
    confirmed: int
    wrong: int
    stale: int
    status_at: Instant
    superseded_by: UUID | None
    superseded_at: Instant | None
    serve_after: Instant | None
    recheck_at: Instant | None
    recheck_reason: str | None
    unlisted_at: Instant | None
    half_life_days: float | None
    policy_version: int
    verdict: Outcome
    findings: list[GateFinding]
    ruleset: str
    gate_score: float
    override: Any = Field(description="The approval that let it in against the gate, if any")
    suspended: bool = Field(description="Its first session or source is suspended")
    embedded: bool
    embedding_partial: bool = Field(description="The embedding read a part of the text only")
    version: int


class MemoryPage(Given):
    """A page of records."""

    items: list[MemoryAnswer]
    next_cursor: NextCursor


class ClaimAnswer(Given):
    """That one session, through one source, asserted the record."""

    session: str
    session_id: UUID
    agent: str
    extracted_by: str
    source: str
    source_id: UUID
    derived: bool
    state: str = Field(description="live, held or dropped")
    suspended: bool
    first_at: Instant
    last_at: Instant
    count: int
    echoes: int
    confidence: float
    evidence: str
    wording: str = Field(description="Its own words, when they differ from the record's")


class ClaimPage(Given):
    """A page of claims."""

    items: list[ClaimAnswer]
    next_cursor: NextCursor


class EventAnswer(Given):
    """One thing that happened. `details` never hold memory text."""

    id: int
    at: Instant
    action: str
    outcome: str
    actor_kind: str
    actor: str
    role: str
    session_id: UUID | None
    reason: str
    request_id: str
    count: int
    details: JsonObject


class EventPage(Given):
    """A page of events."""

    items: list[EventAnswer]
    next_cursor: NextCursor


class SessionAnswer(Given):
    """One session and what it wrote, by decision."""

    id: UUID
    partition: str
    session: str
    synthesised: bool = Field(description="The writer named none")
    agent: str
    extracted_by: str
    first_write_at: Instant
    last_write_at: Instant
    suspended_at: Instant | None
    suspended_by: str | None
    suspended_reason: str | None
    writes: int
    added: int
    reinforced: int
    updated: int
    contested: int
    echoed: int
    late: int
    fenced: int
    quarantined: int
    rejected: int


class SessionPage(Given):
    """A page of sessions, the last to write first."""

    items: list[SessionAnswer]
    next_cursor: NextCursor
