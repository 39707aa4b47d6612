"""Parting records that were merged: the undo, reconciled as of now.

Owns what goes back and what is left as it is. What a merge moved is noted in
``record_merge`` and ``merged_claim`` by ``merging.py``; read that first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from records import events, signals, store
from records.access import Access
from records.curate.acting import Acted, Held, acting, lock, moved
from records.curate.placing import readmit
from records.domain.facts import Status
from records.queries import Row
from records.scope import retried

STANDING = """SELECT id, gone_id, kept_id, before, after, address_ids FROM record_merge
WHERE id = ANY(%s) AND workspace_id = %s AND parted_at IS NULL ORDER BY id DESC FOR UPDATE"""
# What was said since the merge stays with the kept record: in which wording, nobody noted.
GIVE_BACK = """UPDATE claim k SET
    count = k.count - m.count, echoes = greatest(k.echoes - m.echoes, 0),
    state = CASE WHEN m.is_new AND k.count = m.count THEN 'moved'
                 WHEN m.kept_state = 'held' AND k.state = 'live' AND k.count = m.count THEN 'held'
                 ELSE k.state END,
    merge_id = CASE WHEN m.is_new AND k.count = m.count THEN m.merge_id ELSE k.merge_id END,
    dropped_by = CASE WHEN m.is_new AND k.count = m.count THEN NULL ELSE k.dropped_by END,
    first_at = CASE WHEN k.first_at = least(m.kept_first_at, m.first_at)
                    THEN coalesce(m.kept_first_at, k.first_at) ELSE k.first_at END,
    last_at = CASE WHEN k.last_at = greatest(m.kept_last_at, m.last_at)
                   THEN coalesce(m.kept_last_at, k.last_at) ELSE k.last_at END
FROM merged_claim m
WHERE m.merge_id = %(merge)s AND m.is_counted AND k.record_id = %(kept)s
  AND k.session_id = m.session_id AND k.source_id = m.source_id AND k.count >= m.count
RETURNING k.count > 0 AND m.is_new"""
RETURN = """UPDATE claim SET state = CASE WHEN state = 'moved' THEN 'live' ELSE state END, merge_id = NULL
WHERE record_id = %(gone)s AND merge_id = %(merge)s"""
# Each number goes back where nothing has moved it since.
RENEW_KEPT = """UPDATE memory_record r SET
    confidence = CASE WHEN r.confidence = (%(after)s::jsonb->>'confidence')::float4
                      THEN (%(before)s::jsonb->>'confidence')::float4 ELSE r.confidence END,
    trust = CASE WHEN r.trust = (%(after)s::jsonb->>'trust')::int2
                 THEN (%(before)s::jsonb->>'trust')::int2 ELSE r.trust END,
    valid_until = CASE WHEN r.valid_until IS NOT DISTINCT FROM (%(after)s::jsonb->>'valid_until')::timestamptz
                       THEN (%(before)s::jsonb->>'valid_until')::timestamptz ELSE r.valid_until END,
    last_seen = CASE WHEN r.last_seen = (%(after)s::jsonb->>'row_last_seen')::timestamptz
                     THEN greatest((%(before)s::jsonb->>'row_last_seen')::timestamptz,
                                   -- A row lags behind its claims by less than store.ROW_GRAIN.
                                   (SELECT max(c.last_at) FROM claim c
                                    WHERE c.record_id = r.id AND c.state = 'live' AND c.last_at
                                        >= (%(before)s::jsonb->>'row_last_seen')::timestamptz + %(grain)s))
                     ELSE r.last_seen END
WHERE r.id = %(kept)s"""
GIVE_ADDRESSES = """UPDATE address SET record_id = %(gone)s
WHERE id = ANY(%(addresses)s) AND record_id = %(kept)s"""
HOLDER = """SELECT a.record_id FROM address a JOIN memory_record r ON r.id = a.record_id
WHERE a.id = ANY(%(addresses)s) AND a.record_id <> %(gone)s AND r.status = 'active' LIMIT 1"""
END = """UPDATE record_merge SET parted_at = %(now)s, parted_by = %(by)s, ended = 'undone'
WHERE id = %(merge)s"""


@retried
def part(
    merge_ids: Iterable[UUID], reason: str, *, access: Access, now: datetime | None = None
) -> Acted:
    """Undo merges: each wording is a fact of its own again, reconciled as of now.

    The claims that had moved go back; what was said or decided since stays where it
    is, and ``skipped`` lists it beside what cannot be undone.
    """
    now = now or datetime.now(UTC)
    wanted = list(dict.fromkeys(merge_ids))
    with acting(access) as cur:
        cur.execute(
            "SELECT gone_id, kept_id FROM record_merge WHERE id = ANY(%s) AND workspace_id = %s",
            [wanted, access.workspace_id],
        )
        about = {one for row in cur.fetchall() for one in row}
        found = lock(cur, about, access.workspace_id)
        cur.execute(STANDING, [wanted, access.workspace_id])
        rows = cur.fetchall()
        acted = Acted(matched=len(rows))
        standing = {row[0] for row in rows}
        acted.skipped += [(one, "is no standing merge") for one in wanted if one not in standing]
        for merge_id, gone_id, kept_id, before, after, addresses in rows:
            gone, kept = found[gone_id], found[kept_id]
            if why := _why_not_parted(gone, kept):
                acted.skipped.append((gone_id, why))
                continue
            about_it = {
                "merge": merge_id, "gone": gone_id, "kept": kept_id, "now": now,
                "by": str(access.actor), "addresses": addresses,
                "grain": store.ROW_GRAIN,
                "before": Jsonb(_decoded(before)), "after": Jsonb(_decoded(after)),
            }  # fmt: skip
            acted.skipped += list(_part_one(cur, gone, kept, about_it, reason, access, now, acted))
        return acted


def _part_one(
    cur: psycopg.Cursor[Row],
    gone: Held,
    kept: Held,
    about: dict[str, Any],
    reason: str,
    access: Access,
    now: datetime,
    acted: Acted,
) -> Iterator[tuple[UUID, str]]:
    """Part two records; yield what was left as it is, and why."""
    cur.execute(GIVE_BACK, about)
    if any(row[0] for row in cur.fetchall()):
        yield kept.id, "what was said since the merge stays with it"
    cur.execute(RETURN, about)
    cur.execute(RENEW_KEPT, about)
    cur.execute(GIVE_ADDRESSES, about)
    cur.execute(END, about)
    cur.execute("UPDATE memory_record SET merged_into = NULL WHERE id = %(gone)s", about)
    cur.execute(HOLDER, about)
    newer = cur.fetchone()
    details: dict[str, Any] = {"merge": str(about["merge"]), "from_record": str(kept.id)}
    if newer is not None:
        cur.execute(
            "UPDATE memory_record SET superseded_by = %s WHERE id = %s", [newer[0], gone.id]
        )
        events.append([moved("record.parted", gone, reason, **details)], access=access)
        yield gone.id, "its source has named another fact since; it stays past"
        acted.changed.append(gone.id)
    else:
        placed = readmit(
            cur, [gone], access, now, action="record.parted", reason=reason, details=details
        )
        acted.changed += placed.changed
        acted.superseded += placed.superseded
        yield from placed.skipped
    events.append([moved("record.divided", kept, reason, others=[str(gone.id)])], access=access)
    store.refresh_tallies(cur, sorted([gone.id, kept.id]), lower=True)
    signals.touch(cur, [gone.id, kept.id], now)


def _why_not_parted(gone: Held, kept: Held) -> str:
    if gone.status is not Status.SUPERSEDED or gone.merged_into != kept.id:
        return f"is {gone.status}: what took it out comes first"
    if kept.merged_into is not None:
        return "what it was merged into has been merged itself since; undo that first"
    return ""


def _decoded(value: Any) -> Any:
    """Django leaves jsonb undecoded on its connections."""
    return json.loads(value) if isinstance(value, str) else value
