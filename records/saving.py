"""What a ledger's effects become: rows, claims, totals and events, in the one transaction.

Owns the mapping from drafts and decisions to rows, and which event says what.
Decides nothing; the statements are ``store.py``'s.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from records import events, signals, store
from records.access import Access
from records.domain.facts import Decision, Status
from records.domain.ledger import Ledger
from records.domain.risk import risk_of
from records.domain.terms import MAX_INDEXED_TERMS
from records.drafts import Draft
from records.events import Happening
from records.items import Written
from records.queries import Row, working

COUNTED = (
    "added", "reinforced", "updated", "contested", "echoed", "late", "fenced", "quarantined",
    "rejected",
)  # fmt: skip


def save(
    cur: psycopg.Cursor[Row],
    ledger: Ledger,
    drafts: Sequence[Draft],
    *,
    new_partitions: Iterable[UUID],
    access: Access,
    now: datetime,
) -> list[Written]:
    """Save everything the ledger booked; return what the writers are told, in order.

    Old rows make room before new ones come in. What can be put together while
    the server works is.
    """
    store.save_known(cur, ledger.known.values(), now)
    store.end_merges(cur, _parted(ledger), now, by=str(access.actor))
    rows, salts = _record_rows(ledger, drafts, access, now)
    with store.RECORDS.inserting(cur, rows):
        claims = _claim_rows(ledger, drafts, access)
        happenings = [
            *(
                Happening("partition.added", "partition", target_id=one, partition_id=one)
                for one in new_partitions
            ),
            *_happenings(drafts, ledger, salts),
            *(_parted_anew(one, drafts, ledger) for one in _parted(ledger)),
        ]
    _refresh_contents(cur, ledger, drafts)
    with store.CLAIMS.inserting(cur, claims):
        answers = [_written(one) for one in drafts]
    restated = {
        c.record_id for c in ledger.claims.values() if not c.held and not _is_first(c, ledger)
    }
    store.refresh_tallies(cur, sorted(restated))
    store.point_addresses(cur, {a: ledger.addresses[a] for a in sorted(ledger.moved_addresses)})
    store.count_fence_attempts(cur, ledger.tried_fences, now)
    with working(cur):  # neither waits for the other's answer
        _save_totals(cur, drafts, access, now)
        signals.save(cur, drafts, salts, access=access, now=now)
    events.append(happenings, access=access)
    return answers


def _parted(ledger: Ledger) -> list[UUID]:
    """Return the merged wordings that are facts of their own again."""
    return [k.id for k in ledger.known.values() if "merged_into" in k.changed]


def _parted_anew(record_id: UUID, drafts: Sequence[Draft], ledger: Ledger) -> Happening:
    """Say that a merged wording was stored as a fact of its own, and by which session."""
    alias = ledger.known[record_id]
    place = (alias.slot_id, alias.fingerprint)
    by = next(d for d in drafts if (d.identity.slot_id, d.identity.fingerprint) == place)
    return Happening(
        "record.parted",
        "record",
        target_id=record_id,
        partition_id=by.partition_id,
        session_id=by.session_id,
        reason="said anew",
    )


def _written(one: Draft) -> Written:
    """Return what a writer is told about its item."""
    applied = one.applied
    assert applied is not None
    record = applied.record
    return Written(
        id=record.id if record else None,
        fingerprint=one.identity.fingerprint,
        decision=str(applied.decision),
        status=_status(one),
        verdict=str(one.verdict.outcome),
        superseded=applied.superseded,
        seen_count=applied.seen_count,
        findings=tuple([f.as_json() for f in one.verdict.findings]),
        hold_reason=record.hold_reason if record else "",
    )


def _status(one: Draft) -> str:
    """Return the status in which the write left its fact."""
    applied = one.applied
    assert applied is not None
    if applied.record is None:
        return "fenced"
    return str(applied.status)


def _is_first(claim: Any, ledger: Ledger) -> bool:
    """Whether a claim is the only word on a record that this transaction makes."""
    record = ledger.known[claim.record_id]
    return record.is_new and claim.count == 1 and record.seen_count == 1


def _record_rows(
    ledger: Ledger, drafts: Sequence[Draft], access: Access, now: datetime
) -> tuple[list[tuple[Any, ...]], dict[UUID, bytes]]:
    """Return the rows of the records that this transaction makes, and their salts."""
    rows: list[tuple[Any, ...]] = []
    salts: dict[UUID, bytes] = {}
    for one in drafts:
        record = ledger.known.get(one.id)
        if record is None:
            continue
        shaped, verdict = one.shaped, one.verdict
        salt = salts[record.id] = os.urandom(16)
        indexed, more = one.words[:MAX_INDEXED_TERMS], one.words[MAX_INDEXED_TERMS:]
        rows.append(
            (
                record.id, access.workspace_id, one.partition_id, record.slot_id,
                record.fingerprint, shaped.subject, one.identity.subject_key,
                one.identity.predicate, shaped.value, shaped.content, str(record.status),
                record.hold_reason,
                int(risk_of(record.hold_reason, (f.severity for f in verdict.findings))),
                str(record.cardinality), one.identity.negated,
                shaped.is_derived, one.source_view.id, shaped.source_key, one.session_id,
                shaped.extracted_by, shaped.external_id, list(shaped.tags),
                list(verdict.labels), _json(shaped.metadata, "{}"), record.confidence,
                record.confidence, record.trust, shaped.written_at, shaped.observed_at,
                shaped.valid_from, record.valid_until, record.valid_until_given,
                record.order_at, now, record.last_seen, one.policy.half_life_days,
                one.policy.version, now, record.superseded_by, record.superseded_at,
                record.recheck_at, one.vector, one.model,
                one.vector_partial, list(indexed), list(more) or None, str(verdict.outcome),
                _json([f.as_json() for f in verdict.findings], "[]"), verdict.ruleset, verdict.score,
                salt,
            )
        )  # fmt: skip
    return rows, salts


def _json(value: Any, empty: str) -> str:
    return json.dumps(value) if value else empty


def _refresh_contents(cur: psycopg.Cursor[Row], ledger: Ledger, drafts: Sequence[Draft]) -> None:
    """Let a source refresh the sentence it wrote: text, terms and vector together."""
    rows = []
    for one in drafts:
        record = one.applied.record if one.applied else None
        if record is None or record.is_new or "content" not in record.changed:
            continue
        if one.shaped.content != record.content:
            continue
        record.changed.discard("content")
        rows.append(
            (
                record.id,
                record.content,
                list(one.words[:MAX_INDEXED_TERMS]),
                list(one.words[MAX_INDEXED_TERMS:]) or None,
                one.vector,
                one.model,
                one.vector_partial,
            )
        )
    store.refresh_contents(cur, rows)


def _claim_rows(ledger: Ledger, drafts: Sequence[Draft], access: Access) -> list[list[Any]]:
    by_item = {one.item: one for one in drafts}
    rows = []
    for claim in ledger.claims.values():
        record = ledger.known[claim.record_id]
        mine = [by_item[item] for item in claim.items]
        first = mine[0]
        evidence = next((d.shaped.evidence for d in mine if d.shaped.evidence), "")
        wording = next(
            (
                d.shaped.content
                for d in mine
                if not d.shaped.is_rendered and d.shaped.content != record.content
            ),
            "",
        )
        rows.append((claim, access.workspace_id, first.partition_id, evidence, wording))
    return store.claim_rows(rows)


def _save_totals(
    cur: psycopg.Cursor[Row], drafts: Sequence[Draft], access: Access, now: datetime
) -> None:
    """Add to what each session wrote, by decision, in the order of the sessions' ids."""
    counts: dict[tuple[UUID, UUID], Counter[str]] = defaultdict(Counter)
    for one in drafts:
        assert one.applied is not None
        counts[one.session_id, one.partition_id][str(one.applied.decision)] += 1
    keys = sorted(counts)
    cur.execute(
        f"""INSERT INTO session_totals AS t (session_id, workspace_id, partition_id, last_write_at, writes,
                                             {", ".join(COUNTED)})
            SELECT s, %s, p, %s, {" + ".join(COUNTED)}, {", ".join(COUNTED)}
            FROM unnest(%s::uuid[], %s::uuid[], {", ".join(["%s::int[]"] * len(COUNTED))})
                AS u (s, p, {", ".join(COUNTED)}) ORDER BY s
            ON CONFLICT (session_id) DO UPDATE SET
                last_write_at = greatest(t.last_write_at, excluded.last_write_at),
                writes = t.writes + excluded.writes,
                {", ".join(f"{name} = t.{name} + excluded.{name}" for name in COUNTED)}""",
        [
            access.workspace_id,
            now,
            [session for session, _ in keys],
            [partition for _, partition in keys],
            *([counts[key][name] for key in keys] for name in COUNTED),
        ],
    )


def _happenings(
    drafts: Sequence[Draft], ledger: Ledger, salts: dict[UUID, bytes]
) -> list[Happening]:
    """Say what happened: each new or changed record by itself, restatements by the number."""
    found: list[Happening] = []
    restated: dict[tuple[Decision, UUID, UUID], list[Draft]] = defaultdict(list)
    for one in drafts:
        applied = one.applied
        assert applied is not None
        if one.id not in salts:
            restated[applied.decision, one.session_id, one.partition_id].append(one)
            continue
        found.append(_made(one, salts[one.id]))
        found += _displaced(one)
    for (decision, session_id, partition_id), several in restated.items():
        records = {d.applied.record.id for d in several if d.applied and d.applied.record}
        target = records.pop() if len(records) == 1 else None
        found.append(
            Happening(
                f"record.{decision}",
                "record" if target else "records",
                target_id=target,
                partition_id=partition_id,
                session_id=session_id,
                outcome="held" if decision in (Decision.FENCED, Decision.QUARANTINED) else "done",
                count=len(several),
            )
        )
        for one in several:
            found += _displaced(one)
    return found


def _made(one: Draft, salt: bytes) -> Happening:
    applied, shaped = one.applied, one.shaped
    assert applied is not None
    details: dict[str, Any] = {
        "status": str(applied.status),
        "predicate": one.identity.predicate,
        "digest": events.digest(salt, shaped.subject, one.identity.predicate, shaped.value),
        "policy": one.policy.version,
        "ruleset": one.verdict.ruleset,
    }
    if applied.superseded:
        details["superseded"] = [str(one) for one in applied.superseded]
    if one.verdict.findings:
        details["rules"] = sorted({f.rule for f in one.verdict.findings})
    return Happening(
        f"record.{applied.decision}",
        "record",
        target_id=one.id,
        partition_id=one.partition_id,
        session_id=one.session_id,
        outcome="done" if applied.status in (Status.ACTIVE, Status.SUPERSEDED) else "held",
        reason=applied.record.hold_reason if applied.record else "",
        details=details,
    )


def _displaced(one: Draft) -> list[Happening]:
    """Say of each record that the write replaced or cast doubt on what became of it."""
    applied = one.applied
    assert applied is not None
    assert applied.record is not None or not applied.superseded
    if not applied.superseded and not applied.rechecked:
        return []
    by = {"by": str(applied.record.id)} if applied.record else {}
    common = {"partition_id": one.partition_id, "session_id": one.session_id, "details": by}
    return [
        *(
            Happening("record.superseded", "record", target_id=old, **common)  # type: ignore[arg-type]
            for old in applied.superseded
        ),
        *(
            Happening(
                "record.recheck",
                "record",
                target_id=old,
                reason="dependent",
                **common,  # type: ignore[arg-type]
            )
            for old in applied.rechecked
        ),
    ]
