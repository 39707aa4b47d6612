"""Starting a scan: its scope from a filter of the records list, and what it will take.

Owns the way from a ``Scope`` to the facts of a scan, the dry estimate and the
waking of workers. Call inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import ceil
from uuid import UUID

from audits.domain.operations import Kind
from audits.domain.scope import Scope, WrongScope
from audits.operations.naming import words_of
from audits.operations.refusing import refuse
from audits.operations.scoping import choose, entries_of
from audits.queries.rows import fetch
from records import scans
from records.access import Access
from records.models import Scan
from records.scans.planning import JUDGED
from records.tasks import SCANNERS, wake_scanners

COUNTED = 200_000  # facts counted for an estimate; of more, the last scan of the same facts tells
GUESSED_MS = 0.3  # of one worker for one fact, before anything was measured here (bench.rescan)
MEASURED_BY = 5  # last scans whose speed is taken

COUNT = """SELECT count(*) AS n FROM (
    SELECT 1 FROM memory_record r WHERE r.workspace_id = %(workspace)s AND {judged} {chosen}
    LIMIT %(most)s) AS few"""
LAST = """SELECT total FROM scan WHERE workspace_id = %(workspace)s AND scope_key = %(key)s
ORDER BY id DESC LIMIT 1"""
SPEED = """SELECT coalesce(sum(busy_ms)::float8 / nullif(sum(checked), 0), %(guess)s) AS ms,
    coalesce(sum(checked), 0) AS facts
FROM (SELECT busy_ms, checked FROM scan WHERE workspace_id = %(workspace)s AND state = 'done'
      AND checked >= 100 ORDER BY id DESC LIMIT %(last)s) AS recent"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a scan would take: facts, milliseconds of one worker for each, workers.

    ``is_capped``: there are at least that many facts, and nobody has counted more.
    ``is_from_last``: as many as the last scan of the same facts had.
    """

    facts: int
    is_capped: bool
    ms: float
    is_measured: bool
    is_from_last: bool = False
    workers: int = SCANNERS

    @property
    def seconds(self) -> float:
        """How long it takes when every worker is free."""
        return self.facts * self.ms / 1_000 / self.workers

    @property
    def minutes(self) -> int:
        """The same in whole minutes, rounded up."""
        return ceil(self.seconds / 60)


def chosen_of(scope: Scope, *, workspace_id: UUID) -> scans.Chosen:
    """Return the facts of a scope as a scan takes them. Refused: it names nothing to look up."""
    if scope.is_empty:
        return scans.EVERYTHING
    try:
        entries = entries_of(scope, workspace_id=workspace_id)
        # Of an erasure's statement, which has the fewest conditions, only the ids are read.
        chosen = choose(Kind.ERASE, scope, workspace_id=workspace_id, entries=entries)
    except WrongScope as error:
        raise refuse(error.field, error.problem, "invalid") from error
    return scans.Chosen(
        f"SELECT id FROM ({chosen.rows}) AS meant",
        chosen.values,
        scope.as_json(),
        words_of(scope, workspace_id=workspace_id),
    )


def estimate(scope: Scope, *, workspace_id: UUID) -> Estimate:
    """Say what a scan of a scope would take, by the speed of the last scans here."""
    chosen = chosen_of(scope, workspace_id=workspace_id)
    part = f"AND r.id IN (SELECT id FROM ({chosen.rows}) AS chosen)" if chosen.rows else ""
    (counted,) = fetch(
        COUNT.format(judged=JUDGED, chosen=part),
        {**chosen.values, "workspace": workspace_id, "most": COUNTED},
    )
    (speed,) = fetch(SPEED, {"workspace": workspace_id, "guess": GUESSED_MS, "last": MEASURED_BY})
    facts, is_capped, is_from_last = counted["n"], counted["n"] >= COUNTED, False
    if is_capped:
        last = fetch(LAST, {"workspace": workspace_id, "key": chosen.key})
        if last and last[0]["total"] > facts:
            facts, is_capped, is_from_last = last[0]["total"], False, True
    return Estimate(facts, is_capped, float(speed["ms"]), bool(speed["facts"]), is_from_last)


def start_scan(scope: Scope, rules: scans.Rules, *, access: Access, now: datetime) -> Scan:
    """Begin a dry scan and wake its workers. Refused: there is nothing to scan, or no draft."""
    chosen = chosen_of(scope, workspace_id=access.workspace_id)
    scan = scans.start(rules, chosen, access=access, now=now)
    if scan.total == 0:
        raise refuse("scope", "has no fact to judge", "empty")
    wake_scanners(access.workspace_id)
    return scan
