"""What a person decides about facts that may say the same: one fact, or kept apart.

Owns the state of suggestions; what a merge does to records is
``records.curate.merging``'s. Each act is one transaction with its events.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from audits.duplicates.finding import regroup
from records import curate, events, queries
from records.access import Access
from records.curate import Acted, Merged
from records.events import Happening
from records.items import NotFound
from records.queries import Row
from records.scope import retried, workspace_scope

AMONG = """UPDATE duplicate_pair SET state = %(state)s, by = %(by)s, at = %(now)s
WHERE workspace_id = %(workspace)s AND one_id = ANY(%(ids)s) AND other_id = ANY(%(ids)s)
  AND state = ANY(%(before)s) RETURNING partition_id, one_id, other_id"""
MERGES = """SELECT gone_id, kept_id FROM record_merge WHERE id = ANY(%s) AND workspace_id = %s"""


@retried
def merge(
    kept_id: UUID,
    gone_ids: Collection[UUID],
    reason: str,
    *,
    versions: Mapping[UUID, int],
    access: Access,
    now: datetime | None = None,
) -> Merged:
    """Merge the records of a group into one of them; see ``curate.merge`` for what moves."""
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        done = curate.merge(kept_id, gone_ids, reason, access=access, versions=versions, now=now)
        if done.changed:
            with queries.cursor() as cur:
                _move(cur, [kept_id, *done.changed], "merged", ("suggested",), access, now)
        return done


@retried
def undo(
    merge_ids: Collection[UUID], reason: str, *, access: Access, now: datetime | None = None
) -> Acted:
    """Undo merges: the records stand apart again, and the suggestion is open again."""
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        cur.execute(MERGES, [list(merge_ids), access.workspace_id])
        about = {one for row in cur.fetchall() for one in row}
        if not about:
            raise NotFound("merge")
        acted = curate.part(merge_ids, reason, access=access, now=now)
        if acted.changed:
            _move(cur, list(about), "suggested", ("merged",), access, now)
        return acted


@retried
def keep_apart(
    record_ids: Collection[UUID], reason: str, *, access: Access, now: datetime | None = None
) -> int:
    """Remember that these records are different facts; return how many suggestions that settles."""
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        settled = _move(cur, list(record_ids), "apart", ("suggested",), access, now)
        _say(cur, "duplicates.kept_apart", settled, reason, access)
        return len(settled)


@retried
def again(
    record_ids: Collection[UUID], reason: str, *, access: Access, now: datetime | None = None
) -> int:
    """Take back that records were kept apart: they are suggested again; return how many pairs."""
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        opened = _move(cur, list(record_ids), "suggested", ("apart",), access, now)
        _say(cur, "duplicates.suggested_again", opened, reason, access)
        return len(opened)


def _move(
    cur: psycopg.Cursor[Row],
    record_ids: list[UUID],
    state: str,
    before: tuple[str, ...],
    access: Access,
    now: datetime,
) -> list[Row]:
    """Move the suggestions among these records, and group what is left of theirs again."""
    cur.execute(
        AMONG,
        {
            "workspace": access.workspace_id, "ids": record_ids, "state": state,
            "before": list(before), "by": str(access.actor), "now": now,
        },
    )  # fmt: skip
    rows = cur.fetchall()
    regroup(cur, access.workspace_id, {row[0] for row in rows})
    return rows


def _say(
    cur: psycopg.Cursor[Row], action: str, pairs: list[Row], reason: str, access: Access
) -> None:
    """Put one event on each record's history, with whom it was told apart from."""
    about: dict[tuple[UUID, UUID], set[str]] = {}
    for partition_id, one, other in pairs:
        about.setdefault((partition_id, one), set()).add(str(other))
        about.setdefault((partition_id, other), set()).add(str(one))
    events.append(
        [
            Happening(
                action,
                "record",
                target_id=record_id,
                partition_id=partition_id,
                reason=reason,
                details={"from": sorted(others)},
            )
            for (partition_id, record_id), others in about.items()
        ],
        access=access,
    )
