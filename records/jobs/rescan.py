"""The rescan: every live record of a workspace judged again by the current rules.

Owns the walk: batches by id, each committed with the cursor that says where it
ended, so that a killed run goes on without missing or repeating a record. The
verdict is the gate's and the hold is the curator's; nothing is ever released
here. A person's approval stands as long as the gate finds nothing that the
person did not see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from records import curate, policies, queries, rulesets
from records.domain.facts import Fact, GateContext, HoldReason, Outcome, Tier, Verdict
from records.domain.gate import Ruleset, check
from records.domain.ids import uuid7
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.policies import PolicyBook
from records.write import RECENT_TEXTS, RECENT_WINDOW

BATCH = 200  # a step of well under a second, so that a hold locks slots only briefly
START = UUID(int=0)
NOTE = "no longer passes the gate"  # the reason of a hold, by which its event is known

# What a session wrote just before is read as at the write: its last 64 claims at most.
CANDIDATES = """SELECT r.id, r.subject, r.predicate, r.value, r.content, coalesce(c.evidence, ''), r.tags,
       s.tier, r.derived, r.corroboration, r.version, r.override, recent.texts
FROM memory_record r
JOIN source s ON s.id = r.source_id
LEFT JOIN claim c
       ON c.record_id = r.id AND c.session_id = r.session_id AND c.source_id = r.source_id
CROSS JOIN LATERAL (
    SELECT array_agg(near.value ORDER BY near.id) AS texts FROM (
        SELECT last.id, last.value FROM (
            SELECT m.id, m.value, m.subject_key, m.recorded_at, m.status
            FROM claim w JOIN memory_record m ON m.id = w.record_id
            WHERE w.session_id = r.session_id AND w.record_id < r.id
            ORDER BY w.record_id DESC LIMIT 64) AS last
        WHERE last.subject_key = r.subject_key AND last.status <> 'erased'
          AND last.recorded_at > r.recorded_at - %(window)s
        ORDER BY last.id DESC LIMIT %(texts)s) AS near) AS recent
WHERE r.workspace_id = %(workspace)s"""
NEXT = f"""{CANDIDATES} AND r.status = 'active' AND r.id > %(after)s AND r.id <= %(until)s
ORDER BY r.id LIMIT %(batch)s"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One live record as the gate needs it."""

    id: UUID
    fact: Fact
    context: GateContext
    version: int
    override: Mapping[str, Any] | None


def rescan(run: Run, now: datetime) -> None:
    """Judge every live record that was there when the run began; hold what no longer passes."""
    run.cursor.setdefault("after", str(START))
    run.cursor.setdefault("until", str(UUID(int=uuid7(now).int | (1 << 80) - 1)))
    while _rescan_batch(run, now):
        pass


def is_approved(candidate: Candidate, verdict: Verdict) -> bool:
    """Say whether a person let this very record in, having seen all that the gate finds now."""
    override = candidate.override
    # An approval names the version that was held; letting it in made the next one.
    if not override or override.get("version", -1) + 1 != candidate.version:
        return False
    seen = str(override.get("findings", "")).split("|")
    found = curate.findings_digest([one.as_json() for one in verdict.findings]).split("|")
    return set(found) <= set(seen)


def _rescan_batch(run: Run, now: datetime) -> int:
    assert run.workspace_id is not None
    with run.step(), queries.cursor() as cursor:
        found = _load(run, cursor)
        if not found:
            return 0
        rules, book = rulesets.ruleset(run.workspace_id), policies.book(run.workspace_id)
        failing: dict[UUID, Verdict] = {}
        for one in found:
            verdict = judge(one, book, rules, now)
            if verdict.outcome is Outcome.ALLOW:
                continue
            if is_approved(one, verdict):
                run.count(approved=1)
            else:
                failing[one.id] = verdict
        if failing:
            held = curate.hold(
                failing,
                HoldReason.RESCAN,
                access=access_of(run),
                note=NOTE,
                findings={key: [f.as_json() for f in v.findings] for key, v in failing.items()},
                ruleset=rules.version,
                now=now,
            )
            run.count(held=len(held.changed), skipped=len(held.skipped))
        run.count(checked=len(found))
        run.cursor["after"] = str(found[-1].id)
        return len(found)


def judge(one: Candidate, book: PolicyBook, rules: Ruleset, now: datetime) -> Verdict:
    """Return what the gate says of a record as it was written, by these rules."""
    policy = book.resolve(one.fact.predicate)
    return check(one.fact, context=one.context, policy=policy, ruleset=rules, now=now)


def _load(run: Run, cursor: psycopg.Cursor[queries.Row]) -> Sequence[Candidate]:
    cursor.execute(
        NEXT,
        {
            "workspace": run.workspace_id,
            "after": UUID(run.cursor["after"]),
            "until": UUID(run.cursor["until"]),
            "window": RECENT_WINDOW,
            "texts": RECENT_TEXTS,
            "batch": BATCH,
        },
    )
    return [candidate(row) for row in cursor]


def candidate(row: queries.Row) -> Candidate:
    """Return what a row of ``CANDIDATES`` says."""
    subject, predicate, value, content, evidence, tags = row[1:7]
    tier, derived, corroboration, version, override, texts = row[7:]
    return Candidate(
        id=row[0],
        fact=Fact(subject, predicate, value, content, evidence, tuple(tags)),
        context=GateContext(
            tier=Tier(tier),
            derived=derived,
            recent_texts=tuple(texts or ()),
            # The record's own session is one of those that corroborate it.
            corroborating_sessions=max(corroboration - 1, 0),
        ),
        version=version,
        override=json.loads(override) if override else None,
    )
