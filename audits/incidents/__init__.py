"""What people do in an incident: open it, work in it, contain, hand over, merge, close.

Owns every change to an incident and what belongs to it. Each act opens its own
scope, locks the incident first, refuses on one that is not open unless it says
otherwise, and writes its event (``incident.*``, with ``{"incident": id}`` in
its details, never a title or a note) in the same transaction. The rules are
``audits/domain/incidents.py``'s; what an eviction does is ``audits/operations``'.
"""

from audits.incidents.acting import Member
from audits.incidents.closing import NotYet, close_incident, load_work, reopen_incident
from audits.incidents.containing import Contained, contain_scope, release_scope
from audits.incidents.merging import merge_incidents
from audits.incidents.opening import (
    Details,
    acknowledge,
    assign,
    change_incident,
    open_incident,
    seen_digest,
)
from audits.incidents.scoping import Part, add_to_scope, remove_from_scope
from audits.incidents.working import add_note, add_task, pin_note, tell_reported, tick_task

__all__ = [
    "Contained",
    "Details",
    "Member",
    "NotYet",
    "Part",
    "acknowledge",
    "add_note",
    "add_task",
    "add_to_scope",
    "assign",
    "change_incident",
    "close_incident",
    "contain_scope",
    "load_work",
    "merge_incidents",
    "open_incident",
    "pin_note",
    "release_scope",
    "remove_from_scope",
    "reopen_incident",
    "seen_digest",
    "tell_reported",
    "tick_task",
]
