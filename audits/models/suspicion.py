"""How odd each session looked when it was last looked at: kept by a job, sorted by an index.

Holds numbers, keyed digests and the product's own sentences; no memory text.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models


class SessionSuspicion(models.Model):
    """One session's score with its reasons, and what other sessions are compared with.

    ``reasons`` are the parts of the score, the strongest first; ``looks`` the
    signals they were made of. ``vocabulary`` and ``sentences`` are what
    ``domain/direction.py`` found in its facts, ``stated`` its values.
    ``looked_at`` is the session's ``changed_at`` then: a later one means stale.
    """

    session_id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    score = models.SmallIntegerField(default=0, db_default=0)
    reasons: models.JSONField[Any, Any] = models.JSONField(default=list)
    looks: models.JSONField[Any, Any] = models.JSONField(default=dict)
    vocabulary: Any = ArrayField(models.IntegerField(), default=list)
    sentences: Any = ArrayField(models.IntegerField(), default=list)
    stated: Any = ArrayField(models.IntegerField(), default=list)
    looked_at = models.DateTimeField()
    computed_at = models.DateTimeField()

    class Meta:
        db_table = "session_suspicion"
