"""Doubt that follows from an act: the dependents of a slot whose present has changed.

Owns the mark that acts leave on dependents; writes leave the same through the
ledger. Which predicates depend on which is the policy's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import psycopg

from records.access import Access
from records.domain import canonical
from records.events import Happening
from records.policies import book
from records.queries import Row


def recheck_dependents(
    cur: psycopg.Cursor[Row], winners: Sequence[UUID], access: Access, now: datetime
) -> list[Happening]:
    """Mark what depends on facts that are their slot's new present, as a write would.

    The caller holds the slots of ``winners``. Returns the events to append.
    """
    if not winners:
        return []
    policies = book(access.workspace_id)
    cur.execute(
        """SELECT id, partition_id, subject_key, predicate FROM memory_record
           WHERE id = ANY(%s) AND status = 'active'""",
        [list(winners)],
    )
    causes = {
        canonical.slot_id(access.workspace_id, partition_id, subject_key, dependent): winner
        for winner, partition_id, subject_key, predicate in cur.fetchall()
        for dependent in policies.resolve(predicate).dependents
    }
    if not causes:
        return []
    cur.execute(
        """UPDATE memory_record SET recheck_at = %s, recheck_reason = 'dependent'
           WHERE slot_id = ANY(%s) AND status = 'active' AND recheck_at IS NULL AND id <> ALL(%s)
           RETURNING id, partition_id, slot_id""",
        [now, list(causes), list(winners)],
    )
    return [
        Happening(
            "record.recheck",
            "record",
            target_id=row[0],
            partition_id=row[1],
            reason="dependent",
            details={"by": str(causes[row[2]])},
        )
        for row in cur.fetchall()
    ]
