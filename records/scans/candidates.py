"""A stored record as the gate judges it: the fact, and the context that its write had.

Owns the reading of records for scans and replays, and what a verdict on one
means beside what people decided. Decides nothing about what follows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from records import curate, queries
from records.domain.facts import Fact, GateContext, Outcome, Tier, Verdict
from records.domain.gate import Ruleset, check
from records.policies import PolicyBook
from records.write import RECENT_TEXTS, RECENT_WINDOW

# What a session wrote just before is read as at the write: its last 64 claims at most.
CANDIDATES = """SELECT r.id, r.subject, r.predicate, r.value, r.content, coalesce(c.evidence, ''), r.tags,
       s.tier, r.derived, r.corroboration, r.version, r.override, recent.texts,
       r.partition_id, r.status, r.findings
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
# What the gate can have held, so that it can also be let through by other rules.
HELD_BY_RULES = "('gate', 'rescan')"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One record as the gate needs it; ``found`` are the rules of its stored findings."""

    id: UUID
    fact: Fact
    context: GateContext
    version: int
    override: Mapping[str, Any] | None
    partition_id: UUID
    status: str
    found: frozenset[str]


def candidate(row: queries.Row) -> Candidate:
    """Return what a row of ``CANDIDATES`` says."""
    subject, predicate, value, content, evidence, tags = row[1:7]
    tier, derived, corroboration, version, override, texts = row[7:13]
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
        partition_id=row[13],
        status=row[14],
        found=_rules_in(row[15]),
    )


def judge(one: Candidate, book: PolicyBook, rules: Ruleset, now: datetime) -> Verdict:
    """Return what the gate says of a record as it was written, by these rules."""
    policy = book.resolve(one.fact.predicate)
    return check(one.fact, context=one.context, policy=policy, ruleset=rules, now=now)


def is_approved(one: Candidate, verdict: Verdict) -> bool:
    """Say whether a person let this very record in, having seen all that the gate finds now."""
    override = one.override
    # An approval names the version that was held; letting it in made the next one.
    if not override or override.get("version", -1) + 1 != one.version:
        return False
    seen = str(override.get("findings", "")).split("|")
    found = curate.findings_digest([each.as_json() for each in verdict.findings]).split("|")
    return set(found) <= set(seen)


def rules_of(verdict: Verdict) -> frozenset[str]:
    """Return the rules by which a verdict is not plain approval."""
    return frozenset(one.rule for one in verdict.findings if one.outcome is not Outcome.ALLOW)


def context_values() -> dict[str, Any]:
    """Return the values that ``CANDIDATES`` names, besides the workspace."""
    return {"window": RECENT_WINDOW, "texts": RECENT_TEXTS}


def _rules_in(findings: Any) -> frozenset[str]:
    """Return the rules of stored findings that held; most records have none."""
    if not findings or findings == "[]":
        return frozenset()
    kept = json.loads(findings) if isinstance(findings, str | bytes) else findings
    return frozenset(one["rule"] for one in kept if one.get("outcome") != Outcome.ALLOW)
