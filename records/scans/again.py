"""Hits of a scan judged once more, by the scan's rules, when somebody acts on them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from records import policies, queries
from records.domain.facts import Outcome, Verdict
from records.items import NotFound
from records.models import Scan
from records.scans import candidates
from records.scans.candidates import CANDIDATES, candidate
from records.scans.planning import LIVE, ruleset_of

LOAD = f"{CANDIDATES} AND r.id = ANY(%(ids)s) AND {LIVE} ORDER BY r.id"


def load(scan_id: UUID, *, workspace_id: UUID) -> Scan:
    """Return a scan; NotFound when this workspace has none of that id. Inside a scope."""
    found = Scan.objects.filter(id=scan_id, workspace_id=workspace_id).first()
    if found is None:
        raise NotFound("scan")
    return found


def judge_again(scan: Scan, ids: Iterable[UUID], *, now: datetime) -> dict[UUID, Verdict]:
    """Return the verdicts on those live facts that the scan's rules still hold. Inside a scope."""
    with queries.cursor() as cursor:
        cursor.execute(
            LOAD,
            {"workspace": scan.workspace_id, "ids": list(ids), **candidates.context_values()},
        )
        found = [candidate(row) for row in cursor]
    rules, book = ruleset_of(scan), policies.book(scan.workspace_id)
    verdicts = {one.id: candidates.judge(one, book, rules, now) for one in found}
    return {key: one for key, one in verdicts.items() if one.outcome is not Outcome.ALLOW}
