"""Records that a person has said are one fact, and what of their provenance moved.

The alias of identity itself is ``MemoryRecord.merged_into``: while it stands on
a superseded record, that record's fingerprint means the record it names, and the
index that keeps fingerprints unique keeps a second one from being stored. These
tables keep what an undo needs: numbers and ids, no memory text.
``records.curate.merging`` writes here, and nobody else.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class RecordMerge(models.Model):
    """That ``gone`` was merged into ``kept``, until it was parted again.

    ``before`` and ``after`` are the kept record's numbers around the merge;
    ``address_ids`` the addresses that held the other one. ``ended`` says why a
    merge is over: ``undone``, ``said anew`` (the kept one was out of service)
    or ``erased``.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    gone_id = models.UUIDField()
    kept_id = models.UUIDField()
    at = models.DateTimeField(db_default=Now())
    by = models.TextField()
    before: models.JSONField[Any, Any] = models.JSONField(default=dict)
    after: models.JSONField[Any, Any] = models.JSONField(default=dict)
    address_ids: Any = ArrayField(models.UUIDField(), default=list)
    parted_at = models.DateTimeField(null=True)
    parted_by = models.TextField(default="", db_default="")
    ended = models.TextField(default="", db_default="")

    class Meta:
        db_table = "record_merge"

    def __str__(self) -> str:
        return str(self.id)


class MergedClaim(models.Model):
    """One claim as it moved: what it added to the kept record's claim of the same origin.

    ``is_new``: the kept record had no such claim. ``is_counted``: it added
    nothing where that origin's word on the kept record had been dropped.
    """

    pk = models.CompositePrimaryKey("merge_id", "session_id", "source_id")
    merge_id = models.UUIDField()
    session_id = models.UUIDField()
    source_id = models.UUIDField()
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    count = models.IntegerField()
    echoes = models.IntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    is_new = models.BooleanField()
    is_counted = models.BooleanField()
    kept_state = models.TextField(default="", db_default="")
    kept_first_at = models.DateTimeField(null=True)
    kept_last_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "merged_claim"

    def __str__(self) -> str:
        return f"{self.merge_id} of {self.session_id}"
