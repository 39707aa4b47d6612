"""What an erasure leaves to the maintenance role: text in logs that the application may not change."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class ErasureDue(models.Model):
    """One thing whose text must still be destroyed; the row goes when it is.

    ``kind``: ``recall`` (its question), ``feedback`` (what was said of a
    record), ``address`` (the key under which a source named a record).
    """

    pk = models.CompositePrimaryKey("workspace_id", "kind", "target_id")
    workspace_id = models.UUIDField()
    kind = models.TextField()
    target_id = models.UUIDField()
    noted_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "erasure_due"

    def __str__(self) -> str:
        return f"{self.kind} {self.target_id}"
