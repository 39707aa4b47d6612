"""How a workspace's memory stood when it was last measured: numbers alone, one row each."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class Measure(models.Model):
    """The numbers of one workspace, brought up to date by the job ``measures``.

    ``audits/queries/measures.py`` says which numbers there are.
    """

    workspace_id = models.UUIDField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    numbers: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta:
        db_table = "measure"
