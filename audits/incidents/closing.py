"""Closing an incident: refused with the list of what is missing; and opening it again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits.domain.incidents import (
    WAIVER_LIMIT,
    Missing,
    State,
    Work,
    missing_to_close,
    still_missing,
)
from audits.incidents.acting import lock, tell
from audits.models import Approval, Incident, IncidentTask, Operation
from audits.queries.incident_standing import load_scope
from records.access import Access
from records.items import BadRequest, Conflict, FieldError
from records.scope import workspace_scope

UNFINISHED = ("waiting", "queued", "running")


class NotYet(Conflict):
    """The incident cannot be closed; ``missing`` says why, in the order to solve it."""

    def __init__(self, missing: Sequence[Missing]) -> None:
        super().__init__("; ".join(one.text for one in missing))
        self.missing = tuple(missing)


def load_work(incident: Incident, *, workspace_id: UUID) -> Work:
    """Return what is left to do. Inside a workspace scope."""
    total = load_scope(incident.id, workspace_id=workspace_id).total
    operations = list(
        Operation.objects.filter(
            workspace_id=workspace_id, incident_id=incident.id, state__in=UNFINISHED
        ).values_list("state", "approval_id")
    )
    approvals = Approval.objects.filter(
        workspace_id=workspace_id,
        id__in=[approval for _, approval in operations if approval is not None],
        state="waiting",
        expires_at__gt=timezone.now(),
    ).count()
    return Work(
        residue=total.served,
        is_residue_capped=total.is_capped,
        withheld=total.withheld,
        open_operations=len(operations),
        waiting_approvals=approvals,
        open_tasks=IncidentTask.objects.filter(
            workspace_id=workspace_id, incident_id=incident.id, done_at=None
        ).count(),
        has_cause=bool(incident.cause),
    )


def close_incident(
    incident_id: UUID,
    reason: str,
    *,
    access: Access,
    waived: str = "",
    cause: str | None = None,
    now: datetime | None = None,
) -> Incident:
    """Close an incident of which nothing is left to do.

    What is still served or only suspended may be waived with a reason, which is
    kept; nothing else may. NotYet: what is missing. A cause given here is
    written down with it.
    """
    now = now or timezone.now()
    waived, reason = waived.strip(), reason.strip()
    if not reason:
        raise BadRequest(FieldError("reason", "is required", "required"))
    if len(waived) > WAIVER_LIMIT:
        message = f"is longer than {WAIVER_LIMIT:,} characters"
        raise BadRequest(FieldError("waived", message, "too_long", WAIVER_LIMIT))
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        fields = ["state", "closed_at", "closed_by", "waived_reason"]
        if cause is not None and cause.strip() != incident.cause:
            incident.cause = cause.strip()
            fields.append("cause")
        work = load_work(incident, workspace_id=access.workspace_id)
        found = missing_to_close(work)
        left = still_missing(found, waived=waived)
        if left:
            raise NotYet(left)
        used = waived if any(one.waivable for one in found) else ""
        incident.state = str(State.CLOSED)
        incident.closed_at, incident.closed_by = now, access.actor.name
        incident.waived_reason = used
        incident.save(update_fields=fields)
        tell(
            "closed",
            incident.id,
            access=access,
            reason=reason,
            residue=work.residue,
            withheld=work.withheld,
            waived=bool(used),
        )
        return incident


def reopen_incident(incident_id: UUID, reason: str, *, access: Access) -> Incident:
    """Open a closed incident again. Conflict: it is open, or merged into another."""
    if not reason.strip():
        raise BadRequest(FieldError("reason", "is required", "required"))
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access, states=frozenset({State.CLOSED}))
        incident.state = str(State.OPEN)
        incident.closed_at, incident.closed_by, incident.waived_reason = None, "", ""
        incident.save(update_fields=["state", "closed_at", "closed_by", "waived_reason"])
        tell("reopened", incident.id, access=access, reason=reason.strip())
        return incident
