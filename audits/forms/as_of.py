"""Which moment the as-of page is asked about, read from the URL.

What is unknown or malformed becomes a warning that names it; times without a
zone are UTC, as everywhere in the console.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime

from audits.queries.as_of import Moment
from records.access import Access

TEXT_LIMIT = 200
QUERY_LIMIT = 1_000
FILTERS = ("partition", "at", "valid_at", "text", "asked")
NOT_FILTERS = frozenset({"after", "csrfmiddlewaretoken", "format"})


@dataclass(slots=True)
class Asked:
    """What the URL asks for; ``wanted`` is None until a partition is named."""

    wanted: Moment | None
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None


def read_moment(query: Mapping[str, str], *, access: Access, now: datetime) -> Asked:
    """Read the moment from a URL; the present when it names none."""
    asked = Asked(None, after=query.get("after") or None)
    for name in query:
        value = query.get(name, "").strip()
        if name in NOT_FILTERS or not value:
            continue
        if name not in FILTERS:
            asked.warnings.append(
                f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
            )
        elif "\x00" in value or len(value) > (QUERY_LIMIT if name == "asked" else TEXT_LIMIT):
            asked.warnings.append(f"The filter \u201c{name}\u201d cannot be read; it was ignored.")
        else:
            asked.values[name] = value
    as_of = _instant(asked, "at", now) or now
    valid_at = _instant(asked, "valid_at", now)
    partition = asked.values.get("partition")
    if partition:
        asked.wanted = Moment(
            access.partition_id(partition), as_of, valid_at, asked.values.get("text")
        )
    return asked


def typed(at: datetime) -> str:
    """Return an instant as the field for it takes it: UTC, to the second, nothing rounded up."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"


def _instant(asked: Asked, name: str, now: datetime) -> datetime | None:
    """Return the instant a filter names; one that is none, or is to come, becomes a warning."""
    written = asked.values.get(name)
    if written is None:
        return None
    try:
        found = parse_datetime(written)
    except ValueError:
        found = None
    if found is None:
        asked.warnings.append(
            f"\u201c{written[:40]}\u201d is no time: write it as 2026-03-03T14:00. It was ignored."
        )
        del asked.values[name]
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    if found > now:
        asked.warnings.append("That moment is still to come; this is now.")
        return now if name == "at" else None
    return found
