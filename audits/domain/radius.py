"""How far facts went: what is counted, and how it is said.

Pure: numbers and instants in, sentences and buckets out. The counting itself
is ``audits/queries/radius.py``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

CAP = 50_000  # facts of one set; a larger one is counted up to here, and says so
DEPTH = 3


class Evidence(IntEnum):
    """How strongly a later write points back at what its session had been served."""

    REPEATS = 0
    ALIKE = 1
    AFTER = 2

    @property
    def word(self) -> str:
        """Return what a page calls it."""
        return ("repeats it", "alike", "afterwards")[self]

    @property
    def meaning(self) -> str:
        """Return what that says, and what it does not."""
        return (
            "it has the value that was served, or contains it",
            "it is about much the same as what was served",
            "its session wrote it after being served; nothing else ties the two",
        )[self]


@dataclass(frozen=True, slots=True)
class Radius:
    """What became of a set of facts: who got them, and what was written because of it.

    ``sessions`` counts named ones; ``unnamed`` are the serves that went to
    nobody in particular. ``tainted`` counts records by depth, ``depth`` is how
    deep it was looked; both are empty where nobody asked for the taint.
    """

    facts: int
    served_facts: int
    serves: int
    recalls: int
    sessions: int
    partitions: int
    unnamed: int
    first_at: datetime | None
    last_at: datetime | None
    is_capped: bool
    tainted: tuple[int, ...] = ()
    tainted_sessions: int = 0
    depth: int = 0

    @property
    def tainted_records(self) -> int:
        """Records written afterwards, at any depth."""
        return sum(self.tainted)


def sentence(radius: Radius, *, now: datetime) -> str:
    """Say a radius in one sentence: ``61 of 412 facts were served 287 times to 41 sessions...``."""
    facts = f"{radius.facts:,}{' or more' if radius.is_capped else ''}"
    if not radius.facts:
        return "There are no facts to ask about."
    if not radius.serves:
        if radius.facts == 1:
            return "This fact has not been served."
        return f"None of the {facts} facts has been served."
    was = "was" if radius.served_facts == 1 else "were"
    said = f"{radius.served_facts:,} of {facts} fact{_s(radius.facts)} {was} served"
    said += f" {radius.serves:,} time{_s(radius.serves)} {to_whom(radius)}"
    if radius.last_at is not None:
        said += f", last {_age(now - radius.last_at)} ago"
    return said + "."


def to_whom(radius: Radius) -> str:
    """Say who got the facts: ``to 41 sessions in 3 partitions``."""
    where = f" in {radius.partitions:,} partitions" if radius.partitions > 1 else ""
    if not radius.sessions:
        return f"without a session{where}"
    beside = f" and {radius.unnamed:,} time{_s(radius.unnamed)} without one"
    return (
        f"to {radius.sessions:,} session{_s(radius.sessions)}{where}"
        f"{beside if radius.unnamed else ''}"
    )


def taint_sentence(tainted: Sequence[int], sessions: int) -> str:
    """Say what was written afterwards, from counts by depth and how many sessions wrote it."""
    count = sum(tainted)
    if not count:
        return "Nobody who was served wrote anything afterwards."
    was = "was" if count == 1 else "were"
    said = f"{count:,} record{_s(count)} {was} written afterwards"
    said += f" by {sessions:,} session{_s(sessions)}"
    deeper = sum(tainted[1:])
    if deeper:
        said += f", {deeper:,} of them by way of another record"
    return said + "."


@dataclass(frozen=True, slots=True)
class Use:
    """One record's serves, told apart by what was known, then or since."""

    status: str
    serves: int
    sessions: int
    not_current: int  # served past its end, unlisted or to be rechecked
    overtaken: int  # served when its successor was true already
    after: int  # served after its last change of status


WITHDRAWN = {"evicted": "evicted", "rejected": "rejected", "retracted": "retracted"}


def use_sentence(use: Use) -> str:
    """Answer "Was it used while wrong?" in one sentence."""
    if not use.serves:
        return "No: no recall has answered with it."
    times = f"{use.serves:,} time{_s(use.serves)}"
    if use.status in WITHDRAWN:
        said = f"Yes: it was served {times} to {use.sessions:,} session{_s(use.sessions)}"
        return f"{said} before it was {WITHDRAWN[use.status]}, and {_since(use.after)} since."
    if use.status == "quarantined":
        return f"Perhaps: it was served {times} before it was held, and {_since(use.after)} since."
    if use.status == "superseded":
        if not use.overtaken:
            return f"No: none of its {use.serves:,} serves came after its successor was true."
        return (
            f"Yes: {use.overtaken:,} of its {use.serves:,} serves came when its successor"
            " was true already."
        )
    if use.not_current:
        return (
            f"Yes: {use.not_current:,} of its {use.serves:,} serve{_s(use.serves)} came when it"
            " was no longer current."
        )
    if use.serves == 1:
        return "No: it was current when it was served, once."
    return f"No: it was current each of the {use.serves:,} times that it was served."


@dataclass(frozen=True, slots=True)
class Bucket:
    """How wide the bars of a chart over time are."""

    unit: str  # as PostgreSQL's date_trunc has it
    words: str


HOUR, DAY = Bucket("hour", "hour"), Bucket("day", "day")
WEEK, MONTH = Bucket("week", "week"), Bucket("month", "month")
# Up to the left, buckets of the right: never more than about a hundred bars.
WIDTHS: Sequence[tuple[timedelta, Bucket]] = (
    (timedelta(days=3), HOUR),
    (timedelta(days=92), DAY),
    (timedelta(days=700), WEEK),
)


def bucket_for(first: datetime | None, last: datetime | None) -> Bucket:
    """Return the bucket that shows a span in no more bars than a person can tell apart."""
    span = last - first if first is not None and last is not None else timedelta(0)
    return next((bucket for most, bucket in WIDTHS if span <= most), MONTH)


def _since(count: int) -> str:
    return "not" if not count else f"{count:,} time{_s(count)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _age(span: timedelta) -> str:
    """Say a span as pages say ages: ``4 m``, ``3 h 12 m``."""
    seconds = max(0, int(span.total_seconds()))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes = rest // 60
    if days >= 365:
        return f"{days // 365} y {days % 365} d" if days % 365 else f"{days // 365} y"
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} m" if minutes else f"{hours} h"
    return f"{minutes} m" if minutes else f"{seconds} s"
