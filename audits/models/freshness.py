"""How often facts are seen again, and which have been silent for longer; ids and times alone."""

from __future__ import annotations

from django.db import models


class PredicateHabit(models.Model):
    """One predicate's habit: the median days between sightings, and when silence is late."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    predicate = models.TextField()
    facts = models.IntegerField()
    usual_days = models.FloatField()
    late_days = models.FloatField()

    class Meta:
        db_table = "predicate_habit"


class UnseenFact(models.Model):
    """A live fact that had been silent beyond its predicate's habit when a job last looked."""

    record_id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    predicate = models.TextField()
    last_seen = models.DateTimeField()

    class Meta:
        db_table = "unseen_fact"
