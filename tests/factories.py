"""Rows as tests need them, inserted by SQL with sensible defaults.

For tests of reading and of the schema, which must not depend on the write
path; tests of the write path write through it. Everything is committed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.db import connections
from pgvector import HalfVector

from records import embeddings, queries
from records.access import Access, Actor, ActorKind
from records.domain import canonical
from records.domain.facts import Policy
from records.domain.ids import uuid7
from records.domain.terms import MAX_INDEXED_TERMS, terms
from records.embeddings.model import unit
from records.scope import workspace_scope

CONVERSATION = "conversation"


def make_workspace(name: str = "", *, models: bool = True) -> Access:
    """Make a workspace with its default embedding model; return an access to all of it."""
    workspace_id = uuid4()
    name = name or f"w-{workspace_id}"
    with workspace_scope(workspace_id):
        _insert("workspace", {"id": workspace_id, "name": name, "settings": "{}"})
        if models:
            embeddings.register_defaults(workspace_id)
    return Access(workspace_id, Actor(ActorKind.KEY, "test"), workspace=name, request_id="test")


def make_partition(access: Access, name: str = "alice") -> UUID:
    """Make a partition unless it is there; return its id."""
    found = access.partition_id(name)
    with workspace_scope(access.workspace_id):
        _insert(
            "partition",
            {"id": found, "workspace_id": access.workspace_id, "name": name},
            "ON CONFLICT DO NOTHING",
        )
    return found


def make_source(access: Access, name: str = CONVERSATION, *, tier: str = "standard") -> UUID:
    """Make a source unless it is there; return its id."""
    with workspace_scope(access.workspace_id):
        found = _one(
            "SELECT id FROM source WHERE workspace_id = %s AND name = %s",
            [access.workspace_id, name],
        )
        if found is None:
            found = uuid4()
            _insert(
                "source",
                {"id": found, "workspace_id": access.workspace_id, "name": name, "tier": tier},
            )
    return UUID(str(found))


def make_session(access: Access, partition: str = "alice", external_id: str = "s1") -> UUID:
    """Make a session unless it is there; return its id."""
    partition_id = make_partition(access, partition)
    found = canonical.session_id(access.workspace_id, partition_id, external_id)
    with workspace_scope(access.workspace_id):
        _insert(
            "session",
            {
                "id": found,
                "workspace_id": access.workspace_id,
                "partition_id": partition_id,
                "external_id": external_id,
            },
            "ON CONFLICT DO NOTHING",
        )
    return found


def make_record(
    access: Access,
    value: str = "Acme",
    *,
    partition: str = "alice",
    subject: str = "Alice",
    predicate: str = "employer",
    content: str | None = None,
    session: str = "s1",
    source: str = CONVERSATION,
    derived: bool = False,
    embed: bool = True,
    claim: bool = True,
    seen: datetime | None = None,
    **columns: Any,
) -> UUID:
    """Insert one record with its claim; ``columns`` override any column of its row.

    ``seen`` is when it was written, observed, recorded and last seen.
    """
    now = seen or datetime.now(UTC) - timedelta(minutes=1)
    partition_id = make_partition(access, partition)
    session_id = make_session(access, partition, session)
    source_id = make_source(access, source)
    content = f"{subject} {predicate}: {value}" if content is None else content
    text = embeddings.embedding_text(subject, predicate, value, content)
    found = terms(text)
    row: dict[str, Any] = {
        "id": uuid7(now),
        "workspace_id": access.workspace_id,
        "partition_id": partition_id,
        "slot_id": uuid4(),
        "fingerprint": _fingerprint(subject, predicate, value),
        "subject": subject,
        "subject_key": canonical.identifier(subject),
        "predicate": predicate,
        "value": value,
        "content": content,
        "status": "active",
        "cardinality": "many",
        "derived": derived,
        "source_key": "key" if derived else None,
        "source_id": source_id,
        "session_id": session_id,
        "tags": [],
        "labels": [],
        "metadata": "{}",
        "confidence": 0.8,
        "stated_confidence": 0.8,
        "written_at": now,
        "order_at": columns.get("valid_from") or now,
        "recorded_at": now,
        "last_seen": now,
        "status_at": now,
        "terms": list(found[:MAX_INDEXED_TERMS]),
        "more_terms": list(found[MAX_INDEXED_TERMS:]) or None,
        "findings": "[]",
        **columns,
    }
    if row["status"] in ("quarantined",):
        row.setdefault("hold_reason", "gate")
    if row["status"] == "superseded" and "superseded_by" not in row:
        raise ValueError("a superseded record needs superseded_by")
    row.setdefault("believed", _believed(row))
    if embed and row["status"] != "erased" and "embedding" not in row:
        made = embeddings.embed([text], workspace_id=access.workspace_id)
        row["embedding"] = HalfVector(made.vectors[0])
        row["embedding_model"] = made.model.number
    with workspace_scope(access.workspace_id):
        _insert("memory_record", row)
    if claim:
        make_claim(
            access,
            row["id"],
            session=session,
            source=source,
            partition=partition,
            derived=derived,
            at=now,
            confidence=row["stated_confidence"],
        )
    return UUID(str(row["id"]))


def make_claim(
    access: Access,
    record_id: UUID,
    *,
    session: str = "s1",
    source: str = CONVERSATION,
    partition: str = "alice",
    derived: bool = False,
    state: str = "live",
    at: datetime | None = None,
    confidence: float = 0.8,
) -> None:
    """Insert one claim on a record."""
    at = at or datetime.now(UTC) - timedelta(minutes=1)
    row = {
        "record_id": record_id,
        "session_id": make_session(access, partition, session),
        "source_id": make_source(access, source),
        "workspace_id": access.workspace_id,
        "partition_id": make_partition(access, partition),
        "derived": derived,
        "state": state,
        "first_at": at,
        "last_at": at,
        "confidence": confidence,
    }
    with workspace_scope(access.workspace_id):
        _insert("claim", row)


def make_tally(
    access: Access, record_id: UUID, *, partition: str = "alice", **columns: Any
) -> None:
    """Insert a record's counters."""
    now = datetime.now(UTC)
    row = {
        "record_id": record_id,
        "workspace_id": access.workspace_id,
        "partition_id": make_partition(access, partition),
        "seen_count": 2,
        "first_seen": now,
        "last_seen": now,
        "sessions": 1,
        "sources": 1,
        **columns,
    }
    with workspace_scope(access.workspace_id):
        _insert("tally", row)


def change(access: Access, table: str, id_column: str, row_id: UUID, **columns: Any) -> None:
    """Update one row."""
    parts = ", ".join(f"{name} = %s" for name in columns)
    with workspace_scope(access.workspace_id):
        cursor = queries.cursor()
        cursor.execute(
            f"UPDATE {table} SET {parts} WHERE {id_column} = %s",
            [*columns.values(), row_id],
        )
        assert cursor.rowcount == 1


def suspend_session(access: Access, external_id: str, *, partition: str = "alice") -> None:
    """Contain a session."""
    row_id = make_session(access, partition, external_id)
    change(access, "session", "id", row_id, suspended_at=datetime.now(UTC), suspended_by="test")


def suspend_source(access: Access, name: str) -> None:
    """Contain a source."""
    row_id = make_source(access, name)
    change(access, "source", "id", row_id, suspended_at=datetime.now(UTC), suspended_by="test")


def select(access: Access, statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    """Read rows of a whole workspace."""
    with workspace_scope(access.workspace_id):
        cursor = queries.cursor()
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def _believed(row: dict[str, Any]) -> str:
    """Return when the store believed the record, as its trigger would have kept it."""
    recorded = row["recorded_at"].isoformat()
    if row["status"] == "active":
        return f"{{[{recorded},)}}"
    if row["status"] == "superseded":
        until = (row.get("superseded_at") or row["status_at"]).isoformat()
        return f"{{[{recorded},{until})}}" if until > recorded else "{}"
    return "{}"


def _fingerprint(subject: str, predicate: str, value: str) -> str:
    policy = Policy(predicate)
    return canonical.fingerprint(
        canonical.identifier(subject),
        canonical.predicate_key(predicate),
        canonical.value_key(value, policy),
    )


def _insert(table: str, row: dict[str, Any], tail: str = "") -> None:
    names = ", ".join(row)
    values = ", ".join(["%s"] * len(row))
    queries.cursor().execute(
        f"INSERT INTO {table} ({names}) VALUES ({values}) {tail}",
        list(row.values()),
    )


def _one(statement: str, parameters: list[Any]) -> Any:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return row[0] if row else None


def make_policy(access: Access, predicate: str, *, aliases: list[str]) -> None:
    """Insert a predicate's live policy."""
    row = {
        "id": uuid4(),
        "workspace_id": access.workspace_id,
        "predicate": predicate,
        "version": 1,
        "aliases": aliases,
        "cardinality": "many",
        "normaliser": "text",
        "validators": "[]",
        "immutable": False,
        "protected": False,
        "sensitive": False,
        "needs_review": False,
        "time_series": False,
        "keyed": False,
        "dependents": [],
        "description": "",
        "region": "US",
        "created_by": "test",
        "reason": "",
    }
    with workspace_scope(access.workspace_id):
        _insert("predicate_policy", row)


def vector(numbers: list[float]) -> HalfVector:
    """Return a caller's vector as it is stored."""
    return HalfVector(unit(np.array([numbers]))[0])


def caller_number(access: Access, dimensions: int) -> int:
    """Return the number of the caller's model of that many dimensions."""
    return embeddings.caller_model(access.workspace_id, dimensions).number


def make_many(
    access: Access, count: int, word: str, partition_id: UUID, source_id: UUID, session_id: UUID
) -> None:
    """Insert that many records of one session, with their claims and without vectors."""
    scope = [access.workspace_id, partition_id, source_id, session_id]
    with workspace_scope(access.workspace_id):
        cursor = queries.cursor()
        cursor.execute(
            """INSERT INTO memory_record (id, workspace_id, partition_id, source_id, session_id,
                   slot_id, fingerprint, subject, subject_key, predicate, value, content,
                   cardinality, tags, labels, metadata, confidence, stated_confidence, written_at,
                   order_at, recorded_at, last_seen, status_at, believed, terms, findings)
               SELECT gen_random_uuid(), %s, %s, %s, %s, gen_random_uuid(),
                   'fp_' || left(md5(n || %s) || md5(n || %s), 24), 'Alice', 'alice', 'employer',
                   %s || ' ' || n, '', 'many', '{}', '{}', '{}', 0.8, 0.8, now(), now(), now(),
                   now(), now(), tstzmultirange(tstzrange(now(), NULL)), %s::int[], '[]'
               FROM generate_series(1, %s) n""",
            [*scope, word, word, word, list(terms(f"employer {word}")), count],
        )
        cursor.execute(
            """INSERT INTO claim (record_id, session_id, source_id, workspace_id, partition_id,
                   first_at, last_at, count, confidence, evidence, wording)
               SELECT id, session_id, source_id, workspace_id, partition_id, now(), now(), 1, 0.8,
                   '', ''
               FROM memory_record WHERE session_id = %s""",
            [session_id],
        )
