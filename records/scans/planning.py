"""Planning a scan: its rules frozen, its facts cut into ranges, the scan it is compared with.

Owns how a scan begins. The facts of a scan are fixed here by their ids, so
that workers can neither miss nor repeat one, whatever is written meanwhile:
later facts meet their own gate. Read ``working.py`` next.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from records import events, gate_editing, queries, rulesets
from records.access import Access
from records.domain.gate import Ruleset, default_ruleset
from records.domain.ids import uuid7
from records.events import Happening
from records.gate_rules import merge
from records.items import BadRequest, FieldError
from records.models import Scan, Workspace
from records.scans.candidates import HELD_BY_RULES

# Facts: a transaction of well under a second. Above 500 little is gained (bench.rescan --sizes); a
# range that holds locks slots, and must do so only briefly.
RANGE = 500
HOLD_RANGE = 200

# What the rules may be asked about: what is in service, and what rules hold back.
JUDGED = f"(r.status = 'active' OR r.status = 'quarantined' AND r.hold_reason IN {HELD_BY_RULES})"
LIVE = "r.status = 'active'"

CUT = """INSERT INTO scan_range (scan_id, place, workspace_id, ids, facts)
SELECT %(scan)s, part, %(workspace)s, array_agg(id ORDER BY id), count(*) FROM (
    SELECT r.id, (row_number() OVER (ORDER BY r.id) - 1) / %(size)s AS part
    FROM memory_record r WHERE r.workspace_id = %(workspace)s AND {judged} AND r.id <= %(until)s
      {chosen}) AS every GROUP BY part"""

# What cancelled scans leave of their ids. Not when they are cancelled: a worker may have a range.
TIDY = """DELETE FROM scan_range WHERE (scan_id, place) IN (
    SELECT g.scan_id, g.place FROM scan_range g JOIN scan s ON s.id = g.scan_id
    WHERE s.workspace_id = %s AND s.state = 'cancelled' FOR UPDATE OF g SKIP LOCKED)"""


class Mode(StrEnum):
    """What a scan does with what it finds."""

    DRY = "dry"
    HOLD = "hold"


class Rules(StrEnum):
    """By which rules a scan judges."""

    ACTIVE = "active"
    DRAFT = "draft"
    SOFTENED = "softened"
    SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which facts: SQL that selects ``id``, its values, its JSON form and its words.

    Without ``rows`` it is everything.
    """

    rows: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    scope: Mapping[str, Any] = field(default_factory=dict)
    title: str = "Everything"

    @property
    def key(self) -> str:
        """The name by which scans of the same facts are compared."""
        if not self.scope:
            return ""
        text = json.dumps(self.scope, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


EVERYTHING = Chosen()


def start(
    rules: Rules,
    chosen: Chosen = EVERYTHING,
    *,
    mode: Mode = Mode.DRY,
    access: Access,
    now: datetime,
    scan_id: UUID | None = None,
) -> Scan:
    """Begin a scan: freeze its rules and its facts, say so. Inside a workspace scope.

    BadRequest: there is no draft to scan by. The caller wakes the workers.
    """
    # The workspace's row is the lock: two who start at once get two numbers. Writers, who only
    # refer to it, go on.
    Workspace.objects.select_for_update(no_key=True).only("id").get(id=access.workspace_id)
    scan = Scan(
        id=scan_id or uuid7(timezone.now()),
        workspace_id=access.workspace_id,
        mode=str(mode),
        scope=dict(chosen.scope),
        scope_key=chosen.key,
        scope_title=chosen.title[:500],
        started_by=str(access.actor) if mode is Mode.HOLD else access.actor.name,
    )
    last = Scan.objects.filter(workspace_id=access.workspace_id).aggregate(n=Max("number"))
    scan.number = (last["n"] or 0) + 1
    _freeze_rules(scan, rules)
    before = previous_of(scan)
    scan.previous_id = before.id if before else None
    scan.save(force_insert=True)
    scan.total = _cut(scan, chosen, now)
    scan.save(update_fields=["total"])
    say("scan.started", scan, access, facts=scan.total)
    return scan


def previous_of(scan: Scan) -> Scan | None:
    """Return the last whole scan of the same facts, by whatever rules."""
    return (
        Scan.objects.filter(workspace_id=scan.workspace_id, scope_key=scan.scope_key, state="done")
        .exclude(id=scan.id)
        .order_by("-id")
        .first()
    )


_rules: dict[UUID, Ruleset] = {}


def ruleset_of(scan: Scan) -> Ruleset:
    """Return the rules a scan judges by: as they were when it began, once per process."""
    if not scan.rules and not scan.softened:
        return default_ruleset()
    found = _rules.get(scan.id)
    if found is None:
        if len(_rules) >= 8:
            _rules.clear()
        found = merge(default_ruleset(), scan.rules, scan.softened, number=scan.ruleset_number)
        _rules[scan.id] = found
    return found


def say(action: str, scan: Scan, access: Access, **details: Any) -> None:
    """Write an event about a scan."""
    about = {"number": scan.number, "mode": scan.mode, "rules": scan.rules_kind,
             "ruleset": scan.ruleset}  # fmt: skip
    happening = Happening(
        action, "scan", target_id=scan.id, count=scan.checked, details={**about, **details}
    )
    events.append([happening], access=access)


def _freeze_rules(scan: Scan, rules: Rules) -> None:
    active = gate_editing.load_active(scan.workspace_id)
    draft = gate_editing.load_draft(scan.workspace_id)
    if rules in (Rules.DRAFT, Rules.SOFTENED) and draft is None:
        raise BadRequest(FieldError("rules", "There is no draft to scan by.", "missing"))
    if rules is Rules.DRAFT and draft is not None:
        scan.rules, scan.softened, scan.ruleset_number = draft.rules, draft.softened, draft.number
    elif rules is Rules.SOFTENED and draft is not None:
        # Only what the draft makes milder: what would it let through?
        scan.rules = active.rules if active else []
        scan.softened, scan.ruleset_number = draft.softened, draft.number
    elif rules is Rules.ACTIVE and active is not None:
        scan.rules, scan.softened, scan.ruleset_number = (
            active.rules,
            active.softened,
            active.number,
        )
    scan.rules_kind = str(rules)
    # The version of what rules now is the one that records carry.
    scan.ruleset = (
        rulesets.ruleset(scan.workspace_id).version
        if rules is Rules.ACTIVE
        else ruleset_of(scan).version
    )


def _cut(scan: Scan, chosen: Chosen, now: datetime) -> int:
    """Cut the facts into ranges of ids; return how many facts there are."""
    part = f"AND r.id IN (SELECT id FROM ({chosen.rows}) AS chosen)" if chosen.rows else ""
    judged = LIVE if scan.mode == Mode.HOLD else JUDGED
    values = {
        **chosen.values,
        "scan": scan.id,
        "workspace": scan.workspace_id,
        "size": min(RANGE, HOLD_RANGE) if scan.mode == Mode.HOLD else RANGE,
        "until": UUID(int=uuid7(now).int | (1 << 80) - 1),
    }
    with queries.cursor() as cursor:
        cursor.execute(TIDY, [scan.workspace_id])
        cursor.execute(CUT.format(judged=judged, chosen=part), values)
        cursor.execute(
            "SELECT coalesce(sum(facts), 0) FROM scan_range WHERE scan_id = %s", [scan.id]
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0
