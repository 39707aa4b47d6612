"""The last writes of one predicate again, under two policies: what would have been decided otherwise.

Owns putting writes together again from records and claims; what is done with
them is the write path's own: the same draft, gate and ledger. Starts from an
empty store on both sides and knows no serves, so that only what the policies
make different differs. Changes nothing. Inside a workspace scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from records.access import Access
from records.domain.facts import Fact, GateContext, Policy, Status, Tier
from records.domain.gate import Ruleset, check
from records.domain.ledger import Ledger
from records.drafts import CONVERSATION, draft, incoming
from records.policies import PolicyBook, book
from records.queries import cursor
from records.rulesets import ruleset
from records.shape import Shaped
from records.store import SourceView

WRITES = 1_000
SAMPLES = 20

# The newest records of each status, since the index has the status before the id; of a claim
# its first word and, when it was said again, its last.
READ = """WITH newest AS MATERIALIZED (
    SELECT one.id FROM unnest(%(statuses)s::text[]) AS s (status)
    CROSS JOIN LATERAL (SELECT id FROM memory_record WHERE workspace_id = %(workspace)s
        AND predicate = %(predicate)s AND status = s.status ORDER BY id DESC LIMIT %(most)s) AS one),
said AS (
    SELECT r.id, p.name AS partition, r.subject, r.predicate, r.value, r.content, r.valid_from,
        CASE WHEN r.valid_until_given THEN r.valid_until END AS given_until, r.external_id,
        r.source_key, r.tags, c.confidence, c.evidence, c.derived, s.external_id AS session,
        s.agent, s.extracted_by, o.id AS source_id, o.name AS source, o.tier,
        greatest(c.first_at, r.recorded_at) AS came_at, c.first_at, c.last_at, c.count
    FROM newest n JOIN memory_record r ON r.id = n.id JOIN claim c ON c.record_id = r.id
    JOIN session s ON s.id = c.session_id JOIN source o ON o.id = c.source_id
    JOIN partition p ON p.id = r.partition_id)
SELECT * FROM (
    SELECT said.*, first_at AS seen_at, came_at AS at FROM said
    UNION ALL
    SELECT said.*, last_at, greatest(last_at, came_at) FROM said WHERE count > 1 AND last_at > first_at
) AS word ORDER BY at DESC, id DESC LIMIT %(most)s"""
STATUSES = [str(one) for one in Status if one is not Status.ERASED]


@dataclass(frozen=True, slots=True)
class Difference:
    """One write that would have been decided otherwise."""

    record_id: UUID
    subject: str
    value: str
    before: str
    after: str


@dataclass(slots=True)
class Replay:
    """How many writes were tried, how many differ, in which ways, with samples."""

    writes: int = 0
    differing: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    samples: list[Difference] = field(default_factory=list)

    @property
    def ways(self) -> list[tuple[str, str, int]]:
        """Return in which ways decisions differ, the commonest first."""
        return [(before, after, number) for (before, after), number in self.kinds.most_common()]


def replay(wanted: Policy, *, access: Access, most: int = WRITES) -> Replay:
    """Try the last writes of a predicate under its live policy and under ``wanted``."""
    policies = book(access.workspace_id)
    rules = ruleset(access.workspace_id)
    words = list(_words(wanted.predicate, access, most))
    others = [one for one in policies if one.predicate != wanted.predicate]
    before = _decide(words, policies, rules, access)
    after = _decide(words, PolicyBook([*others, wanted]), rules, access)
    found = Replay(writes=len(words))
    for word, was, now in zip(words, before, after, strict=True):
        if was == now:
            continue
        found.differing += 1
        found.kinds[was, now] += 1
        if len(found.samples) < SAMPLES:
            found.samples.append(Difference(word["id"], word["subject"], word["value"], was, now))
    return found


def _words(predicate: str, access: Access, most: int) -> Iterator[dict[str, Any]]:
    """Yield the last writes, the first first."""
    cur = cursor()
    cur.execute(
        READ,
        {
            "statuses": STATUSES,
            "workspace": access.workspace_id,
            "predicate": predicate,
            "most": most,
        },
    )
    names = [column.name for column in cur.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cur.fetchall()]
    yield from reversed(rows)


def _decide(
    words: Sequence[dict[str, Any]], policies: PolicyBook, rules: Ruleset, access: Access
) -> list[str]:
    """Return what is decided on each write, in order, as one text: decision and status."""
    found: list[str] = []
    ledger: Ledger | None = None
    for place, word in enumerate(words):
        at: datetime = word["at"]
        ledger = ledger or Ledger(now=at)
        ledger.now = at
        shaped = _shaped(word)
        one = draft(place, shaped, policies=policies, access=access, now=at)
        one.origin = SourceView(word["source_id"], Tier(word["tier"]), suspended=False)
        fact = Fact(
            subject=shaped.subject,
            predicate=shaped.predicate,
            value=shaped.value,
            content=shaped.content,
            evidence=shaped.evidence,
            tags=shaped.tags,
        )
        context = GateContext(tier=one.origin.tier, derived=shaped.is_derived)
        one.verdict = check(fact, context=context, policy=one.policy, ruleset=rules, now=at)
        arriving = incoming(one, is_approved=False)
        applied = ledger.apply(arriving, item=place)
        status = str(applied.status or applied.decision)
        decision = str(applied.decision)
        expires = "" if arriving.valid_until is None or arriving.valid_until > at else ", expired"
        found.append(
            (decision if status in (decision, Status.ACTIVE) else f"{decision}, {status}") + expires
        )
    return found


def _shaped(word: dict[str, Any]) -> Shaped:
    """Return a write as it came, as far as records and claims keep it."""
    seen: datetime = word["seen_at"]
    return Shaped(
        partition=word["partition"],
        subject=word["subject"],
        predicate=word["predicate"],
        value=word["value"],
        content=word["content"],
        is_rendered=False,
        evidence=word["evidence"],
        confidence=word["confidence"],
        session=word["session"],
        agent=word["agent"] or "",
        extracted_by=word["extracted_by"] or "",
        written_at=word["at"],
        observed_at=seen if seen < word["at"] else None,
        valid_from=word["valid_from"],
        valid_until=word["given_until"],
        source=None if word["source"] == CONVERSATION else word["source"],
        source_key=word["source_key"] if word["derived"] else None,
        external_id=word["external_id"],
        tags=tuple(word["tags"]),
        metadata={},
        embedding=None,
    )
