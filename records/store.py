"""Rows in, rows out: the statements of the write path, a constant number of them.

Owns locking, loading the ledger and saving what it changed. Decides nothing.
Slots are locked in the order of their ids, then addresses, then sessions, so
that two writers never wait for each other in a circle. Call inside a scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from records.domain.facts import Cardinality, Status, Tier
from records.domain.ledger import ClaimDelta, FenceView
from records.domain.reconcile import Known
from records.queries import FEW, Row, Table, working

ECHO_WINDOW = timedelta(hours=24)
ROW_GRAIN = timedelta(hours=1)  # how far reinforcement may move times before the row is rewritten
CORROBORATION_CEILING = 8  # where the ranking factor is at its maximum

RECORDS = Table(
    "memory_record",
    [
        ("id", "uuid"),
        ("workspace_id", "uuid"),
        ("partition_id", "uuid"),
        ("slot_id", "uuid"),
        ("fingerprint", "text"),
        ("subject", "text"),
        ("subject_key", "text"),
        ("predicate", "text"),
        ("value", "text"),
        ("content", "text"),
        ("status", "text"),
        ("hold_reason", "text"),
        ("risk", "int2"),
        ("cardinality", "text"),
        ("negated", "bool"),
        ("derived", "bool"),
        ("source_id", "uuid"),
        ("source_key", "text"),
        ("session_id", "uuid"),
        ("extracted_by", "text"),
        ("external_id", "text"),
        ("tags", "text[]"),
        ("labels", "text[]"),
        ("metadata", "text"),
        ("confidence", "float4"),
        ("stated_confidence", "float4"),
        ("trust", "int2"),
        ("written_at", "timestamptz"),
        ("observed_at", "timestamptz"),
        ("valid_from", "timestamptz"),
        ("valid_until", "timestamptz"),
        ("valid_until_given", "bool"),
        ("order_at", "timestamptz"),
        ("recorded_at", "timestamptz"),
        ("last_seen", "timestamptz"),
        ("half_life_days", "float4"),
        ("policy_version", "int4"),
        ("status_at", "timestamptz"),
        ("superseded_by", "uuid"),
        ("superseded_at", "timestamptz"),
        ("recheck_at", "timestamptz"),
        ("embedding", "halfvec"),
        ("embedding_model", "int2"),
        ("embedding_partial", "bool"),
        ("terms", "int4[]"),
        ("more_terms", "int4[]"),
        ("verdict", "text"),
        ("findings", "text"),
        ("ruleset", "text"),
        ("gate_score", "float4"),
        ("salt", "bytea"),
    ],
    made={
        "believed": """CASE WHEN status = 'active' THEN tstzmultirange(tstzrange(recorded_at, NULL))
                       ELSE '{}' END""",
        # As text: most are empty, and an object would be spelled anew for each row.
        "metadata": "metadata::jsonb",
        "findings": "findings::jsonb",
    },
)
CLAIMS = Table(
    "claim",
    [
        ("record_id", "uuid"),
        ("session_id", "uuid"),
        ("source_id", "uuid"),
        ("workspace_id", "uuid"),
        ("partition_id", "uuid"),
        ("derived", "bool"),
        ("state", "text"),
        ("first_at", "timestamptz"),
        ("last_at", "timestamptz"),
        ("count", "int4"),
        ("echoes", "int4"),
        ("confidence", "float4"),
        ("evidence", "text"),
        ("wording", "text"),
    ],
    # A live claim stays live when a held restatement follows. A dropped one gets here only on
    # a record that is held, and lives again.
    """ON CONFLICT (record_id, session_id, source_id) DO UPDATE SET
        count = claim.count + CASE WHEN excluded.state = 'held' THEN 0 ELSE excluded.count END,
        echoes = claim.echoes + excluded.echoes,
        first_at = least(claim.first_at, excluded.first_at),
        last_at = CASE WHEN excluded.state = 'held' OR excluded.count = 0 THEN claim.last_at
                       ELSE greatest(claim.last_at, excluded.last_at) END,
        state = CASE WHEN excluded.state = 'live' AND excluded.count > 0 THEN 'live' ELSE claim.state END,
        confidence = greatest(claim.confidence, excluded.confidence),
        evidence = CASE WHEN claim.evidence = '' THEN excluded.evidence ELSE claim.evidence END,
        wording = CASE WHEN claim.wording = '' THEN excluded.wording ELSE claim.wording END""",
)

KNOWN_COLUMNS = """r.id, r.fingerprint, r.slot_id, r.status, r.cardinality, r.confidence, r.order_at,
    greatest(r.last_seen, t.last_seen), r.source_id, r.hold_reason, r.content, r.valid_until,
    r.valid_until_given, r.derived, r.trust, r.superseded_by, r.superseded_at, r.recheck_at,
    r.unlisted_at, r.merged_into, coalesce(t.seen_count, 1)"""

# What a fingerprint finds: the live or held record, or the one that was merged away under it.
# The predicate of the unique index, word for word, so that one probe of it finds either.
TAKEN = """(r.status IN ('active', 'quarantined')
            OR r.status = 'superseded' AND r.merged_into IS NOT NULL)"""


@dataclass(frozen=True, slots=True)
class SourceView:
    """What the write path needs to know of a source."""

    id: UUID
    tier: Tier
    suspended: bool


def load_sources(
    cur: psycopg.Cursor[Row], workspace_id: UUID, names: Sequence[str], ids: Sequence[UUID]
) -> dict[str, SourceView]:
    """Return the named sources, made with the standard tier where they are new."""
    read = "SELECT name, id, tier, suspended_at IS NOT NULL FROM source WHERE workspace_id = %s AND name = ANY(%s)"
    cur.execute(read, [workspace_id, list(names)])
    found = {row[0]: SourceView(row[1], Tier(row[2]), row[3]) for row in cur}
    if len(found) < len(names):
        cur.execute(
            """INSERT INTO source (id, workspace_id, name)
               SELECT id, %s, name FROM unnest(%s::uuid[], %s::text[]) AS s (id, name) ORDER BY id
               ON CONFLICT DO NOTHING""",
            [workspace_id, list(ids), list(names)],
        )
        cur.execute(read, [workspace_id, list(names)])
        found = {row[0]: SourceView(row[1], Tier(row[2]), row[3]) for row in cur}
    return found


def ensure_partitions(
    cur: psycopg.Cursor[Row], workspace_id: UUID, partitions: dict[UUID, str]
) -> list[UUID]:
    """Make the partitions that are new and return their ids."""
    ids = sorted(partitions)
    cur.execute(
        """INSERT INTO partition (id, workspace_id, name)
           SELECT id, %s, name FROM unnest(%s::uuid[], %s::text[]) AS p (id, name) ORDER BY id
           ON CONFLICT DO NOTHING RETURNING id""",
        [workspace_id, ids, [partitions[one] for one in ids]],
    )
    return [row[0] for row in cur]


def ensure_sessions(
    cur: psycopg.Cursor[Row], workspace_id: UUID, sessions: Sequence[tuple[Any, ...]]
) -> None:
    """Make the sessions that are new: (id, partition, external id, synthesised, agent, model)."""
    columns = [list(column) for column in zip(*sorted(sessions, key=lambda s: s[0]), strict=True)]
    cur.execute(
        """INSERT INTO session (id, workspace_id, partition_id, external_id, synthesised, agent, extracted_by)
           SELECT id, %s, partition_id, external_id, synthesised, agent, extracted_by
           FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::bool[], %s::text[], %s::text[])
               AS s (id, partition_id, external_id, synthesised, agent, extracted_by) ORDER BY id
           ON CONFLICT DO NOTHING""",
        [workspace_id, *columns],
    )


def lock_slots(cur: psycopg.Cursor[Row], workspace_id: UUID, slots: dict[UUID, UUID]) -> set[UUID]:
    """Lock the slots (id -> partition) until commit; return those that did not exist."""
    with locking_slots(cur, workspace_id, slots) as fresh:
        pass
    return fresh


@contextmanager
def locking_slots(
    cur: psycopg.Cursor[Row], workspace_id: UUID, slots: dict[UUID, UUID]
) -> Iterator[set[UUID]]:
    """Lock as ``lock_slots`` does while the block computes; the set is filled at its end.

    One statement inserts the new and locks the old, in the order of their ids:
    DO UPDATE locks the row even where its condition is false, and leaves no
    dead version behind.
    """
    fresh: set[UUID] = set()
    with working(cur, is_worth=len(slots) > FEW):
        cur.execute(
            """INSERT INTO slot (id, workspace_id, partition_id)
               SELECT id, %s, partition_id FROM unnest(%b::uuid[], %b::uuid[]) AS s (id, partition_id)
               ORDER BY id
               ON CONFLICT (id) DO UPDATE SET id = slot.id WHERE false RETURNING id""",
            [workspace_id, list(slots), list(slots.values())],
            binary=True,
        )
        yield fresh
    fresh.update(row[0] for row in cur)


def lock_addresses(
    cur: psycopg.Cursor[Row],
    workspace_id: UUID,
    addresses: dict[UUID, tuple[UUID, UUID, str]],
    named_at: datetime,
) -> dict[UUID, UUID]:
    """Lock the addresses (id -> partition, source, key), note that they were named.

    Returns which record each holds now.
    """
    ids = sorted(addresses)
    columns = [list(column) for column in zip(*(addresses[one] for one in ids), strict=True)]
    cur.execute(
        """INSERT INTO address AS a (id, workspace_id, partition_id, source_id, source_key, last_named_at)
           SELECT id, %s, partition_id, source_id, source_key, %s
           FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::text[]) AS n (id, partition_id, source_id, source_key)
           ORDER BY id
           ON CONFLICT (id) DO UPDATE SET last_named_at = greatest(a.last_named_at, excluded.last_named_at),
                                          relisted_at = CASE WHEN a.unlisted_at IS NULL THEN a.relisted_at
                                                             ELSE excluded.last_named_at END,
                                          unlisted_at = NULL
           RETURNING id, record_id""",
        [workspace_id, named_at, ids, *columns],
    )
    return {row[0]: row[1] for row in cur if row[1] is not None}


def load_known(
    cur: psycopg.Cursor[Row],
    *,
    fingerprints: Sequence[tuple[UUID, str]],
    slots: dict[UUID, datetime],
    dependents: Sequence[UUID],
    record_ids: Iterable[UUID] = (),
    past: Sequence[tuple[UUID, str, datetime]] = (),
) -> dict[UUID, Known]:
    """Load every record that the writes can meet.

    ``fingerprints`` are (partition, fingerprint); ``slots`` are one-valued
    slots with the earliest ``order_at`` written to them (for late arrivals,
    the newer part of the chain and the one record before it are loaded too).
    ``past`` are (partition, fingerprint, order_at) of writes that name their time
    themselves: the same fact may be superseded there already.
    """
    parts: list[str] = []
    values: dict[str, Any] = {}
    if fingerprints:
        values |= {"fp_p": [p for p, _ in fingerprints], "fp_f": [f for _, f in fingerprints]}
        parts += [
            f"""SELECT r.id FROM unnest(%(fp_p)s::uuid[], %(fp_f)s::text[]) AS w (p, f)
                JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
                 AND {condition}"""
            for condition in (TAKEN, "r.status = 'rejected'")
        ]
    if slots:
        values |= {"slots": list(slots), "since": list(slots.values())}
        wanted = "unnest(%(slots)s::uuid[], %(since)s::timestamptz[]) AS w (slot, since)"
        parts += [
            f"""SELECT r.id FROM {wanted} JOIN memory_record r ON r.slot_id = w.slot
                 AND r.status = 'active' AND r.cardinality = 'one'""",
            f"""SELECT r.id FROM {wanted} JOIN memory_record r ON r.slot_id = w.slot
                 AND r.order_at >= w.since AND r.status = 'superseded'""",
            f"""SELECT r.id FROM {wanted} CROSS JOIN LATERAL (
                    SELECT m.id FROM memory_record m WHERE m.slot_id = w.slot AND m.order_at < w.since
                      AND m.status = 'superseded' ORDER BY m.order_at DESC LIMIT 1) r""",
        ]
    if dependents:
        values["dependents"] = list(dependents)
        parts.append(
            """SELECT r.id FROM memory_record r
               WHERE r.slot_id = ANY(%(dependents)s) AND r.status = 'active'"""
        )
    if past:
        values |= {
            "past_p": [p for p, _, _ in past],
            "past_f": [f for _, f, _ in past],
            "past_at": [at for _, _, at in past],
        }
        parts.append(
            """SELECT r.id FROM unnest(%(past_p)s::uuid[], %(past_f)s::text[],
                                       %(past_at)s::timestamptz[]) AS w (p, f, at)
               JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
                AND r.order_at = w.at AND r.status = 'superseded'"""
        )
    ids = list(record_ids)
    if ids:
        values["ids"] = ids
        parts.append("SELECT unnest(%(ids)s::uuid[])")
    if not parts:
        return {}
    cur.execute(
        f"""WITH wanted (id) AS ({" UNION ".join(parts)})
            SELECT {KNOWN_COLUMNS} FROM wanted JOIN memory_record r ON r.id = wanted.id
            LEFT JOIN tally t ON t.record_id = r.id""",
        values,
    )
    return {row[0]: _known(row) for row in cur}


def _known(row: Row) -> Known:
    return Known(
        id=row[0],
        fingerprint=row[1],
        slot_id=row[2],
        status=Status(row[3]),
        cardinality=Cardinality(row[4]),
        confidence=row[5],
        order_at=row[6],
        last_seen=row[7],
        source_id=row[8],
        hold_reason=row[9],
        content=row[10],
        valid_until=row[11],
        valid_until_given=row[12],
        derived=row[13],
        trust=row[14],
        superseded_by=row[15],
        superseded_at=row[16],
        recheck_at=row[17],
        unlisted_at=row[18],
        merged_into=row[19],
        seen_count=row[20],
    )


def follow_merges(
    cur: psycopg.Cursor[Row], workspace_id: UUID, known: dict[UUID, Known], locked: set[UUID]
) -> None:
    """Add to ``known`` what its merged wordings were merged into, with their slots locked.

    ``locked`` are the slots that are locked already; those this locks are added.
    """
    while pending := {
        k.merged_into for k in known.values() if k.is_alias and k.merged_into is not None
    } - {k.id for k in known.values() if k.slot_id in locked}:
        cur.execute(
            "SELECT slot_id, partition_id FROM memory_record WHERE id = ANY(%s)", [list(pending)]
        )
        slots = {row[0]: row[1] for row in cur if row[0] not in locked}
        lock_slots(cur, workspace_id, slots)
        locked |= slots.keys()
        known |= load_known(
            cur,
            fingerprints=[],
            slots={},
            dependents=[],
            record_ids=pending,
        )


def load_claimants(
    cur: psycopg.Cursor[Row], known: dict[UUID, Known], sessions: Sequence[UUID]
) -> None:
    """Tell each known record which of these sessions claim it already, and whose claim was dropped."""
    cur.execute(
        """SELECT record_id, session_id, source_id, state FROM claim
           WHERE record_id = ANY(%s) AND session_id = ANY(%s) AND state IN ('live', 'dropped')""",
        [list(known), list(sessions)],
    )
    for record_id, session_id, source_id, state in cur:
        record = known[record_id]
        (record.claimants if state == "live" else record.dropped).add((session_id, source_id))


def load_voices(cur: psycopg.Cursor[Row], known: dict[UUID, Known]) -> None:
    """Tell each known record who says it now: observing sessions, and addresses that hold it."""
    cur.execute(
        """SELECT record_id, session_id FROM claim
           WHERE record_id = ANY(%(ids)s) AND NOT derived AND state = 'live'
           UNION SELECT record_id, id FROM address WHERE record_id = ANY(%(ids)s)""",
        {"ids": list(known)},
    )
    for record_id, voice in cur:
        known[record_id].voices.add(voice)


def load_serves(
    cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], sessions: Sequence[UUID], now: datetime
) -> list[tuple[UUID, UUID]]:
    """Return which (session, record) pairs were served in the echo window."""
    cur.execute(
        """SELECT DISTINCT session_id, record_id FROM serve
           WHERE record_id = ANY(%s) AND session_id = ANY(%s) AND at >= %s""",
        [list(record_ids), list(sessions), now - ECHO_WINDOW],
    )
    return [(row[0], row[1]) for row in cur]


def load_sentences(
    cur: psycopg.Cursor[Row], sessions: Sequence[UUID], now: datetime
) -> list[tuple[UUID, UUID, str]]:
    """Return (session, record, content) of what these sessions were last served.

    The newest five hundred serves of each: an agent that stores what it was
    told does so soon after.
    """
    cur.execute(
        """SELECT DISTINCT w.id, v.record_id, r.content
           FROM unnest(%s::uuid[]) AS w (id)
           CROSS JOIN LATERAL (SELECT s.record_id FROM serve s WHERE s.session_id = w.id AND s.at >= %s
                               ORDER BY s.at DESC LIMIT 500) v
           JOIN memory_record r ON r.id = v.record_id AND r.status = 'active'""",
        [list(sessions), now - ECHO_WINDOW],
    )
    return [(row[0], row[1], row[2]) for row in cur]


def load_fences(
    cur: psycopg.Cursor[Row], digests: Sequence[tuple[UUID, str, str]], now: datetime
) -> list[FenceView]:
    """Return the standing fences around (partition, fingerprint, keyed digest)."""
    cur.execute(
        """SELECT f.id, w.f, f.session_id, f.source_id, f.partition_id
           FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS w (p, f, k)
           JOIN fence f ON f.partition_id = w.p AND f.fingerprint IN (w.f, w.k) AND f.lifted_at IS NULL
            AND (f.expires_at IS NULL OR f.expires_at > %s)""",
        [[p for p, _, _ in digests], [f for _, f, _ in digests], [k for _, _, k in digests], now],
    )
    return [FenceView(*row) for row in cur]


def end_merges(
    cur: psycopg.Cursor[Row],
    record_ids: Sequence[UUID],
    now: datetime,
    *,
    by: str,
    why: str = "said anew",
) -> None:
    """Let merged wordings be facts of their own again: their records stay where they are."""
    if not record_ids:
        return
    ids = list(record_ids)
    cur.execute("UPDATE memory_record SET merged_into = NULL WHERE id = ANY(%s)", [ids])
    cur.execute(
        """UPDATE record_merge SET parted_at = %s, parted_by = %s, ended = %s
           WHERE gone_id = ANY(%s) AND parted_at IS NULL""",
        [now, by, why, ids],
    )


def save_known(cur: psycopg.Cursor[Row], known: Iterable[Known], now: datetime) -> None:
    """Save what changed on stored records, in one statement, before new ones come in.

    Times that moved by less than an hour stay in the tally alone: a row that
    is rewritten on every reinforcement would keep recall's index off the
    visibility map.
    """
    rows = [k for k in known if not k.is_new and k.changed]
    if not rows:
        return
    cur.execute(
        """UPDATE memory_record r SET
               status = u.status, superseded_by = u.superseded_by, superseded_at = u.superseded_at,
               status_at = CASE WHEN u.status <> r.status THEN %(now)s ELSE r.status_at END,
               last_seen = greatest(r.last_seen, u.last_seen),
               -- As one by one: an extension below the grain is not kept, whatever else changed.
               valid_until = CASE WHEN NOT u.valid_until_given AND u.valid_until > r.valid_until
                                   AND u.valid_until < r.valid_until + %(grain)s
                                  THEN r.valid_until ELSE u.valid_until END,
               valid_until_given = u.valid_until_given, confidence = u.confidence,
               stated_confidence = greatest(r.stated_confidence, u.confidence), trust = u.trust,
               recheck_at = u.recheck_at, unlisted_at = u.unlisted_at,
               recheck_reason = CASE WHEN u.recheck_at IS NULL THEN NULL
                                     ELSE coalesce(r.recheck_reason, 'dependent') END
           FROM unnest(%(id)s::uuid[], %(status)s::text[], %(superseded_by)s::uuid[],
                       %(superseded_at)s::timestamptz[], %(last_seen)s::timestamptz[],
                       %(valid_until)s::timestamptz[], %(valid_until_given)s::bool[], %(confidence)s::float4[],
                       %(trust)s::int2[], %(recheck_at)s::timestamptz[], %(unlisted_at)s::timestamptz[])
               AS u (id, status, superseded_by, superseded_at, last_seen, valid_until, valid_until_given,
                     confidence, trust, recheck_at, unlisted_at)
           WHERE r.id = u.id
             AND (u.status <> r.status OR u.superseded_by IS DISTINCT FROM r.superseded_by
                  OR u.last_seen >= r.last_seen + %(grain)s
                  OR u.valid_until IS NULL AND r.valid_until IS NOT NULL
                  OR u.valid_until IS NOT NULL AND r.valid_until IS NULL
                  OR u.valid_until_given AND u.valid_until <> r.valid_until
                  OR u.valid_until >= r.valid_until + %(grain)s
                  OR u.confidence <> r.confidence OR u.trust <> r.trust
                  OR u.recheck_at IS DISTINCT FROM r.recheck_at
                  OR u.unlisted_at IS DISTINCT FROM r.unlisted_at)""",
        {
            "now": now,
            "grain": ROW_GRAIN,
            **{
                name: [getattr(k, name) for k in rows]
                for name in (
                    "id",
                    "superseded_by",
                    "superseded_at",
                    "last_seen",
                    "valid_until",
                    "valid_until_given",
                    "confidence",
                    "trust",
                    "recheck_at",
                    "unlisted_at",
                )
            },
            "status": [str(k.status) for k in rows],
        },
    )


def claim_rows(
    claims: Iterable[tuple[ClaimDelta, UUID, UUID, str, str]],
) -> list[list[Any]]:
    """Return the rows of claims, in order: (delta, workspace, partition, evidence, own wording)."""
    merged: dict[tuple[UUID, UUID, UUID], list[Any]] = {}
    for delta, workspace_id, partition_id, evidence, wording in claims:
        key = (delta.record_id, delta.session_id, delta.source_id)
        row = merged.get(key)
        if row is None:
            merged[key] = [
                *key, workspace_id, partition_id, delta.derived, "held" if delta.held else "live",
                delta.first_at, delta.last_at, 0 if delta.held else delta.count, delta.echoes,
                delta.confidence, evidence, wording,
            ]  # fmt: skip
        elif not delta.held:
            # A session's live claim and its held restatement are one row: the live one counts.
            row[6] = "live"
            row[7], row[8] = min(row[7], delta.first_at), max(row[8], delta.last_at)
            row[9] += delta.count
            row[10] += delta.echoes
    return sorted(merged.values(), key=_claim_order)


def _claim_order(row: Sequence[Any]) -> tuple[int, int, int]:
    """Order claims as every writer does; numbers compare faster than their UUIDs."""
    return row[0].int, row[1].int, row[2].int


def refresh_contents(cur: psycopg.Cursor[Row], rows: Sequence[tuple[Any, ...]]) -> None:
    """Replace sentences: (record, content, terms, more terms, vector, model, partial)."""
    if not rows:
        return
    row = "(%b::uuid, %b::text, %b::int4[], %b::int4[], %b::halfvec, %b::int2, %b::bool)"
    cur.execute(
        f"""UPDATE memory_record r SET content = u.content, terms = u.terms, more_terms = u.more_terms,
               embedding = u.embedding, embedding_model = u.model, embedding_partial = u.partial,
               version = r.version + 1
           FROM (VALUES {", ".join([row] * len(rows))})
               AS u (id, content, terms, more_terms, embedding, model, partial)
           WHERE r.id = u.id""",
        [value for one in rows for value in one],
    )


def refresh_tallies(
    cur: psycopg.Cursor[Row], record_ids: Sequence[UUID], *, lower: bool = False
) -> dict[UUID, int]:
    """Count the records' live claims afresh; return their seen counts.

    Counting instead of adding cannot drift. Synthesised sessions of one
    partition corroborate once, however many days they span; a derived source
    once, however often it runs. With ``lower`` a record left without a live
    claim drops to nothing.
    """
    if not record_ids:
        return {}
    cur.execute(
        """INSERT INTO tally AS t (record_id, workspace_id, partition_id, seen_count, first_seen, last_seen,
                                   sessions, sources)
           SELECT c.record_id, c.workspace_id, c.partition_id, greatest(sum(c.count), 1), min(c.first_at),
                  max(c.last_at),
                  count(DISTINCT CASE WHEN s.synthesised THEN c.partition_id ELSE c.session_id END)
                      FILTER (WHERE NOT c.derived),
                  count(DISTINCT c.source_id) FILTER (WHERE c.derived)
           FROM claim c JOIN session s ON s.id = c.session_id
           WHERE c.record_id = ANY(%s) AND c.state = 'live'
           GROUP BY c.record_id, c.workspace_id, c.partition_id ORDER BY c.record_id
           ON CONFLICT (record_id) DO UPDATE SET seen_count = excluded.seen_count,
               first_seen = excluded.first_seen, last_seen = excluded.last_seen,
               sessions = excluded.sessions, sources = excluded.sources
           RETURNING record_id, seen_count""",
        [list(record_ids)],
    )
    counts = {row[0]: row[1] for row in cur}
    cur.execute(
        """UPDATE memory_record r SET corroboration = least(%s, t.sessions + t.sources)
           FROM tally t WHERE t.record_id = r.id AND r.id = ANY(%s) AND r.status <> 'erased'
             AND r.corroboration <> least(%s, t.sessions + t.sources)""",
        [CORROBORATION_CEILING, list(counts), CORROBORATION_CEILING],
    )
    if lower:
        cur.execute(
            """UPDATE memory_record SET corroboration = 0
               WHERE id = ANY(%s) AND corroboration <> 0 AND status <> 'erased'""",
            [[one for one in record_ids if one not in counts]],
        )
    return counts


def point_addresses(cur: psycopg.Cursor[Row], held: dict[UUID, UUID]) -> None:
    """Let addresses hold these records."""
    if not held:
        return
    cur.execute(
        """UPDATE address a SET record_id = u.record_id
           FROM unnest(%s::uuid[], %s::uuid[]) AS u (id, record_id) WHERE a.id = u.id""",
        [list(held), list(held.values())],
    )


def count_fence_attempts(
    cur: psycopg.Cursor[Row], fences: Sequence[FenceView], now: datetime
) -> None:
    """Count what the fences kept out."""
    if not fences:
        return
    ordered = sorted(fences, key=lambda f: f.id)
    cur.execute(
        """UPDATE fence f SET attempts = f.attempts + u.attempts, last_attempt_at = %s
           FROM unnest(%s::uuid[], %s::int[]) AS u (id, attempts) WHERE f.id = u.id""",
        [now, [f.id for f in ordered], [f.attempts for f in ordered]],
    )
