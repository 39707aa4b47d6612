"""Merging incidents that turn out to be one: scope, tasks, notes and operations follow."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits.domain.incidents import SEVERITIES, TEXT_LIMIT, ScopeKind, Severity, State
from audits.incidents.acting import lock, tell
from audits.incidents.scoping import Part, put_parts
from audits.models import Incident, IncidentNote, IncidentScope, IncidentTask, Operation
from records.access import Access
from records.domain.ids import uuid7
from records.items import BadRequest, FieldError
from records.scope import retried, workspace_scope


@retried
def merge_incidents(
    into: UUID,
    others: Collection[UUID],
    reason: str,
    *,
    access: Access,
    now: datetime | None = None,
) -> Incident:
    """Merge other open incidents into one; each of them points to it from then on.

    The one that stays takes the worst severity and the earliest containment. A
    task that it has already is not taken twice. NotFound, Conflict: one of them
    is unknown or not open; then nothing is merged.
    """
    wanted = set(others) - {into}
    if not wanted:
        raise BadRequest(FieldError("incidents", "name at least one other incident", "required"))
    if not reason.strip():
        raise BadRequest(FieldError("reason", "is required", "required"))
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        # Locked in one order, or two merges the other way round would wait for each other.
        locked = {one: lock(one, access=access) for one in sorted({into, *wanted})}
        kept = locked[into]
        for other in (locked[one] for one in sorted(wanted)):
            _take_over(kept, other, access=access, now=now)
            other.state, other.merged_into = str(State.MERGED), kept.id
            other.save(update_fields=["state", "merged_into"])
            tell(
                "merged",
                other.id,
                access=access,
                reason=reason.strip(),
                into=str(kept.id),
                number=kept.number,
            )
        tell(
            "absorbed",
            kept.id,
            access=access,
            reason=reason.strip(),
            count=len(wanted),
            incidents=sorted(str(one) for one in wanted),
        )
        return kept


def _take_over(kept: Incident, other: Incident, *, access: Access, now: datetime) -> None:
    of_other = {"workspace_id": access.workspace_id, "incident_id": other.id}
    parts = IncidentScope.objects.filter(**of_other, removed_at=None).order_by("added_at", "id")
    put_parts(
        kept,
        [Part(ScopeKind(one.kind), one.target_id, one.text) for one in parts],
        access=access,
        now=now,
    )
    there = set(
        IncidentTask.objects.filter(
            workspace_id=access.workspace_id, incident_id=kept.id
        ).values_list("title", flat=True)
    )
    IncidentTask.objects.filter(**of_other).exclude(title__in=there).update(incident_id=kept.id)
    IncidentNote.objects.filter(**of_other).update(incident_id=kept.id)
    Operation.objects.filter(**of_other).update(incident_id=kept.id)
    if other.summary:
        text = f"Summary of incident #{other.number} ({other.title}): {other.summary}"
        IncidentNote.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            incident_id=kept.id,
            user=other.opened_by,
            text=text[:TEXT_LIMIT],
            written_at=other.opened_at,
        )
    order = [str(one) for one in SEVERITIES]
    worst = min(kept.severity, other.severity, key=order.index)
    kept.severity = str(Severity(worst))
    for name in ("contained_at", "evicted_at"):
        known = [at for at in (getattr(kept, name), getattr(other, name)) if at is not None]
        setattr(kept, name, min(known, default=None))
    kept.save(update_fields=["severity", "contained_at", "evicted_at"])
