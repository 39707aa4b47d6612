"""The filters of the audit trail, read from the URL; what cannot be read becomes a warning.

Each column has a filter of its own name, and ``not_<column>`` to leave a value
out (several times for several values). Read ``queries/trail.py`` for what is
made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode

from audits.queries.flows import FLOWS
from audits.queries.trail import COLUMNS, TrailFilter
from records.access import Access, ActorKind

TEXT_LIMIT = 200
EXCLUDED_MOST = 20
OUTCOMES = ("done", "denied", "failed", "held")
ONLY = ("denied", "bulk", "mine")
FLOW_WORDS = {"write": "wrote", "held": "put on hold", "decided": "ended a hold"}
CHOICES = {
    "outcome": OUTCOMES,
    "actor_kind": tuple(str(one) for one in ActorKind),
    "flow": tuple(FLOWS),
}
# As the URL has it -> the column it is about, where the two differ.
COLUMN_OF = {"target": "target_id", "session": "session_id", "partition": "partition_id"}
SINGLE = (
    *(name for name in COLUMNS if name not in COLUMN_OF.values()),
    *(*COLUMN_OF, "operation", "incident", "since", "until", "first", "last", "text"),
    *("flow", "rule"),
)
SHOWN = ("text", "action", "actor", "outcome", "since", "until")  # the others are folded away
NOT_FILTERS = frozenset({"after", "check", "event"})
UUIDS = ("target", "session", "operation", "incident")


@dataclass(slots=True)
class AskedTrail:
    """What the URL asks for, the values as typed, and what could not be read."""

    wanted: TrailFilter
    values: dict[str, str] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)
    only: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return not self.wanted.is_empty

    @property
    def has_more(self) -> bool:
        """Whether a filter counts that the page folds away."""
        return not self.values.keys() <= set(SHOWN)

    @property
    def query(self) -> str:
        """The filter as a URL's query, without the place in the list."""
        several = {f"not_{name}": values for name, values in self.excluded.items()}
        return urlencode({**self.values, **several, "only": self.only}, doseq=True)


def read_filters(query: QueryDict, *, access: Access) -> AskedTrail:
    """Read the filters of a URL."""
    asked = AskedTrail(TrailFilter(), after=query.get("after") or None)
    for name, given in query.lists():
        values = [str(one).strip() for one in given if str(one).strip()]
        if name in NOT_FILTERS or not values:
            continue
        if name == "only":
            _read_only(asked, values)
        elif name.startswith("not_") and COLUMN_OF.get(name[4:], name[4:]) in COLUMNS:
            _read_excluded(asked, name, values)
        elif name not in SINGLE:
            asked.warnings.append(f"There is no filter “{name[:60]}” here; it was ignored.")
        elif len(values) > 1:
            asked.warnings.append(
                f"The filter “{name}” is given {len(values)} times; it was ignored."
            )
        elif fault := _fault(name, values[0]):
            asked.warnings.append(f"The filter “{name}” {fault}; it was ignored.")
        else:
            asked.values[name] = values[0]
    asked.wanted = _filter(asked, access)
    return asked


def _read_only(asked: AskedTrail, values: list[str]) -> None:
    for value in values:
        if value not in ONLY:
            asked.warnings.append(
                f"The filter “only” knows {', '.join(ONLY)}, but not “{value[:60]}”;"
                " it was ignored."
            )
        elif value not in asked.only:
            asked.only.append(value)


def _read_excluded(asked: AskedTrail, name: str, values: list[str]) -> None:
    if len(values) > EXCLUDED_MOST:
        asked.warnings.append(
            f"The filter “{name}” leaves out at most {EXCLUDED_MOST} values; it was ignored."
        )
        return
    for value in values:
        if fault := _fault(name[4:], value):
            asked.warnings.append(f"The filter “{name}” {fault}; it was ignored.")
        else:
            asked.excluded.setdefault(name[4:], []).append(value)


def _fault(name: str, value: str) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if name in CHOICES and value not in CHOICES[name]:
        return f"knows {', '.join(CHOICES[name])}, but not “{value[:60]}”"
    if name in UUIDS and _uuid(value) is None:
        return f"must be an id, not “{value[:60]}”"
    if name in ("since", "until") and _moment(value, is_end=False) is None:
        return "must be a day or a time in UTC, like 2026-03-01 or 2026-03-01T14:00"
    if name in ("first", "last") and not (
        value.isascii() and value.isdigit() and len(value) <= 18 and int(value) > 0
    ):
        return "must be an event's number in the trail, 1 or more"
    return ""


def _filter(asked: AskedTrail, access: Access) -> TrailFilter:
    values = asked.values

    def of_column(name: str, value: str) -> str:
        # A partition is named, by its id or by its name.
        if name == "partition" and _uuid(value) is None:
            return str(access.partition_id(value))
        return value

    equal = tuple(
        (COLUMN_OF.get(name, name), of_column(name, value))
        for name, value in sorted(values.items())
        if COLUMN_OF.get(name, name) in COLUMNS
    )
    unequal = tuple(
        (COLUMN_OF.get(name, name), tuple(of_column(name, value) for value in several))
        for name, several in sorted(asked.excluded.items())
    )
    return TrailFilter(
        equal=equal,
        unequal=unequal,
        operation=_uuid(values.get("operation", "")),
        incident=_uuid(values.get("incident", "")),
        since=_moment(values.get("since", ""), is_end=False),
        until=_moment(values.get("until", ""), is_end=True),
        first=int(values["first"]) if "first" in values else None,
        last=int(values["last"]) if "last" in values else None,
        is_denied="denied" in asked.only,
        is_bulk="bulk" in asked.only,
        mine=access.actor.name if "mine" in asked.only else None,
        text=values.get("text"),
        flow=values.get("flow"),
        rule=values.get("rule"),
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _moment(text: str, *, is_end: bool) -> datetime | None:
    """Return an instant; a day alone is its beginning, or its end where a range ends in it."""
    if len(text) == 10:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        if day.year < 9999:
            day += timedelta(days=1) if is_end else timedelta()
        return datetime.combine(day, time(), tzinfo=UTC)
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    if at is None:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
