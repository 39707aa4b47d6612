"""The review queue's own state: who is looking at what, what was decided, what was noted.

A held record needs no row here until somebody opens it. Leases are working
state and never part of history; decisions are, beside their events.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class ReviewItem(models.Model):
    """One held record's lease and snooze."""

    record_id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    lease_user_id = models.UUIDField(null=True)
    lease_user = models.TextField(default="", db_default="")
    lease_token = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    snoozed_until_served = models.BooleanField(default=False, db_default=False)
    snoozed_at = models.DateTimeField(null=True)
    snoozed_by = models.TextField(default="", db_default="")

    class Meta:
        db_table = "review_item"


class ReviewDecision(models.Model):
    """One decision of one person, under the key that makes repeating it harmless."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    record_id = models.UUIDField()
    user_id = models.UUIDField()
    user = models.TextField()
    verb = models.TextField()
    reason = models.TextField(default="", db_default="")
    note = models.TextField(default="", db_default="")
    idempotency_key = models.TextField()
    version = models.IntegerField()
    answer: models.JSONField[Any, Any] = models.JSONField(default=dict)
    decided_at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "review_decision"


class ReviewNote(models.Model):
    """What somebody wrote about a record for colleagues to read."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    record_id = models.UUIDField()
    user = models.TextField()
    text = models.TextField()
    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "review_note"
