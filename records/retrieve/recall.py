"""Recall itself: check, embed, score, log, answer.

Owns the transaction. The log is written before the answer is given and fails
the recall when it cannot be written: what was served is always known.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb
from psycopg.types.numeric import Int4

from records import embeddings, queries
from records.access import Access
from records.domain import canonical, ranking
from records.domain.ids import uuid7
from records.domain.terms import query_terms
from records.items import NotFound
from records.scope import partition_scope
from records.telemetry import counts, traces

from .request import TRUST, RecallAnswer, Recalled, RecallRequest, check
from .statement import PLANNER, TERM_COUNTS, Shape, Statement, build

MAX_SESSIONS_SHOWN = 10
NEVER_BY_COUNT = 1_000_000_000

LOG = """
WITH logged AS (
    INSERT INTO recall (id, at, workspace_id, partition_id, session_id, actor, query, parameters,
                        served_count, micros)
    SELECT %(id)s, %(at)s, %(workspace)s, p.id, %(session)s, %(actor)s, %(query)s, %(parameters)s,
           %(count)s, %(micros)s
    FROM partition p WHERE p.workspace_id = %(workspace)s AND p.id = %(partition)s
    RETURNING id)
INSERT INTO serve (recall_id, at, workspace_id, partition_id, session_id, record_id, rank, score,
                   current)
SELECT l.id, %(at)s, %(workspace)s, %(partition)s, %(session)s, s.record_id, s.rank, s.score,
       s.current
FROM logged l, unnest(%(records)s::uuid[], %(ranks)s::int2[], %(scores)s::float4[],
                      %(currents)s::bool[]) AS s (record_id, rank, score, current)"""
EXISTS = "SELECT 1 FROM partition WHERE workspace_id = %s AND id = %s"


def recall(request: RecallRequest, *, access: Access, now: datetime | None = None) -> RecallAnswer:
    """Return the memories of one partition that answer a query best, and log what was served.

    Opens its own scope, of that partition alone; the log is committed when this
    returns. BadRequest for a malformed request, NotFound for a partition that
    is unknown or out of reach.
    """
    return _answer(request, access=access, now=now, is_served=True)


def probe(request: RecallRequest, *, access: Access, now: datetime | None = None) -> RecallAnswer:
    """Return what ``recall`` would answer, for a check that serves it to nobody: nothing is logged."""
    return _answer(request, access=access, now=now, is_served=False)


def _answer(
    request: RecallRequest, *, access: Access, now: datetime | None, is_served: bool
) -> RecallAnswer:
    started = time.perf_counter()
    now = now or datetime.now(UTC)
    check(request, now=now)
    if not access.reaches(request.partition):
        raise NotFound
    partition_id = access.partition_id(request.partition)
    vectors, is_complete = embeddings.query_vectors(
        access.workspace_id, request.query, request.embedding
    )
    shape, parameters = _statement(request, vectors, now)
    parameters |= {"workspace": access.workspace_id, "partition": partition_id}
    recall_id = uuid7(now)
    with (
        traces.span("memory.recall", workspace=access.workspace_id, recall=recall_id) as span,
        partition_scope(access.workspace_id, [partition_id], settings=PLANNER),
    ):
        cursor = _preparing(queries.cursor())
        with traces.span("memory.recall.score"):
            scored = execute(cursor, build(shape), parameters)
        items = tuple(_item(row, request, now) for row in scored)
        if not items and not cursor.execute(EXISTS, [access.workspace_id, partition_id]).rowcount:
            raise NotFound
        if is_served:
            micros = int((time.perf_counter() - started) * 1_000_000)
            with traces.span("memory.recall.log"):
                _log(cursor, recall_id, request, items, access, partition_id, now, micros)
        span.note(served=len(items), complete=is_complete)
    if is_served:
        _count(items, time.perf_counter() - started, is_complete=is_complete)
    return RecallAnswer(recall_id, items, is_complete)


def _count(items: Sequence[Recalled], seconds: float, *, is_complete: bool) -> None:
    current = sum(one.current for one in items)
    counts.count_recall(
        seconds,
        current=current,
        stale=len(items) - current,
        expired=sum(ranking.EXPIRED in one.why_not_current for one in items),
        complete=is_complete,
    )


def _preparing(cursor: psycopg.Cursor[Any]) -> psycopg.Cursor[Any]:
    """Let this cursor's connection keep prepared statements, for those that ask for it only."""
    if cursor.connection.prepare_threshold is None:
        cursor.connection.prepare_threshold = NEVER_BY_COUNT
    return cursor


def execute(
    cursor: psycopg.Cursor[Any], statement: Statement, parameters: Mapping[str, Any]
) -> psycopg.Cursor[Any]:
    """Run a statement that ``build`` made, prepared, with parameters and rows in binary."""
    raw = psycopg.RawCursor(cursor.connection)
    values = [parameters[name] for name in statement.names]
    return raw.execute(statement.text, values, prepare=True, binary=True)


def _statement(
    request: RecallRequest, vectors: dict[embeddings.Model, Any], now: datetime
) -> tuple[Shape, dict[str, Any]]:
    """Return the statement's shape and the parameters that depend on the request."""
    # A question of a hundred words is told apart by its first thirty-two.
    terms = query_terms(request.query)[: TERM_COUNTS[-1]]
    room = TERM_COUNTS[bisect_left(TERM_COUNTS, len(terms))]
    at = request.valid_at or request.as_of or now
    parameters: dict[str, Any] = {
        "now": now,
        "at": at,
        "epoch": at.timestamp(),
        "top_k": request.top_k,
        "term_count": len(terms),
        "as_of": request.as_of,
        "valid_at": request.valid_at,
        "min_trust": TRUST[request.min_trust] if request.min_trust else 0,
        "min_score": request.min_score,
        "predicates": [canonical.predicate_key(one) for one in request.predicates],
    }
    filled = terms + terms[:1] * (room - len(terms))
    parameters |= {f"term{i}": Int4(term) for i, term in enumerate(filled)}
    parameters |= {f"vector{m.number}": HalfVector(vector) for m, vector in vectors.items()}
    shape = Shape(
        terms=room,
        models=tuple(sorted(model.number for model in vectors)),
        current_only=request.current_only,
        corroborated_only=request.corroborated_only,
        min_trust=request.min_trust is not None,
        min_score=request.min_score is not None,
        predicates=bool(request.predicates),
        as_of=request.as_of is not None,
        valid_at=request.valid_at is not None,
    )
    return shape, parameters


def _item(row: Sequence[Any], request: RecallRequest, now: datetime) -> Recalled:
    (
        *said,
        score,
        similarity,
        text,
        confidence,
        validity,
        age,
        corroboration,
        valid_from,
        valid_until,
        recheck_at,
        unlisted_at,
        extracted_by,
        first_seen,
        last_seen,
        seen_count,
        sessions,
        sources,
    ) = row
    record_id, content, subject, predicate, value = said
    asked = request.valid_at or request.as_of
    reasons = ranking.why_not_current(
        at=asked or now,
        valid_from=valid_from,
        valid_until=valid_until,
        is_recheck=recheck_at is not None and (asked is None or recheck_at <= asked),
        is_unlisted=unlisted_at is not None and (asked is None or unlisted_at <= asked),
    )
    return Recalled(
        id=record_id,
        content=content,
        subject=subject,
        predicate=predicate,
        value=value,
        score=score,
        factors={
            "similarity": similarity,
            "text": text,
            "confidence": round(confidence, 6),  # kept in four bytes: 0.8 is not 0.800000011920929
            "validity": validity,
            "age": age,
            "corroboration": corroboration,
        },
        current=not reasons,
        why_not_current=reasons,
        provenance={
            "sessions": list(dict.fromkeys(sessions or ()))[:MAX_SESSIONS_SHOWN],
            "sources": list(dict.fromkeys(sources or ())),
            "extracted_by": extracted_by,
            "first_seen": first_seen,
            "last_seen": last_seen,
            "seen_count": seen_count,
        },
    )


def _log(
    cursor: psycopg.Cursor[Any],
    recall_id: UUID,
    request: RecallRequest,
    items: Sequence[Recalled],
    access: Access,
    partition_id: UUID,
    now: datetime,
    micros: int,
) -> None:
    session_id = None
    if request.session is not None:
        # The session need not exist yet: a write will make it under this id.
        session_id = canonical.session_id(access.workspace_id, partition_id, request.session)
    cursor.execute(
        LOG,
        {
            "id": recall_id,
            "at": now,
            "workspace": access.workspace_id,
            "partition": partition_id,
            "session": session_id,
            "actor": str(access.actor),
            "query": request.query,
            "parameters": Jsonb(_logged(request)),
            "count": len(items),
            "micros": micros,
            "records": [item.id for item in items],
            "ranks": list(range(1, len(items) + 1)),
            "scores": [item.score for item in items],
            "currents": [item.current for item in items],
        },
        prepare=True,
    )


def _logged(request: RecallRequest) -> dict[str, Any]:
    """Return what was asked beside the query, without what was left at its default."""
    asked = {
        "top_k": request.top_k,
        "session": request.session,  # a reader that never writes has its name nowhere else
        "current_only": request.current_only or None,
        "corroborated_only": request.corroborated_only or None,
        "min_trust": request.min_trust,
        "min_score": request.min_score,
        "predicates": list(request.predicates) or None,
        "as_of": request.as_of and request.as_of.isoformat(),
        "valid_at": request.valid_at and request.valid_at.isoformat(),
        "embedding": len(request.embedding) if request.embedding is not None else None,
    }
    return {name: value for name, value in asked.items() if value is not None}
