"""Workspaces, partitions, keys, and where facts come from.

Session and partition ids are derived from their names (``domain.canonical``),
so that a write needs no look-up before it can be scoped. Foreign keys that
carry the workspace are composite and live in ``records/sql``; the Django
fields here name them with ``db_constraint=False``.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class Workspace(models.Model):
    """One team's application; console users and API keys belong to it."""

    id = models.UUIDField(primary_key=True)
    name = models.TextField(unique=True)
    time_zone = models.TextField(default="UTC", db_default="UTC")
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "workspace"

    def __str__(self) -> str:
        return self.name


class Partition(models.Model):
    """The isolation unit inside a workspace: one end user or agent."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    name = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "partition"

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A bearer key: stored as a SHA-256 digest, bound to a workspace.

    ``partition_id`` is set when the key may only reach one partition.
    ``digest_key`` fields never hold the key itself; ``prefix`` is shown.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    name = models.TextField(default="")
    prefix = models.TextField()
    digest = models.BinaryField(unique=True)
    scopes: Any = ArrayField(models.TextField())
    partition_name = models.TextField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField(default="")
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.TextField(null=True)

    class Meta:
        db_table = "api_key"

    def __str__(self) -> str:
        return self.prefix


class Source(models.Model):
    """An origin of facts with a trust tier; ``conversation`` is the default one."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    name = models.TextField()
    tier = models.TextField(default="standard", db_default="standard")
    created_at = models.DateTimeField(db_default=Now())
    expected_every = models.DurationField(null=True)
    last_run_at = models.DateTimeField(null=True)
    overdue_since = models.DateTimeField(null=True)
    suspended_at = models.DateTimeField(null=True)
    suspended_by = models.TextField(null=True)
    suspended_reason = models.TextField(null=True)

    class Meta:
        db_table = "source"

    def __str__(self) -> str:
        return self.name


class SourceRun(models.Model):
    """One complete pass over a source; facts it does not see are no longer emitted."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    source = models.ForeignKey(
        Source, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False, null=True
    )
    external_id = models.TextField(default="")
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    seen_count = models.IntegerField(default=0, db_default=0)
    unlisted_count = models.IntegerField(default=0, db_default=0)
    relisted_count = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "source_run"

    def __str__(self) -> str:
        return str(self.id)


class Session(models.Model):
    """Where facts came from: the unit of provenance and of containment."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    external_id = models.TextField()
    synthesised = models.BooleanField(default=False, db_default=False)
    agent = models.TextField(default="", db_default="")
    extracted_by = models.TextField(default="", db_default="")
    first_write_at = models.DateTimeField(db_default=Now())
    suspended_at = models.DateTimeField(null=True)
    suspended_by = models.TextField(null=True)
    suspended_reason = models.TextField(null=True)

    class Meta:
        db_table = "session"

    def __str__(self) -> str:
        return self.external_id


class SessionTotals(models.Model):
    """What one session wrote, by decision; kept by the write path, never a live GROUP BY."""

    session_id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    last_write_at = models.DateTimeField()
    writes = models.IntegerField(default=0)
    added = models.IntegerField(default=0)
    reinforced = models.IntegerField(default=0)
    updated = models.IntegerField(default=0)
    contested = models.IntegerField(default=0)
    echoed = models.IntegerField(default=0)
    late = models.IntegerField(default=0)
    fenced = models.IntegerField(default=0)
    quarantined = models.IntegerField(default=0)
    rejected = models.IntegerField(default=0)

    class Meta:
        db_table = "session_totals"

    def __str__(self) -> str:
        return str(self.session_id)
