"""Predicate policies: what a workspace says about one predicate, versioned.

Rows are never changed in place: a change retires the old version and adds the
next, so that history can be explained. ``domain.facts.Policy`` is the value
object the rules read.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from .tenancy import Workspace


class PredicatePolicy(models.Model):
    """One version of one predicate's policy; live while ``retired_at`` is null."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    predicate = models.TextField()
    version = models.IntegerField(default=1)
    aliases: Any = ArrayField(models.TextField(), default=list)
    cardinality = models.TextField(default="many")
    normaliser = models.TextField(default="text")
    ttl_days = models.FloatField(null=True)
    half_life_days = models.FloatField(null=True)
    validators: models.JSONField[Any, Any] = models.JSONField(default=list)
    immutable = models.BooleanField(default=False)
    protected = models.BooleanField(default=False)
    sensitive = models.BooleanField(default=False)
    needs_review = models.BooleanField(default=False)
    time_series = models.BooleanField(default=False)
    keyed = models.BooleanField(default=False)
    dependents: Any = ArrayField(models.TextField(), default=list)
    description = models.TextField(default="")
    region = models.TextField(default="US")
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField(default="")
    reason = models.TextField(default="")
    retired_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "predicate_policy"

    def __str__(self) -> str:
        return f"{self.predicate} v{self.version}"
