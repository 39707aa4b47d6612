"""Times of day, on a weekday or not.

Owns the 12-hour and 24-hour spellings. Must not guess: a bare ``9`` is no time
of day, and a zone is kept as it is written, never converted. Read ``dates.py``
for dates.
"""

from __future__ import annotations

import re

from records.domain.normalise.text import ascii_digits, fold

_WORDS = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_WEEKDAYS = {
    "mon": "monday mondays mon",
    "tue": "tuesday tuesdays tue tues",
    "wed": "wednesday wednesdays wed",
    "thu": "thursday thursdays thu thur thurs",
    "fri": "friday fridays fri",
    "sat": "saturday saturdays sat",
    "sun": "sunday sundays sun",
}
_WEEKDAY = {name: short for short, names in _WEEKDAYS.items() for name in names.split()}

_PREFIX = re.compile(
    rf"(?:(?:every |on )?(?P<weekday>{'|'.join(sorted(_WEEKDAY, key=len, reverse=True))})\.?,? )?"
    r"(?:at )?(?P<rest>.+)"
)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})"
    r"(?:(?P<mark>[:.h]| h )(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?"
    r"(?: ?(?P<unit>hrs?|h|uhr|o'clock))?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?"
    r"(?: ?(?P<zone>z|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?|(?![ap]m\b)[a-z]{2,5}|[a-z]+/[a-z_]+))?"
)
_UTC = frozenset(("z", "utc", "gmt"))
_MAX_LENGTH = 60


def parse_time(text: str) -> str | None:
    """Read ``3 pm``, ``15:00`` or ``Mondays at 9:30 am`` to 24 hours."""
    if len(text) > _MAX_LENGTH:
        return None
    split = _PREFIX.fullmatch(fold(ascii_digits(text)))
    if split is None:
        return None
    clock = _WORDS.get(split["rest"]) or _clock(split["rest"])
    if clock is None:
        return None
    return f"{_WEEKDAY[split['weekday']]} {clock}" if split["weekday"] else clock


def _clock(text: str) -> str | None:
    found = _CLOCK.fullmatch(text)
    if not found or not (found["minute"] or found["unit"] or found["half"]):
        return None
    hour = _hour(int(found["hour"]), found["half"])
    minute, second = int(found["minute"] or 0), int(found["second"] or 0)
    if hour is None or minute > 59 or second > 59:
        return None
    written = f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")
    zone = found["zone"]
    if not zone:
        return written
    return f"{written} {'utc' if zone in _UTC else zone}"


def _hour(hour: int, half: str | None) -> int | None:
    if half is None:
        return hour if hour < 24 else None
    if hour > 12:
        return None
    return hour % 12 + (12 if half == "p" else 0)
