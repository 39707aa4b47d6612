"""State of background work and of requests: jobs, idempotency, embedding models.

Truth about jobs lives here, not in the broker: a task lost by a killed worker
is found by its stale heartbeat and queued again.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now

from .tenancy import Workspace


class JobRun(models.Model):
    """One run of one job: where it is, what it changed, how long it took.

    ``attempt`` counts the workers that have taken the run; only the newest may
    move it. A run that changes nothing is taken over by the next one.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", null=True, db_index=False
    )
    job = models.TextField()
    state = models.TextField(default="running", db_default="running")
    cursor: models.JSONField[Any, Any] = models.JSONField(default=dict)
    changed: models.JSONField[Any, Any] = models.JSONField(default=dict)
    error = models.TextField(default="", db_default="")
    attempt = models.IntegerField(default=1, db_default=1)
    requested_by = models.TextField(default="", db_default="")
    started_at = models.DateTimeField(db_default=Now())
    heartbeat_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "job_run"

    def __str__(self) -> str:
        return f"{self.job} {self.state}"


class IdempotencyKey(models.Model):
    """The first answer to a request that carried an ``Idempotency-Key``."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    actor = models.TextField()
    key = models.TextField()
    request_digest = models.BinaryField()
    status = models.SmallIntegerField(null=True)
    body: models.JSONField[Any, Any] = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "idempotency_key"

    def __str__(self) -> str:
        return self.key


class EmbeddingModel(models.Model):
    """A model whose vectors this workspace keeps; a query meets only its own model's.

    ``state``: ``serving`` embeds new writes and queries; ``retiring`` still has
    vectors that the background job replaces; ``caller`` vectors come with the
    request; ``retired`` has none left.
    """

    pk = models.CompositePrimaryKey("workspace_id", "number")
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    number = models.SmallIntegerField()
    provider = models.TextField()
    name = models.TextField()
    dimensions = models.IntegerField()
    state = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "embedding_model"

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


class Feedback(models.Model):
    """What one session said about one served record; the latest word counts once."""

    pk = models.CompositePrimaryKey("record_id", "session_id")
    record_id = models.UUIDField()
    session_id = models.UUIDField()
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    partition_id = models.UUIDField()
    recall_id = models.UUIDField()
    verdict = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "feedback"

    def __str__(self) -> str:
        return f"{self.record_id} {self.verdict}"
