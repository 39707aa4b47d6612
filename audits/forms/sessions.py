"""The filters of the session list, read from the URL; what cannot be read becomes a warning."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import QueryDict

from audits.queries.sessions import SessionFilter
from records.access import Access

STATES = ("serving", "suspended")
FILTERS = ("partition", "session", "agent", "state", "held", "writes")
TEXT_LIMIT = 200


@dataclass(slots=True)
class AskedSessions:
    """What the URL asks for, the values as typed, and what could not be read."""

    wanted: SessionFilter
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return not self.wanted.is_empty


def read_filters(query: QueryDict, *, access: Access) -> AskedSessions:
    """Read the filters of a URL."""
    asked = AskedSessions(SessionFilter(), after=query.get("after") or None)
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name == "after" or not value:
            continue
        if name not in FILTERS:
            asked.warnings.append(
                f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
            )
        elif fault := _fault(name, value):
            asked.warnings.append(f"The filter \u201c{name}\u201d {fault}; it was ignored.")
        else:
            asked.values[name] = value
    values = asked.values
    asked.wanted = SessionFilter(
        partition_id=access.partition_id(values["partition"]) if "partition" in values else None,
        session=values.get("session"),
        agent=values.get("agent"),
        state=values.get("state"),
        held=int(values["held"]) / 100 if "held" in values else None,
        writes=int(values["writes"]) if "writes" in values else None,
    )
    return asked


def _fault(name: str, value: str) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if name == "state" and value not in STATES:
        return f"knows {', '.join(STATES)}, but not \u201c{value[:60]}\u201d"
    if name == "held" and not (value.isascii() and value.isdigit() and int(value[:4]) <= 100):
        return "must be a whole percentage from 0 to 100"
    if name == "writes" and not (value.isascii() and value.isdigit() and len(value) <= 9):
        return "must be a whole number"
    return ""
