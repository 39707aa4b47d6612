"""Legal holds: what must be kept as it is, whoever wants it gone.

The database refuses to erase a record that a standing hold covers, and
``records.curate`` names it. Placing and releasing are ``records.holds``'.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class LegalHold(models.Model):
    """A duty to keep one record, or all of a session, source or partition."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    kind = models.TextField()
    target_id = models.UUIDField()
    reason = models.TextField()
    placed_by = models.TextField()
    placed_at = models.DateTimeField(db_default=Now())
    released_at = models.DateTimeField(null=True)
    released_by = models.TextField(default="", db_default="")
    release_reason = models.TextField(default="", db_default="")

    class Meta:
        db_table = "legal_hold"

    def __str__(self) -> str:
        return f"{self.kind} {self.target_id}"
