"""The work inside an incident: tasks and notes."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits.domain.incidents import TASK_LIMIT, TASKS_MOST, TEXT_LIMIT
from audits.incidents.acting import NOT_MERGED, lock, tell
from audits.models import Incident, IncidentNote, IncidentTask
from records.access import Access
from records.domain.ids import uuid7
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.scope import workspace_scope


def add_task(
    incident_id: UUID, title: str, *, access: Access, now: datetime | None = None
) -> IncidentTask:
    """Put a task on the list. BadRequest: it says nothing, too much, or the list is full."""
    title = _text("task", title, TASK_LIMIT)
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        tasks = IncidentTask.objects.filter(
            workspace_id=access.workspace_id, incident_id=incident.id
        )
        if tasks.count() >= TASKS_MOST:
            raise BadRequest(
                FieldError("task", f"the list holds at most {TASKS_MOST}", "too_many", TASKS_MOST)
            )
        task = IncidentTask.objects.create(
            id=uuid7(now or timezone.now()),
            workspace_id=access.workspace_id,
            incident_id=incident.id,
            title=title,
            created_by=access.actor.name,
        )
        tell("task_added", incident.id, access=access, task=str(task.id))
        return task


def tick_task(incident_id: UUID, task_id: UUID, *, is_done: bool, access: Access) -> IncidentTask:
    """Mark a task as done, or as open again. Conflict: it is so already."""
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access)
        task = IncidentTask.objects.filter(
            workspace_id=access.workspace_id, incident_id=incident.id, id=task_id
        ).first()
        if task is None:
            raise NotFound("task")
        if (task.done_at is not None) == is_done:
            raise Conflict("the task is done already" if is_done else "the task is open already")
        task.done_at = timezone.now() if is_done else None
        task.done_by = access.actor.name if is_done else ""
        task.save(update_fields=["done_at", "done_by"])
        action = "task_done" if is_done else "task_reopened"
        tell(action, incident.id, access=access, task=str(task.id))
        return task


def add_note(
    incident_id: UUID,
    text: str,
    *,
    is_pinned: bool = False,
    access: Access,
    now: datetime | None = None,
) -> IncidentNote:
    """Write a note; also on a closed incident, where what came out later belongs."""
    text = _text("note", text, TEXT_LIMIT)
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access, states=NOT_MERGED)
        return put_note(
            incident, text, is_pinned=is_pinned, access=access, now=now or timezone.now()
        )


def put_note(
    incident: Incident, text: str, *, access: Access, now: datetime, is_pinned: bool = False
) -> IncidentNote:
    """Write a note on a locked incident."""
    note = IncidentNote.objects.create(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        incident_id=incident.id,
        user=access.actor.name,
        text=text[:TEXT_LIMIT],
        is_pinned=is_pinned,
        written_at=now,
    )
    tell("noted", incident.id, access=access, note=str(note.id))
    return note


def pin_note(incident_id: UUID, note_id: UUID, *, is_pinned: bool, access: Access) -> None:
    """Pin a note so that it stands first, or unpin it. Conflict: it is so already."""
    with workspace_scope(access.workspace_id):
        incident = lock(incident_id, access=access, states=NOT_MERGED)
        note = IncidentNote.objects.filter(
            workspace_id=access.workspace_id, incident_id=incident.id, id=note_id
        ).first()
        if note is None:
            raise NotFound("note")
        if note.is_pinned == is_pinned:
            raise Conflict("the note is pinned already" if is_pinned else "the note is not pinned")
        note.is_pinned = is_pinned
        note.save(update_fields=["is_pinned"])
        action = "note_pinned" if is_pinned else "note_unpinned"
        tell(action, incident.id, access=access, note=str(note.id))


def _text(field: str, given: str, limit: int) -> str:
    text = given.strip()
    if not text:
        raise BadRequest(FieldError(field, "is required", "required"))
    if len(text) > limit:
        raise BadRequest(
            FieldError(field, f"is longer than {limit:,} characters", "too_long", limit)
        )
    if "\x00" in text:
        raise BadRequest(FieldError(field, "holds a character that no text has", "characters"))
    return text


def tell_reported(incident_id: UUID, *, access: Access) -> None:
    """Put on record that somebody took the report; changes nothing else."""
    with workspace_scope(access.workspace_id):
        tell("reported", incident_id, access=access)
