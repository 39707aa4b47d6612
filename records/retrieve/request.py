"""What may be asked of recall, and what it answers.

Owns the shapes and their limits; a bad request is refused with all its errors.
No query here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from records.domain import canonical
from records.domain.facts import Tier
from records.items import CLOCK_SKEW_SECONDS, CONTENT_LIMIT, NAME_LIMIT, BadRequest, FieldError

TOP_K_LIMIT = 100
PREDICATES_LIMIT = 50
TRUST = {str(Tier.UNTRUSTED): 0, str(Tier.STANDARD): 1, str(Tier.TRUSTED): 2}


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question to one partition's memories.

    ``current_only``, ``corroborated_only`` (two independent claimants or more),
    ``min_trust``, ``min_score`` and ``predicates`` leave facts out before the
    best ``top_k`` are taken. ``as_of`` asks what the store believed then,
    ``valid_at`` what was true in the world then; both aware, neither in the
    future. ``embedding`` is the question in the caller's own model.
    """

    partition: str
    query: str
    top_k: int = 10
    session: str | None = None
    current_only: bool = False
    corroborated_only: bool = False
    min_trust: str | None = None
    min_score: float | None = None
    predicates: Sequence[str] = ()
    as_of: datetime | None = None
    valid_at: datetime | None = None
    embedding: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory in an answer, with what its score is made of and where it is from.

    ``provenance`` has ``sessions`` and ``sources`` (names, latest first),
    ``extracted_by``, ``first_seen``, ``last_seen`` and ``seen_count``.
    """

    id: UUID
    content: str
    subject: str
    predicate: str
    value: str
    score: float
    factors: Mapping[str, float]
    current: bool
    why_not_current: tuple[str, ...]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """The memories found, best first, under the id by which feedback names the recall.

    ``is_complete`` is False when an embedding model could not be asked, so that
    some or all memories were compared by their words only.
    """

    recall_id: UUID
    items: tuple[Recalled, ...]
    is_complete: bool = True


def check(request: RecallRequest, *, now: datetime) -> None:
    """Refuse a malformed request with every error it has."""
    errors = tuple(_errors(request, now))
    if errors:
        raise BadRequest(*errors)


def _errors(request: RecallRequest, now: datetime) -> Iterator[FieldError]:
    yield from _text("partition", request.partition, NAME_LIMIT)
    yield from _text("query", request.query, CONTENT_LIMIT)
    if request.session is not None:
        yield from _text("session", request.session, NAME_LIMIT)
    if not 1 <= request.top_k <= TOP_K_LIMIT:
        yield FieldError("top_k", f"must be from 1 to {TOP_K_LIMIT}", "range", TOP_K_LIMIT)
    if request.min_trust is not None and request.min_trust not in TRUST:
        yield FieldError("min_trust", f"must be one of {', '.join(TRUST)}", "choice")
    if request.min_score is not None and not (
        math.isfinite(request.min_score) and request.min_score >= 0
    ):
        yield FieldError("min_score", "must be a finite number from 0", "range", 0)
    if len(request.predicates) > PREDICATES_LIMIT:
        yield FieldError(
            "predicates", f"may name at most {PREDICATES_LIMIT}", "length", PREDICATES_LIMIT
        )
    for predicate in request.predicates[:PREDICATES_LIMIT]:
        yield from _text("predicates", predicate, NAME_LIMIT)
    yield from _instant("as_of", request.as_of, now)
    yield from _instant("valid_at", request.valid_at, now)


def _text(field: str, text: str, limit: int) -> Iterator[FieldError]:
    if len(text) > limit:
        yield FieldError(field, f"may have at most {limit} characters", "length", limit)
    elif "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        yield FieldError(field, "must be text without NUL and lone surrogates", "encoding")
    elif not canonical.clean(text)[0].strip():
        yield FieldError(field, "must not be blank", "blank")


def _instant(field: str, instant: datetime | None, now: datetime) -> Iterator[FieldError]:
    if instant is None:
        return
    if instant.utcoffset() is None:
        yield FieldError(field, "must say its time zone", "naive")
    elif instant > now + timedelta(seconds=CLOCK_SKEW_SECONDS):
        yield FieldError(field, "must not be in the future", "future", CLOCK_SKEW_SECONDS)
