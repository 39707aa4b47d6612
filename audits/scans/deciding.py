"""Past decisions replayed: would a scan's rules have decided as reviewers did.

Judges the facts of the last decisions by the scan's rules, and compares.
Changes nothing. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audits.queries.rows import fetch
from records import policies, queries, scans
from records.domain.facts import Outcome
from records.domain.gate.figures import wilson
from records.models import Scan
from records.scans import candidates
from records.scans.candidates import CANDIDATES, candidate

MOST = 500  # decisions replayed: a fraction of a second
LEAST = 20  # under it a share says nothing

# The last word on each fact. An approval with changes says that the fact as it stood was wrong.
DECIDED = """SELECT DISTINCT ON (record_id) record_id, verb FROM (
    SELECT id, record_id, verb FROM review_decision WHERE workspace_id = %(workspace)s
      AND undone_at IS NULL AND verb IN ('approve', 'reject') ORDER BY id DESC LIMIT %(most)s) AS last
ORDER BY record_id, id DESC"""
LOAD = f"{CANDIDATES} AND r.id = ANY(%(ids)s) AND r.status <> 'erased'"


@dataclass(slots=True)
class Agreement:
    """Past decisions beside the rules: approved or rejected by people, held or passed by rules."""

    approved_passed: int = 0
    approved_held: int = 0
    rejected_held: int = 0
    rejected_passed: int = 0

    @property
    def total(self) -> int:
        """How many decisions were replayed."""
        return self.approved_passed + self.approved_held + self.rejected_held + self.rejected_passed

    @property
    def agreed(self) -> int:
        """How many the rules decide as people did."""
        return self.approved_passed + self.rejected_held

    @property
    def share(self) -> float | None:
        """The share of agreement; None when there are too few to say."""
        return self.agreed / self.total if self.total >= LEAST else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share."""
        return wilson(self.agreed, self.total)


def replay_decisions(scan: Scan, *, now: datetime) -> Agreement:
    """Judge the last decided facts by the scan's rules."""
    values: dict[str, Any] = {"workspace": scan.workspace_id, "most": MOST}
    verbs = {row["record_id"]: row["verb"] for row in fetch(DECIDED, values)}
    with queries.cursor() as cursor:
        cursor.execute(
            LOAD,
            {
                "workspace": scan.workspace_id,
                "ids": list(verbs),
                **candidates.context_values(),
            },
        )
        found = [candidate(row) for row in cursor]
    rules, book = scans.ruleset_of(scan), policies.book(scan.workspace_id)
    agreement = Agreement()
    for one in found:
        passed = candidates.judge(one, book, rules, now).outcome is Outcome.ALLOW
        word = "approved" if verbs[one.id] == "approve" else "rejected"
        place = f"{word}_{'passed' if passed else 'held'}"
        setattr(agreement, place, getattr(agreement, place) + 1)
    return agreement
