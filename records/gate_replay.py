"""A draft of the gate's rules replayed on what was written: what would be held, what let through.

Owns the comparison and its result (counts and record ids, never memory text).
Every fact is judged twice, by the active set and by the draft, in the context
its write had; nothing is changed. The last writes are replayed at once, the
whole live store by a job in steps. Read ``gate_editing.py`` for what a replay
is needed for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from records import events, policies, queries, rulesets
from records.access import Access
from records.domain.facts import Outcome, Status, Verdict
from records.domain.gate import Ruleset
from records.domain.ids import uuid7
from records.events import Happening
from records.gate_editing import digest_of
from records.jobs.runs import Run
from records.models import GateReplay, GateRuleset
from records.policies import PolicyBook
from records.scans.candidates import CANDIDATES, Candidate, candidate, judge
from records.write import RECENT_TEXTS, RECENT_WINDOW

WRITES = 1_000  # the default of the last writes
MOST_WRITES = 5_000  # judged twice within one request: about a second
BATCH = 200
SAMPLES = 5  # record ids kept for each rule and kind of difference
START = str(UUID(int=0))

# Stored records whatever became of them, the newest first (by the index of each status); a
# rejected secret is kept redacted.
LAST = f"""{CANDIDATES} AND r.id IN (
    SELECT one.id FROM unnest(%(statuses)s::text[]) AS s (status) CROSS JOIN LATERAL (
        SELECT m.id FROM memory_record m WHERE m.workspace_id = %(workspace)s AND m.status = s.status
        ORDER BY m.id DESC LIMIT %(batch)s) AS one
    ORDER BY one.id DESC LIMIT %(batch)s)
ORDER BY r.id DESC"""
STORE = f"""{CANDIDATES} AND r.status = 'active' AND r.id > %(after)s ORDER BY r.id
LIMIT %(batch)s"""

Result = dict[str, Any]


def replay_writes(draft: GateRuleset, count: int, *, access: Access, now: datetime) -> GateReplay:
    """Compare the draft with the active rules on the last ``count`` writes, now."""
    row = _new(draft, "writes", access, now)
    before, after = rulesets.ruleset(access.workspace_id), rulesets.merged(draft)
    found = _load(LAST, access.workspace_id, batch=min(count, MOST_WRITES))
    row.result = {"wanted": count, "checked": 0, "moves": {}, "rules": {}}
    compare(row.result, found, before, after, policies.book(access.workspace_id), now)
    row.state, row.finished_at = "done", now
    row.save(force_insert=True)
    _say(row, access)
    return row


def ask_for_store(draft: GateRuleset, *, access: Access, now: datetime) -> GateReplay:
    """Note that the draft is to be compared on the whole live store; the job does it."""
    row = _new(draft, "store", access, now)
    row.save(force_insert=True)
    _say(row, access)
    return row


def replay_store(run: Run, now: datetime) -> None:
    """Do the replays that wait in the run's workspace, step by step."""
    while _step(run, now):
        pass


def compare(
    result: Result,
    found: Iterable[Candidate],
    before: Ruleset,
    after: Ruleset,
    book: PolicyBook,
    now: datetime,
) -> None:
    """Judge each record by both sets and add the differences to ``result``."""
    for one in found:
        result["checked"] += 1
        old, new = judge(one, book, before, now), judge(one, book, after, now)
        kind = _kind(old, new)
        if not kind:
            continue
        move = (
            f"{old.outcome} > {new.outcome}" if kind != "rules" else f"{new.outcome}, other rules"
        )
        result["moves"][move] = result["moves"].get(move, 0) + 1
        for rule in sorted(_rules(new) ^ _rules(old)) or ["(outcome)"]:
            about = result["rules"].setdefault(rule, {})
            entry = about.setdefault(kind, {"count": 0, "samples": []})
            entry["count"] += 1
            if len(entry["samples"]) < SAMPLES:
                entry["samples"].append(str(one.id))


def _kind(old: Verdict, new: Verdict) -> str:
    """Name a difference: newly held, newly let through, another outcome, other rules."""
    if old.outcome is Outcome.ALLOW and new.outcome is not Outcome.ALLOW:
        return "held"
    if new.outcome is Outcome.ALLOW and old.outcome is not Outcome.ALLOW:
        return "released"
    if old.outcome is not new.outcome:
        return "outcome"
    return "rules" if _rules(old) != _rules(new) else ""


def _rules(verdict: Verdict) -> frozenset[str]:
    return frozenset(one.rule for one in verdict.findings if one.outcome is not Outcome.ALLOW)


def _step(run: Run, now: datetime) -> bool:
    """Compare one batch; its result and the cursor are committed together."""
    assert run.workspace_id is not None
    with run.step():
        row = (
            GateReplay.objects.select_for_update()
            .filter(
                workspace_id=run.workspace_id, population="store", state__in=("waiting", "running")
            )
            .order_by("id")
            .first()
        )
        if row is None:
            return False
        draft = GateRuleset.objects.get(workspace_id=run.workspace_id, id=row.ruleset_id)
        if draft.state != "draft" or digest_of(draft) != row.digest:
            row.state, row.finished_at = "done", now
            row.result = {**row.result, "stopped": True}
            row.save(update_fields=["state", "finished_at", "result"])
            return True
        result = row.result or {"checked": 0, "moves": {}, "rules": {}, "after": START}
        found = list(_load(STORE, run.workspace_id, batch=BATCH, after=UUID(result["after"])))
        book = policies.book(run.workspace_id)
        compare(
            result, found, rulesets.ruleset(run.workspace_id), rulesets.merged(draft), book, now
        )
        row.state = "running" if found else "done"
        row.finished_at = None if found else now
        row.result = {**result, "after": str(found[-1].id) if found else result["after"]}
        row.save(update_fields=["state", "finished_at", "result"])
        run.count(checked=len(found))
        return True


def _load(
    statement: str, workspace_id: UUID, *, batch: int, after: UUID | None = None
) -> Iterator[Candidate]:
    values = {
        "workspace": workspace_id,
        "window": RECENT_WINDOW,
        "texts": RECENT_TEXTS,
        "batch": batch,
        "statuses": [str(one) for one in Status if one is not Status.ERASED],
    }
    with queries.cursor() as cursor:
        cursor.execute(statement, values | {"after": after})
        yield from map(candidate, cursor.fetchall())


def _new(draft: GateRuleset, population: str, access: Access, now: datetime) -> GateReplay:
    return GateReplay(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        ruleset_id=draft.id,
        digest=digest_of(draft),
        population=population,
        started_by=str(access.actor),
        started_at=now,
    )


def _say(row: GateReplay, access: Access) -> None:
    happening = Happening(
        "gate.replayed",
        "gate_ruleset",
        target_id=row.ruleset_id,
        count=row.result.get("checked", 0),
        details={"population": row.population, "digest": row.digest},
    )
    events.append([happening], access=access)
