"""What an incident is about: sessions, sources, partitions, records and words, added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils import timezone

from audits.domain.incidents import SCOPE_MOST, SCOPE_TEXT_LIMIT, ScopeKind
from audits.incidents.acting import lock, tell
from audits.models import Incident, IncidentScope
from records.access import Access
from records.domain.ids import uuid7
from records.domain.terms import query_terms
from records.items import BadRequest, FieldError, NotFound
from records.models import MemoryRecord, Partition, Session, Source
from records.scope import workspace_scope

TABLES: dict[ScopeKind, type[models.Model]] = {
    ScopeKind.SESSION: Session,
    ScopeKind.SOURCE: Source,
    ScopeKind.PARTITION: Partition,
    ScopeKind.RECORD: MemoryRecord,
}


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to put into a scope: an id, or words for ``text``."""

    kind: ScopeKind
    target_id: UUID | None = None
    text: str = ""


def add_to_scope(
    incident_id: UUID, parts: Sequence[Part], *, access: Access, now: datetime | None = None
) -> int:
    """Put parts into an incident's scope and return how many were new.

    BadRequest: a part names nothing of this workspace, or the scope would be
    larger than ``SCOPE_MOST``; then nothing is added.
    """
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        return put_parts(incident, parts, access=access, now=now or timezone.now())


def put_parts(incident: Incident, parts: Sequence[Part], *, access: Access, now: datetime) -> int:
    """Put parts into the scope of a locked or a fresh incident."""
    wanted = [_checked(part, access) for part in parts]
    for kind, model in TABLES.items():
        ids = {part.target_id for part in wanted if part.kind == kind}
        if ids:
            found = set(
                model._default_manager.filter(
                    workspace_id=access.workspace_id, id__in=ids
                ).values_list("id", flat=True)
            )
            if ids - found:
                raise BadRequest(
                    FieldError("scope", f"names a {kind} that is not of this workspace", "unknown")
                )
    there = {
        (row.kind, row.target_id, row.text)
        for row in IncidentScope.objects.filter(
            workspace_id=access.workspace_id, incident_id=incident.id, removed_at=None
        )
    }
    fresh = {(str(part.kind), part.target_id, part.text) for part in wanted} - there
    if len(there) + len(fresh) > SCOPE_MOST:
        raise BadRequest(
            FieldError("scope", f"holds at most {SCOPE_MOST} parts", "too_many", SCOPE_MOST)
        )
    rows = []
    for part in wanted:
        key = (str(part.kind), part.target_id, part.text)
        if key in fresh:
            fresh.discard(key)
            rows.append(
                IncidentScope(
                    id=uuid7(now),
                    workspace_id=access.workspace_id,
                    incident_id=incident.id,
                    kind=key[0],
                    target_id=key[1],
                    text=key[2],
                    added_by=access.actor.name,
                    added_at=now,
                )
            )
    if rows:
        IncidentScope.objects.bulk_create(rows)
        named = [[row.kind, str(row.target_id or "")] for row in rows]
        tell("scope_added", incident.id, access=access, count=len(rows), parts=named)
    return len(rows)


def remove_from_scope(incident_id: UUID, part_id: UUID, *, access: Access) -> None:
    """Take a part out of the scope; it stays on record. NotFound: it is not in it."""
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        row = IncidentScope.objects.filter(
            workspace_id=access.workspace_id,
            incident_id=incident.id,
            id=part_id,
            removed_at=None,
        ).first()
        if row is None:
            raise NotFound("part of the scope")
        row.removed_at = timezone.now()
        row.save(update_fields=["removed_at"])
        named = [[row.kind, str(row.target_id or "")]]
        tell("scope_removed", incident.id, access=access, parts=named)


def _checked(part: Part, access: Access) -> Part:
    if part.kind != ScopeKind.TEXT:
        if part.target_id is None:
            raise BadRequest(FieldError("scope", f"names no {part.kind}", "required"))
        return Part(part.kind, part.target_id)
    text = " ".join(part.text.split())
    if len(text) > SCOPE_TEXT_LIMIT:
        message = f"is longer than {SCOPE_TEXT_LIMIT} characters"
        raise BadRequest(FieldError("text", message, "too_long", SCOPE_TEXT_LIMIT))
    if "\x00" in text or not query_terms(text):
        raise BadRequest(FieldError("text", "holds no word to search for", "required"))
    return Part(ScopeKind.TEXT, None, text)
