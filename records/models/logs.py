"""What happened, append-only: events, recalls and serves.

``Recall`` and ``Serve`` are partitioned by time and made in
``records/sql``; the database refuses update, delete and truncate of events to
the application's role. Only ``records.events`` and ``records.retrieve`` add
rows here.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now

from .fields import Real, TransactionId


class Event(models.Model):
    """One state change, denied attempt or act, written in the same transaction as the act.

    ``details`` holds structure and keyed digests, never memory text.
    ``transaction`` tells sealing which events may still have elder siblings
    in flight.
    """

    id = models.BigAutoField(primary_key=True)
    transaction = TransactionId()
    workspace_id = models.UUIDField(null=True)
    partition_id = models.UUIDField(null=True)
    at = models.DateTimeField(db_default=Now())
    actor_kind = models.TextField()
    actor = models.TextField()
    role = models.TextField(default="")
    action = models.TextField()
    outcome = models.TextField(default="done")
    target_kind = models.TextField(default="")
    target_id = models.UUIDField(null=True)
    session_id = models.UUIDField(null=True)
    reason = models.TextField(default="")
    request_id = models.TextField(default="")
    count = models.IntegerField(default=1)
    details: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta:
        db_table = "event"
        managed = False

    def __str__(self) -> str:
        return f"{self.id} {self.action}"


class Recall(models.Model):
    """One retrieval: who asked what, when, in which session."""

    id = models.UUIDField(primary_key=True)
    at = models.DateTimeField()
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    session_id = models.UUIDField(null=True)
    actor = models.TextField()
    query = models.TextField()
    parameters: models.JSONField[Any, Any] = models.JSONField()
    served_count = models.SmallIntegerField()
    micros = models.IntegerField()

    class Meta:
        db_table = "recall"
        managed = False

    def __str__(self) -> str:
        return str(self.id)


class Serve(models.Model):
    """One record in one recall's answer: the basis of the blast radius."""

    recall_id = models.UUIDField(primary_key=True)
    at = models.DateTimeField()
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    session_id = models.UUIDField(null=True)
    record_id = models.UUIDField()
    rank = models.SmallIntegerField()
    score = Real()
    current = models.BooleanField()

    class Meta:
        db_table = "serve"
        managed = False

    def __str__(self) -> str:
        return f"{self.recall_id} #{self.rank}"
