"""What the lines of an incident's timeline and report say: actions in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS: Mapping[str, str] = {
    "incident.opened": "Incident opened",
    "incident.changed": "Incident edited",
    "incident.acknowledged": "Acknowledged",
    "incident.assigned": "Handed over",
    "incident.scope_added": "Added to the scope",
    "incident.scope_removed": "Taken out of the scope",
    "incident.task_added": "Task added",
    "incident.task_done": "Task done",
    "incident.task_reopened": "Task opened again",
    "incident.noted": "Note written",
    "incident.note_pinned": "Note pinned",
    "incident.note_unpinned": "Note unpinned",
    "incident.contained": "All in scope suspended",
    "incident.released": "All in scope released",
    "incident.closed": "Incident closed",
    "incident.reopened": "Incident opened again",
    "incident.merged": "Merged into another incident",
    "incident.absorbed": "Other incidents merged into this one",
    "incident.reported": "Report downloaded",
    "session.suspended": "Session suspended",
    "session.released": "Session released",
    "source.suspended": "Source suspended",
    "source.released": "Source released",
    "operation.previewed": "Operation previewed",
    "operation.ticked": "Rows left out of the operation",
    "operation.requested": "Operation requested",
    "operation.started": "Operation started",
    "operation.finished": "Operation finished",
    "operation.cancelled": "Operation cancelled",
    "operation.drifted": "Operation stopped: its targets had changed",
    "operation.failed": "Operation failed",
    "approval.requested": "Second person asked",
    "approval.granted": "Second person said yes",
    "approval.refused": "Second person said no",
    "approval.withdrawn": "Question to a second person withdrawn",
    "approval.expired": "Nobody answered in time",
    "approval.alone": "Approved alone: nobody else could",
    "exposure.exported": "List of people to notify taken",
    "first_write": "First write of session",
    "last_write": "Last write of session",
    "first_serve": "First time that a fact in scope was served",
    "last_serve": "Last time that a fact in scope was served",
}


def words(action: str, details: Mapping[str, Any] | None = None, count: int = 1) -> str:
    """Say an event or milestone in words; an action that has none is said as it is."""
    said = WORDS.get(action)
    if said is None:
        return f"{action} ×{count}" if count > 1 else action
    details = details or {}
    if action == "incident.assigned" and details.get("to"):
        return f"Handed over to {details['to']}"
    if action == "incident.changed":
        if "to" in details and "from" in details:
            return f"Severity {details['from']} became {details['to']}"
        fields = ", ".join(str(one) for one in details.get("fields", ()))
        return f"Edited: {fields}" if fields else said
    if action == "incident.contained" or action == "incident.released":
        parts = [(details.get("sessions", 0), "session"), (details.get("sources", 0), "source")]
        named = " and ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in parts if n)
        return f"{said}: {named}" if named else said
    if action in ("incident.scope_added", "incident.scope_removed") and details.get("parts"):
        kinds: dict[str, int] = {}
        for part in details["parts"]:
            kinds[part[0]] = kinds.get(part[0], 0) + 1
        named = ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in kinds.items())
        return f"{said}: {named}"
    if action == "incident.merged" and details.get("number"):
        return f"Merged into incident #{details['number']}"
    return f"{said} ({count:,})" if count > 1 and action.startswith("operation.") else said
