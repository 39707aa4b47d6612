"""What the charts count, by quarter of an hour, and how far the counting has come.

Only ``audits.rollups`` writes here. ``audits/queries/rollups.py`` says which
kinds and labels there are.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from records.models.fields import TransactionId


class Rollup(models.Model):
    """How many there were of one kind and label in the quarter of an hour from ``at`` (UTC)."""

    pk = models.CompositePrimaryKey("workspace_id", "kind", "at", "label")
    workspace_id = models.UUIDField()
    kind = models.TextField()
    at = models.DateTimeField()
    label = models.TextField()
    number = models.BigIntegerField()

    class Meta:
        db_table = "rollup"


class RollupProgress(models.Model):
    """Events are counted up to the seal ``seal``, the log of recalls up to ``log_through``.

    Every log row before ``pending_at`` is there to see once all transactions
    before ``pending_xmax`` have ended.
    """

    workspace_id = models.UUIDField(primary_key=True)
    seal = models.BigIntegerField(default=0, db_default=0)
    log_through = models.DateTimeField(null=True)
    pending_at = models.DateTimeField(null=True)
    pending_xmax = TransactionId(null=True)
    rules: Any = ArrayField(models.TextField(), default=list)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "rollup_progress"
