"""What people ask about their data, and the files that left the console.

Owns requests of data subjects and the list of exports; legal holds are
``records``' own table, since the database refuses to erase what they cover.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class SubjectRequest(models.Model):
    """Somebody's wish to see or to have erased what is kept about them.

    ``subject`` is emptied when an erasure is done; ``subject_digest``, keyed by
    the workspace, still tells whether it was about a given subject.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    kind = models.TextField()
    state = models.TextField(default="preview", db_default="preview")
    partition_id = models.UUIDField(null=True)
    partition_name = models.TextField(default="", db_default="")
    subject = models.TextField(default="", db_default="")
    subject_digest = models.TextField(default="", db_default="")
    reason = models.TextField(default="", db_default="")
    operation_id = models.UUIDField(null=True)
    approval_id = models.UUIDField(null=True)
    counts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    certificate: models.JSONField[Any, Any] = models.JSONField(default=dict)
    requested_by = models.TextField()
    requested_by_id = models.UUIDField()
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subject_request"


class Export(models.Model):
    """One file that left the console: what it was asked for, what it held, and its hash.

    ``query`` is the filter as the URL had it. ``state`` stays ``started`` when
    whoever fetched it went away before the end.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    kind = models.TextField()
    file_format = models.TextField()
    query = models.TextField(default="", db_default="")
    state = models.TextField(default="started", db_default="started")
    rows = models.BigIntegerField(default=0, db_default=0)
    size = models.BigIntegerField(default=0, db_default=0)
    first = models.BigIntegerField(null=True)
    last = models.BigIntegerField(null=True)
    sha256 = models.TextField(default="", db_default="")
    manifest: models.JSONField[Any, Any] = models.JSONField(default=dict)
    exported_by = models.TextField()
    exported_by_id = models.UUIDField(null=True)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "export"
