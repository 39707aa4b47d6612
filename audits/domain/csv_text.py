"""Lines of CSV that no spreadsheet takes for a formula.

Pure: values in, text out. Every file that leaves the console as CSV is made
of these lines, so that what a writer put into a memory cannot run on the
machine of whoever opens the file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import Enum
from typing import Any

# What a spreadsheet may take for the beginning of a formula (OWASP, "CSV injection"); the
# full-width forms are folded to the plain ones by some of them.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
GUARD = "'"


def csv_line(values: Iterable[Any]) -> str:
    """Return one line with its line end: RFC 4180, formulas neutralised, times ISO in UTC."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([neutral(value) for value in values])
    return line.getvalue()


def neutral(value: Any) -> str:
    """Return a value as the text of a cell; what a spreadsheet could run begins with a quote.

    Numbers are made by code and keep their sign. NULs are drawn, since readers stop at them.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and not isinstance(value, Enum):
        return str(value)
    if isinstance(value, datetime):
        return instant(value)
    text = str(value).replace("\x00", "\u2400")
    # Spaces before a sign do not stop every spreadsheet.
    is_risky = text.startswith(DANGEROUS) or text.lstrip().startswith(DANGEROUS)
    return GUARD + text if is_risky else text


def instant(at: datetime) -> str:
    """Return an aware instant in UTC, in ISO 8601."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
