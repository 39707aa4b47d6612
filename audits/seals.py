"""Sealing: finished events get dense positions, a signed Merkle root, and a link to the last seal.

Owns adding to ``seal`` and ``sealed_event``. Events are taken in the order of
(transaction, id) and only behind the oldest running transaction: ids are given
before the commit, so "up to the newest id" would miss whoever commits late.
Two sealers at once wait for each other, and unique positions hold even if they
did not. Read ``domain/seals.py`` for what is signed, ``verify.py`` for the check.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from django.db import IntegrityError

from audits import keys
from audits.domain import merkle
from audits.domain.seals import INSTALLATION, Head, SealBody, follow
from audits.leaves import leaf_bytes, leaf_text
from records import queries
from records.jobs.runs import Run, scope

logger = logging.getLogger(__name__)
SEAL_LIMIT = 4_096  # events in one seal: a proof is at most 12 hashes

COLUMNS = """workspace_id, number, first, last, sealed_at, previous, root, key_id, signature,
    horizon::text, resume_id, cluster"""
# Visible rows of a transaction that this cluster has not reached come from another
# cluster (a restored dump), where they were finished.
DUE = f"""SELECT e.id, e.transaction::text, {leaf_text("e")} FROM event e
WHERE {{chain}} {{floor}}
  AND (e.transaction < pg_snapshot_xmin(pg_current_snapshot())
       OR e.transaction >= pg_snapshot_xmax(pg_current_snapshot()))
  AND NOT EXISTS (SELECT 1 FROM sealed_event s WHERE s.event_id = e.id)
ORDER BY e.transaction, e.id LIMIT %(limit)s"""
FLOOR = "AND (e.transaction, e.id) > (%(horizon)s::text::xid8, %(resume)s)"
SETTLE = """SELECT set_config('enable_sort', %s, true), set_config('enable_seqscan', %s, true),
    set_config('enable_bitmapscan', %s, true), set_config('enable_hashjoin', %s, true),
    set_config('enable_mergejoin', %s, true)"""
SNAPSHOT = """SELECT system_identifier, pg_snapshot_xmin(pg_current_snapshot())::text,
       clock_timestamp()
FROM pg_control_system()"""


@dataclass(frozen=True, slots=True)
class SealRow:
    """A stored seal: what is signed, the signature, and where sealing goes on."""

    body: SealBody
    signature: bytes
    horizon: str
    resume_id: int
    cluster: int

    @classmethod
    def of(cls, row: queries.Row) -> SealRow:
        """Read a row of ``COLUMNS``."""
        body = SealBody(
            workspace_id=row[0],
            number=row[1],
            first=row[2],
            last=row[3],
            sealed_at=instant(row[4]),
            previous=bytes(row[5]),
            root=bytes(row[6]),
            key_id=row[7],
        )
        return cls(body, bytes(row[8]), row[9], row[10], row[11])


def instant(at: datetime) -> str:
    """Return an instant as seals and exports write it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def chain_of(workspace_id: UUID | None) -> UUID:
    """Return the chain in which a workspace's events are sealed."""
    return workspace_id or INSTALLATION


def chain_condition(workspace_id: UUID | None, alias: str = "e") -> str:
    """Return the SQL condition for the events of one chain."""
    return (
        f"{alias}.workspace_id IS NULL"
        if workspace_id is None
        else (f"{alias}.workspace_id = %(workspace)s")
    )


def seal_events(run: Run, now: datetime) -> None:
    """Seal every finished event of the run's workspace, one seal per step."""
    while True:
        with run.step():
            sealed = seal_once(run.workspace_id, using=run.using)
            run.count(sealed=sealed)
        if sealed < SEAL_LIMIT:
            return


def seal_now(workspace_id: UUID | None, *, using: str = "default") -> int:
    """Seal what is finished now, in transactions of its own; return how many events."""
    total = 0
    while True:
        with scope(workspace_id, using=using):
            sealed = seal_once(workspace_id, using=using)
        total += sealed
        if sealed < SEAL_LIMIT:
            return total


def seal_readable(workspace_id: UUID, *, using: str = "default") -> None:
    """Seal what is finished before the trail is read, where it can still be sealed.

    A trail that somebody cut may refuse to be continued; it is read as it is then, and
    the check says what is wrong with it.
    """
    try:
        seal_now(workspace_id, using=using)
    except (IntegrityError, psycopg.IntegrityError):
        logger.exception("The trail of workspace %s cannot be sealed any further", workspace_id)


def seal_once(workspace_id: UUID | None, *, using: str = "default") -> int:
    """Add one seal, inside the caller's scope; return how many events it covers.

    0 adds nothing. The caller's transaction should do nothing else that takes
    long: other sealers of the workspace wait for it.
    """
    chain = chain_of(workspace_id)
    with queries.cursor(using) as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"memconsole seal {chain}"]
        )
        last = newest(cursor, chain)
        cursor.execute(SNAPSHOT)
        snapshot = cursor.fetchone()
        assert snapshot is not None
        cluster, horizon, at = snapshot
        same_cluster = last is not None and last.cluster == cluster
        with reading_in_order(cursor):
            cursor.execute(
                DUE.format(
                    chain=chain_condition(workspace_id), floor=FLOOR if same_cluster else ""
                ),
                {
                    "workspace": workspace_id,
                    "limit": SEAL_LIMIT,
                    "horizon": last.horizon if last else "0",
                    "resume": last.resume_id if last else 0,
                },
            )
            due = cursor.fetchall()
        if not due:
            return 0
        if same_cluster or last is None:
            where = (due[-1][1], due[-1][0], cluster)
        elif len(due) < SEAL_LIMIT:
            # All that the other cluster left is sealed; from here its transactions mean nothing.
            where = (horizon, 0, cluster)
        else:
            where = (last.horizon, last.resume_id, last.cluster)
        _add(cursor, chain, follow(last.body) if last else Head(), due, at, where)
        return len(due)


@contextmanager
def reading_in_order(cursor: psycopg.Cursor[queries.Row]) -> Iterator[None]:
    """Settle the plan of ``DUE``: along the index until the limit is reached.

    With statistics that are behind, the planner reads and sorts the whole
    backlog for every seal, which made sealing 60,000 events quadratic.
    """
    cursor.execute(SETTLE, ["off"] * 5)
    yield
    cursor.execute(SETTLE, ["on"] * 5)


def newest(cursor: psycopg.Cursor[queries.Row], chain: UUID) -> SealRow | None:
    """Return the last seal of a chain."""
    cursor.execute(
        f"SELECT {COLUMNS} FROM seal WHERE workspace_id = %s ORDER BY number DESC LIMIT 1", [chain]
    )
    row = cursor.fetchone()
    return SealRow.of(row) if row else None


def _add(
    cursor: psycopg.Cursor[queries.Row],
    chain: UUID,
    after: Head,
    due: list[Any],
    at: datetime,
    where: tuple[str, int, int],
) -> None:
    positions = range(after.last + 1, after.last + 1 + len(due))
    leaves = [
        merkle.leaf_hash(leaf_bytes(position, text))
        for position, (_, _, text) in zip(positions, due, strict=True)
    ]
    signer = keys.signer()
    body = SealBody(
        workspace_id=chain,
        number=after.number + 1,
        first=positions[0],
        last=positions[-1],
        sealed_at=instant(at),
        previous=after.digest,
        root=merkle.root(leaves),
        key_id=signer.key_id,
    )
    cursor.execute(
        """INSERT INTO seal (workspace_id, number, first, last, sealed_at, previous, root, key_id,
                             signature, horizon, resume_id, cluster)
           VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::text::xid8, %s, %s)""",
        [
            *(chain, body.number, body.first, body.last, at, body.previous, body.root),
            *(body.key_id, signer.sign(body.text()), *where),
        ],
    )
    cursor.execute(
        """INSERT INTO sealed_event (workspace_id, position, event_id, leaf)
           SELECT %s, position, event_id, leaf
           FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS s (position, event_id, leaf)""",
        [chain, list(positions), [row[0] for row in due], leaves],
    )
