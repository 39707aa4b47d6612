"""What goes into the write path and what comes out, before and after every rule.

Value objects shared by ``write.py`` and the doors. Shape limits live here as
numbers, so that API, importers and documentation say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

NAME_LIMIT = 200  # partition, subject, predicate, session, source, agent ... in characters
VALUE_LIMIT = 2_000
CONTENT_LIMIT = 4_000
EVIDENCE_LIMIT = 2_000
SOURCE_KEY_LIMIT = 400
TAG_LIMIT = 64
TAGS_LIMIT = 32
METADATA_LIMIT = 8 * 1024  # bytes of JSON
BATCH_LIMIT = 1_000
BODY_LIMIT = 8 * 1024 * 1024  # bytes
CLOCK_SKEW_SECONDS = 300
DEFAULT_CONFIDENCE = 0.8
NOTE = "note"  # the predicate of a memory that is text alone


@dataclass(frozen=True, slots=True)
class WriteItem:
    """One fact as a writer sends it.

    ``subject`` and ``predicate`` may be missing: with ``source`` and
    ``source_key`` they become the key and the source; with ``content`` alone
    the partition and ``note``. ``value`` may be missing when there is content.
    Times are aware; ``embedding`` is the caller's own vector.
    """

    partition: str
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    content: str | None = None
    evidence: str = ""
    confidence: float | None = None
    session: str | None = None
    agent: str = ""
    extracted_by: str = ""
    written_at: datetime | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source: str | None = None
    source_key: str | None = None
    external_id: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    embedding: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of one item: the field, the problem, the limit."""

    field: str
    message: str
    code: str = "invalid"
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that is malformed; nothing of it was stored."""

    errors: tuple[FieldError, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What the write path did with one item.

    ``id`` is ``None`` only for a fenced write, which leaves no record.
    ``findings`` are the gate's, as JSON; a door may withhold their spans.
    """

    id: UUID | None
    fingerprint: str
    decision: str
    status: str
    verdict: str
    superseded: tuple[UUID, ...] = ()
    seen_count: int = 0
    findings: tuple[Mapping[str, Any], ...] = ()
    hold_reason: str = ""


class BadRequest(Exception):
    """The request as a whole is malformed; carries the field errors."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{e.field}: {e.message}" for e in errors))
        self.errors = errors


class NotFound(Exception):
    """No such thing within this access's reach: unknown and foreign are the same."""


class Conflict(Exception):
    """The thing has changed since it was read, or is in a state that forbids the act."""
