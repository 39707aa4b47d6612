"""What is asked of the queue: its filters, read from the URL, and a decision's form.

A filter that is unknown, malformed or names nothing is never dropped in
silence: it becomes a warning that names it, and the rest still filters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict

from audits.forms.filters import Asked, read_values
from audits.queries.queue import DUES, LEASES, QueueFilter
from records.access import Access
from records.domain import canonical
from records.domain.facts import HoldReason
from records.domain.risk import Risk
from records.policies import PolicyBook

IDS_MOST = 200
RISKS = {risk.name.lower(): int(risk) for risk in (Risk.HIGH, Risk.MEDIUM, Risk.LOW)}
YES_NO = {"yes": True, "no": False}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "risk": tuple(RISKS),
    "hold_reason": tuple(str(one) for one in HoldReason),
    "conflict": tuple(YES_NO),
    "served": tuple(YES_NO),
    "due": tuple(DUES),
    "lease": tuple(LEASES),
    "snoozed": ("only", "too"),
}
FILTERS = (*CHOICES, "rule", "partition", "session", "predicate", "writer", "text")
# What stands in the queue's URLs beside filters.
NOT_FILTERS = frozenset({"after", "seen", "since", "selected", "skip", "token", "verb", "view"})


@dataclass(slots=True, kw_only=True)
class AskedQueue(Asked[QueueFilter]):
    """What the URL asks of the queue, with the ids that it names one by one."""

    book: PolicyBook
    ids: tuple[UUID, ...] | None = None

    @property
    def query(self) -> str:
        """The filters as a query string, for links that keep them."""
        kept = QueryDict(mutable=True)
        kept.update(self.values)
        for one in self.ids or ():
            kept.appendlist("id", str(one))
        return str(kept.urlencode())


def read_filters(query: QueryDict, *, access: Access, book: PolicyBook) -> AskedQueue:
    """Read the filters of a URL. Inside the workspace's scope (a predicate's alias is resolved)."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES, beside=NOT_FILTERS | {"id"})
    asked = AskedQueue(QueueFilter(), values, warnings, query.get("after") or None, book=book)
    given = [one for one in query.getlist("id") if one.strip()]
    if given:
        _read_ids(asked, given)
    asked.wanted = _filter(asked, access, book)
    return asked


def _read_ids(asked: AskedQueue, given: list[str]) -> None:
    try:
        ids = tuple(dict.fromkeys(UUID(one) for one in given))
    except ValueError:
        asked.warnings.append("The filter \u201cid\u201d takes ids of records; it was ignored.")
        return
    if len(ids) > IDS_MOST:
        asked.warnings.append(
            f"The filter \u201cid\u201d takes at most {IDS_MOST} ids; it was ignored."
        )
        return
    asked.ids = ids


def _filter(asked: AskedQueue, access: Access, book: PolicyBook) -> QueueFilter:
    values = asked.values
    partition = values.get("partition")
    partition_id = access.partition_id(partition) if partition else None
    return QueueFilter(
        risk=RISKS.get(values.get("risk", "")),
        hold_reason=values.get("hold_reason"),
        rule=values.get("rule"),
        partition_id=partition_id,
        session_id=_session(asked, partition_id, access),
        predicate=book.resolve(values["predicate"]).predicate if "predicate" in values else None,
        writer=values.get("writer"),
        conflict=YES_NO.get(values.get("conflict", "")),
        served=YES_NO.get(values.get("served", "")),
        due=values.get("due"),
        lease=values.get("lease"),
        snoozed=values.get("snoozed"),
        text=values.get("text"),
        ids=asked.ids,
    )


def _session(asked: AskedQueue, partition_id: UUID | None, access: Access) -> UUID | None:
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
