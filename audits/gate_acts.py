"""Activating a draft of the gate's rules: who may, and what follows.

Owns the second pair of eyes: a shipped rule that was made milder is let in by
somebody else than who asked for it. Where there is nobody else who could, that
person may alone, and an event of its own says so. The change itself is
``records.gate_editing``'s.
"""

from __future__ import annotations

from datetime import datetime

from audits.domain.roles import Permission, roles_with
from audits.models import Membership
from records import events, gate_editing, tasks
from records.access import Access
from records.events import Happening
from records.items import Conflict
from records.jobs import catalogue
from records.models import GateRuleset


def softened_alone(draft: GateRuleset, active: GateRuleset | None, *, access: Access) -> list[str]:
    """Return the rules that this very person made milder in the draft."""
    new = gate_editing.changes_of(draft, active)["softened"]
    return [name for name in new if draft.softened[name]["by"] == str(access.actor)]


def activate(
    reason: str, *, rescan: bool, revision: int, access: Access, now: datetime
) -> GateRuleset:
    """Make the draft rule, and start a rescan when it is wished. Inside a workspace scope.

    Raises what ``gate_editing.activate`` raises, and ``Conflict`` when the
    person made a shipped rule milder and somebody else could look at it.
    """
    draft = gate_editing.load_draft(access.workspace_id)
    active = gate_editing.load_active(access.workspace_id)
    alone = softened_alone(draft, active, access=access) if draft else []
    if alone and is_somebody_else(access):
        raise Conflict(
            f"you made {alone[0]} milder yourself; another person who may manage the gate must"
            " activate it"
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


def is_somebody_else(access: Access) -> bool:
    """Say whether anybody else here may manage the gate."""
    return (
        Membership.objects.filter(
            workspace_id=access.workspace_id,
            role__in=[str(role) for role in roles_with(Permission.MANAGE_GATE)],
            removed_at=None,
            user__is_active=True,
        )
        .exclude(user__username=access.actor.name)
        .exists()
    )
