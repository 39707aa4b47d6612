"""The filters of the session list, read from the URL; what cannot be read becomes a warning."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from django import forms
from django.http import QueryDict
from django.utils.dateparse import parse_date, parse_datetime

from audits.forms.filters import Asked, read_values
from audits.queries.sessions import SORTS, SessionFilter
from records.access import Access

STATES = ("serving", "suspended", "evicted")
ORIGINS = ("talk", "source")
CHOICES = {"state": STATES, "origin": ORIGINS, "served": ("yes", "no"), "sort": SORTS}
SHARES = ("held", "held_to")
NUMBERS = ("writes", "writes_to")
TIMES = ("since", "until")
FILTERS = ("partition", "session", "agent", *CHOICES, *SHARES, *NUMBERS, *TIMES)
MORE = (*SHARES, *NUMBERS, *TIMES, "origin", "served")  # folded away until one is used
NOTE_LIMIT = 2_000


class AskedSessions(Asked[SessionFilter]):
    """What the URL asks of the session list."""

    @property
    def has_more(self) -> bool:
        """Whether one of the folded filters is in use."""
        return any(name in self.values for name in MORE)


class NoteForm(forms.Form):
    """A note about a session."""

    text = forms.CharField(
        label="Note",
        max_length=NOTE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Readable by everybody here; it stays.",
    )


def read_filters(query: QueryDict, *, access: Access) -> AskedSessions:
    """Read the filters of a URL."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES, fault_of=_fault)
    shares = {name: int(values[name]) / 100 for name in SHARES if name in values}
    numbers = {name: int(values[name]) for name in NUMBERS if name in values}
    wanted = SessionFilter(
        partition_id=access.partition_id(values["partition"]) if "partition" in values else None,
        session=values.get("session"),
        agent=values.get("agent"),
        since=_instant(values["since"]) if "since" in values else None,
        until=_instant(values["until"], is_end=True) if "until" in values else None,
        state=values.get("state"),
        origin=values.get("origin"),
        served=values["served"] == "yes" if "served" in values else None,
        sort=values.get("sort", "suspicion"),
        held=shares.get("held"),
        held_to=shares.get("held_to"),
        writes=numbers.get("writes"),
        writes_to=numbers.get("writes_to"),
    )
    return AskedSessions(wanted, values, warnings, query.get("after") or None)


def _fault(name: str, value: str) -> str:
    if name in SHARES and not (value.isascii() and value.isdigit() and int(value[:4]) <= 100):
        return "must be a whole percentage from 0 to 100"
    if name in NUMBERS and not (value.isascii() and value.isdigit() and len(value) <= 9):
        return "must be a whole number"
    if name in TIMES and _instant(value) is None:
        return "must be a date such as 2026-03-01, or a time of it in UTC"
    return ""


def _instant(text: str, *, is_end: bool = False) -> datetime | None:
    """Read a day or a time; a day's end is the beginning of the next."""
    try:
        day = parse_date(text)
        if day is not None:
            return datetime.combine(day, time(), UTC) + timedelta(days=is_end)
        at = parse_datetime(text)
    except (ValueError, OverflowError):
        return None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at
