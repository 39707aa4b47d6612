"""The end of a legal hold: asked for by one person, agreed to by another.

Owns the kind ``legal_hold_release`` of approvals. The release itself is
``records.holds``'; who may answer is ``approvals.py``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from audits import approvals
from audits.models import Approval
from records import holds
from records.access import Access

KIND = "legal_hold_release"


def ask(hold: Mapping[str, Any], reason: str, *, access: Access, user_id: UUID) -> Approval:
    """Ask a second person whether this hold may end."""
    return approvals.ask(
        KIND,
        target_kind="legal_hold",
        target_id=hold["id"],
        summary=f"Release the legal hold on a {hold['kind']}, placed by {hold['placed_by']}"[:500],
        payload={"kind": hold["kind"], "target": str(hold["target_id"])},
        reason=reason,
        access=access,
        user_id=user_id,
    )


def perform(approval: Approval, access: Access) -> None:
    """End the hold, for the reason that was given when it was asked for."""
    assert approval.target_id is not None
    holds.release(approval.target_id, approval.reason, access=access)


approvals.register(KIND, "Release of a legal hold", perform, None)
