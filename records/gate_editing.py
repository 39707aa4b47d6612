"""Changing a workspace's own rules: a draft is edited, replayed, then activated or discarded.

Owns every change of ``gate_ruleset``, each with its event in the same
transaction. Who may do it is the caller's to decide. Call inside a workspace
scope. The write path sees nothing of a draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max

from records import events
from records.access import Access
from records.domain.facts import Outcome
from records.domain.gate import default_ruleset
from records.domain.ids import uuid7
from records.events import Happening
from records.gate_rules import (
    LENGTH_LIMIT,
    PREFIX,
    RULE_LIMIT,
    Entry,
    content_digest,
    faults,
    is_milder,
)
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.models import GateReplay, GateRuleset, Workspace
from records.rulesets import bump


def load_active(workspace_id: UUID) -> GateRuleset | None:
    """Return the set that rules now; ``None`` when only the shipped rules do."""
    return GateRuleset.objects.filter(workspace_id=workspace_id, state="active").first()


def load_draft(workspace_id: UUID) -> GateRuleset | None:
    """Return the draft, if there is one."""
    return GateRuleset.objects.filter(workspace_id=workspace_id, state="draft").first()


def digest_of(row: GateRuleset) -> str:
    """Name what a set says together with the shipped rules it stands beside."""
    return f"{default_ruleset().version}+{content_digest(row.rules, row.softened)}"


def start_draft(*, access: Access, now: datetime) -> GateRuleset:
    """Return the draft, making it from the active set when there is none."""
    # The workspace's row is the lock: two people who start at once get one draft.
    Workspace.objects.select_for_update().get(id=access.workspace_id)
    draft = load_draft(access.workspace_id)
    if draft is not None:
        return draft
    active = load_active(access.workspace_id)
    last = GateRuleset.objects.filter(workspace_id=access.workspace_id).aggregate(n=Max("number"))
    draft = GateRuleset(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        number=(last["n"] or 0) + 1,
        state="draft",
        rules=active.rules if active else [],
        softened=active.softened if active else {},
        created_by=str(access.actor),
        created_at=now,
        changed_by=str(access.actor),
        changed_at=now,
    )
    draft.save(force_insert=True)
    _say("gate.draft_started", draft, access)
    return draft


def put_rule(entry: Entry, *, revision: int, access: Access, now: datetime) -> GateRuleset:
    """Add a rule to the draft, or make its next version.

    ``BadRequest`` names each field that is wrong: every pattern is compiled and
    every example run first. ``Conflict`` when the draft has moved on.
    """
    draft = _locked(revision, access)
    found = faults(entry, shipped=default_ruleset())
    rules = {one["id"]: one for one in draft.rules}
    before = rules.get(entry.get("id"))
    if before is None and len(rules) >= RULE_LIMIT:
        found["id"] = f"There are {len(rules)} own rules; at most {RULE_LIMIT} are kept."
    if found:
        raise BadRequest(*(FieldError(field, text, "rule") for field, text in found.items()))
    version = 1 + max([0, *(_version(one, entry["id"]) for one in _earlier(draft))])
    if before is not None and _said(before) == _said(entry):
        return draft
    stamp = {"version": version, "by": str(access.actor), "at": now.isoformat()}
    rules[entry["id"]] = {**entry, **stamp}
    draft.rules = list(rules.values())
    _save(draft, access, now)
    _say("gate.rule_saved", draft, access, rule=entry["id"], version=version)
    return draft


def drop_rule(rule_id: str, *, revision: int, access: Access, now: datetime) -> GateRuleset:
    """Take an own rule out of the draft; ``NotFound`` when it is not in it."""
    draft = _locked(revision, access)
    kept = [one for one in draft.rules if one["id"] != rule_id]
    if len(kept) == len(draft.rules):
        raise NotFound("rule")
    draft.rules = kept
    _save(draft, access, now)
    _say("gate.rule_removed", draft, access, rule=rule_id)
    return draft


def soften(
    rule_id: str, outcome: Outcome, reason: str, *, revision: int, access: Access, now: datetime
) -> GateRuleset:
    """Let the draft make a shipped rule milder; ``allow`` switches it off (noted only)."""
    draft = _locked(revision, access)
    rule = default_ruleset().rule(rule_id)
    if rule is None:
        message = (
            "An own rule is changed, not softened."
            if rule_id.startswith(PREFIX)
            else "There is no shipped rule of this name; built-in checks cannot be softened."
        )
        raise BadRequest(FieldError("rule", message, "unknown"))
    if not is_milder(outcome, rule.outcome):
        message = f"The rule's outcome is {rule.outcome}; {outcome} is not milder."
        raise BadRequest(FieldError("outcome", message, "outcome"))
    if not 1 <= len(reason.strip()) <= LENGTH_LIMIT:
        message = f"Say in 1 to {LENGTH_LIMIT} characters why this rule is softened."
        raise BadRequest(FieldError("reason", message, "reason"))
    said = {"outcome": str(outcome), "reason": reason.strip()}
    stamp = {"by": str(access.actor), "at": now.isoformat()}
    draft.softened = {**draft.softened, rule_id: {**said, **stamp}}
    _save(draft, access, now)
    _say(
        "gate.rule_softened", draft, access, reason=reason.strip(), rule=rule_id,
        before=str(rule.outcome), after=str(outcome),
    )  # fmt: skip
    return draft


def harden(rule_id: str, *, revision: int, access: Access, now: datetime) -> GateRuleset:
    """Give a shipped rule its own outcome back in the draft."""
    draft = _locked(revision, access)
    if rule_id not in draft.softened:
        raise NotFound("rule")
    draft.softened = {name: one for name, one in draft.softened.items() if name != rule_id}
    _save(draft, access, now)
    _say("gate.rule_hardened", draft, access, rule=rule_id)
    return draft


def discard(*, revision: int, access: Access, now: datetime) -> GateRuleset:
    """Give the draft up; what it said stays on record."""
    draft = _locked(revision, access)
    draft.state = "discarded"
    _save(draft, access, now)
    _say("gate.draft_discarded", draft, access)
    return draft


def activate(reason: str, *, revision: int, access: Access, now: datetime) -> GateRuleset:
    """Make the draft rule every write from its commit on; the active set retires.

    ``Conflict`` when the draft moved on, says nothing new, or was not replayed
    as it stands. Writes that are under way finish by the old rules.
    """
    draft, active, changes = _ready(reason, revision, access)
    if active is not None:
        active.state, active.retired_at = "retired", now
        active.save(update_fields=["state", "retired_at"])
    draft.state, draft.reason = "active", reason.strip()
    draft.activated_at, draft.activated_by = now, str(access.actor)
    draft.save(update_fields=["state", "reason", "activated_at", "activated_by"])
    bump(access.workspace_id)
    _say("gate.activated", draft, access, reason=reason.strip(), digest=digest_of(draft), **changes)
    return draft


def check_ready(reason: str, *, revision: int, access: Access) -> None:
    """Raise what ``activate`` would raise now."""
    _ready(reason, revision, access)


def changes_of(draft: GateRuleset, active: GateRuleset | None) -> dict[str, list[str]]:
    """Return what a draft changes, as rule ids: added, changed, removed, softened, hardened."""
    before = {one["id"]: one for one in active.rules} if active else {}
    after = {one["id"]: one for one in draft.rules}
    was = {name: one["outcome"] for name, one in active.softened.items()} if active else {}
    now = {name: one["outcome"] for name, one in draft.softened.items()}
    return {
        "added": sorted(set(after) - set(before)),
        "changed": sorted(
            name for name in set(after) & set(before) if _said(after[name]) != _said(before[name])
        ),
        "removed": sorted(set(before) - set(after)),
        "softened": sorted(name for name in now if was.get(name) != now[name]),
        "hardened": sorted(set(was) - set(now)),
    }


def is_replayed(draft: GateRuleset) -> bool:
    """Say whether the draft was replayed on the last writes exactly as it stands."""
    return GateReplay.objects.filter(
        workspace_id=draft.workspace_id,
        ruleset_id=draft.id,
        digest=digest_of(draft),
        population="writes",
        state="done",
    ).exists()


def _ready(
    reason: str, revision: int, access: Access
) -> tuple[GateRuleset, GateRuleset | None, dict[str, list[str]]]:
    """Return the draft, locked, what rules now and what changes; or say why it cannot rule."""
    draft = _locked(revision, access)
    if not 1 <= len(reason.strip()) <= 1_000:
        raise BadRequest(FieldError("reason", "Say in 1 to 1,000 characters why.", "reason"))
    active = load_active(access.workspace_id)
    changes = changes_of(draft, active)
    if not any(changes.values()):
        raise Conflict("the draft says what rules already")
    if not is_replayed(draft):
        raise Conflict("replay the draft as it stands first")
    return draft, active, changes


def _locked(revision: int, access: Access) -> GateRuleset:
    """Lock the draft as its editor saw it."""
    draft = (
        GateRuleset.objects.select_for_update()
        .filter(workspace_id=access.workspace_id, state="draft")
        .first()
    )
    if draft is None:
        raise NotFound("draft")
    if draft.revision != revision:
        raise Conflict(f"{draft.changed_by} has changed the draft meanwhile")
    return draft


def _save(draft: GateRuleset, access: Access, now: datetime) -> None:
    draft.revision += 1
    draft.changed_at, draft.changed_by = now, str(access.actor)
    draft.save(update_fields=["rules", "softened", "state", "revision", "changed_at", "changed_by"])


def _earlier(draft: GateRuleset) -> list[GateRuleset]:
    """Return the sets that rule or ruled; what a draft says counts only once it is activated."""
    ruled = GateRuleset.objects.filter(
        workspace_id=draft.workspace_id, state__in=("active", "retired")
    )
    return list(ruled.only("rules"))


def _version(row: GateRuleset, rule_id: str) -> int:
    return max([0, *(int(one.get("version", 0)) for one in row.rules if one["id"] == rule_id)])


def _said(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry says, without who said it."""
    return {name: each for name, each in entry.items() if name not in ("version", "by", "at")}


def _say(
    action: str, draft: GateRuleset, access: Access, *, reason: str = "", **details: Any
) -> None:
    happening = Happening(
        action,
        "gate_ruleset",
        target_id=draft.id,
        reason=reason,
        details={"number": draft.number, **{k: v for k, v in details.items() if v}},
    )
    events.append([happening], access=access)
