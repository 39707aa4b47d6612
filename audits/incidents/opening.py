"""Opening an incident, and what is said about it: title, severity, summary, cause, owner."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from audits.domain.incidents import (
    DEFAULT_TASKS,
    TEXT_LIMIT,
    TITLE_LIMIT,
    Severity,
)
from audits.incidents.acting import NOT_MERGED, Member, lock, tell
from audits.incidents.scoping import Part, put_parts
from audits.incidents.working import put_note
from audits.models import Incident, IncidentTask
from records.access import Access
from records.domain.ids import uuid7
from records.items import BadRequest, Conflict, FieldError
from records.scope import workspace_scope


@dataclass(frozen=True, slots=True)
class Details:
    """What people write about an incident."""

    title: str
    severity: Severity
    summary: str = ""
    cause: str = ""
    lessons: str = ""


def open_incident(
    details: Details,
    parts: Sequence[Part] = (),
    *,
    access: Access,
    owner: Member | None = None,
    origin_kind: str = "",
    origin_id: UUID | None = None,
    now: datetime | None = None,
) -> Incident:
    """Open an incident with its scope and the tasks that every incident has.

    Numbers count within the workspace, without gaps. An owner has acknowledged
    it by taking it. BadRequest: a field is too long, or a part names nothing.
    """
    _check(details)
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        with connection.cursor() as cursor:
            # Two who open at once take turns, or both would take the same number.
            key = f"incident:{access.workspace_id}"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])
        newest = Incident.objects.filter(workspace_id=access.workspace_id).aggregate(
            one=Max("number")
        )
        incident = Incident.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            number=(newest["one"] or 0) + 1,
            title=details.title.strip(),
            severity=str(details.severity),
            summary=details.summary.strip(),
            cause=details.cause.strip(),
            lessons=details.lessons.strip(),
            owner_id=owner.id if owner else None,
            owner=owner.name if owner else "",
            opened_by=access.actor.name,
            opened_at=now,
            origin_kind=origin_kind,
            origin_id=origin_id,
            acknowledged_at=now if owner else None,
            acknowledged_by=access.actor.name if owner else "",
        )
        tell(
            "opened",
            incident.id,
            access=access,
            number=incident.number,
            severity=incident.severity,
            origin=origin_kind,
        )
        put_parts(incident, parts, access=access, now=now)
        IncidentTask.objects.bulk_create(
            IncidentTask(
                id=uuid7(now),
                workspace_id=access.workspace_id,
                incident_id=incident.id,
                title=title,
                created_by=access.actor.name,
                created_at=now,
            )
            for title in DEFAULT_TASKS
        )
        return incident


def seen_digest(incident: Incident | Mapping[str, Any]) -> str:
    """Return a digest of what a person saw before editing: two edits at once must not be lost."""
    named = incident if isinstance(incident, Mapping) else vars(incident)
    parts = [named[name] for name in ("title", "severity", "summary", "cause", "lessons")]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def change_incident(
    incident_id: UUID, details: Details, *, access: Access, seen: str | None = None
) -> Incident:
    """Change what is said about an incident, open or closed.

    Conflict: somebody has changed it since it was seen. An edit that changes
    nothing leaves no event.
    """
    _check(details)
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access, states=NOT_MERGED)
        if seen is not None and seen != seen_digest(incident):
            raise Conflict("somebody has changed it since you opened the form")
        wanted = {
            "title": details.title.strip(),
            "severity": str(details.severity),
            "summary": details.summary.strip(),
            "cause": details.cause.strip(),
            "lessons": details.lessons.strip(),
        }
        changed = [name for name, value in wanted.items() if getattr(incident, name) != value]
        if not changed:
            return incident
        more: dict[str, Any] = {}
        if "severity" in changed:
            more = {"from": incident.severity, "to": wanted["severity"]}
        for name in changed:
            setattr(incident, name, wanted[name])
        incident.save(update_fields=changed)
        tell("changed", incident.id, access=access, fields=changed, **more)
        return incident


def acknowledge(
    incident_id: UUID, *, access: Access, member: Member | None = None, now: datetime | None = None
) -> Incident:
    """Say that somebody has seen it and acts; who has no owner yet gets this one.

    Conflict: somebody was first.
    """
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        if incident.acknowledged_at is not None:
            raise Conflict(f"{incident.acknowledged_by} has acknowledged it already")
        incident.acknowledged_at = now
        incident.acknowledged_by = access.actor.name
        fields = ["acknowledged_at", "acknowledged_by"]
        if incident.owner_id is None and member is not None:
            incident.owner_id, incident.owner = member.id, member.name
            fields += ["owner_id", "owner"]
        incident.save(update_fields=fields)
        seconds = int((now - incident.opened_at).total_seconds())
        tell("acknowledged", incident.id, access=access, after_seconds=seconds)
        return incident


def assign(
    incident_id: UUID,
    member: Member,
    *,
    note: str = "",
    access: Access,
    now: datetime | None = None,
) -> Incident:
    """Hand an incident over to a member; a note goes with it for whoever takes over.

    Conflict: it is theirs already.
    """
    now = now or timezone.now()
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        if incident.owner_id == member.id:
            raise Conflict(f"{member.name} owns it already")
        before = incident.owner
        incident.owner_id, incident.owner = member.id, member.name
        incident.save(update_fields=["owner_id", "owner"])
        tell(
            "assigned",
            incident.id,
            access=access,
            to_user=str(member.id),
            to=member.name,
            before=before,
        )
        if note.strip():
            put_note(incident, f"For {member.name}: {note.strip()}", access=access, now=now)
        return incident


def _check(details: Details) -> None:
    errors = []
    if not details.title.strip():
        errors.append(FieldError("title", "is required", "required"))
    limits = {
        "title": TITLE_LIMIT,
        "summary": TEXT_LIMIT,
        "cause": TEXT_LIMIT,
        "lessons": TEXT_LIMIT,
    }
    for name, limit in limits.items():
        value = getattr(details, name)
        if len(value.strip()) > limit:
            message = f"is longer than {limit:,} characters"
            errors.append(FieldError(name, message, "too_long", limit))
        if "\x00" in value:
            errors.append(FieldError(name, "holds a character that no text has", "characters"))
    if errors:
        raise BadRequest(*errors)
