"""What the first audits of a memory found: numbers, and the ids of slots; never memory text."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class FirstAudit(models.Model):
    """One audit: its numbers by name, and the slots in which values contradict each other."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    made_at = models.DateTimeField(db_default=Now())
    made_by = models.TextField()
    millis = models.IntegerField()
    numbers: models.JSONField[Any, Any] = models.JSONField(default=dict)
    slots: Any = ArrayField(models.UUIDField(), default=list)

    class Meta:
        db_table = "first_audit"
