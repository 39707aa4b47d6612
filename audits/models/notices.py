"""Who is told of what, by which way, and what became of each notice.

``secret`` is encrypted with a key outside the database. Nothing here holds memory text.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now


class NoticeChannel(models.Model):
    """A way to tell people: an e-mail list, a webhook, a chat service.

    ``place`` is what people may see of its address; the whole address and the
    signing key are in ``secret``.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    name = models.TextField()
    kind = models.TextField()
    place = models.TextField()
    secret = models.BinaryField()
    is_active = models.BooleanField(default=True, db_default=True)
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "notice_channel"


class NoticeRule(models.Model):
    """What a channel is told of: a kind, the number it is compared with, and how often at most."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    channel_id = models.UUIDField()
    kind = models.TextField()
    threshold = models.FloatField(null=True)
    quiet_minutes = models.IntegerField()
    is_active = models.BooleanField(default=True, db_default=True)
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "notice_rule"


class NoticeQuiet(models.Model):
    """Until when a rule keeps back what it has to say of one target, and how much it kept back."""

    pk = models.CompositePrimaryKey("rule_id", "target")
    rule_id = models.UUIDField()
    target = models.TextField()
    workspace_id = models.UUIDField()
    until = models.DateTimeField(null=True)
    kept = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "notice_quiet"


class Notice(models.Model):
    """One thing to tell one channel; its id is what a receiver tells repeats by."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    channel_id = models.UUIDField()
    rule_id = models.UUIDField(null=True)
    kind = models.TextField()
    target_kind = models.TextField(default="", db_default="")
    target = models.TextField(default="", db_default="")
    numbers: models.JSONField[Any, Any] = models.JSONField(default=dict)
    more = models.IntegerField(default=0, db_default=0)
    is_test = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())
    state = models.TextField(default="waiting", db_default="waiting")
    attempts = models.IntegerField(default=0, db_default=0)
    next_at = models.DateTimeField(db_default=Now())
    claimed_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    fault = models.TextField(default="", db_default="")

    class Meta:
        db_table = "notice"


class NoticeAttempt(models.Model):
    """One attempt at a delivery: when, how long, and what was wrong."""

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    notice_id = models.UUIDField()
    at = models.DateTimeField(db_default=Now())
    millis = models.IntegerField()
    fault = models.TextField(default="", db_default="")

    class Meta:
        db_table = "notice_attempt"
