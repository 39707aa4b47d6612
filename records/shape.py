"""Shape rules, field by field: whether this is a well-formed write.

Owns limits and the defaults that DESIGN's short forms imply (text alone,
derived without subject). Answers every broken field at once, with its limit;
changes nothing and reads no database. ``write.py`` calls it first.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from records.domain import canonical
from records.embeddings import CALLER_LIMIT
from records.items import (
    CLOCK_SKEW_SECONDS,
    CONTENT_LIMIT,
    DEFAULT_CONFIDENCE,
    EVIDENCE_LIMIT,
    METADATA_LIMIT,
    NAME_LIMIT,
    NOTE,
    SOURCE_KEY_LIMIT,
    TAG_LIMIT,
    TAGS_LIMIT,
    VALUE_LIMIT,
    FieldError,
    WriteItem,
)

LARGEST = sys.float_info.max
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
LEAST_CONFIDENCE = 1e-30


class Shaped(NamedTuple):
    """A well-formed write with every short form written out; times are UTC.

    A tuple, as everything that is made once for every fact: a frozen dataclass sets its
    fields one by one.
    """

    partition: str
    subject: str
    predicate: str
    value: str
    content: str
    is_rendered: bool  # the content was made from the triple
    evidence: str
    confidence: float
    session: str | None
    agent: str
    extracted_by: str
    written_at: datetime
    observed_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    source: str | None
    source_key: str | None
    external_id: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    embedding: Sequence[float] | None

    @property
    def is_derived(self) -> bool:
        """Whether the fact was read from a source's address."""
        return self.source_key is not None

    @property
    def seen_at(self) -> datetime:
        """When the writer saw it hold."""
        return self.observed_at or self.written_at

    @property
    def order_at(self) -> datetime:
        """The instant that places the fact in its slot's time.

        What had ended before it was seen belongs no later than its end.
        """
        if self.valid_from is not None:
            return self.valid_from
        return min(self.seen_at, self.valid_until or self.seen_at)


class _Checker:
    """Collects what is wrong, so that a writer mends everything in one go."""

    def __init__(self, now: datetime) -> None:
        self.errors: list[FieldError] = []
        self.latest = now + timedelta(seconds=CLOCK_SKEW_SECONDS)

    def fail(
        self, name: str, message: str, *, code: str = "invalid", limit: float | None = None
    ) -> None:
        self.errors.append(FieldError(name, message, code, limit))

    def text(self, name: str, text: Any, *, limit: int, required: bool = False) -> str:
        """Return the text in NFC and trimmed; complain about what cannot be kept."""
        if text is None or text == "":
            if required:
                self.fail(name, "is required", code="required")
            return ""
        if not isinstance(text, str):
            self.fail(name, "must be a string", code="type")
            return ""
        kept: str = text
        if not kept.isascii():
            if any("\ud800" <= char <= "\udfff" for char in kept):
                self.fail(name, "contains an unpaired surrogate", code="characters")
                return ""
            kept = unicodedata.normalize("NFC", kept)
        if "\x00" in kept:
            self.fail(name, "contains a NUL character", code="characters")
            return ""
        kept = kept.strip()
        if required and not (kept and any(char.isprintable() and char != " " for char in kept)):
            self.fail(name, "must not be blank", code="required")
        if len(kept) > limit:
            self.fail(
                name,
                f"is {len(kept):,} characters long; at most {limit:,} are kept",
                code="too_long",
                limit=limit,
            )
        return kept

    def instant(self, name: str, value: Any, *, may_be_ahead: bool = False) -> datetime | None:
        """Return an aware instant in UTC, or complain."""
        if value is None:
            return None
        if not isinstance(value, datetime):
            self.fail(name, "must be an ISO 8601 date and time with an offset", code="type")
            return None
        if value.tzinfo is None or value.utcoffset() is None:
            self.fail(name, "has no time zone; add an offset such as Z or +01:00", code="naive")
            return None
        if not EARLIEST <= value <= LATEST:
            first, last = EARLIEST.date(), LATEST.date()
            self.fail(name, f"must lie between {first} and {last}", code="range")
            return None
        instant: datetime = value.astimezone(UTC)
        if not may_be_ahead and instant > self.latest:
            self.fail(
                name,
                f"is more than {CLOCK_SKEW_SECONDS // 60} minutes ahead of the server's clock",
                code="future",
                limit=CLOCK_SKEW_SECONDS,
            )
            return None
        return instant

    def confidence(self, value: Any) -> float:
        if value is None:
            return DEFAULT_CONFIDENCE
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail("confidence", "must be a number from 0 to 1", code="type")
            return DEFAULT_CONFIDENCE
        if not 0 <= value <= 1:  # false for NaN, too
            self.fail("confidence", "must be a number from 0 to 1", code="range", limit=1)
            return DEFAULT_CONFIDENCE
        # Kept in four bytes, which refuse what is too near to zero for them.
        return float(value) if value >= LEAST_CONFIDENCE else 0.0

    def tags(self, value: Any) -> tuple[str, ...]:
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.fail("tags", "must be a list of strings", code="type")
            return ()
        if len(value) > TAGS_LIMIT:
            self.fail("tags", f"has {len(value)} entries; at most {TAGS_LIMIT}", limit=TAGS_LIMIT)
            return ()
        found = [self.text(f"tags[{i}]", tag, limit=TAG_LIMIT) for i, tag in enumerate(value)]
        return tuple(dict.fromkeys(tag for tag in found if tag))

    def metadata(self, value: Any) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.fail("metadata", "must be an object", code="type")
            return {}
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            size = len(text.encode())
        except (TypeError, ValueError, RecursionError):
            self.fail("metadata", "must be plain JSON: no NaN, no unpaired surrogates")
            return {}
        if "\\u0000" in text:
            self.fail("metadata", "contains a NUL character", code="characters")
            return {}
        if size > METADATA_LIMIT:
            self.fail(
                "metadata",
                f"is {size:,} bytes of JSON; at most {METADATA_LIMIT:,}",
                code="too_long",
                limit=METADATA_LIMIT,
            )
            return {}
        return value

    def embedding(self, value: Any) -> Sequence[float] | None:
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            self.fail("embedding", "must be a list of numbers", code="type")
            return None
        if len(value) > CALLER_LIMIT:
            self.fail(
                "embedding",
                f"has {len(value):,} dimensions; at most {CALLER_LIMIT:,}",
                code="too_long",
                limit=CALLER_LIMIT,
            )
            return None
        for number in value:
            if isinstance(number, bool) or not isinstance(number, int | float):
                self.fail("embedding", "must be a list of numbers", code="type")
                return None
            # Compared and not converted: an integer may be too large for a float.
            if not -LARGEST <= number <= LARGEST:
                self.fail("embedding", "holds a number that is not finite")
                return None
        if not any(abs(number) > 1e-7 for number in value):
            self.fail("embedding", "is all zeros: it has no direction")
            return None
        return value


def shape(item: WriteItem, *, now: datetime) -> Shaped | tuple[FieldError, ...]:
    """Return the write with its short forms written out, or everything wrong with it."""
    check = _Checker(now)
    partition = check.text("partition", item.partition, limit=NAME_LIMIT, required=True)
    subject = check.text("subject", item.subject, limit=NAME_LIMIT)
    predicate = check.text("predicate", item.predicate, limit=NAME_LIMIT)
    content = check.text("content", item.content, limit=CONTENT_LIMIT)
    is_note = item.subject is None and item.predicate is None and item.source_key is None
    value = check.text("value", item.value, limit=VALUE_LIMIT)
    source = check.text("source", item.source, limit=NAME_LIMIT) or None
    source_key = check.text("source_key", item.source_key, limit=SOURCE_KEY_LIMIT) or None
    if source_key and not source:
        check.fail("source", "is required with source_key", code="required")
    if is_note:
        if item.value is not None and not content:
            check.fail("subject", "is required with value", code="required")
        elif not content:
            check.fail(
                "content", "is required: give it, or subject, predicate and value", code="required"
            )
        subject, predicate, value = partition, NOTE, content
    else:
        if source_key and source:
            if item.subject is None:
                subject = source_key[:NAME_LIMIT]
            if item.predicate is None:
                predicate = source
        for name, text in (("subject", subject), ("predicate", predicate)):
            if not _says_something(text) and not any(e.field == name for e in check.errors):
                check.fail(name, "must not be blank", code="required")
        if not value and len(content) <= VALUE_LIMIT:
            value = content
        if not _says_something(value) and not any(e.field == "value" for e in check.errors):
            check.fail("value", "must not be blank", code="required")
    written_at = check.instant("written_at", item.written_at)
    observed_at = check.instant("observed_at", item.observed_at)
    valid_from = check.instant("valid_from", item.valid_from)
    valid_until = check.instant("valid_until", item.valid_until, may_be_ahead=True)
    if valid_from and valid_until and valid_until <= valid_from:
        check.fail("valid_until", "must be after valid_from", code="range")
    shaped = Shaped(
        partition=partition,
        subject=subject,
        predicate=predicate,
        value=value,
        content=content or render(subject, predicate, value),
        is_rendered=not content,
        evidence=check.text("evidence", item.evidence, limit=EVIDENCE_LIMIT),
        confidence=check.confidence(item.confidence),
        session=check.text("session", item.session, limit=NAME_LIMIT) or None,
        agent=check.text("agent", item.agent, limit=NAME_LIMIT),
        extracted_by=check.text("extracted_by", item.extracted_by, limit=NAME_LIMIT),
        written_at=written_at or now,
        observed_at=observed_at,
        valid_from=valid_from,
        valid_until=valid_until,
        source=source,
        source_key=source_key,
        external_id=check.text("external_id", item.external_id, limit=NAME_LIMIT) or None,
        tags=check.tags(item.tags),
        metadata=check.metadata(item.metadata),
        embedding=check.embedding(item.embedding),
    )
    return tuple(check.errors) if check.errors else shaped


def render(subject: str, predicate: str, value: str) -> str:
    """Return the sentence shown to an agent when the writer gave none."""
    return f"{subject} {predicate.replace('_', ' ')}: {value}"


def _says_something(text: str) -> bool:
    """Whether a text has a visible character: blanks, fillers and invisible ones say nothing."""
    if text.isascii():
        return "!" <= text[:1] <= "~" or any("!" <= char <= "~" for char in text)
    return bool(canonical.identifier(text)) and any(
        unicodedata.category(char) not in ("Cf", "Zs", "Cc", "Mn") for char in text
    )
