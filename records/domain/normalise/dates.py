"""Dates in words, numbers and ISO form.

Owns which written dates are certain. Must not guess: 03/04/2025 is read as a
date by nobody here, 25/12/2024 by everybody. Read ``times.py`` for the time of
day.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from records.domain.normalise.text import ascii_digits, fold

# English in full and short; the neighbours in full, where they are not spelled as in English.
_MONTHS = {
    1: "january jan januar jänner janvier enero gennaio janeiro januari",
    2: "february feb februar février febrero febbraio fevereiro februari",
    3: "march mar märz mars marzo março maart",
    4: "april apr avril abril aprile",
    5: "may mai mayo maggio maio mei",
    6: "june jun juni juin junio giugno junho",
    7: "july jul juli juillet julio luglio julho",
    8: "august aug août agosto augustus",
    9: "september sep sept septembre septiembre settembre setembro",
    10: "october oct oktober octobre octubre ottobre outubro",
    11: "november nov novembre noviembre novembro",
    12: "december dec dezember décembre diciembre dicembre dezembro",
}
_MONTH_NUMBER = {name: number for number, names in _MONTHS.items() for name in names.split()}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\.?"

_WEEKDAY = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)\b[.,]? *"
)
_FILLER = re.compile(r"\b(?:the|of|de|del)\b|,")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_YEAR = r"(?P<year>\d{4})"
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        rf"{_DAY}[ -]?{_MONTH}(?:[ -]?{_YEAR})?",
        rf"{_MONTH}[ -]?{_DAY}(?:[ -]{_YEAR})?",
        rf"{_MONTH}[ -]?{_YEAR}",
        rf"{_YEAR}[ -]{_MONTH}(?:[ -]{_DAY})?",
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_YEAR}年(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})日",
        r"(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])",
        r"--(?P<month>\d{2})-(?P<day>\d{2})",
        r"(?P<year>[12]\d{3})",
    )
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}.*")
_LEAP_YEAR = 2000  # a day without a year may be 29 February
_MAX_LENGTH = 60


def parse_date(text: str) -> str | None:
    """Read a date to ISO form, keeping how exact it was: day, month, year, day of any year."""
    if len(text) > _MAX_LENGTH:
        return None
    folded = fold(ascii_digits(text))
    if _INSTANT.fullmatch(folded):
        return _instant(folded)
    if numeric := _NUMERIC.fullmatch(folded):
        return _day_and_month(int(numeric[1]), int(numeric[3]), int(numeric[4]))
    spoken = " ".join(_FILLER.sub(" ", _WEEKDAY.sub("", folded)).split())
    for shape in _SHAPES:
        if found := shape.fullmatch(spoken):
            return _write(found.groupdict())
    return None


def as_day(text: str) -> date | None:
    """Return the calendar day in a value that ``parse_date`` reads to the day, else ``None``."""
    written = parse_date(text)
    if written is None or not re.match(r"\d{4}-\d\d-\d\d", written):
        return None
    return date.fromisoformat(written[:10])


def _write(parts: dict[str, str | None]) -> str | None:
    year, month, day = parts.get("year"), parts.get("month"), parts.get("day")
    if month is None:
        return year
    number = _MONTH_NUMBER.get(month) or int(month)
    if day is None:
        return f"{year}-{number:02d}"
    try:
        found = date(int(year) if year else _LEAP_YEAR, number, int(day))
    except ValueError:
        return None
    return found.isoformat() if year else f"--{number:02d}-{int(day):02d}"


def _day_and_month(first: int, second: int, year: int) -> str | None:
    """Two numbers and a year, if only one of them can be the month (or both are the same)."""
    if first != second and first <= 12 and second <= 12:
        return None
    day, month = (second, first) if second > 12 else (first, second)
    return _write({"year": f"{year:04d}", "month": str(month), "day": str(day)})


def _instant(folded: str) -> str | None:
    """Read a date with a time: midnight is the day itself, anything else keeps its time."""
    try:
        instant = datetime.fromisoformat(folded.upper())
        if instant.tzinfo is not None:
            instant = instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if instant.time() == time(0):
        return instant.date().isoformat()
    return instant.isoformat().replace("+00:00", "Z")
