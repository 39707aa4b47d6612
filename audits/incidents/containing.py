"""Containment of a whole scope: every session and source of it suspended, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits.incidents.acting import lock, tell
from audits.models import Incident
from audits.queries.incident_standing import list_parts
from records import curate
from records.access import Access
from records.curate import Acted
from records.items import Conflict
from records.scope import retried, workspace_scope


@dataclass(frozen=True, slots=True)
class Contained:
    """What was suspended (or released) and what stood so already."""

    sessions: int
    sources: int
    already: int


@retried
def contain_scope(
    incident_id: UUID, reason: str, *, access: Access, now: datetime | None = None
) -> Contained:
    """Suspend every session and source of the scope that is not; all of them or none.

    Sets ``contained_at`` the first time. Conflict: the scope names neither a
    session nor a source, or all of them are suspended already.
    """
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        done = _each(curate.suspend, incident, reason, access=access, now=now)
        if incident.contained_at is None:
            incident.contained_at = now
            incident.save(update_fields=["contained_at"])
        _tell("contained", incident, reason, done, access=access)
        return done


@retried
def release_scope(
    incident_id: UUID, reason: str, *, access: Access, now: datetime | None = None
) -> Contained:
    """End every suspension in the scope. Conflict: nothing of it is suspended."""
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        done = _each(curate.release, incident, reason, access=access, now=now)
        _tell("released", incident, reason, done, access=access)
        return done


def _each(
    act: Callable[..., Acted], incident: Incident, reason: str, *, access: Access, now: datetime
) -> Contained:
    parts = list_parts(incident.id, workspace_id=access.workspace_id)
    # In one order whoever acts, or two incidents about the same sessions would lock in a circle.
    targets = sorted(
        (str(part.target_id), part.kind, part.target_id)
        for part in parts
        if part.kind in ("session", "source") and part.target_id is not None
    )
    if not targets:
        raise Conflict("the scope names neither a session nor a source")
    counts = {"session": 0, "source": 0}
    already = 0
    for _, kind, target_id in targets:
        acted = act(kind, target_id, reason, access=access, now=now)
        if acted.changed:
            counts[kind] += 1
        else:
            already += 1
    if already == len(targets):
        state = "suspended" if act is curate.suspend else "released"
        raise Conflict(f"every session and source of the scope is {state} already")
    return Contained(counts["session"], counts["source"], already)


def _tell(action: str, incident: Incident, reason: str, done: Contained, *, access: Access) -> None:
    tell(
        action,
        incident.id,
        access=access,
        reason=reason,
        count=done.sessions + done.sources,
        sessions=done.sessions,
        sources=done.sources,
        already=done.already,
    )
