"""Bringing stored facts over to a changed policy: identity, cardinality, validity.

Owns the job that follows a policy change. Live and held records of the
predicate are worked through slot by slot: fingerprints are made anew, facts
that now say the same become one, a slot that now holds one value keeps the
newest, and times to live count from last seen. Each record notes the policy
version it was brought to, so the work can stop and go on anywhere, and twice
at once does nothing twice. ``preview`` counts before anybody decides.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from records import events, store
from records.access import Access
from records.domain.facts import Cardinality, Policy, Status
from records.domain.identify import identify
from records.events import Happening
from records.policies import book
from records.queries import Row, cursor
from records.scope import workspace_scope

BATCH = 200  # slots in one transaction
SAMPLES = 10  # of each kind of effect
PREVIEW_LIMIT = 50_000  # records that a preview reads; beyond it counts are of those alone

READ = """SELECT r.id, r.partition_id, r.slot_id, r.fingerprint, r.status, r.subject, r.value, r.cardinality,
                 r.negated, r.order_at, r.recorded_at, r.last_seen, coalesce(r.observed_at, r.written_at),
                 r.valid_until, r.valid_until_given, r.derived, o.name, r.source_key
          FROM memory_record r JOIN source o ON o.id = r.source_id"""


@dataclass(slots=True)
class Stored:
    """One live or held record as it stands, and what the new policy makes of it."""

    id: UUID
    partition_id: UUID
    slot_id: UUID
    fingerprint: str
    status: str
    subject: str
    value: str
    cardinality: str
    negated: bool
    order_at: datetime
    recorded_at: datetime
    last_seen: datetime
    seen_at: datetime
    valid_until: datetime | None
    valid_until_given: bool
    derived: bool
    source: str
    source_key: str | None
    new_fingerprint: str = ""
    new_cardinality: str = ""

    def bring_to(self, policy: Policy, workspace_id: UUID) -> None:
        """Work out the identity and cardinality that ``policy`` gives the record."""
        identity = identify(
            workspace_id=workspace_id,
            partition_id=self.partition_id,
            subject=self.subject,
            value=self.value,
            policy=policy,
            seen_at=self.seen_at,
            source=self.source if self.derived else None,
            source_key=self.source_key if self.derived else None,
        )
        # A slot of its own (a keyed predicate) is part of what a record is: it stays there.
        same_slot = identity.slot_id == self.slot_id
        self.new_fingerprint = identity.fingerprint if same_slot else self.fingerprint
        self.new_cardinality = str(Cardinality.MANY if identity.negated else policy.cardinality)

    def new_valid_until(self, policy: Policy) -> datetime | None:
        """Return until when the record is valid under ``policy``."""
        if self.valid_until_given:
            return self.valid_until
        if policy.ttl_days is None:
            return None
        return self.last_seen + timedelta(days=policy.ttl_days)


@dataclass(slots=True)
class Effect:
    """What a policy would do, or has done, to stored facts.

    ``superseded`` leave service because their slot now holds one value,
    ``merged`` because another record now says the same, ``expired`` and
    ``revived`` change sides of now. ``examples`` are (record, why), ``samples`` the
    first records of each of the four.
    """

    records: int = 0
    slots: int = 0
    superseded: int = 0
    merged: int = 0
    expired: int = 0
    revived: int = 0
    is_partial: bool = False
    examples: list[tuple[UUID, str]] = field(default_factory=list)
    samples: dict[str, list[UUID]] = field(default_factory=lambda: defaultdict(list))

    @property
    def counts(self) -> dict[str, int]:
        """Return what people are shown and asked about, by name."""
        return {
            "records": self.records,
            "superseded": self.superseded,
            "merged": self.merged,
            "expired": self.expired,
            "revived": self.revived,
        }

    def note(self, kind: str, record_id: UUID) -> None:
        """Keep a record as a sample of its kind, up to a few."""
        if len(self.samples[kind]) < SAMPLES:
            self.samples[kind].append(record_id)


def preview(policy: Policy, *, access: Access, now: datetime | None = None) -> Effect:
    """Count what ``policy`` would do to the predicate's live and held facts; changes nothing.

    Call inside ``workspace_scope``.
    """
    now = now or datetime.now(UTC)
    effect = Effect()
    with cursor() as cur:
        cur.execute(
            f"""{READ} WHERE r.workspace_id = %s AND r.predicate = %s AND r.status IN ('active', 'quarantined')
                ORDER BY r.id LIMIT %s""",
            [access.workspace_id, policy.predicate, PREVIEW_LIMIT + 1],
        )
        rows = [Stored(*row) for row in cur]
    effect.is_partial = len(rows) > PREVIEW_LIMIT
    for several in _by_slot(rows[:PREVIEW_LIMIT]):
        for one in several:
            one.bring_to(policy, access.workspace_id)
        _settle(several, effect, now, policy)
    return effect


def apply(
    predicate: str, *, access: Access, now: datetime | None = None, batches: int | None = None
) -> Effect:
    """Bring the predicate's stored facts to its live policy; returns what changed.

    Opens its own scopes, one transaction for each batch of slots. With
    ``batches`` it stops early (``is_partial``) and can be called again.
    """
    now = now or datetime.now(UTC)
    effect = Effect()
    done = 0
    while batches is None or done < batches:
        with workspace_scope(access.workspace_id), cursor() as cur:
            policy = book(access.workspace_id).resolve(predicate)
            if not _one_batch(cur, policy, effect, access, now):
                return effect
        done += 1
    effect.is_partial = True
    return effect


def _one_batch(
    cur: psycopg.Cursor[Row], policy: Policy, effect: Effect, access: Access, now: datetime
) -> bool:
    """Bring one batch of slots over; False when none is left."""
    cur.execute(
        """SELECT DISTINCT slot_id, partition_id FROM memory_record
           WHERE workspace_id = %s AND predicate = %s AND status IN ('active', 'quarantined')
             AND policy_version <> %s ORDER BY slot_id LIMIT %s""",
        [access.workspace_id, policy.predicate, policy.version, BATCH],
    )
    slots = {row[0]: row[1] for row in cur}
    if not slots:
        return False
    store.lock_slots(cur, access.workspace_id, slots)
    cur.execute(
        f"""{READ} WHERE r.slot_id = ANY(%s) AND r.status IN ('active', 'quarantined') ORDER BY r.id
            FOR UPDATE OF r""",
        [list(slots)],
    )
    rows = [Stored(*row) for row in cur]
    _bring_wordings(cur, list(slots), rows, policy, access, now)
    happenings: list[Happening] = []
    for several in _by_slot(rows):
        for one in several:
            one.bring_to(policy, access.workspace_id)
        leaving = _settle(several, effect, now, policy)
        _save(cur, several, leaving, policy, now)
        happenings += [
            Happening(
                "record.superseded",
                "record",
                target_id=one.id,
                partition_id=one.partition_id,
                reason="policy changed",
                details={"by": str(successor.id), "policy": policy.version},
            )
            for one, successor in leaving
        ]
    happenings.append(
        Happening(
            "policy.applied",
            "policy",
            count=len(slots),
            details={"predicate": policy.predicate, "version": policy.version},
        )
    )
    events.append(happenings, access=access)
    return True


def _bring_wordings(
    cur: psycopg.Cursor[Row],
    slots: Sequence[UUID],
    staying: Sequence[Stored],
    policy: Policy,
    access: Access,
    now: datetime,
) -> None:
    """Bring the wordings over that were merged into other records: they are identities, too.

    One that the new policy spells as a fact that is there needs no merge any more.
    """
    cur.execute(
        f"""{READ} WHERE r.slot_id = ANY(%s) AND r.status = 'superseded' AND r.merged_into IS NOT NULL
            ORDER BY r.id FOR UPDATE OF r""",
        [list(slots)],
    )
    wordings = [Stored(*row) for row in cur.fetchall()]
    if not wordings:
        return
    for one in [*staying, *wordings]:
        one.bring_to(policy, access.workspace_id)
    taken = {(one.partition_id, print_) for one in staying
             for print_ in (one.fingerprint, one.new_fingerprint)}  # fmt: skip
    ended: list[UUID] = []
    for one in wordings:
        place = (one.partition_id, one.new_fingerprint)
        if place in taken:
            ended.append(one.id)
        taken.add(place)
    store.end_merges(cur, ended, now, by=str(access.actor), why="said anew")
    kept = [one for one in wordings if one.id not in ended]
    cur.execute(
        """UPDATE memory_record r SET fingerprint = u.fingerprint, policy_version = %s
           FROM unnest(%s::uuid[], %s::text[]) AS u (id, fingerprint) WHERE r.id = u.id""",
        [policy.version, [one.id for one in kept], [one.new_fingerprint for one in kept]],
    )


def _by_slot(rows: Sequence[Stored]) -> Iterator[list[Stored]]:
    slots: dict[UUID, list[Stored]] = defaultdict(list)
    for row in rows:
        slots[row.slot_id].append(row)
    yield from slots.values()


def _settle(
    several: Sequence[Stored], effect: Effect, now: datetime, policy: Policy
) -> list[tuple[Stored, Stored]]:
    """Return which records of one slot leave, each with its successor; count the effect."""
    effect.slots += 1
    effect.records += len(several)
    leaving: list[tuple[Stored, Stored]] = []
    staying: list[Stored] = []
    groups: dict[str, list[Stored]] = defaultdict(list)
    for one in several:
        groups[one.new_fingerprint].append(one)
    for same in groups.values():
        # What is live stays before what is held, and the first before its repeats.
        kept, *others = sorted(same, key=lambda r: (r.status != Status.ACTIVE, r.recorded_at, r.id))
        staying.append(kept)
        leaving += [(other, kept) for other in others]
        effect.merged += len(others)
        for other in others:
            effect.note("merged", other.id)
    competing = [
        r for r in staying if r.status == Status.ACTIVE and r.new_cardinality == Cardinality.ONE
    ]
    competing.sort(key=lambda r: (r.order_at, r.recorded_at, r.id))
    for older, newer in itertools.pairwise(competing):
        leaving.append((older, newer))
        effect.superseded += 1
        effect.note("superseded", older.id)
    for one, successor in leaving:
        if len(effect.examples) < 20:
            effect.examples.append((one.id, f"gives way to {successor.id}"))
    gone = {one.id for one, _ in leaving}
    for one in several:
        if one.id in gone or one.status != Status.ACTIVE:
            continue
        was = one.valid_until is not None and one.valid_until <= now
        until = one.new_valid_until(policy)
        will = until is not None and until <= now
        if will is not was:
            kind = "expired" if will else "revived"
            effect.expired += will
            effect.revived += was
            effect.note(kind, one.id)
    return leaving


def _save(
    cur: psycopg.Cursor[Row],
    several: Sequence[Stored],
    leaving: Sequence[tuple[Stored, Stored]],
    policy: Policy,
    now: datetime,
) -> None:
    """Let those that leave go first: the unique indexes hold at every statement."""
    merged = [(a, b) for a, b in leaving if a.new_fingerprint == b.new_fingerprint]
    if leaving:
        cur.execute(
            """UPDATE memory_record r SET status = 'superseded', superseded_by = u.successor, superseded_at = %s,
                   status_at = %s, hold_reason = '', policy_version = %s
               FROM unnest(%s::uuid[], %s::uuid[]) AS u (id, successor) WHERE r.id = u.id""",
            [
                now,
                now,
                policy.version,
                [one.id for one, _ in leaving],
                [successor.id for _, successor in leaving],
            ],
        )
    gone = {one.id for one, _ in leaving}
    staying = [one for one in several if one.id not in gone]
    cur.execute(
        """UPDATE memory_record r SET fingerprint = u.fingerprint, cardinality = u.cardinality,
               policy_version = %s, half_life_days = %s, valid_until = u.valid_until
           FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::timestamptz[])
               AS u (id, fingerprint, cardinality, valid_until) WHERE r.id = u.id""",
        [
            policy.version,
            policy.half_life_days,
            [one.id for one in staying],
            [one.new_fingerprint for one in staying],
            [one.new_cardinality for one in staying],
            [one.new_valid_until(policy) for one in staying],
        ],
    )
    if merged:
        _move_claims(cur, merged)


def _move_claims(cur: psycopg.Cursor[Row], merged: Sequence[tuple[Stored, Stored]]) -> None:
    """Unite the provenance of records that say the same; the old claims stay, as dropped."""
    cur.execute(
        """WITH moved AS (
               SELECT u.kept, c.* FROM unnest(%s::uuid[], %s::uuid[]) AS u (gone, kept)
               JOIN claim c ON c.record_id = u.gone AND c.state = 'live')
           INSERT INTO claim AS k (record_id, session_id, source_id, workspace_id, partition_id, derived, state,
                                   first_at, last_at, count, echoes, confidence, evidence, wording)
           SELECT kept, session_id, source_id, workspace_id, partition_id, bool_or(derived), 'live',
                  min(first_at), max(last_at), sum(count), sum(echoes), max(confidence), max(evidence), max(wording)
           FROM moved GROUP BY kept, session_id, source_id, workspace_id, partition_id
           ORDER BY kept, session_id, source_id
           ON CONFLICT (record_id, session_id, source_id) DO UPDATE SET
               count = k.count + excluded.count, echoes = k.echoes + excluded.echoes,
               first_at = least(k.first_at, excluded.first_at), last_at = greatest(k.last_at, excluded.last_at)""",
        [[gone.id for gone, _ in merged], [kept.id for _, kept in merged]],
    )
    cur.execute(
        "UPDATE claim SET state = 'dropped' WHERE record_id = ANY(%s) AND state = 'live'",
        [[gone.id for gone, _ in merged]],
    )
    cur.execute(
        """UPDATE address a SET record_id = u.kept FROM unnest(%s::uuid[], %s::uuid[]) AS u (gone, kept)
           WHERE a.record_id = u.gone""",
        [[gone.id for gone, _ in merged], [kept.id for _, kept in merged]],
    )
    store.refresh_tallies(cur, sorted({kept.id for _, kept in merged}))
