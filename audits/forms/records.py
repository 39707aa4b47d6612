"""The filters of the record list, read from the URL.

A filter that is unknown, malformed or names nothing is never dropped in
silence: it becomes a warning that names it, and the rest still filters.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.http import QueryDict

from audits.domain.categories import Category
from audits.forms.filters import Asked, read_values
from audits.queries.records import STANDINGS, RecordFilter
from records.access import Access
from records.domain import canonical
from records.domain.facts import HoldReason, Status
from records.policies import book

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

AskedRecords = Asked[RecordFilter]


def read_filters(query: QueryDict, *, access: Access) -> AskedRecords:
    """Read the filters of a URL. Inside the workspace's scope (a predicate's alias is resolved)."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES, beside=NOT_FILTERS)
    asked = Asked(RecordFilter(), values, warnings, query.get("after") or None)
    asked.wanted = _filter(asked, access)
    return asked


def _filter(asked: AskedRecords, access: Access) -> RecordFilter:
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


def _session(asked: AskedRecords, partition_id: UUID | None, access: Access) -> UUID | None:
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
