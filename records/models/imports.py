"""Imports of files: how far each got, so that a killed one goes on where it stopped."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now

from .tenancy import Workspace


class ImportRun(models.Model):
    """One import of one file: what is behind it, moved in the transaction that wrote the facts.

    ``digest`` is the SHA-256 of the first ``position`` bytes: a run goes on
    only in the file that it began with. The facts it has met, counted to say
    what the rows collapsed to, are rows of ``import_fact`` until it is done.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    run_id = models.TextField()
    name = models.TextField()
    options: models.JSONField[Any, Any] = models.JSONField(default=dict)
    position = models.BigIntegerField(default=0, db_default=0)
    line = models.BigIntegerField(default=0, db_default=0)
    digest = models.BinaryField(default=b"")
    errors_path = models.TextField(default="", db_default="")
    errors_size = models.BigIntegerField(default=0, db_default=0)
    counts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    started_by = models.TextField(default="", db_default="")
    started_at = models.DateTimeField(db_default=Now())
    moved_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "import_run"

    def __str__(self) -> str:
        return self.run_id
