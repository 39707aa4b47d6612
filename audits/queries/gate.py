"""What the gate's pages list: rules with their hits and what reviewers made of them, versions.

Inside a workspace scope. Counts come from ``gate_tally``, which a job keeps, so
that no page reads findings of a million facts. Read ``gate_hits.py`` for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.domain.gate import Rule, Ruleset, default_ruleset
from records.domain.gate.figures import wilson
from records.models import GateRuleset

SHOWN_FROM = 20  # decisions; under it an interval is too wide to say anything
DAYS = 30

TALLIES = """SELECT rule, sum(hits) FILTER (WHERE day > %(week)s) AS hits_7,
    sum(hits) FILTER (WHERE day > %(month)s) AS hits_30, sum(approved) AS approved,
    sum(rejected) AS rejected, max(last_at) AS last_at, min(day) AS first_day
FROM gate_tally WHERE workspace_id = %(workspace)s GROUP BY rule"""

BY_DAY = """SELECT day, hits, held, approved, rejected FROM gate_tally
WHERE workspace_id = %(workspace)s AND rule = %(rule)s AND day > %(month)s ORDER BY day DESC"""

VERSIONS = """SELECT number, state, reason, created_at, created_by, activated_at, activated_by,
    retired_at, jsonb_array_length(rules) AS rules,
    (SELECT count(*) FROM jsonb_object_keys(softened)) AS softened
FROM gate_ruleset WHERE workspace_id = %(workspace)s AND state <> 'draft'
ORDER BY number DESC LIMIT 50"""

SAMPLES = """SELECT id, subject, predicate, value, status FROM memory_record
WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s) AND status <> 'erased'"""

REPLAYS = """SELECT DISTINCT ON (population) population, state, digest, result, started_at,
    started_by, finished_at
FROM gate_replay WHERE workspace_id = %(workspace)s AND ruleset_id = %(ruleset)s
ORDER BY population, id DESC"""


@dataclass(frozen=True, slots=True)
class Tally:
    """What one rule did here: hits, and the decisions on what it held."""

    hits_7: int = 0
    hits_30: int = 0
    approved: int = 0
    rejected: int = 0
    last_at: datetime | None = None
    first_day: date | None = None

    @property
    def decisions(self) -> int:
        """How many of its holds were decided by people."""
        return max(self.approved, 0) + max(self.rejected, 0)

    @property
    def precision(self) -> float | None:
        """The share of its decided holds that were right; ``None`` under twenty decisions."""
        return self.rejected / self.decisions if self.decisions >= SHOWN_FROM else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of ``precision``."""
        return wilson(max(self.rejected, 0), self.decisions)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule of the active set as the table shows it; a built-in check has no ``rule``."""

    id: str
    origin: str  # "shipped", "own" or "built in"
    tally: Tally
    rule: Rule | None = None
    shipped_outcome: str = ""  # set when the workspace has softened it
    version: str = ""
    since: datetime | date | None = None


def list_rules(
    ruleset: Ruleset, active: GateRuleset | None, *, workspace_id: UUID, today: date
) -> list[RuleRow]:
    """Return every rule that judges here, those that hit most lately first."""
    tallies = load_tallies(workspace_id, today=today)
    entries = {one["id"]: one for one in active.rules} if active else {}
    rows = [_row(rule, tallies.pop(rule.id, Tally()), entries) for rule in ruleset.rules]
    rows += [RuleRow(name, "built in", tally, since=tally.first_day)
             for name, tally in tallies.items()]  # fmt: skip
    return sorted(rows, key=lambda row: (-row.tally.hits_30, row.origin != "own", row.id))


def _row(rule: Rule, tally: Tally, entries: dict[str, dict[str, Any]]) -> RuleRow:
    if rule.own:
        entry = entries.get(rule.id, {})
        at = entry.get("at")
        since = datetime.fromisoformat(at) if at else None
        return RuleRow(rule.id, "own", tally, rule, "", str(entry.get("version", 1)), since)
    shipped = default_ruleset().rule(rule.id)
    softened = str(shipped.outcome) if shipped and shipped.outcome is not rule.outcome else ""
    return RuleRow(
        rule.id, "shipped", tally, rule, softened, str(default_ruleset().number), tally.first_day
    )


def load_tallies(workspace_id: UUID, *, today: date) -> dict[str, Tally]:
    """Return the counts of every rule that has any."""
    rows = fetch(TALLIES, {"workspace": workspace_id, **_since(today)})
    return {
        row.pop("rule"): Tally(
            **{**row, "hits_7": row["hits_7"] or 0, "hits_30": row["hits_30"] or 0}
        )
        for row in rows
    }


def list_days(rule: str, *, workspace_id: UUID, today: date) -> list[dict[str, Any]]:
    """Return a rule's counts by day, the newest first."""
    return fetch(BY_DAY, {"workspace": workspace_id, "rule": rule, **_since(today)})


def list_versions(workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the workspace's own sets that rule, ruled or were given up, the newest first."""
    return fetch(VERSIONS, {"workspace": workspace_id})


def load_replays(ruleset_id: UUID, *, workspace_id: UUID) -> dict[str, dict[str, Any]]:
    """Return a draft's last replay on each population, with samples as they stand now."""
    rows = fetch(REPLAYS, {"workspace": workspace_id, "ruleset": ruleset_id})
    ids = {
        UUID(one)
        for row in rows
        for kinds in row["result"].get("rules", {}).values()
        for about in kinds.values()
        for one in about["samples"]
    }
    values = {"workspace": workspace_id, "ids": list(ids)}
    facts = {row["id"]: row for row in fetch(SAMPLES, values)} if ids else {}
    return {row["population"]: {**row, "rules": list(_rules(row, facts))} for row in rows}


def _rules(
    row: dict[str, Any], facts: dict[UUID, dict[str, Any]]
) -> Iterable[tuple[str, str, int, list[dict[str, Any]]]]:
    """Yield a replay's differences: rule, what happens, how often, and sample facts."""
    for rule, kinds in sorted(row["result"].get("rules", {}).items()):
        for kind, about in kinds.items():
            found = [facts[UUID(one)] for one in about["samples"] if UUID(one) in facts]
            yield rule, kind, about["count"], found


def _since(today: date) -> dict[str, date]:
    return {"week": today - timedelta(days=7), "month": today - timedelta(days=DAYS)}
