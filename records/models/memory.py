"""Facts, the claims behind them, the slots they hold, and the fences around them.

A record's row changes only when what it says or where it stands changes;
counters that move on every reinforcement live in ``Tally`` and ``Claim``, so
that recall's covering index stays index-only. Only ``records.store`` writes
here.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from .fields import InstantMultirange, Real
from .tenancy import Partition, Session, Source, Workspace


class Slot(models.Model):
    """What contradicts what: its row is the lock that serialises one slot's writers."""

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )

    class Meta:
        db_table = "slot"

    def __str__(self) -> str:
        return str(self.id)


class Address(models.Model):
    """One (source, source_key): which record it holds now, and when the source last named it.

    The row is also the lock that serialises the address's writers.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    source = models.ForeignKey(
        Source, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    source_key = models.TextField()
    record_id = models.UUIDField(null=True)
    last_named_at = models.DateTimeField()
    unlisted_at = models.DateTimeField(null=True)
    relisted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "address"

    def __str__(self) -> str:
        return self.source_key


class MemoryRecord(models.Model):
    """One fact and everything needed to doubt it.

    ``subject_key`` is the canonical spelling that filters use; ``predicate``
    is canonical already. ``last_seen`` and ``valid_until`` here move at most
    once an hour on reinforcement (``Tally.last_seen`` is exact).
    ``corroboration`` counts independent sessions and sources, up to 8, where
    the ranking factor is at its ceiling. ``trust`` is the best tier among the
    claims (0 untrusted, 1 standard, 2 trusted). ``prior_status`` is where an
    evicted record stood, so that restoring puts it back there. ``merged_into``
    is the record that a person has said is the same fact. ``risk`` orders
    the review queue (``domain.risk``). ``terms`` holds the first 160
    search terms, ``more_terms`` the rest. ``salt`` keys the digests that
    events keep; erasure destroys it.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    slot_id = models.UUIDField()
    fingerprint = models.TextField()
    schema_version = models.SmallIntegerField(default=1, db_default=1)
    subject = models.TextField()
    subject_key = models.TextField()
    predicate = models.TextField()
    value = models.TextField()
    content = models.TextField()
    status = models.TextField(default="active", db_default="active")
    hold_reason = models.TextField(default="", db_default="")
    risk = models.SmallIntegerField(default=0, db_default=0)
    cardinality = models.TextField()
    negated = models.BooleanField(default=False, db_default=False)
    derived = models.BooleanField(default=False, db_default=False)
    source = models.ForeignKey(
        Source, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    source_key = models.TextField(null=True)
    session = models.ForeignKey(
        Session, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    extracted_by = models.TextField(default="", db_default="")
    external_id = models.TextField(null=True)
    tags: Any = ArrayField(models.TextField(), default=list)
    labels: Any = ArrayField(models.TextField(), default=list)
    metadata: models.JSONField[Any, Any] = models.JSONField(default=dict)
    confidence = Real(default=0.8)
    stated_confidence = Real(default=0.8)
    trust = models.SmallIntegerField(default=1, db_default=1)
    corroboration = models.SmallIntegerField(default=1, db_default=1)
    written_at = models.DateTimeField()
    observed_at = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_until = models.DateTimeField(null=True)
    valid_until_given = models.BooleanField(default=False, db_default=False)
    order_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    last_seen = models.DateTimeField()
    half_life_days = Real(null=True)
    policy_version = models.IntegerField(default=0, db_default=0)
    status_at = models.DateTimeField()
    prior_status = models.TextField(default="", db_default="")
    superseded_by = models.UUIDField(null=True)
    superseded_at = models.DateTimeField(null=True)
    merged_into = models.UUIDField(null=True)
    believed = InstantMultirange()
    serve_after = models.DateTimeField(null=True)
    recheck_at = models.DateTimeField(null=True)
    recheck_reason = models.TextField(null=True)
    unlisted_at = models.DateTimeField(null=True)
    demoted = models.GeneratedField(
        # The stubs leave conditions out of what may be generated.
        expression=models.Q(recheck_at__isnull=False)  # type: ignore[arg-type]
        | models.Q(unlisted_at__isnull=False),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    embedding: Any = HalfVectorField(null=True)
    embedding_model = models.SmallIntegerField(null=True)
    embedding_partial = models.BooleanField(default=False, db_default=False)
    terms: Any = ArrayField(models.IntegerField(), default=list)
    more_terms: Any = ArrayField(models.IntegerField(), null=True)
    verdict = models.TextField(default="allow", db_default="allow")
    findings: models.JSONField[Any, Any] = models.JSONField(default=list)
    ruleset = models.TextField(default="", db_default="")
    gate_score = Real(default=0.0, db_default=0.0)
    override: models.JSONField[Any, Any] = models.JSONField(null=True)
    salt = models.BinaryField(null=True)
    version = models.IntegerField(default=1, db_default=1)

    class Meta:
        db_table = "memory_record"

    def __str__(self) -> str:
        return self.fingerprint


class Claim(models.Model):
    """That one session, through one source, asserted one record.

    ``state``: ``live`` counts; ``held`` was stopped by the gate (a restatement
    whose wording is suspicious); ``dropped`` was evicted, by the operation
    ``dropped_by`` where it was one; ``moved`` counts at the record that this
    one was merged into, by ``merge_id``. ``wording`` is kept when it differs
    from the record's content.
    """

    pk = models.CompositePrimaryKey("record_id", "session_id", "source_id")
    record = models.ForeignKey(
        MemoryRecord, models.PROTECT, db_constraint=False, related_name="claims", db_index=False
    )
    session = models.ForeignKey(
        Session, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    source = models.ForeignKey(
        Source, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    derived = models.BooleanField(default=False, db_default=False)
    state = models.TextField(default="live", db_default="live")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    count = models.IntegerField(default=1, db_default=1)
    echoes = models.IntegerField(default=0, db_default=0)
    confidence = Real(default=0.8)
    evidence = models.TextField(default="", db_default="")
    wording = models.TextField(default="", db_default="")
    dropped_by = models.UUIDField(null=True)
    merge_id = models.UUIDField(null=True)

    class Meta:
        db_table = "claim"

    def __str__(self) -> str:
        return f"{self.record_id} by {self.session_id}"


class Tally(models.Model):
    """A record's counters; absent until the first reinforcement (then 1, 1, 1)."""

    record_id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    seen_count = models.IntegerField(default=1)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    sessions = models.IntegerField(default=1)
    sources = models.IntegerField(default=1)
    confirmed = models.IntegerField(default=0, db_default=0)
    wrong = models.IntegerField(default=0, db_default=0)
    stale = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "tally"

    def __str__(self) -> str:
        return str(self.record_id)


class Standing(models.Model):
    """Where the clock has put a record: fresh, fading, stale or expired, as of a job's run.

    The ``..._next_at`` columns say when a job looks again; null means never.
    """

    record_id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    validity = models.TextField(default="fresh", db_default="fresh")
    age = models.TextField(default="fresh", db_default="fresh")
    since = models.DateTimeField()
    validity_next_at = models.DateTimeField(null=True)
    age_next_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "standing"

    def __str__(self) -> str:
        return f"{self.record_id} {self.validity}"


class Fence(models.Model):
    """What keeps a fact that was taken out from being written again.

    ``session_id`` or ``source_id`` set: fenced for that provenance, held for
    review from others; neither: fenced for everyone. ``keyed`` fences hold an
    HMAC of the fingerprint (erased facts) instead of the fingerprint.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    partition = models.ForeignKey(
        Partition, models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    fingerprint = models.TextField()
    keyed = models.BooleanField(default=False, db_default=False)
    record_id = models.UUIDField(null=True)
    session_id = models.UUIDField(null=True)
    source_id = models.UUIDField(null=True)
    reason = models.TextField(default="")
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.TextField(default="")
    expires_at = models.DateTimeField(null=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.TextField(null=True)
    attempts = models.IntegerField(default=0, db_default=0)
    last_attempt_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "fence"

    def __str__(self) -> str:
        return self.fingerprint
