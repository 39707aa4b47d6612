"""What goes stale, in words: the lists of the freshness page, and when silence is unusual. Pure.

A predicate's habit is the median time between two sightings of its facts that were
seen more than once, over at least a day. A fact is unseen beyond it after three
times that, but not before a week and not while one in ten facts is silent as long.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

FEWEST = 5  # facts seen again, below which a predicate has no habit
LATE_TIMES = 3.0
LATE_LEAST_DAYS = 7.0
SECONDS_A_DAY = 86_400.0
AHEAD = (7, 30, 90)


class Tab(StrEnum):
    """One list of the page."""

    EXPIRED = "expired"
    ENDING = "ending"
    UNSEEN = "unseen"
    RECHECK = "recheck"
    UNLISTED = "unlisted"
    RELISTED = "relisted"


TITLES: dict[Tab, str] = {
    Tab.EXPIRED: "Past validity",
    Tab.ENDING: "Ending soon",
    Tab.UNSEEN: "Unseen for long",
    Tab.RECHECK: "To recheck",
    Tab.UNLISTED: "No longer emitted",
    Tab.RELISTED: "Came back",
}
MEANINGS: dict[Tab, str] = {
    Tab.EXPIRED: "Their time is over. Recall still finds them, at less than a third of their"
    " weight, and says that they have expired. The longest over come first.",
    Tab.ENDING: "Their time ends soon. Extend what still holds, before agents are told less of it.",
    Tab.UNSEEN: "Nobody has said them for longer than is usual for their kind. The longest unseen"
    " come first. Measured every hour.",
    Tab.RECHECK: "Something that they depend on has changed, or somebody doubts them. Recall ranks"
    " them low until a person confirms or ends them, or an agent says them again.",
    Tab.UNLISTED: "A complete pass of their source did not name them any more. Recall ranks them"
    " low.",
    Tab.RELISTED: "Their source had stopped naming them, and names them again.",
}
SINCE: dict[Tab, str] = {
    Tab.EXPIRED: "Served since",
    Tab.ENDING: "Served, 30 days",
    Tab.UNSEEN: "Served since late",
    Tab.RECHECK: "Served since",
    Tab.UNLISTED: "Served since",
    Tab.RELISTED: "Served since",
}


class Verb(StrEnum):
    """What can be done with facts of these lists."""

    EXTEND = "extend"
    END = "end"
    CONFIRM = "confirm"
    RECHECK = "recheck"
    SAMPLE = "sample"


VERBS: dict[Verb, tuple[str, str]] = {
    Verb.EXTEND: ("Extend", "Say that they hold for longer. Marks to recheck are cleared."),
    Verb.CONFIRM: (
        "Confirm",
        "Say that they hold today: they count as seen now, and doubts are cleared.",
    ),
    Verb.END: (
        "Demote now",
        "End their validity now. They stay, and recall says that they have expired.",
    ),
    Verb.RECHECK: (
        "Mark to recheck",
        "Rank them low until a person settles them or an agent says them again.",
    ),
    Verb.SAMPLE: (
        "Re-verify one by one",
        "Make a batch of exactly these facts for Sample and verify. It is not a sample of the"
        " whole, and no figure about the whole counts it.",
    ),
}


def late_after(usual_days: float, wide_days: float) -> float:
    """Return after how many days of silence a fact is late, by the median and the widest tenth."""
    return max(LATE_LEAST_DAYS, LATE_TIMES * usual_days, wide_days)


def habit_words(usual_days: float, last_seen: datetime, now: datetime) -> str:
    """Return a fact's silence beside its predicate's habit."""
    silent = (now - last_seen).total_seconds() / SECONDS_A_DAY
    return f"usually seen every {_span(usual_days)}, last seen {_span(silent)} ago"


def _span(days: float) -> str:
    if days < 1.5:
        hours = max(1, round(days * 24))
        return "hour" if hours == 1 else f"{hours} hours"
    return f"{round(days)} days"
