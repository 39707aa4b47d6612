"""A workspace's own gate rules: whole versioned sets, and what a draft would change.

One set is active, one may be a draft; sets are never edited once they were
active. ``records.gate_editing`` changes drafts, ``records.rulesets`` reads the
active one for the write path. Counts of hits (``gate_tally``) are plain SQL,
kept by ``audits.gate_hits``.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now

from .tenancy import Workspace


class GateRuleset(models.Model):
    """One version of a workspace's own rules, and which shipped rules it softens.

    ``rules`` is a list of entries (see ``records.gate_rules``); ``softened`` maps
    a shipped rule's id to its milder outcome, who asked for it and why.
    ``revision`` moves with every edit of a draft.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    state = models.TextField(default="draft", db_default="draft")
    revision = models.IntegerField(default=1, db_default=1)
    rules: models.JSONField[Any, Any] = models.JSONField(default=list)
    softened: models.JSONField[Any, Any] = models.JSONField(default=dict)
    reason = models.TextField(default="", db_default="")
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField()
    changed_at = models.DateTimeField(db_default=Now())
    changed_by = models.TextField()
    activated_at = models.DateTimeField(null=True)
    activated_by = models.TextField(default="", db_default="")
    retired_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "gate_ruleset"

    def __str__(self) -> str:
        return f"rules {self.number} ({self.state})"


class GateReplay(models.Model):
    """What a draft would have done otherwise, over the last writes or the live store.

    ``digest`` names the very draft and ruleset that were compared. ``result``
    holds counts and record ids, never memory text.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+", db_index=False)
    ruleset_id = models.UUIDField()
    digest = models.TextField()
    population = models.TextField()
    state = models.TextField(default="waiting", db_default="waiting")
    result: models.JSONField[Any, Any] = models.JSONField(default=dict)
    started_at = models.DateTimeField(db_default=Now())
    started_by = models.TextField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "gate_replay"

    def __str__(self) -> str:
        return f"replay on {self.population} ({self.state})"
