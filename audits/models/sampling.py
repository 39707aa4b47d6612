"""Batches of facts that people look at to learn how much of the memory is stale.

Numbers and ids; ``SampleItem.value`` holds what a person typed until it is
written as a fact, and is emptied then.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class SampleBatch(models.Model):
    """One sample: how it was drawn, from how many, with which seed."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    number = models.IntegerField()
    weighting = models.TextField()
    seed = models.BigIntegerField()
    size = models.IntegerField()
    population = models.BigIntegerField()
    population_served = models.BigIntegerField(default=0)
    scope: models.JSONField[Any, Any] = models.JSONField(default=dict)
    recheck_share = models.FloatField(default=0.0)
    made_by = models.TextField()
    made_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    closed_by = models.TextField(default="", db_default="")

    class Meta:
        db_table = "sample_batch"


class SampleItem(models.Model):
    """One drawn fact: its chance, who has it open, and what people found it to be."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    batch_id = models.UUIDField()
    partition_id = models.UUIDField()
    record_id = models.UUIDField()
    place = models.IntegerField()
    predicate = models.TextField()
    chance = models.FloatField()
    served = models.BigIntegerField(default=0)
    is_recheck = models.BooleanField(default=False)
    lease_user_id = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    verdict = models.TextField(default="", db_default="")
    value = models.TextField(default="", db_default="")
    answered_by = models.TextField(default="", db_default="")
    answered_by_id = models.UUIDField(null=True)
    answered_at = models.DateTimeField(null=True)
    second_verdict = models.TextField(default="", db_default="")
    second_by = models.TextField(default="", db_default="")
    second_by_id = models.UUIDField(null=True)
    second_at = models.DateTimeField(null=True)
    settled = models.TextField(default="", db_default="")
    settled_by = models.TextField(default="", db_default="")
    applied_at = models.DateTimeField(null=True)
    outcome = models.TextField(default="", db_default="")

    class Meta:
        db_table = "sample_item"
