"""What every act of an incident shares: its lock and its event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audits.domain.incidents import State
from audits.models import Incident
from records import events
from records.access import Access
from records.events import Happening
from records.items import Conflict, NotFound

ANY = frozenset(State)
NOT_MERGED = frozenset({State.OPEN, State.CLOSED})


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who may own an incident."""

    id: UUID
    name: str


def lock(
    incident_id: UUID, *, access: Access, states: frozenset[State] = frozenset({State.OPEN})
) -> Incident:
    """Lock an incident, or refuse: NotFound for unknown and foreign, Conflict for its state."""
    found = (
        Incident.objects.select_for_update()
        .filter(workspace_id=access.workspace_id, id=incident_id)
        .first()
    )
    if found is None:
        raise NotFound("incident")
    if found.state not in states:
        raise Conflict(f"incident #{found.number} is {found.state}")
    return found


def tell(
    action: str,
    incident_id: UUID,
    *,
    access: Access,
    reason: str = "",
    count: int = 1,
    **details: Any,
) -> None:
    """Write the event of an act. ``details`` hold structure, no text that anybody typed."""
    events.append(
        [
            Happening(
                f"incident.{action}",
                "incident",
                incident_id,
                reason=reason,
                count=count,
                details={"incident": str(incident_id), **details},
            )
        ],
        access=access,
    )
