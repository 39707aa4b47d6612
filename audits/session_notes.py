"""Notes that people write about a session, each with its event."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from audits.models import SessionNote
from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import NotFound
from records.models import Session
from records.scope import workspace_scope


def add(session_id: UUID, text: str, *, access: Access) -> SessionNote:
    """Keep a note; NotFound for a session of another workspace or none.

    The event says that there is a note, and whose; the text is in the note alone.
    """
    with workspace_scope(access.workspace_id):
        session = Session.objects.filter(id=session_id, workspace_id=access.workspace_id).first()
        if session is None:
            raise NotFound("session")
        note = SessionNote.objects.create(
            id=uuid7(datetime.now(UTC)),
            workspace_id=access.workspace_id,
            partition_id=session.partition_id,
            session_id=session_id,
            user=access.actor.name,
            text=text,
        )
        events.append(
            [
                Happening(
                    "session.noted",
                    "session",
                    target_id=session_id,
                    partition_id=session.partition_id,
                    session_id=session_id,
                    details={"note": str(note.id)},
                )
            ],
            access=access,
        )
    return note
