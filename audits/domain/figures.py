"""What the charts count, over which time, and in which steps. Pure.

Owns the ranges, the bounds of their steps in a workspace's time zone, and what a
histogram says of latency. Counts are kept per quarter of an hour in UTC: every
zone's offset in use is a multiple of that (Nepal 5:45, Lord Howe shifts by 30
minutes), so that any zone's days and hours are sums of whole buckets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from records.domain.facts import Decision

QUARTER = timedelta(minutes=15)
KEPT = timedelta(days=400)  # how long the counts are kept: a year, and the month to compare
# Upper bounds in milliseconds, about 1.5 to 2 apart: a percentile is known to that factor.
LATENCY_STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_000,
                 5_000)  # fmt: skip
LABELS_CAP = 100  # rules with counts of their own; what comes later counts as OTHER
OTHER = "other"
DECISIONS = tuple(str(one) for one in Decision)


@dataclass(frozen=True, slots=True)
class Span:
    """A range that can be asked for, and how many steps it has."""

    name: str
    words: str
    steps: int
    unit: str  # "hour" or "day"


SPANS: Mapping[str, Span] = {
    one.name: one
    for one in (
        Span("24h", "24 hours", 24, "hour"),
        Span("7d", "7 days", 7, "day"),
        Span("30d", "30 days", 30, "day"),
        Span("90d", "90 days", 90, "day"),
    )
}
DEFAULT_SPAN = "7d"


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a range: ``bounds`` has one instant more than there are steps."""

    span: Span
    zone: ZoneInfo
    bounds: tuple[datetime, ...]

    @property
    def pairs(self) -> list[tuple[datetime, datetime]]:
        """Each step's beginning and end."""
        return list(zip(self.bounds, self.bounds[1:], strict=False))

    @property
    def names(self) -> list[str]:
        """Each step as its zone's clock shows its beginning; an hour that comes twice says so."""
        form = "%d %b %H:%M" if self.span.unit == "hour" else "%a %d %b"
        found: list[str] = []
        for start in self.bounds[:-1]:
            name = start.astimezone(self.zone).strftime(form)
            found.append(f"{name} again" if name in found else name)
        return found


def steps_of(span: Span, zone: ZoneInfo, now: datetime) -> Steps:
    """Return the steps up to the one that ``now`` is in; days are those of the zone."""
    local = now.astimezone(zone)
    if span.unit == "hour":
        # Hours of the clock on the wall, stepped in elapsed time: each is 60 minutes long.
        first = local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
        bounds = [first - timedelta(hours=span.steps - 1 - n) for n in range(span.steps + 1)]
    else:
        today = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0, tzinfo=None)
        days = [today - timedelta(days=span.steps - 1 - n) for n in range(span.steps + 1)]
        # The zone is asked for each midnight: days of 23, 23.5, 24.5 and 25 hours come out so.
        bounds = [day.replace(tzinfo=zone).astimezone(UTC) for day in days]
    return Steps(span, zone, tuple(bounds))


def weeks_ahead(zone: ZoneInfo, now: datetime, weeks: int = 13) -> Steps:
    """Return the weeks from today on, each of seven of the zone's days."""
    today = now.astimezone(zone).replace(
        hour=0, minute=0, second=0, microsecond=0, fold=0, tzinfo=None
    )
    days = [today + timedelta(days=7 * n) for n in range(weeks + 1)]
    bounds = [now, *(day.replace(tzinfo=zone).astimezone(UTC) for day in days[1:])]
    return Steps(Span("ahead", "90 days", weeks, "day"), zone, tuple(bounds))


def percentile(counts: Sequence[int], share: float) -> int | None:
    """Return the upper bound, in ms, of the bucket that a share of the values reaches.

    ``counts`` go with ``LATENCY_STEPS``, and one more for what took longer; ``None``
    where there are none, -1 where it took longer than any bound.
    """
    total = sum(counts)
    if not total:
        return None
    reached = 0
    for bound, number in zip((*LATENCY_STEPS, -1), counts, strict=True):
        reached += number
        if reached >= share * total:
            return bound
    return -1
