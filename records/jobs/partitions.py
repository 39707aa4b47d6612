"""Monthly tables of the logs: made ahead, dropped past their retention.

Owns the partitions of ``recall`` and ``serve``. Runs on the maintenance
connection, as the schema's owner where a table is made or dropped. The
application gets no right on a partition by its own name: there, the parent's
policies do not hold. Read ``records/sql/logs.sql`` for the parents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections, transaction
from psycopg import sql
from psycopg.types.json import Jsonb

from records import queries
from records.jobs.runs import Run, workspaces

LOGS = ("recall", "serve")
AHEAD = 2  # months made before they begin
USING = "maintenance"
DELETE_BATCH = 10_000
# A recall must not wait long for housekeeping; a run that cannot get its lock tries again later.
LOCK_TIMEOUT = "2s"


def keep_partitions(run: Run, now: datetime) -> None:
    """Make the coming months' tables, drop the months past retention, honour shorter ones."""
    for log in LOGS:
        for month in _wanted(log, now):
            with run.step():
                run.count(made=_make(log, month))
        for name in _outdated(log, now):
            with run.step():
                _drop(log, name)
                run.count(dropped=1)
    for workspace_id, days in _shorter_retentions():
        _delete_old(run, workspace_id, now - timedelta(days=days))


def partition_name(log: str, month: date) -> str:
    """Return the name of the table that holds one month of a log."""
    return f"{log}_{month:%Y_%m}"


def next_month(month: date) -> date:
    """Return the first day of the month after ``month``."""
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def _wanted(log: str, now: datetime) -> list[date]:
    """Return the months that lack a table: those ahead, and those that wait in the default one."""
    current = now.astimezone(UTC).date().replace(day=1)
    months = {current}
    for _ in range(AHEAD):
        months.add(next_month(max(months)))
    with connections[USING].cursor() as cursor:
        cursor.execute(
            f"SELECT DISTINCT date_trunc('month', at AT TIME ZONE 'UTC')::date FROM {log}_rest"
        )
        months |= {row[0] for row in cursor.fetchall()}
    have = _existing(log)
    return sorted(month for month in months if partition_name(log, month) not in have)


def _existing(log: str) -> set[str]:
    with connections[USING].cursor() as cursor:
        cursor.execute(
            """SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = %s::regclass""",
            [log],
        )
        return {row[0] for row in cursor.fetchall()}


def _make(log: str, month: date) -> int:
    """Make one month's table; rows of it that wait in the default table move into it."""
    name, rest = partition_name(log, month), f"{log}_rest"
    begin = datetime(month.year, month.month, 1, tzinfo=UTC)
    following = next_month(month)
    end = datetime(following.year, following.month, 1, tzinfo=UTC)
    parts: dict[str, sql.Composable] = {
        "log": sql.Identifier(log),
        "name": sql.Identifier(name),
        "rest": sql.Identifier(rest),
        "begin": sql.Literal(begin),
        "end": sql.Literal(end),
    }
    with transaction.atomic(USING):
        _set_timeout()
        with _as_owner():
            _execute("LOCK TABLE {log} IN SHARE UPDATE EXCLUSIVE MODE", parts)
            if name in _existing(log):
                return 0
            _execute("LOCK TABLE {rest} IN ACCESS EXCLUSIVE MODE", parts)
            _execute("CREATE TABLE {name} (LIKE {log} INCLUDING DEFAULTS)", parts)
            _execute("GRANT ALL ON {name} TO memconsole_maintenance", parts)
        # The owner is bound by the default table's policies; maintenance is not.
        _execute(
            """WITH moved AS (DELETE FROM {rest} WHERE at >= {begin} AND at < {end} RETURNING *)
               INSERT INTO {name} SELECT * FROM moved""",
            parts,
        )
        with _as_owner():
            _execute(
                "ALTER TABLE {log} ATTACH PARTITION {name} FOR VALUES FROM ({begin}) TO ({end})",
                parts,
            )
    return 1


def _outdated(log: str, now: datetime) -> list[str]:
    """Return the months' tables that lie wholly before the retention."""
    oldest = (now - timedelta(days=settings.LOG_RETENTION_DAYS)).astimezone(UTC).date()
    limit = partition_name(log, oldest.replace(day=1))
    return sorted(n for n in _existing(log) if n != f"{log}_rest" and n < limit)


def _drop(log: str, name: str) -> None:
    with transaction.atomic(USING):
        _set_timeout()
        with _as_owner():
            _execute("DROP TABLE {name}", {"name": sql.Identifier(name)})
        _tell(None, "log.dropped", {"table": name, "retention_days": settings.LOG_RETENTION_DAYS})


def _shorter_retentions() -> list[tuple[UUID, int]]:
    """Return the workspaces that keep their logs for less time than the installation does."""
    with connections[USING].cursor() as cursor:
        cursor.execute(
            """SELECT id, (settings->>'log_retention_days')::int FROM workspace
               WHERE id = ANY(%s) AND (settings->>'log_retention_days')::int < %s""",
            [workspaces(), settings.LOG_RETENTION_DAYS],
        )
        return [(row[0], row[1]) for row in cursor.fetchall()]


def _delete_old(run: Run, workspace_id: UUID, before: datetime) -> None:
    for log in LOGS:
        while True:
            with run.step(), connections[USING].cursor() as cursor:
                cursor.execute(
                    f"""DELETE FROM {log} WHERE (tableoid, ctid) IN (
                            SELECT tableoid, ctid FROM {log}
                            WHERE workspace_id = %s AND at < %s LIMIT %s)""",
                    [workspace_id, before, DELETE_BATCH],
                )
                deleted = cursor.rowcount
                if deleted:
                    details = {"log": log, "before": before.isoformat()}
                    _tell(workspace_id, "log.deleted", details, count=deleted)
                run.count(deleted=deleted)
            if deleted < DELETE_BATCH:
                break


def _tell(
    workspace_id: UUID | None, action: str, details: dict[str, Any], *, count: int = 1
) -> None:
    """Append the event in the transaction of the act, which is maintenance's own."""
    with queries.cursor(USING) as cursor:
        cursor.execute(
            """INSERT INTO event (workspace_id, actor_kind, actor, action, count, details)
               VALUES (%s, 'job', 'partitions', %s, %s, %s)""",
            [workspace_id, action, count, Jsonb(details)],
        )


@contextmanager
def _as_owner() -> Iterator[None]:
    _execute("SET LOCAL ROLE memconsole_owner", {})
    yield
    _execute("RESET ROLE", {})


def _set_timeout() -> None:
    _execute("SET LOCAL lock_timeout = {timeout}", {"timeout": sql.Literal(LOCK_TIMEOUT)})


def _execute(statement: str, parts: Mapping[str, sql.Composable]) -> None:
    with connections[USING].cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(**parts))
