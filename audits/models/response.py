"""Incidents, the operations that answer them, and the second person's word on what is large.

An operation is one bulk act: its frozen targets are rows of their own, so that
what the preview showed is what runs, and the receipt can name each record.
Nothing here holds memory text except what people typed as a filter.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class Incident(models.Model):
    """Something is wrong with what agents remember: what, who sees to it, how it ended.

    ``number`` counts within the workspace. ``contained_at`` and ``evicted_at``
    are the first time each was done from here.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    number = models.IntegerField()
    title = models.TextField()
    severity = models.TextField(default="medium", db_default="medium")
    state = models.TextField(default="open", db_default="open")
    summary = models.TextField(default="", db_default="")
    cause = models.TextField(default="", db_default="")
    lessons = models.TextField(default="", db_default="")
    owner_id = models.UUIDField(null=True)
    owner = models.TextField(default="", db_default="")
    opened_by = models.TextField()
    opened_at = models.DateTimeField(db_default=Now())
    origin_kind = models.TextField(default="", db_default="")
    origin_id = models.UUIDField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.TextField(default="", db_default="")
    contained_at = models.DateTimeField(null=True)
    evicted_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.TextField(default="", db_default="")
    waived_reason = models.TextField(default="", db_default="")
    merged_into = models.UUIDField(null=True)

    class Meta:
        db_table = "incident"


class IncidentScope(models.Model):
    """One thing an incident is about: a session, source, partition, record or text."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    incident_id = models.UUIDField()
    kind = models.TextField()
    target_id = models.UUIDField(null=True)
    text = models.TextField(default="", db_default="")
    added_by = models.TextField()
    added_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "incident_scope"


class IncidentTask(models.Model):
    """One thing to do before an incident can be closed."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    incident_id = models.UUIDField()
    title = models.TextField()
    owner = models.TextField(default="", db_default="")
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)
    done_by = models.TextField(default="", db_default="")

    class Meta:
        db_table = "incident_task"


class IncidentNote(models.Model):
    """What somebody wrote down while the incident ran; pinned ones stand first."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    incident_id = models.UUIDField()
    user = models.TextField()
    text = models.TextField()
    is_pinned = models.BooleanField(default=False, db_default=False)
    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "incident_note"


class SessionNote(models.Model):
    """What somebody wrote about a session for colleagues to read."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    session_id = models.UUIDField()
    user = models.TextField()
    text = models.TextField()
    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "session_note"


class Operation(models.Model):
    """One bulk act from its preview to its receipt.

    ``scope`` and ``options`` say what was chosen (``domain/scope.py``);
    ``digest`` is over the frozen targets; ``groups`` counts them by what
    becomes of them. ``undoes`` is the operation that this one takes back.
    ``first_event`` to ``last_event`` are the ids of its events.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    kind = models.TextField()
    state = models.TextField(default="preview", db_default="preview")
    title = models.TextField(default="", db_default="")
    scope: models.JSONField[Any, Any] = models.JSONField(default=dict)
    options: models.JSONField[Any, Any] = models.JSONField(default=dict)
    digest = models.TextField(default="", db_default="")
    groups: models.JSONField[Any, Any] = models.JSONField(default=dict)
    total = models.IntegerField(default=0, db_default=0)
    incident_id = models.UUIDField(null=True)
    approval_id = models.UUIDField(null=True)
    undoes = models.UUIDField(null=True)
    reason = models.TextField(default="", db_default="")
    note = models.TextField(default="", db_default="")
    requested_by = models.TextField()
    requested_by_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    requested_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancelled_by = models.TextField(default="", db_default="")
    cancel_asked_at = models.DateTimeField(null=True)
    changed = models.IntegerField(default=0, db_default=0)
    restored = models.IntegerField(default=0, db_default=0)
    dropped_claims = models.IntegerField(default=0, db_default=0)
    restored_claims = models.IntegerField(default=0, db_default=0)
    skipped = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    receipt: models.JSONField[Any, Any] = models.JSONField(default=dict)
    error = models.TextField(default="", db_default="")
    first_event = models.BigIntegerField(null=True)
    last_event = models.BigIntegerField(null=True)
    undo_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "operation"


class OperationTarget(models.Model):
    """One record of an operation's frozen set: its version then, its group, what became of it."""

    pk = models.CompositePrimaryKey("operation_id", "record_id")
    operation_id = models.UUIDField()
    record_id = models.UUIDField()
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    version = models.IntegerField()
    group = models.TextField(db_column="grp")
    is_ticked = models.BooleanField(default=True, db_default=True)
    outcome = models.TextField(default="", db_default="")
    why = models.TextField(default="", db_default="")

    class Meta:
        db_table = "operation_target"


class Approval(models.Model):
    """A question to a second person: may this be done. Answered once, or it expires.

    ``payload`` is what the act needs to run when the answer is yes (never
    memory text). ``is_alone``: nobody else could have answered.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    kind = models.TextField()
    target_kind = models.TextField(default="", db_default="")
    target_id = models.UUIDField(null=True)
    summary = models.TextField()
    payload: models.JSONField[Any, Any] = models.JSONField(default=dict)
    reason = models.TextField(default="", db_default="")
    state = models.TextField(default="waiting", db_default="waiting")
    requested_by = models.TextField()
    requested_by_id = models.UUIDField()
    requested_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    decided_by = models.TextField(default="", db_default="")
    decided_by_id = models.UUIDField(null=True)
    decided_at = models.DateTimeField(null=True)
    decided_reason = models.TextField(default="", db_default="")
    is_alone = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "approval"
