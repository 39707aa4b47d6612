"""The facts that a policy's settings are held against: the newest live ones of its predicate.

Owns the statements; the measures are ``domain/observed.py``'s. Inside a workspace scope.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from audits.domain.observed import Dependent, Observed, Seen, observe
from audits.queries.rows import fetch
from records.domain.facts import Policy
from records.policies import book

NEWEST = 2_000
DEPENDENTS_CAP = 1_000

FACTS = """SELECT r.slot_id, r.value, greatest(r.last_seen, t.last_seen) AS last_seen,
    r.valid_until_given
FROM (SELECT id, slot_id, value, last_seen, valid_until_given FROM memory_record
      WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s AND status = 'active'
      ORDER BY id DESC LIMIT %(newest)s) AS r
LEFT JOIN tally t ON t.record_id = r.id"""
DEPENDENTS = """SELECT d.predicate,
    (SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE workspace_id = %(workspace)s
        AND predicate = d.predicate AND status = 'active' LIMIT %(cap)s) AS one) AS live,
    (SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE workspace_id = %(workspace)s
        AND predicate = d.predicate AND status = 'active' AND recheck_at IS NOT NULL
        LIMIT %(cap)s) AS one) AS marked
FROM unnest(%(predicates)s::text[]) WITH ORDINALITY AS d (predicate, place) ORDER BY place"""


def load_observed(live: Policy, wanted: Policy, *, workspace_id: UUID, now: datetime) -> Observed:
    """Measure the newest live facts of a predicate beside the settings of a policy."""
    rows = fetch(
        FACTS, {"workspace": workspace_id, "predicate": wanted.predicate, "newest": NEWEST}
    )
    dependents = []
    if wanted.dependents:
        policies = book(workspace_id)
        names = [policies.resolve(one).predicate for one in wanted.dependents][:50]
        dependents = fetch(
            DEPENDENTS,
            {"workspace": workspace_id, "predicates": names, "cap": DEPENDENTS_CAP + 1},
        )
    return observe(
        [
            Seen(row["slot_id"], row["value"], row["last_seen"], row["valid_until_given"])
            for row in rows
        ],
        live=live,
        wanted=wanted,
        dependents=[Dependent(**row) for row in dependents],
        now=now,
    )
