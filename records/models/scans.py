"""Scans: stored facts judged again by a ruleset, what they found, and how far they got.

A scan's rules are frozen in its row, so that an edit of a draft cannot change
what a scan under way judges by. Its work is rows of ``scan_range``: ids that
one worker at a time takes. Hits hold ids, rules and severity, never memory
text.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class Scan(models.Model):
    """One scan: by which rules, over which facts, what it does with hits, what it found.

    ``mode`` "dry" changes nothing; "hold" takes hits out of service. ``scope_key``
    names the scope, so that scans of the same facts can be compared; ``previous_id``
    is the one before. Counts are filled when the scan ends: until then they are the
    sums over its ranges. ``busy_ms`` adds up what all workers spent.
    """

    id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    number = models.IntegerField()
    mode = models.TextField(default="dry", db_default="dry")
    rules_kind = models.TextField()
    ruleset = models.TextField()
    ruleset_number = models.IntegerField(default=0, db_default=0)
    rules: models.JSONField[Any, Any] = models.JSONField(default=list)
    softened: models.JSONField[Any, Any] = models.JSONField(default=dict)
    scope: models.JSONField[Any, Any] = models.JSONField(default=dict)
    scope_key = models.TextField(default="", db_default="")
    scope_title = models.TextField(default="", db_default="")
    previous_id = models.UUIDField(null=True)
    state = models.TextField(default="running", db_default="running")
    total = models.IntegerField(default=0, db_default=0)
    checked = models.IntegerField(default=0, db_default=0)
    new = models.IntegerField(default=0, db_default=0)
    known = models.IntegerField(default=0, db_default=0)
    cleared = models.IntegerField(default=0, db_default=0)
    approved = models.IntegerField(default=0, db_default=0)
    held = models.IntegerField(default=0, db_default=0)
    skipped = models.IntegerField(default=0, db_default=0)
    gone = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    busy_ms = models.BigIntegerField(default=0, db_default=0)
    result: models.JSONField[Any, Any] = models.JSONField(default=dict)
    started_by = models.TextField()
    started_at = models.DateTimeField(db_default=Now())
    paused_at = models.DateTimeField(null=True)
    paused_ms = models.BigIntegerField(default=0, db_default=0)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(default="", db_default="")

    class Meta:
        db_table = "scan"


class ScanRange(models.Model):
    """Some ids of a scan; done when ``done_at`` is set, in the transaction of the work itself."""

    pk = models.CompositePrimaryKey("scan_id", "place")
    scan_id = models.UUIDField()
    place = models.IntegerField()
    workspace_id = models.UUIDField()
    ids: Any = ArrayField(models.UUIDField())
    facts = models.IntegerField()
    checked = models.IntegerField(default=0, db_default=0)
    new = models.IntegerField(default=0, db_default=0)
    known = models.IntegerField(default=0, db_default=0)
    cleared = models.IntegerField(default=0, db_default=0)
    approved = models.IntegerField(default=0, db_default=0)
    held = models.IntegerField(default=0, db_default=0)
    skipped = models.IntegerField(default=0, db_default=0)
    gone = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    ms = models.IntegerField(default=0, db_default=0)
    worker = models.TextField(default="", db_default="")
    attempts = models.IntegerField(default=0, db_default=0)
    done_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "scan_range"


class ScanHit(models.Model):
    """One fact of which the scan has something to say, and by which rules.

    ``kind``: "new", "known" (found before, or held already) or "cleared" (found
    before, let through now; ``rules`` are those that found it then). ``stood``
    is the fact's status at the scan.
    """

    pk = models.CompositePrimaryKey("scan_id", "record_id")
    scan_id = models.UUIDField()
    record_id = models.UUIDField()
    workspace_id = models.UUIDField()
    partition_id = models.UUIDField()
    version = models.IntegerField()
    kind = models.TextField()
    stood = models.TextField()
    outcome = models.TextField()
    severity = models.TextField(default="", db_default="")
    rules: Any = ArrayField(models.TextField())
    is_approved = models.BooleanField(default=False, db_default=False)
    is_held = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "scan_hit"
