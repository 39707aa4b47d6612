"""Bulk operations as the API takes and gives them.

Owns the shapes. A ``respond`` key may not read memories, so that no shape here
carries memory text.
"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field

from audits.domain.operations import Kind, State
from audits.domain.scope import Shared
from records.domain.facts import Status
from records.schemas.base import Given, Instant, JsonObject, Reason, Sent, SentId
from records.schemas.history import NextCursor

NOTE_LIMIT = 2_000


class OperationStart(Sent):
    """What is to be evicted: all parts of ``scope`` hold at once."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"scope": {"agent": "support-bot"}, "shared": "drop"}]},
    )

    scope: JsonObject = Field(
        description="At least one of: `session_ids`, `source_id`, `agent`, `extracted_by`,"
        " `partition_id`, `since`, `until`, `subject`, `predicate`, `text`, `status`,"
        " `hold_reason`, `standing`, `tag`, `seen`, `found`, `record_ids`, `incident_id`"
    )
    shared: Annotated[Shared, Field(strict=False)] = Field(
        default=Shared.DROP,
        description="Facts that others assert, too: leave them, drop only these claims, evict them",
    )
    incident_id: SentId | None = None


class OperationSubmit(Sent):
    """Let a preview run, exactly as it was shown."""

    digest: str = Field(min_length=1, max_length=64, description="The `digest` of the preview")
    reason: Reason
    note: str = Field(default="", max_length=NOTE_LIMIT)
    incident_id: SentId | None = None
    typed_count: int | None = Field(
        default=None, description="The preview's `asked`, where `needs_count` is true"
    )


class OperationAnswer(Given):
    """One bulk operation, from its preview to its receipt."""

    id: UUID
    kind: Kind
    state: State
    title: str
    scope: JsonObject
    shared: Shared
    digest: str
    groups: dict[str, int] = Field(description="What becomes of the facts; adds up to `total`")
    total: int
    asked: int = Field(description="How many facts it is to change")
    displaced: int = Field(description="Good facts that would come back")
    needs_second: str | None = Field(description="Why a second person must agree")
    needs_count: bool
    reason: str
    note: str
    incident_id: UUID | None
    approval_id: UUID | None
    undoes: UUID | None
    requested_by: str
    created_at: Instant
    requested_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None
    done: int = Field(description="How many facts have been dealt with so far")
    changed: int
    restored: int
    dropped_claims: int
    restored_claims: int
    skipped: int
    failed: int
    receipt: JsonObject = Field(description="Residue, fences, reasons, events; after it ran")
    error: str
    undo_until: Instant | None


class OperationSummary(Given):
    """One line of the list of operations."""

    id: UUID
    kind: Kind
    state: State
    title: str
    total: int
    changed: int
    skipped: int
    failed: int
    requested_by: str
    approved_by: str | None
    requested_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None
    undo_until: Instant | None
    incident_id: UUID | None
    undoes: UUID | None


class OperationPage(Given):
    """A page of operations, the newest first."""

    items: list[OperationSummary]
    next_cursor: NextCursor


class TargetAnswer(Given):
    """One fact of an operation: how it was frozen, and what became of it."""

    id: UUID
    partition: str
    version: int
    group: str
    ticked: bool
    outcome: str
    why: str
    status: Status


class TargetPage(Given):
    """A page of an operation's facts, the newest first."""

    items: list[TargetAnswer]
    next_cursor: NextCursor
