"""Lists for people and tools: facts and sessions by filter, in keyset pages.

Owns reading for the ``read`` scope. Must never serve an agent's recall: a list
shows what is held or past when asked to. What one record's trail holds is
``history.py``'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.errors import QueryCanceled
from psycopg.rows import dict_row

from records.access import Access
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain import canonical
from records.domain.facts import Status
from records.domain.ranking import why_not_current
from records.items import BadRequest, FieldError, NotFound
from records.policies import book
from records.queries import cursor as fast_cursor
from records.scope import partition_scope, workspace_scope

PATIENCE = "10s"  # a search through a whole workspace gives up instead of holding a connection
TIERS = ("untrusted", "standard", "trusted")

RECORD = """SELECT r.id, p.name AS partition, r.fingerprint, r.subject, r.predicate, r.value,
    r.content, r.status, r.hold_reason, r.confidence, r.stated_confidence, r.trust,
    r.corroboration, r.cardinality, r.negated, r.derived, so.name AS source, r.source_key,
    r.session_id, se.external_id AS session, se.agent, r.extracted_by, r.external_id, r.tags,
    r.labels, r.metadata, r.written_at, r.observed_at, r.valid_from, r.valid_until, r.recorded_at,
    coalesce(t.first_seen, r.recorded_at) AS first_seen,
    greatest(t.last_seen, r.last_seen) AS last_seen, coalesce(t.seen_count, 1) AS seen_count,
    coalesce(t.sessions, 1) AS sessions, coalesce(t.sources, 1) AS sources,
    coalesce(t.confirmed, 0) AS confirmed, coalesce(t.wrong, 0) AS wrong,
    coalesce(t.stale, 0) AS stale, r.status_at, r.superseded_by, r.superseded_at, r.serve_after,
    r.recheck_at, r.recheck_reason, r.unlisted_at, r.half_life_days, r.policy_version, r.verdict,
    r.findings, r.ruleset, r.gate_score, r.override, r.embedding_model IS NOT NULL AS embedded,
    r.embedding_partial, r.version,
    (se.suspended_at IS NOT NULL OR so.suspended_at IS NOT NULL) AS suspended, r.order_at
FROM page JOIN memory_record r ON r.id = page.id
JOIN partition p ON p.id = r.partition_id
JOIN source so ON so.id = r.source_id
JOIN session se ON se.id = r.session_id
LEFT JOIN tally t ON t.record_id = r.id
"""

SESSIONS = """SELECT s.id, p.name AS partition, s.external_id AS session, s.synthesised, s.agent,
    s.extracted_by, s.first_write_at, coalesce(t.last_write_at, s.first_write_at) AS last_write_at,
    s.suspended_at, s.suspended_by, s.suspended_reason, coalesce(t.writes, 0) AS writes,
    coalesce(t.added, 0) AS added, coalesce(t.reinforced, 0) AS reinforced,
    coalesce(t.updated, 0) AS updated, coalesce(t.contested, 0) AS contested,
    coalesce(t.echoed, 0) AS echoed, coalesce(t.late, 0) AS late, coalesce(t.fenced, 0) AS fenced,
    coalesce(t.quarantined, 0) AS quarantined, coalesce(t.rejected, 0) AS rejected
"""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which facts to list; what is ``None`` filters nothing.

    ``status`` is ``active`` unless ``as_of`` asks what was believed at an
    instant, whatever has become of it; ``all`` is every status.
    """

    partition: str | None = None
    status: str | None = None
    session: str | None = None
    session_id: UUID | None = None
    predicate: str | None = None
    subject: str | None = None
    source: str | None = None
    text: str | None = None
    external_id: str | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list."""

    partition: str | None = None
    session: str | None = None
    agent: str | None = None
    suspended: bool | None = None


def list_memories(
    wanted: MemoryFilter, *, limit: int, cursor: str | None, access: Access, now: datetime
) -> Page:
    """Return a page of facts, newest first. NotFound: a partition unknown or out of reach."""
    key = list_key("memories", access.workspace_id, access.partition, asdict(wanted))
    place = open_cursor(cursor, key=key)
    with reading(access, wanted.partition) as cur:
        where, values = _conditions(wanted, cur, access)
        if place is not None:
            where.append("r.id < %(after)s")
            values["after"] = UUID(place[0])
        cur.execute(
            f"""WITH page AS MATERIALIZED (
                    SELECT r.id FROM memory_record r WHERE {" AND ".join(where)}
                    ORDER BY r.id DESC LIMIT %(limit)s)
                {RECORD} ORDER BY r.id DESC""",
            {**values, "limit": limit + 1},
        )
        rows = [finish_record(row, now=now) for row in cur]
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def list_sessions(wanted: SessionFilter, *, limit: int, cursor: str | None, access: Access) -> Page:
    """Return a page of sessions, the last to write first."""
    key = list_key("sessions", access.workspace_id, access.partition, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": access.workspace_id, "limit": limit + 1}
    where = ["t.workspace_id = %(workspace)s"]
    with reading(access, wanted.partition) as cur:
        if (name := wanted.partition or access.partition) is not None:
            where.append("t.partition_id = %(partition)s")
            values["partition"] = access.partition_id(name)
        for column, value in (("external_id", wanted.session), ("agent", wanted.agent)):
            if value is not None:
                where.append(f"s.{column} = %({column})s")
                values[column] = value
        if wanted.suspended is not None:
            where.append(f"s.suspended_at IS {'NOT ' if wanted.suspended else ''}NULL")
        if place is not None:
            where.append(
                "(t.last_write_at < %(at)s OR t.last_write_at = %(at)s AND t.session_id > %(after)s)"
            )
            values |= {"at": datetime.fromisoformat(place[0]), "after": UUID(place[1])}
        cur.execute(
            f"""{SESSIONS} FROM session_totals t JOIN session s ON s.id = t.session_id
                JOIN partition p ON p.id = s.partition_id WHERE {" AND ".join(where)}
                ORDER BY t.last_write_at DESC, t.session_id LIMIT %(limit)s""",
            values,
        )
        rows = cur.fetchall()
    return make_page(
        rows, limit=limit, key=key, place=lambda row: [row["last_write_at"].isoformat(), row["id"]]
    )


def get_session(session_id: UUID, *, access: Access) -> Mapping[str, Any]:
    """Return one session; NotFound when it is unknown or out of reach."""
    with reading(access) as cur:
        cur.execute(
            f"""{SESSIONS} FROM session s LEFT JOIN session_totals t ON t.session_id = s.id
                JOIN partition p ON p.id = s.partition_id
                WHERE s.id = %s AND s.workspace_id = %s""",
            [session_id, access.workspace_id],
        )
        found = cur.fetchone()
    if found is None:
        raise NotFound("session")
    return found


@contextmanager
def reading(
    access: Access, partition: str | None = None
) -> Iterator[psycopg.Cursor[dict[str, Any]]]:
    """Open the reach of a ``read`` key: its own partition, or the workspace.

    NotFound when ``partition`` is named and is unknown or out of reach.
    BadRequest when a search takes longer than anybody should wait for it.
    """
    if partition is not None and not access.reaches(partition):
        raise NotFound("partition")
    scope = (
        workspace_scope(access.workspace_id)
        if access.partition is None
        else partition_scope(access.workspace_id, [access.partition_id(access.partition)])
    )
    try:
        with scope:
            cur = psycopg.Cursor(fast_cursor().connection, row_factory=dict_row)
            cur.execute("SELECT set_config('statement_timeout', %s, true)", [PATIENCE])
            if partition is not None:
                _require_partition(cur, partition, access)
            yield cur
    except QueryCanceled as error:
        raise BadRequest(
            FieldError("", "the search takes too long; name a partition or narrow it", "too_broad")
        ) from error


def finish_record(row: dict[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return a row of ``RECORD`` with what the clock and the status make of it."""
    reasons = [] if row["status"] == Status.ACTIVE else [row["status"]]
    reasons += why_not_current(
        at=now,
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        is_recheck=row["recheck_at"] is not None,
        is_unlisted=row["unlisted_at"] is not None,
    )
    if row["suspended"]:
        reasons.append("suspended")
    for name in ("metadata", "findings", "override"):
        row[name] = decoded(row[name])
    row["trust"] = TIERS[row["trust"]]
    row["current"] = not reasons
    row["why_not_current"] = reasons
    return row


def decoded(value: Any) -> Any:
    """Return a jsonb column's value; Django leaves it as text on its connections."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def _require_partition(cur: psycopg.Cursor[Any], name: str, access: Access) -> None:
    cur.execute(
        "SELECT 1 FROM partition WHERE id = %s AND workspace_id = %s",
        [access.partition_id(name), access.workspace_id],
    )
    if cur.fetchone() is None:
        raise NotFound("partition")


def _conditions(
    wanted: MemoryFilter, cur: psycopg.Cursor[Any], access: Access
) -> tuple[list[str], dict[str, Any]]:
    """Return the WHERE of a list of facts, and its values."""
    where = ["r.workspace_id = %(workspace)s"]
    values: dict[str, Any] = {"workspace": access.workspace_id}
    partition_id = None
    if (name := wanted.partition or access.partition) is not None:
        partition_id = values["partition"] = access.partition_id(name)
        where.append("r.partition_id = %(partition)s")
    status = wanted.status or ("all" if wanted.as_of else Status.ACTIVE)
    if status != "all":
        where.append("r.status = %(status)s")
        values["status"] = str(status)
    if wanted.predicate is not None:
        where.append("r.predicate = %(predicate)s")
        values["predicate"] = book(access.workspace_id).resolve(wanted.predicate).predicate
    if wanted.subject is not None:
        where.append("r.subject_key = %(subject)s")
        values["subject"] = canonical.identifier(wanted.subject)
    if wanted.external_id is not None:
        where.append("r.external_id = %(external)s")
        values["external"] = wanted.external_id
    session_id = _session_id(wanted, partition_id, access)
    if session_id is not None:
        where.append(
            "EXISTS (SELECT 1 FROM claim c WHERE c.session_id = %(session)s AND c.record_id = r.id)"
        )
        values["session"] = session_id
    if wanted.source is not None:
        where.append(
            "EXISTS (SELECT 1 FROM claim c WHERE c.source_id = %(source)s AND c.record_id = r.id)"
        )
        values["source"] = canonical.source_id(access.workspace_id, wanted.source)
    if wanted.text is not None:
        where.append(
            "(r.content ILIKE %(text)s OR r.value ILIKE %(text)s OR r.subject ILIKE %(text)s)"
        )
        values["text"] = f"%{_literal(wanted.text)}%"
    if wanted.as_of is not None:
        where.append("r.believed @> %(as_of)s::timestamptz")
        values["as_of"] = wanted.as_of
    if wanted.valid_at is not None:
        where.append("coalesce(r.valid_from, '-infinity') <= %(valid_at)s")
        where.append("coalesce(r.valid_until, 'infinity') > %(valid_at)s")
        values["valid_at"] = wanted.valid_at
    return where, values


def _session_id(wanted: MemoryFilter, partition_id: UUID | None, access: Access) -> UUID | None:
    """Return the session to filter by; a session's own name says nothing without its partition."""
    if wanted.session is None:
        return wanted.session_id
    if partition_id is None:
        raise BadRequest(FieldError("session", "needs the partition beside it", "required"))
    return canonical.session_id(access.workspace_id, partition_id, wanted.session)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def source_of_run(run_id: UUID, *, access: Access) -> str:
    """Return the name of a run's source; NotFound when the run is unknown or out of reach."""
    with reading(access) as cur:
        cur.execute(
            """SELECT so.name FROM source_run ru JOIN source so ON so.id = ru.source_id
               WHERE ru.id = %s AND ru.workspace_id = %s""",
            [run_id, access.workspace_id],
        )
        found = cur.fetchone()
    if found is None:
        raise NotFound("run")
    return str(found["name"])
