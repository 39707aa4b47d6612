"""Activating a draft of the gate's rules: who may, and what follows.

Owns the second pair of eyes: what makes the gate weaker (a shipped rule made
milder, an own rule taken out or made milder) is let in by somebody else than
who asked for it. Where there is nobody else who could, that person may alone,
and an event of its own says so. The change itself is
``records.gate_editing``'s.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits import approvals
from audits.models import Approval
from audits.second import could_answer
from records import events, gate_editing, tasks
from records.access import Access
from records.domain.facts import Outcome
from records.events import Happening
from records.jobs import catalogue
from records.models import GateRuleset

KIND = "gate_rule_disable"
SEVERITY = {str(outcome): place for place, outcome in enumerate(Outcome)}


def weakened_alone(draft: GateRuleset, active: GateRuleset | None, *, access: Access) -> list[str]:
    """Return the rules that this very person made milder in the draft, or that are taken out."""
    changes = gate_editing.changes_of(draft, active)
    me = str(access.actor)
    before = {one["id"]: one for one in active.rules} if active else {}
    after = {one["id"]: one for one in draft.rules}
    milder = [
        name
        for name in changes["changed"]
        if SEVERITY[after[name]["outcome"]] < SEVERITY[before[name]["outcome"]]
        and after[name]["by"] == me
    ]
    softened = [name for name in changes["softened"] if draft.softened[name]["by"] == me]
    return [*softened, *milder, *changes["removed"]]


def activate(
    reason: str,
    *,
    rescan: bool,
    revision: int,
    access: Access,
    user_id: UUID,
    now: datetime,
) -> GateRuleset | Approval:
    """Make the draft rule, and start a rescan when it is wished. Inside a workspace scope.

    When it makes the gate weaker by this person's own hand and somebody else
    could look at it, that is asked, and the question returned. Raises what
    ``gate_editing.activate`` and ``approvals.ask`` raise.
    """
    draft = gate_editing.load_draft(access.workspace_id)
    active = gate_editing.load_active(access.workspace_id)
    alone = weakened_alone(draft, active, access=access) if draft else []
    if draft is not None and alone and is_somebody_else(access, user_id=user_id):
        gate_editing.check_ready(reason, revision=revision, access=access)
        return approvals.ask(
            KIND,
            target_kind="gate_ruleset",
            target_id=draft.id,
            summary=f"Let draft {draft.number} rule, which weakens {', '.join(alone)}"[:500],
            payload={"revision": revision, "rescan": rescan, "rules": alone[:200]},
            reason=reason,
            access=access,
            user_id=user_id,
            now=now,
        )
    row = gate_editing.activate(reason, revision=revision, access=access, now=now)
    if alone:
        happening = Happening(
            "gate.softened_alone",
            "gate_ruleset",
            target_id=row.id,
            reason=reason,
            details={"rules": alone},
        )
        events.append([happening], access=access)
    if rescan:
        tasks.start(catalogue.RESCAN, access=access)
    return row


def is_somebody_else(access: Access, *, user_id: UUID) -> bool:
    """Say whether anybody else here could be the second person. Inside a workspace scope."""
    return could_answer(user_id=user_id, access=access)


def _perform(approval: Approval, access: Access) -> None:
    """Let the draft rule exactly as it was asked."""
    gate_editing.activate(
        approval.reason,
        revision=approval.payload["revision"],
        access=access,
        now=approval.decided_at or timezone.now(),
    )
    if approval.payload["rescan"]:
        tasks.start(catalogue.RESCAN, access=access)


approvals.register(KIND, "Weaker gate", _perform)
