"""Seals: signed proof of which events there were, in which order.

Only ``audits.seals`` adds rows here, and nothing changes them: the database
refuses. ``workspace_id`` is the nil UUID for the installation's own chain
(events that belong to no workspace). Read ``audits/domain/seals.py`` for what
is signed.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from records.models.fields import TransactionId


class Seal(models.Model):
    """A Merkle root over the events at positions ``first`` to ``last``, signed and chained.

    Every finished event up to (``horizon``, ``resume_id``), a transaction and
    an event id, is sealed; ``cluster`` is the database cluster whose
    transactions those are.
    """

    pk = models.CompositePrimaryKey("workspace_id", "number")
    workspace_id = models.UUIDField()
    number = models.BigIntegerField()
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    sealed_at = models.DateTimeField(db_default=Now())
    previous = models.BinaryField()
    root = models.BinaryField()
    key_id = models.TextField()
    signature = models.BinaryField()
    horizon = TransactionId()
    resume_id = models.BigIntegerField()
    cluster = models.BigIntegerField()

    class Meta:
        db_table = "seal"

    def __str__(self) -> str:
        return f"seal {self.number}"


class SealedEvent(models.Model):
    """The position that sealing gave to one event, and the leaf that went into the tree."""

    pk = models.CompositePrimaryKey("workspace_id", "position")
    workspace_id = models.UUIDField()
    position = models.BigIntegerField()
    event_id = models.BigIntegerField(unique=True)
    leaf = models.BinaryField()

    class Meta:
        db_table = "sealed_event"

    def __str__(self) -> str:
        return f"#{self.position}"
