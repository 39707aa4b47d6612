"""Recall: the question, the answer with every factor, and feedback on it."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from records.domain.facts import Status
from records.feedback import Word
from records.items import CONTENT_LIMIT, NAME_LIMIT
from records.retrieve.request import PREDICATES_LIMIT, TOP_K_LIMIT
from records.schemas.base import Given, Instant, PartitionName, Sent, SentId, SentInstant
from records.schemas.corrections import ActAnswer


class Question(Sent):
    """What an agent wants to know of one partition."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "partition": "user-42",
                    "query": "Where does Ana work?",
                    "top_k": 5,
                    "session": "chat-2026-03-03",
                    "current_only": True,
                }
            ]
        }
    )

    partition: PartitionName | None = Field(
        None, description="May be left out by a key that is bound to one"
    )
    query: str = Field(min_length=1, max_length=CONTENT_LIMIT)
    top_k: int = Field(10, ge=1, le=TOP_K_LIMIT)
    session: str | None = Field(
        None,
        max_length=NAME_LIMIT,
        description="Where the answer goes; logged, so that its echo is known when it comes back",
    )
    current_only: bool = Field(False, description="Leave out what no longer holds")
    corroborated_only: bool = Field(
        False, description="Leave out what fewer than two independent claimants assert"
    )
    min_trust: Literal["untrusted", "standard", "trusted"] | None = None
    min_score: float | None = Field(None, ge=0)
    predicates: list[str] = Field([], max_length=PREDICATES_LIMIT)
    as_of: SentInstant | None = Field(
        None, description="What was believed then, minus what is withheld now"
    )
    valid_at: SentInstant | None = Field(None, description="What was true in the world then")
    embedding: list[float] | None = Field(None, description="The question in the caller's model")


class FactorsAnswer(Given):
    """What the score is made of."""

    similarity: float
    text: float
    confidence: float
    validity: float
    age: float
    corroboration: float


class ProvenanceAnswer(Given):
    """Where a memory is from."""

    sessions: list[str]
    sources: list[str]
    extracted_by: str
    first_seen: Instant
    last_seen: Instant
    seen_count: int


class RecalledAnswer(Given):
    """One memory, with the factors of its score and where it is from."""

    id: UUID
    content: str
    subject: str
    predicate: str
    value: str
    score: float
    factors: FactorsAnswer
    current: bool
    why_not_current: list[str]
    provenance: ProvenanceAnswer


class RecallGiven(Given):
    """The memories found, best first.

    `complete` is false when an embedding model could not be asked: the
    memories were then compared by their words only.
    """

    recall_id: UUID
    complete: bool
    items: list[RecalledAnswer]


class FeedbackGiven(Sent):
    """What came of a memory that a recall served."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"memory_id": "01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f", "verdict": "confirmed"}
            ]
        }
    )

    memory_id: SentId
    verdict: Annotated[Word, Field(strict=False)]
    session: str | None = Field(
        None,
        min_length=1,
        max_length=NAME_LIMIT,
        description="Who speaks, where the recall named no session",
    )


class FeedbackAnswer(ActAnswer):
    """Whether the word counts, and where the memory stands after it.

    A session speaks once about a memory and not for what it wrote itself.
    """

    memory_id: UUID
    verdict: Word
    confirmed: int
    wrong: int
    stale: int
    status: Status
    confidence: float
    recheck: bool
