"""One range of a scan: its facts judged, its hits and counts written, in one transaction.

Owns what becomes of a fact: new, known, cleared, approved by a person, or
nothing to say. Call inside a workspace scope, with the range locked.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from records import curate, policies, queries
from records.access import Access
from records.domain.facts import HoldReason, Outcome, Verdict
from records.jobs.runs import describe
from records.models import Scan
from records.queries import Table
from records.scans import candidates
from records.scans.candidates import CANDIDATES, Candidate, candidate, is_approved, rules_of
from records.scans.planning import JUDGED, LIVE, Mode, ruleset_of

logger = logging.getLogger(__name__)

NOTE = "no longer passes the gate"  # the reason of a hold, by which its event is known
SEVERITIES = ("info", "low", "medium", "high", "critical")

LOAD = f"{CANDIDATES} AND r.id = ANY(%(ids)s) AND {{judged}} ORDER BY r.id"
BEFORE = """SELECT record_id, rules FROM scan_hit
WHERE scan_id = %s AND record_id = ANY(%s) AND kind IN ('new', 'known')"""
HITS = Table(
    "scan_hit",
    [
        ("scan_id", "uuid"),
        ("record_id", "uuid"),
        ("workspace_id", "uuid"),
        ("partition_id", "uuid"),
        ("version", "int4"),
        ("kind", "text"),
        ("stood", "text"),
        ("outcome", "text"),
        ("severity", "text"),
        ("rules", "text[]"),
        ("is_approved", "bool"),
        ("is_held", "bool"),
    ],
)
DONE = """UPDATE scan_range SET done_at = clock_timestamp(), ids = '{}', checked = %(checked)s,
    new = %(new)s, known = %(known)s, cleared = %(cleared)s, approved = %(approved)s,
    held = %(held)s, skipped = %(skipped)s, gone = %(gone)s, failed = %(failed)s, ms = %(ms)s,
    worker = %(worker)s
WHERE scan_id = %(scan)s AND place = %(place)s AND done_at IS NULL"""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a scan says of one fact."""

    one: Candidate
    kind: str
    outcome: str
    severity: str
    rules: Sequence[str]
    is_approved: bool = False


@dataclass(slots=True)
class Judged:
    """What one range came to; the times say where they went, in seconds."""

    hits: list[Hit] = field(default_factory=list)
    failing: dict[UUID, Verdict] = field(default_factory=dict)
    checked: int = 0
    failed: int = 0
    held: frozenset[UUID] = frozenset()
    skipped: int = 0
    reading: float = 0.0
    gate: float = 0.0
    writing: float = 0.0

    def count(self, kind: str) -> int:
        """Return how many hits there are of a kind."""
        return sum(hit.kind == kind for hit in self.hits)

    @property
    def approved(self) -> int:
        """How many fail now and were let in by a person who had seen all of it."""
        return sum(hit.is_approved for hit in self.hits)


def do_range(
    scan: Scan, place: int, ids: Sequence[UUID], *, access: Access, now: datetime
) -> Judged:
    """Judge a range's facts; hold what fails where the scan is to; note hits and counts."""
    started = time.perf_counter()
    judged = Judged()
    found, before = _load(scan, ids)
    judged.reading = time.perf_counter() - started
    _judge(scan, found, before, judged, now)
    judged.gate = time.perf_counter() - started - judged.reading
    if scan.mode == Mode.HOLD and judged.failing:
        acted = curate.hold(
            judged.failing,
            HoldReason.RESCAN,
            access=access,
            note=NOTE,
            findings={key: [f.as_json() for f in v.findings] for key, v in judged.failing.items()},
            ruleset=scan.ruleset,
            now=now,
        )
        judged.held, judged.skipped = frozenset(acted.changed), len(acted.skipped)
    _write(scan, place, len(ids), judged, started)
    judged.writing = time.perf_counter() - started - judged.reading - judged.gate
    return judged


def _load(scan: Scan, ids: Sequence[UUID]) -> tuple[list[Candidate], dict[UUID, frozenset[str]]]:
    """Return the range's facts as they stand, and what the scan before said of them."""
    judged = LIVE if scan.mode == Mode.HOLD else JUDGED
    with queries.cursor() as cursor:
        cursor.execute(
            LOAD.format(judged=judged),
            {"workspace": scan.workspace_id, "ids": list(ids), **candidates.context_values()},
        )
        found = [candidate(row) for row in cursor]
        before: dict[UUID, frozenset[str]] = {}
        if scan.previous_id is not None:
            cursor.execute(BEFORE, [scan.previous_id, list(ids)])
            before = {row[0]: frozenset(row[1]) for row in cursor}
    return found, before


def _judge(
    scan: Scan,
    found: Sequence[Candidate],
    before: dict[UUID, frozenset[str]],
    judged: Judged,
    now: datetime,
) -> None:
    rules, book = ruleset_of(scan), policies.book(scan.workspace_id)
    for one in found:
        try:
            verdict = candidates.judge(one, book, rules, now)
        except Exception as error:  # noqa: BLE001 - one fact must not stop the scan; it is counted
            logger.warning("Scan %s cannot judge a fact: %s", scan.id, describe(error))
            judged.failed += 1
            continue
        judged.checked += 1
        hit = _hit(one, verdict, before.get(one.id, frozenset()))
        if hit is not None:
            judged.hits.append(hit)
            if verdict.outcome is not Outcome.ALLOW and not hit.is_approved:
                judged.failing[one.id] = verdict


def _hit(one: Candidate, verdict: Verdict, before: frozenset[str]) -> Hit | None:
    """Say what a verdict means beside what was found before; None: nothing."""
    is_held = one.status == "quarantined"
    if verdict.outcome is Outcome.ALLOW:
        if not is_held and not before:
            return None
        return Hit(one, "cleared", str(verdict.outcome), "", sorted(before or one.found))
    rules = rules_of(verdict)
    approved = not is_held and is_approved(one, verdict)
    is_known = is_held or approved or rules <= (before | one.found)
    severity = max((SEVERITIES.index(f.severity) for f in verdict.findings), default=0)
    return Hit(
        one,
        "known" if is_known else "new",
        str(verdict.outcome),
        SEVERITIES[severity],
        sorted(rules),
        is_approved=approved,
    )


def _write(scan: Scan, place: int, facts: int, judged: Judged, started: float) -> None:
    rows = [
        (
            scan.id,
            hit.one.id,
            scan.workspace_id,
            hit.one.partition_id,
            hit.one.version,
            hit.kind,
            hit.one.status,
            hit.outcome,
            hit.severity,
            list(hit.rules),
            hit.is_approved,
            hit.one.id in judged.held,
        )
        for hit in judged.hits
    ]
    with queries.cursor() as cursor:
        HITS.insert(cursor, rows)
        cursor.execute(
            DONE,
            {
                "scan": scan.id,
                "place": place,
                "checked": judged.checked,
                "new": judged.count("new"),
                "known": judged.count("known"),
                "cleared": judged.count("cleared"),
                "approved": judged.approved,
                "held": len(judged.held),
                "skipped": judged.skipped,
                "gone": facts - judged.checked - judged.failed,
                "failed": judged.failed,
                "ms": int((time.perf_counter() - started) * 1_000),
                "worker": f"{socket.gethostname()}:{os.getpid()}",
            },
        )
