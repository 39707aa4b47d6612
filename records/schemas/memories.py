"""Facts as they are written, and what the write path answers.

The request side documents what ``items.py`` and the write path check; a test
keeps the three together.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from records.domain.facts import Decision, Outcome, Status
from records.items import (
    BATCH_LIMIT,
    CONTENT_LIMIT,
    DEFAULT_CONFIDENCE,
    EVIDENCE_LIMIT,
    NAME_LIMIT,
    SOURCE_KEY_LIMIT,
    TAG_LIMIT,
    TAGS_LIMIT,
    VALUE_LIMIT,
)
from records.schemas.base import FieldFault, Given, Instant, JsonObject, Sent

EXAMPLE: JsonDict = {
    "partition": "user-42",
    "subject": "Ana Example",
    "predicate": "employer",
    "value": "Northwind",
    "content": "Ana works at Northwind.",
    "evidence": "User: I started at Northwind on Monday.",
    "confidence": 0.9,
    "session": "chat-2026-03-02",
    "agent": "assistant",
    "extracted_by": "model-x",
    "observed_at": "2026-03-02T09:30:00Z",
}


class Fact(Sent):
    """One fact. Text alone (`content`) is kept as a note about the partition.

    With `source` and `source_key` the fact is derived: `subject` and
    `predicate` then default to the key and the source.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    partition: str | None = Field(
        None,
        min_length=1,
        max_length=NAME_LIMIT,
        description="One end user or agent. May be left out by a key that is bound to one",
    )
    subject: str | None = Field(None, max_length=NAME_LIMIT)
    predicate: str | None = Field(None, max_length=NAME_LIMIT)
    value: str | None = Field(None, max_length=VALUE_LIMIT)
    content: str | None = Field(
        None, max_length=CONTENT_LIMIT, description="The sentence shown to the agent"
    )
    evidence: str | None = Field(
        None, max_length=EVIDENCE_LIMIT, description="What was said, word for word"
    )
    confidence: float | None = Field(
        None, ge=0, le=1, description=f"{DEFAULT_CONFIDENCE} when left out"
    )
    session: str | None = Field(
        None, max_length=NAME_LIMIT, description="The conversation; one is made when left out"
    )
    agent: str | None = Field(None, max_length=NAME_LIMIT)
    extracted_by: str | None = Field(None, max_length=NAME_LIMIT)
    written_at: Instant | None = Field(None, description="When the writer wrote it; now by default")
    observed_at: Instant | None = Field(None, description="When the writer saw it hold")
    valid_from: Instant | None = Field(None, description="Since when it is true in the world")
    valid_until: Instant | None = Field(None, description="Until when it is true in the world")
    source: str | None = Field(None, max_length=NAME_LIMIT)
    source_key: str | None = Field(
        None, max_length=SOURCE_KEY_LIMIT, description="Address within the source"
    )
    external_id: str | None = Field(None, max_length=NAME_LIMIT, description="The writer's own id")
    tags: list[str] | None = Field(
        None, max_length=TAGS_LIMIT, description=f"Each at most {TAG_LIMIT} characters"
    )
    metadata: JsonObject | None = Field(None, description="At most 8 KB of JSON")
    embedding: list[float] | None = Field(
        None, description="The caller's own vector, at most 4,096 numbers"
    )


class Facts(Sent):
    """Up to 1,000 facts in one request of at most 8 MB."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [EXAMPLE]}]})

    items: list[Fact] = Field(max_length=BATCH_LIMIT)


class GateFinding(Given):
    """One reason the gate gives."""

    rule: str
    outcome: Outcome
    severity: str
    field: str
    view: str = Field(description="The reading of the text in which the rule matched")
    span: tuple[int, int] | None = Field(description="Characters [start, end) of the field's text")
    matched: str
    reason: str


class WriteAnswer(Given):
    """What was done with one fact.

    `findings` and `hold_reason` are given only to keys that also have the
    scope `read`; others get an empty list and an empty text.
    """

    id: UUID | None = Field(description="null only when fenced: nothing was kept")
    fingerprint: str
    decision: Decision
    status: Status
    verdict: Outcome
    hold_reason: str
    superseded: list[UUID]
    seen_count: int
    findings: list[GateFinding]


class ItemFault(Given):
    """Why one item of a batch was not understood."""

    code: str
    message: str
    fields: list[FieldFault]


class ItemRefused(Given):
    """One malformed item of a batch; nothing of it was kept."""

    error: ItemFault


class Counts(Given):
    """How many items ended how."""

    added: int
    reinforced: int
    updated: int
    contested: int
    echoed: int
    late: int
    fenced: int
    quarantined: int
    rejected: int
    invalid: int


class BatchAnswer(Given):
    """One result per item, in the order of the request."""

    results: list[WriteAnswer | ItemRefused]
    counts: Counts


def parts(one: Any) -> JsonObject:
    """Return a finding as the API shows it, whatever else the gate noted."""
    return {name: one.get(name) for name in GateFinding.model_fields}
