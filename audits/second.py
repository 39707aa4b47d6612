"""Asking a second person where there is one; where nobody else could agree, doing it alone, aloud.

For acts that must not wait for somebody who does not exist. The rules and the
record are ``audits.approvals``'.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from audits import approvals
from audits.models import Approval
from records.access import Access
from records.scope import workspace_scope


def ask_or_do_alone(
    kind: str,
    *,
    target_kind: str,
    target_id: UUID | None,
    summary: str,
    payload: dict[str, Any],
    reason: str,
    access: Access,
    user_id: UUID,
) -> Approval:
    """Ask a second person; where nobody else is eligible, agree alone with the same reason.

    The answer's ``state`` says which: "waiting", or "approved" and done. Raises
    what ``approvals.ask`` raises, and what the act itself does.
    """
    with workspace_scope(access.workspace_id):
        approval = approvals.ask(
            kind,
            target_kind=target_kind,
            target_id=target_id,
            summary=summary,
            payload=payload,
            reason=reason,
            access=access,
            user_id=user_id,
        )
        if not approvals.is_alone(approval, user_id):
            return approval
        return approvals.decide(
            approval.id, is_yes=True, reason=reason, access=access, user_id=user_id
        )


def could_answer(*, user_id: UUID, access: Access) -> bool:
    """Say whether anybody could answer a question of this person's. Inside a workspace scope."""
    asked = Approval(
        workspace_id=access.workspace_id,
        requested_by_id=user_id,
        requested_at=timezone.now(),
        payload={},
    )
    return approvals.others_eligible(asked) > 0
