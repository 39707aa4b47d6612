"""The filters of the list of operations, of an operation's facts and of the approvals.

As on every list: what cannot be read becomes a warning that names it, and the
rest still filters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.http import QueryDict

from audits.approvals import ApprovalFilter, kinds
from audits.domain.operations import GROUPS_OF, OUTCOMES, Kind, State
from audits.operations import OperationFilter

TEXT_LIMIT = 200
STATES = tuple(str(one) for one in State if one is not State.PREVIEW)
APPROVAL_STATES = ("waiting", "approved", "refused", "expired", "withdrawn")
TICKED = ("in", "out")


@dataclass(slots=True)
class AskedList:
    """What a URL asks of a list: the values as typed, what could not be read, and the place."""

    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return bool(self.values)


@dataclass(slots=True)
class AskedOperations(AskedList):
    """The filter of the list of operations."""

    wanted: OperationFilter = field(default_factory=OperationFilter)


@dataclass(slots=True)
class AskedApprovals(AskedList):
    """The filter of the approvals."""

    wanted: ApprovalFilter = field(default_factory=ApprovalFilter)


def read_filters(query: QueryDict, *, person: str) -> AskedOperations:
    """Read the filters of the list of operations; ``person`` is who asks, for "mine"."""
    choices = {"kind": tuple(str(one) for one in Kind), "state": STATES, "mine": ("yes",)}
    asked = AskedOperations()
    _read(asked, query, choices, texts=("person",), ids=("incident", "session"))
    values = asked.values
    asked.wanted = OperationFilter(
        kind=values.get("kind"),
        state=values.get("state"),
        person=person if "mine" in values else values.get("person"),
        incident_id=UUID(values["incident"]) if "incident" in values else None,
        session_id=UUID(values["session"]) if "session" in values else None,
    )
    return asked


def read_rows(query: QueryDict, *, kind: str) -> AskedList:
    """Read the filters of one operation's facts."""
    asked = AskedList()
    choices = {"group": tuple(GROUPS_OF[kind]), "outcome": tuple(OUTCOMES), "ticked": TICKED}
    _read(asked, query, choices)
    return asked


def read_approvals(query: QueryDict, *, user_id: UUID) -> AskedApprovals:
    """Read the filters of the approvals; without any, what waits."""
    asked = AskedApprovals()
    choices = {
        "state": (*APPROVAL_STATES, "any"),
        "kind": tuple(kinds()),
        "whose": ("mine", "others"),
    }
    _read(asked, query, choices)
    values = asked.values
    state = values.get("state", "waiting")
    asked.wanted = ApprovalFilter(
        state=None if state == "any" else state,
        kind=values.get("kind"),
        requested_by_id=user_id if values.get("whose") == "mine" else None,
        not_requested_by_id=user_id if values.get("whose") == "others" else None,
    )
    return asked


def _read(
    asked: AskedList,
    query: QueryDict,
    choices: Mapping[str, Sequence[str]],
    *,
    texts: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> None:
    asked.after = query.get("after") or None
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name == "after" or not value:
            continue
        if name not in choices and name not in texts and name not in ids:
            fault = "is not one of this list"
        elif len(given) > 1:
            fault = f"is given {len(given)} times"
        else:
            fault = _fault(name, value, choices.get(name, ()), is_id=name in ids)
        if fault:
            asked.warnings.append(f"The filter \u201c{name[:60]}\u201d {fault}; it was ignored.")
        else:
            asked.values[name] = value


def _fault(name: str, value: str, choices: Sequence[str], *, is_id: bool) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if choices and value not in choices:
        return f"knows {', '.join(choices)}, but not \u201c{value[:60]}\u201d"
    if is_id:
        try:
            UUID(value)
        except ValueError:
            return "must be an id"
    return ""
