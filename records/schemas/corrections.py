"""Corrections and retractions of one fact, and what an act answers."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from records.items import CONTENT_LIMIT, EVIDENCE_LIMIT, NAME_LIMIT, VALUE_LIMIT
from records.schemas.base import REASON_LIMIT, Given, Reason, Sent
from records.schemas.memories import WriteAnswer


class CorrectionAsked(Sent):
    """What the fact should have said."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"value": "Contoso", "reason": "misheard"}]}
    )

    value: str = Field(min_length=1, max_length=VALUE_LIMIT)
    content: str | None = Field(None, max_length=CONTENT_LIMIT)
    session: str | None = Field(None, max_length=NAME_LIMIT)
    evidence: str = Field("", max_length=EVIDENCE_LIMIT)
    confidence: float | None = Field(None, ge=0, le=1)
    reason: str = Field("", max_length=REASON_LIMIT)


class RetractionAsked(Sent):
    """Why the fact is wrong; `version` refuses the act when the fact has changed since."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "never true"}]})

    reason: Reason
    version: int | None = Field(None, ge=1)


class ActAnswer(Given):
    """What an act did. Nothing changed is said, not hidden behind success."""

    matched: int
    changed: int
    skipped: int
    why: str = Field(description="Why something was skipped; empty when nothing was")


class CorrectionAnswer(ActAnswer):
    """What became of the old fact (`matched`, `changed`) and of the new one (`result`)."""

    result: WriteAnswer
