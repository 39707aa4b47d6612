"""What the write path notes of each session for those who look for odd ones.

Counts, and small samples of keyed digests: never memory text. ``records.signals``
writes here, and nobody else.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from .tenancy import Partition, Workspace


class SessionSignals(models.Model):
    """Beside ``SessionTotals``: what a session's new records looked like as they came.

    ``made`` counts the records that the session was the first to state;
    ``derived`` those of them that a source gave, ``stopped`` those the gate did
    not let through, ``near`` those it let through narrowly, ``fresh`` those
    about which nothing was known, ``unknown`` those under a predicate without a
    policy. ``subjects``, ``predicates`` and ``stated`` (values) are the smallest
    digests of what was written (``domain.sketch``). ``changed_at`` moves with
    every write and every decision about one of the session's records.
    """

    session_id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    made = models.IntegerField(default=0, db_default=0)
    derived = models.IntegerField(default=0, db_default=0)
    stopped = models.IntegerField(default=0, db_default=0)
    near = models.IntegerField(default=0, db_default=0)
    fresh = models.IntegerField(default=0, db_default=0)
    unknown = models.IntegerField(default=0, db_default=0)
    subjects: Any = ArrayField(models.IntegerField(), default=list)
    predicates: Any = ArrayField(models.IntegerField(), default=list)
    stated: Any = ArrayField(models.IntegerField(), default=list)
    changed_at = models.DateTimeField()

    class Meta:
        db_table = "session_signals"

    def __str__(self) -> str:
        return str(self.session_id)
