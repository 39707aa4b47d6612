"""What the pages of figures are asked for in the URL; what cannot be read becomes a warning."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from audits.domain.figures import DEFAULT_SPAN, SPANS, Span
from audits.queries.figure_lists import LISTS, Wanted

NAMES = frozenset({"about", "since", "until", "predicate", "after"})
PREDICATE_LIMIT = 200


@dataclass(slots=True)
class AskedList:
    """The list that is asked for, ``None`` where that cannot be read."""

    wanted: Wanted | None = None
    warnings: list[str] = field(default_factory=list)


def read_span(query: QueryDict) -> tuple[Span, list[str]]:
    """Return the range that is asked for, and what could not be read."""
    name = query.get("range", "") or DEFAULT_SPAN
    if name in SPANS:
        return SPANS[name], []
    known = ", ".join(SPANS)
    return SPANS[DEFAULT_SPAN], [f"“range” knows {known}, but not “{name[:60]}”; it was ignored."]


def read_list(query: QueryDict) -> AskedList:
    """Read which list is asked for; unknown parameters are named."""
    asked = AskedList()
    for name in query:
        if name not in NAMES:
            asked.warnings.append(f"There is no filter “{name[:60]}” here; it was ignored.")
    about = query.get("about", "")
    since, until = _instant(query.get("since", "")), _instant(query.get("until", ""))
    predicate = query.get("predicate") or None
    if about not in LISTS:
        asked.warnings.append(f"“about” knows {', '.join(LISTS)}, but not “{about[:60]}”.")
    elif since is None or until is None:
        asked.warnings.append("“since” and “until” must be times in UTC, like 2026-03-01T14:00Z.")
    elif predicate and (len(predicate) > PREDICATE_LIMIT or "\x00" in predicate):
        asked.warnings.append(
            f"“predicate” is longer than {PREDICATE_LIMIT} characters or holds some that no text has."
        )
    else:
        asked.wanted = Wanted(about, since, until, predicate)
    return asked


def _instant(text: str) -> datetime | None:
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    if at is None or not 1970 <= at.year <= 9998:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
