"""Pairs of facts that may say the same: ids and numbers, no memory text."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class DuplicatePair(models.Model):
    """Two records of one partition, ``one_id`` the smaller id, and what became of the suggestion.

    ``kind``: ``alike`` is a restatement in other words, ``same`` a collision: under
    the policy and the schema of today both have one identity. ``state``:
    ``suggested``, ``apart`` (a person keeps them apart), ``merged``, ``gone`` (one
    has left service). ``cluster_id`` is the smallest id of the group that
    suggestions join.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    one_id = models.UUIDField()
    other_id = models.UUIDField()
    kind = models.TextField()
    predicate = models.TextField()
    likeness = models.FloatField()
    state = models.TextField(default="suggested", db_default="suggested")
    cluster_id = models.UUIDField()
    found_at = models.DateTimeField(db_default=Now())
    by = models.TextField(default="", db_default="")
    at = models.DateTimeField(null=True)

    class Meta:
        db_table = "duplicate_pair"


class DuplicateSearch(models.Model):
    """How far the search has come in one workspace; ``narrowed`` partitions were too large."""

    workspace_id = models.UUIDField(primary_key=True)
    after_id = models.UUIDField(null=True)
    position = models.BigIntegerField(default=0, db_default=0)
    pass_id = models.UUIDField(null=True)
    checked = models.BigIntegerField(default=0, db_default=0)
    last_checked = models.BigIntegerField(default=0, db_default=0)
    passed_at = models.DateTimeField(null=True)
    narrowed = models.IntegerField(default=0, db_default=0)
    at = models.DateTimeField(null=True)

    class Meta:
        db_table = "duplicate_search"
