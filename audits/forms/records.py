"""The filters of the record list, read from the URL.

A filter that is unknown, malformed or names nothing is never dropped in
silence: it becomes a warning that names it, and the rest still filters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.http import QueryDict

from audits.domain.categories import Category
from audits.queries.records import STANDINGS, RecordFilter
from records.access import Access
from records.domain import canonical
from records.domain.facts import HoldReason, Status
from records.policies import book

TEXT_LIMIT = 200
FILTERS = (
    "status",
    "hold_reason",
    "partition",
    "predicate",
    "session",
    "source",
    "standing",
    "tag",
    "text",
    "seen",
    "found",
)
NOT_FILTERS = frozenset({"after", "view"})
CHOICES: Mapping[str, tuple[str, ...]] = {
    "status": tuple(str(one) for one in Status),
    "hold_reason": tuple(str(one) for one in HoldReason),
    "standing": tuple(STANDINGS),
    "seen": ("again",),
    "found": tuple(str(one) for one in Category),
}


@dataclass(slots=True)
class Asked:
    """What the URL asks for: the filter, the values as typed, and what could not be read."""

    wanted: RecordFilter
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return not self.wanted.is_empty


def read_filters(query: QueryDict, *, access: Access) -> Asked:
    """Read the filters of a URL. Inside the workspace's scope (a predicate's alias is resolved)."""
    asked = Asked(RecordFilter(), after=query.get("after") or None)
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name in NOT_FILTERS or not value:
            continue
        if name not in FILTERS:
            asked.warnings.append(
                f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
            )
            continue
        if fault := _fault(name, value, len(given)):
            asked.warnings.append(fault)
            continue
        asked.values[name] = value
    asked.wanted = _filter(asked, access)
    return asked


def _fault(name: str, value: str, times: int) -> str:
    if times > 1:
        return f"The filter \u201c{name}\u201d is given {times} times; it was ignored."
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return f"The filter \u201c{name}\u201d holds characters that no text has; it was ignored."
    if len(value) > TEXT_LIMIT:
        return (
            f"The filter \u201c{name}\u201d is longer than {TEXT_LIMIT} characters; it was ignored."
        )
    if name in CHOICES and value not in CHOICES[name]:
        known = ", ".join(CHOICES[name])
        return (
            f"The filter \u201c{name}\u201d knows {known}, but not \u201c{value[:60]}\u201d;"
            " it was ignored."
        )
    return ""


def _filter(asked: Asked, access: Access) -> RecordFilter:
    values = asked.values
    partition = values.get("partition")
    partition_id = access.partition_id(partition) if partition else None
    return RecordFilter(
        status=values.get("status"),
        hold_reason=values.get("hold_reason"),
        partition_id=partition_id,
        predicate=_predicate(values.get("predicate"), access),
        session_id=_session(asked, partition_id, access),
        source_id=canonical.source_id(access.workspace_id, values["source"])
        if "source" in values
        else None,
        standing=values.get("standing"),
        tag=values.get("tag"),
        text=values.get("text"),
        seen=values.get("seen"),
        found=values.get("found"),
    )


def _predicate(written: str | None, access: Access) -> str | None:
    """Return the predicate meant, whichever of its aliases was written."""
    return book(access.workspace_id).resolve(written).predicate if written else None


def _session(asked: Asked, partition_id: UUID | None, access: Access) -> UUID | None:
    """Return the session meant: by its id, or by its name beside its partition."""
    name = asked.values.get("session")
    if name is None:
        return None
    try:
        return UUID(name)
    except ValueError:
        pass
    if partition_id is None:
        del asked.values["session"]
        asked.warnings.append(
            "The filter \u201csession\u201d needs the session's id, or the partition beside its"
            " name; it was ignored."
        )
        return None
    return canonical.session_id(access.workspace_id, partition_id, name)
